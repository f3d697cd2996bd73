"""Three kinds of tests by what they use, what they cost in CPU seconds, and what a folder of tests may cost.

`unit` reaches no solver and starts no process, `joint` reaches real solvers, pictures or other processes, `plan` makes
or looks at whole plans. A test that says its kind itself, by the marker, has that one.
"""

import os
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import CodeType, ModuleType
from typing import Any

import pytest

KINDS = {
    "unit": "reaches no solver, picture or other process, and takes at most 1 CPU second",
    "joint": "reaches real solvers, on small problems, pictures or other processes",
    "plan": "makes or looks at whole plans",
}
MOST_UNIT_CPU_S = 2.0
PLANNERS = {"floorflow.flow", "floorflow.api.planning"}
"""Modules whose functions plan from a model to files."""
WHOLE = {"tests.conftest", "tests.command_line", "typer.testing"}
"""Modules of tests in which `make_plan`, `floorflow` and `CliRunner` do that."""
SOLVERS = {"folding", "partition", "placement", "segments", "bandwidth", "search", "papers", "solver", "study", "modes"}
WORKERS = SOLVERS | {"view"}
"""Rooms that solve, or that draw with a large library."""
LARGE = {"test_output_kills.py", "test_grid.py", "test_imports.py", "test_vocabulary.py", "test_no_tool_outside.py"}
LARGE |= {"test_solver.py", "test_cost.py", "test_tables.py", "test_calibrated.py", "test_against_stepping.py"}
LARGE |= {
    "test_boxes.py",
    "test_legal_plan.py",
    "test_two_by_two.py",
    "test_phases.py",
    "test_bounds.py",
    "test_large.py",
}
"""Files of tests that fork, or that go through all of something large: they are joint."""
PROCESSES = {"subprocess", "multiprocessing.process", "concurrent.futures.process", "concurrent.futures.thread"}

BUDGET_CPU_S = {
    "tests": 150,
    "api": 50,
    "backends": 62,
    "cli": 43,
    "jobs": 37,
    "link_kernels": 38,
    "papers": 20,
    "partition": 26,
    "placement": 36,
    "search": 120,
    "segments": 20,
    "stitch": 38,
    "study": 28,
    "tools_chromium": 14,
    "tools_finn": 70,
    "tools_hls4ml": 12,
    "tools_nextpnr": 16,
    "verify": 55,
}
"""CPU seconds that the tests of a folder may take; of one that is not listed, `OTHER_CPU_S`."""
OTHER_CPU_S = 20


def cpu_s() -> float:
    """Return the CPU seconds of this process and of those that it waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def kind_of(item: pytest.Item) -> str:
    """Return what a test reaches at most, its fixtures included."""
    if said := next(filter(item.get_closest_marker, KINDS), None):
        return said
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [*getattr(item, "fixturenames", ()), *(each for each in given if isinstance(each, str))]
    functions = [getattr(item, "obj", None)]
    for name in names:  # and what these use, which is put at the end
        if found := item.session._fixturemanager.getfixturedefs(name, item):
            functions.append(found[-1].func)
            names += [each for each in found[-1].argnames if each not in names]
    kinds = {_kind(_plain(function)) for function in functions if function is not None}
    return max(kinds | {"joint" if item.path.name in LARGE else "unit"}, key=[*KINDS].index)


def budget_lines(spent: dict[str, float]) -> Iterator[str]:
    """Yield a line for each folder of tests that took a CPU second, with what it may take."""
    for folder, seconds in sorted(spent.items(), key=lambda each: -each[1]):
        most = BUDGET_CPU_S.get(folder, OTHER_CPU_S)
        if seconds >= 1:
            yield f"{folder:14} {seconds:7.1f} CPU s of {most:4}{'  OVER ITS BUDGET' if seconds > most else ''}"
    yield f"{'all':14} {sum(spent.values()):7.1f} CPU s"


def _plain(function: Any) -> Any:
    """Return a function without its decorators: hypothesis keeps it aside, others as what they wrap."""
    function = getattr(getattr(function, "hypothesis", None), "inner_test", function)
    return getattr(function, "__wrapped__", function)


_KNOWN: dict[CodeType, str] = {}


def _kind(function: Any) -> str:
    """Return the kind of all that a function of the tests reaches through functions of the tests."""
    code = getattr(function, "__code__", None)
    if code is None:
        return "unit"
    if code not in _KNOWN:
        _KNOWN[code] = "unit"  # while what it calls is looked at, which may call it
        kinds = {_kind_of_value(value) for value in _values(code, function.__globals__)}
        _KNOWN[code] = max(kinds or {"unit"}, key=[*KINDS].index)
    return _KNOWN[code]


def _values(code: CodeType, known: dict[str, Any]) -> Iterator[Any]:
    """Yield what the names in a piece of code stand for: globals, and attributes of modules among them."""
    names = [name for part in _parts(code) for name in part.co_names]
    found = [known[name] for name in names if name in known]
    for value in found:
        if isinstance(value, ModuleType) and value.__name__ != "numpy":  # which warns of names that it had
            yield from (getattr(value, name) for name in names if hasattr(value, name))
        yield value


def _parts(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)


def _kind_of_value(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        inside = filter(callable, value.values() if isinstance(value, dict) else value)
        return max(map(_kind_of_value, inside), key=[*KINDS].index, default="unit")
    if not callable(value):
        return "unit"
    home = getattr(value, "__module__", None) or ""
    if home in PLANNERS | WHOLE and not (isinstance(value, type) and home != "typer.testing"):
        return "plan"
    if home in PROCESSES or home.startswith("ortools."):
        return "joint"
    if home.startswith("floorflow."):
        is_record = is_dataclass(value) or (isinstance(value, type) and issubclass(value, Exception))
        return "joint" if home.split(".")[1] in WORKERS and not is_record else "unit"
    return _kind(_plain(value)) if home.startswith("tests.") else "unit"
