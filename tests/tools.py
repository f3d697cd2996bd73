"""Tools outside the package that tests use where they can be had, and a bound on time."""

import hashlib
import importlib
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FINN_PLUS_PINS = Path(__file__).parent / "tools_finn" / "requirements.txt"
HLS4ML_PINS = Path(__file__).parent / "tools_hls4ml" / "requirements.txt"
NEXTPNR_PINS = Path(__file__).parent / "tools_nextpnr" / "requirements.txt"
RAPIDWRIGHT_PINS = Path(__file__).parent / "tools_rapidwright" / "requirements.txt"


def need_module(name: str, reason: str) -> None:
    """Skip with the reason if the module is missing; fail where the gate says that every tool is there."""
    try:
        importlib.import_module(name)
    except ImportError:
        if os.environ.get("FLOORFLOW_TOOLS_REQUIRED"):
            raise
        pytest.skip(reason, allow_module_level=True)


def need_tcl() -> None:
    """Ask for the Tcl interpreter that the model of Vivado runs in."""
    need_module("tkinter", "the model of Vivado needs Python's tkinter for its Tcl interpreter")


def need_program(name: str) -> str:
    """Return the path of a program outside Python, such as ``verilator``, that the gate installs."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("FLOORFLOW_TOOLS_REQUIRED"):
            pytest.fail(f"{name} is not installed (see .ci/run)")
        pytest.skip(f"{name} is not installed (see .ci/run)")
    return found


def need_finn_plus() -> Path:
    """Return the Python of FINN+'s environment: FLOORFLOW_FINN_PLUS, else the one that .ci/run keeps in the cache."""
    return _need_environment("FINN+", "FLOORFLOW_FINN_PLUS", "finn-plus", FINN_PLUS_PINS)


def need_hls4ml() -> Path:
    """Return the Python of hls4ml's environment: FLOORFLOW_HLS4ML, else the one that .ci/run keeps in the cache."""
    return _need_environment("hls4ml", "FLOORFLOW_HLS4ML", "hls4ml", HLS4ML_PINS)


def need_nextpnr() -> Path:
    """Return the Python of nextpnr's environment: FLOORFLOW_NEXTPNR, else the one that .ci/run keeps in the cache."""
    return _need_environment("nextpnr", "FLOORFLOW_NEXTPNR", "nextpnr", NEXTPNR_PINS)


def need_rapidwright() -> Path:
    """Return the Python beside RapidWright: FLOORFLOW_RAPIDWRIGHT, else the one that .ci/run keeps in the cache."""
    return _need_environment("RapidWright", "FLOORFLOW_RAPIDWRIGHT", "rapidwright", RAPIDWRIGHT_PINS)


def its_own_bytecode() -> dict[str, str]:
    """Return the environment for a tool with a Python of its own, whose bytecode lies beside its modules."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}


def _need_environment(tool: str, variable: str, folder: str, pins: Path) -> Path:
    named = os.environ.get(variable)
    python = (Path(named) if named else _cached(folder, pins)) / "bin" / "python"
    if not python.exists():
        reason = f"{tool} is not installed at {python}: pip install --no-deps -r {pins} (see .ci/run)"
        if os.environ.get("FLOORFLOW_TOOLS_REQUIRED"):
            pytest.fail(reason)
        pytest.skip(reason)
    return python


def _cached(folder: str, pins: Path) -> Path:
    """Return where .ci/run puts the environment of these very pins."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "floorflow" / f"{folder}-{hashlib.sha256(pins.read_bytes()).hexdigest()[:12]}"


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fail if what is inside takes more of the processor's time."""

    def ring(_signal: int, _frame: object) -> None:
        raise AssertionError(f"not done after {seconds} s")  # no rule may catch it: a verdict came too late

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
