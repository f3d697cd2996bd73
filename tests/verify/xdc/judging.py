"""Short ways to judge floorplans in tests."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from floorflow.verify.xdc import Judged, Target, find_target, judge_floorplan

FLOORPLANS = Path(__file__).parent / "floorplans"
Found = set[tuple[str, str, int]]

target = cache(find_target)


def judged(
    text: str,
    part: str = "xcu250",
    *,
    name: str = "a.xdc",
    board: str | None = None,
    report: Mapping[str, Mapping[str, int]] | None = None,
) -> Judged:
    on: Target = target(None if board else part, board)
    rows = None if report is None else ("report.rpt", {cell: dict(row) for cell, row in report.items()})
    return judge_floorplan([(name, text)], on, rows)


def found(verdict: Judged) -> Found:
    """Return severity, name and line of every finding."""
    return {(one.severity, one.name, one.place.line) for one in verdict.ordered}


def names(verdict: Judged) -> set[str]:
    return {one.name for one in verdict.ordered}
