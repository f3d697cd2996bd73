"""Plans that several tests look at, made once a session."""

import fcntl
import gc
import hashlib
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import onnx
import pytest
from hypothesis import settings

from floorflow import flow
from floorflow.__main__ import _OBJECTS_A_COLLECTION
from floorflow.api.pictures import pictures_of
from floorflow.backends.backend import backend_named
from floorflow.emit import extra_files
from floorflow.output import write
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request
from floorflow.search.candidate.progress import SILENT
from floorflow.verify.hardware.boards import Board
from floorflow.verify.rules import platform as platforms
from tests import kinds
from tests.plans import PLANS, ROOT, SHORT, placing
from tests.random_models import random_graph

# A machine that does other work too is no fault of the code: no deadline.
settings.register_profile("few", deadline=None, max_examples=20)
settings.register_profile("many", deadline=None, max_examples=200)
settings.load_profile("few")

Planned = Callable[[Request], Path]
PLACED_WHOLE = {"placement", "tools_nextpnr"}
"""Folders of tests in which the placer does all that it does for users."""
BEGUN = pytest.StashKey[float]()


CPU_S = "CPU seconds"
_spent: Counter[str] = Counter()
"""CPU seconds by folder of tests, of all workers."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded with `record_property`: counts of random cases; and what each folder cost."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    for report in reports:
        for name, value in report.user_properties:
            if name != CPU_S:
                terminalreporter.write_line(f"{name}: {value}")
    for line in kinds.budget_lines(_spent):
        terminalreporter.write_line(line)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        parts = report.nodeid.partition("::")[0].split("/")
        _spent[parts[1] if len(parts) > 2 else parts[0]] += dict(report.user_properties).get(CPU_S, 0.0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.stash[BEGUN] = kinds.cpu_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a unit test that takes too long: what it uses is large, or it is no unit test."""
    begun = kinds.cpu_s()
    result = yield
    spent = kinds.cpu_s() - begun
    if spent > kinds.MOST_UNIT_CPU_S and item.get_closest_marker("unit") and not item.get_closest_marker("slow"):
        pytest.fail(f"a unit test took {spent:.1f} CPU seconds, {kinds.MOST_UNIT_CPU_S:g} at most (tests/kinds.py)")
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    result = yield
    item.user_properties.append((CPU_S, round(kinds.cpu_s() - item.stash[BEGUN], 3)))
    return result


@pytest.fixture(scope="module", autouse=True)
def _placing_is_short(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests of what is around the placer have layouts that are legal, and no better than they come.

    Where the wires count modules say `PLACING = "whole"`; plans made once a session have short layouts for all.
    """
    room = request.path.relative_to(ROOT / "tests").parts[0]
    if room in PLACED_WHOLE or getattr(request.module, "PLACING", "short") == "whole":
        yield
    else:
        with placing(**SHORT):
            yield


def make_plan(out: Path, request: Request) -> Path:
    made = flow.plan(request)
    pictures = pictures_of(made.plan.model_dump(by_alias=True), lambda: made.platform).files if request.plots else {}
    found = None if made.extras is None else made.extras(SILENT)
    beside = {} if found is None else extra_files(made.plan, found, made.platform, backend_named(request.backend))
    write(out, made.files | beside | pictures, {})
    return out


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path], limits: Mapping[str, int] = SHORT
) -> Path:
    """Return what one worker makes in a folder of that name, by limits of placing; all others of the session wait."""
    base = factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared_{name}"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = place / "made"
        if not told.exists():
            with placing(**limits):
                told.write_text(str(make(place)))
        return Path(told.read_text())


def pytest_configure(config: pytest.Config) -> None:
    """Let SIGHUP do what it does by default, also under `nohup`; random families are large where slow tests run."""
    gc.disable()  # until all tests are known: they stay
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for kind, meaning in kinds.KINDS.items():
        config.addinivalue_line("markers", f"{kind}: {meaning}")
    if _is_slow_run(config):
        settings.load_profile("many")


def _is_slow_run(config: pytest.Config) -> bool:
    return config.getoption("markexpr") == "slow"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with writers that are forked, while this process is small, and go on with whole plans, which are long.

    All random families are among the slow tests, with more examples.
    """
    for item in items:
        item.add_marker(kinds.kind_of(item))
    for item in items if _is_slow_run(config) else ():
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("slow")
    items.sort(key=lambda item: (item.path.name != "test_output_kills.py", item.path.parent != ROOT / "tests"))


def pytest_collection_finish() -> None:
    """Spare the garbage collector the modules and the tests, which stay, and let it run as rarely as users have it."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(_OBJECTS_A_COLLECTION)


@pytest.fixture(scope="session", autouse=True)
def _journals_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests write, and what their processes do, out of the user's state folder."""
    with patch.dict(os.environ, {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}):
        yield


@pytest.fixture(scope="session", autouse=True)
def _children_compile_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let processes that tests start share bytecode where none may be left beside the sources."""
    if not sys.dont_write_bytecode:
        yield
        return
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "bytecode"
    with patch.dict(os.environ, {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(place)}):
        yield


@pytest.fixture(scope="session", autouse=True)
def _boards_are_measured_once() -> Iterator[None]:
    """Let the judge derive what equal board and device files tell once a session, not for each of 1,000 plans."""
    measured: dict[str, Board] = {}
    complete = platforms._complete

    def remembered(board: Board) -> Board:
        content = repr(board)
        if content not in measured:
            measured[content] = complete(board)
        return measured[content]

    with patch.object(platforms, "_complete", remembered):
        yield


@pytest.fixture(scope="session")
def cnv_on_u250(planned: Planned) -> Path:
    """The 2-bit CNV over several SLRs of a U250, with engines as large as they may be."""
    return planned(PLANS["CNV over several SLRs, with engines as large as they may be"])


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Plans of the examples by what is asked for, to look at and to leave as they are.

    Those in the list of tests/plans.py are made once a session, others for whoever asks.
    """
    listed = {repr(request) for request in PLANS.values()}

    def plan(request: Request) -> Path:
        if repr(request) not in listed:
            return make_plan(tmp_path_factory.mktemp("plan") / "out", request)
        name = hashlib.sha256(repr(request).encode()).hexdigest()[:16]
        # Mistakes that are planted in pblocks of a stitched plan go by where these lie.
        limits = {} if request.backend_options.model_dump().get("flow") == "stitch" else SHORT
        return made_once(tmp_path_factory, name, lambda folder: make_plan(folder / "out", request), limits)

    return plan


@pytest.fixture(scope="session")
def cnv_on_u250_by_default(planned: Planned) -> Path:
    """The 2-bit CNV on a U250 as the command line plans it."""
    return planned(PLANS["CNV on a card as the command line plans it"])


@pytest.fixture(scope="session")
def cnv_on_pynq(planned: Planned) -> Path:
    """The 2-bit CNV on a Zynq."""
    return planned(PLANS["CNV on a Zynq"])


@pytest.fixture(scope="session")
def whole_slots_of_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Branches in one module a slot, at a fill that makes more of some slots than a rectangle necessary."""
    fill = {**DEFAULT_FILL, "LUT": 0.012}
    options = {"granularity": "slot", "fill": fill, "constraint_style": "hard"}
    return made_once(tmp_path_factory, "whole", lambda folder: branches(folder, **options))


@pytest.fixture(scope="session")
def branches_on_two_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network with forks, adds and concats, squeezed until it needs two cards."""
    cap = {**DEFAULT_CAP, "LUT": 0.0105}
    return made_once(tmp_path_factory, "branches", lambda folder: branches(folder, fpgas=2, cap=cap))


@pytest.fixture(scope="session")
def far_on_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same on one card, with streams over several SLR boundaries, and no two engines of a slot alike."""
    cap = {**DEFAULT_CAP, "LUT": 0.01}
    return made_once(
        tmp_path_factory, "far", lambda folder: branches(folder, cap=cap, max_hops=3, tie_break="scarcity")
    )


def branches(folder: Path, platform: str = "alveo-u250", **options: Any) -> Path:
    """Plan a small network with forks, adds and concats on U250s."""
    onnx.save(random_graph(27), folder / "branches.onnx")
    request = Request(folder / "branches.onnx", platform, effort="fast", plots=False, **options)
    return make_plan(folder / "out", request)
