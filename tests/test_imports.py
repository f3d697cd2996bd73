"""The import rule: data flows one way, and nothing imports what it must not know."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "floorflow"
OPEN_TO_ALL = {"resources", "stats", "errors", "technology", "request", "assets", "plan", "cpsat"}
ALLOWED = {
    "network": set(),
    "dataflow": set(),
    "target": set(),
    "rates": set(),
    "backends": {"network", "dataflow", "rates"},
    "folding": {"dataflow", "target"},
    "channels": {"dataflow", "target"},
    "partition": {"dataflow", "target"},
    "placement": {"dataflow", "target"},
    "emit": {"target"},
    "view": {"target"},
    "check": set(),
}
DRIVERS = {
    "search",
    "trials",
    "lowest_latency",
    "remedies",
    "sizing",
    "flow",
    "design",
    "report",
    "outcome",
    "output",
    "cli",
    "cli_options",
    "cli_output",
    "cli_studies",
    "bundle",
    "costing",
    "link_bound",
    "impl_styles",
    "timing",
    "__main__",
    "__init__",
}


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("floorflow.")}
    return rooms - {"__version__"}


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_rooms_import_only_what_they_may_know(room: str) -> None:
    open_to_all = set() if room == "check" else OPEN_TO_ALL
    for path in sorted((PACKAGE / room).rglob("*.py")):
        extra = imported_rooms(path) - open_to_all - ALLOWED[room] - {room}
        assert not extra, f"{path.relative_to(PACKAGE)} imports {sorted(extra)}"


def test_every_room_is_under_the_rule() -> None:
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir() and not p.name.startswith("_")}
    modules = {p.stem for p in PACKAGE.glob("*.py")}
    # record turns what the drivers decided into the Plan; study drives the stages to compare and to calibrate.
    assert rooms == set(ALLOWED) | {"record", "study"}
    assert modules == OPEN_TO_ALL | DRIVERS


def test_open_modules_import_no_room() -> None:
    for name in sorted(OPEN_TO_ALL):
        assert imported_rooms(PACKAGE / f"{name}.py") <= OPEN_TO_ALL


@pytest.mark.parametrize("heavy", ["onnx", "ortools", "matplotlib", "networkx", "numpy", "pydantic"])
def test_help_imports_nothing_heavy(heavy: str) -> None:
    code = f"import sys, floorflow.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
