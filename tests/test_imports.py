"""The import rule: data flows one way, and nothing imports what it must not know."""

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import networkx as nx
import pytest

import floorflow as ff
from floorflow import placement
from floorflow.placement import PlacementFailure, PlacementSolution
from floorflow.search.candidate import solvers
from tests.plans import TFC
from tests.sources import PACKAGE, trees

OPEN_TO_ALL = {
    *("assets", "errors", "importing", "output", "plugins", "presets", "reading", "request", "resources"),
    *("facts", "several", "solver", "stats", "technology"),
}
ALLOWED = {
    "network": set(),
    "dataflow": set(),
    "hardware": set(),
    "rates": {"dataflow"},
    "backends": {"network", "dataflow", "rates"},
    "folding": {"dataflow", "hardware"},
    "segments": {"dataflow", "folding"},
    "bandwidth": {"dataflow"},
    "channels": {"dataflow", "hardware"},
    "partition": {"dataflow", "hardware"},
    "placement": {"dataflow", "hardware"},
    "emit": {"hardware"},
    "view": {"hardware"},
    "verify": set(),
}
DRIVERS = {"search", "record", "modes", "flow", "study", "papers", "jobs", "api", "cli", "__main__", "__init__"}
"""What may import the stages that it drives; `record` turns what was decided into the Plan."""
MOST_AT_THE_ROOT = 14
MOST_LEVELS = 12
"""The modes of planning are a level of their own, between recording and the table of modes; so is the API."""
BUDGETS = {
    "lines of floorflow": 122_729,
    "files of floorflow": 700,
    "lines of verify": 19_449,
    "lines of tests": 70_958,
    "files in the longest chain of imports": 31,
    "frames from a plan to the placer": 22,
}
"""What nothing may be above; whoever needs more raises a line here by that much, and says what went instead."""
ROOMS_OF_THE_SEARCH = {
    "candidate": set(),
    "interval": {"candidate"},
    "policy": {"candidate", "interval"},
    "many": {"candidate", "interval", "policy"},
}
"""What each room of `search` may import of the others."""


def module_of(path: Path) -> tuple[str, ...]:
    """Return a file's place below ``floorflow``; a package's face ends in ``__init__``."""
    return path.relative_to(PACKAGE).with_suffix("").parts


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports(path: Path) -> tuple[tuple[str, ...], ...]:
    """Return the modules of floorflow that a file imports, those only for type checkers and inside functions too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(trees()[path.relative_to(PACKAGE).as_posix()]):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = tuple(name.split("."))
            if parts[0] == "floorflow" and parts[1:] != ("__version__",):
                yield _module(parts[1:])


def _module(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the module that a dotted name is in: itself, its parent, or the face of the package of that name."""
    for known in (parts, (*parts, "__init__"), parts[:-1], (*parts[:-1], "__init__")):
        if known in MODULES:
            return known
    raise AssertionError(f"floorflow.{'.'.join(parts)} is no module")


def imported_packages(path: Path) -> set[str]:
    return {module[0] for module in imports(path)} - {"__init__"}


def graph_inside(package: tuple[str, ...]) -> nx.DiGraph:
    """Return which files and packages directly inside a package import which others there."""
    graph, depth = nx.DiGraph(), len(package)
    for module, path in MODULES.items():
        if module[:depth] == package:
            inside = [other[depth] for other in imports(path) if other[:depth] == package]
            graph.add_node(module[depth])
            graph.add_edges_from((module[depth], other) for other in inside if other != module[depth])
    return graph


def test_packages_import_only_what_they_may_know() -> None:
    for module, path in MODULES.items():
        package = module[0]
        if package in ALLOWED:
            open_to_all = set() if package == "verify" else OPEN_TO_ALL
            extra = imported_packages(path) - open_to_all - ALLOWED[package] - {package}
            assert not extra, f"{path.relative_to(PACKAGE)} imports {sorted(extra)}"


def test_every_package_is_under_the_rule() -> None:
    packages = {module[0] for module in MODULES}
    assert packages == set(ALLOWED) | OPEN_TO_ALL | DRIVERS


def test_papers_are_imported_by_nobody() -> None:
    for module, path in MODULES.items():
        assert module[0] == "papers" or "papers" not in imported_packages(path), f"{path} imports papers"


def test_few_files_stand_at_the_root() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_AT_THE_ROOT


def test_open_modules_import_no_package() -> None:
    for module, path in MODULES.items():
        if module[0] in OPEN_TO_ALL:
            assert imported_packages(path) <= OPEN_TO_ALL, f"{path} imports a package"


def test_imports_make_no_circle() -> None:
    packages = sorted({module[:-1] for module in MODULES})
    circles = {package: list(nx.simple_cycles(graph_inside(package))) for package in packages}
    assert not {package: found for package, found in circles.items() if found}


@cache
def lines(folder: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def longest_chain() -> int:
    edges = ((module, other) for module, path in MODULES.items() for other in imports(path) if other != module)
    return len(nx.dag_longest_path(nx.DiGraph(edges)))


def most_frames() -> int:
    """Return how deep the placer stands below a plan, of a network with one repair at most."""
    depths: list[int] = []

    def place(*given: Any) -> PlacementSolution | PlacementFailure:
        depths.append(len(inspect.stack()) - here)
        return placement.place(*given)

    here = len(inspect.stack())
    with patch.object(solvers, "place", place):
        ff.plan(TFC, "pynq-z1", effort="fast")
    return max(depths)


@pytest.mark.parametrize(
    ("counted", "count"),
    [
        ("lines of floorflow", lambda: lines(PACKAGE)),
        ("files of floorflow", lambda: len(MODULES)),
        ("lines of verify", lambda: lines(PACKAGE / "verify")),
        ("lines of tests", lambda: lines(PACKAGE.parent / "tests")),
        ("files in the longest chain of imports", longest_chain),
        ("frames from a plan to the placer", most_frames),
    ],
    ids=list(BUDGETS),
)
def test_nothing_is_above_its_budget(
    counted: str, count: Callable[[], int], record_property: Callable[[str, object], None]
) -> None:
    found = count()
    record_property(f"budget, {counted}", f"{found:,} of {BUDGETS[counted]:,}")
    assert found <= BUDGETS[counted]


def test_packages_stand_on_few_levels(record_property: Callable[[str, object], None]) -> None:
    levels = list(nx.topological_generations(graph_inside(()).reverse()))
    for number, packages in enumerate(levels, 1):
        record_property(f"imports, level {number}", ", ".join(sorted(packages)))
    assert len(levels) <= MOST_LEVELS


def test_rooms_of_the_search_stand_one_on_another() -> None:
    assert {module[1] for module in MODULES if module[0] == "search"} == {*ROOMS_OF_THE_SEARCH, "__init__"}
    for module, path in MODULES.items():
        if module[0] == "search" and module[1] in ROOMS_OF_THE_SEARCH:
            extra = {other[1] for other in imports(path) if other[0] == "search"} - ROOMS_OF_THE_SEARCH[module[1]]
            assert extra <= {module[1]}, f"{'.'.join(module)} imports {sorted(extra)}"


def test_the_command_line_imports_the_api_and_nothing_else_of_the_package() -> None:
    files = list((PACKAGE / "cli").rglob("*.py"))
    assert {module for path in files for module in imports(path) if module[0] != "cli"} == {("api", "__init__")}
    lines = [line.strip() for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    named = [line for line in lines if "import_module(" in line]
    assert named == ['module = import_module(f"floorflow.cli.{home}")'], "a command of its own"


def test_the_entry_point_imports_the_command_line_alone() -> None:
    assert set(imports(PACKAGE / "__main__.py")) == {("cli", "main"), ("cli", "signals")}


def test_the_package_itself_imports_the_api_and_how_to_import_it() -> None:
    assert set(imports(PACKAGE / "__init__.py")) == {("api", "__init__"), ("importing",)}
