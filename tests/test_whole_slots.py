"""One module a slot, in a pblock over all that is free there, beside a shell of several rectangles."""

from __future__ import annotations

from pathlib import Path

import pytest

from floorflow.facts import PhaseEntry, read_plan
from floorflow.verify import check


@pytest.fixture
def phase(whole_slots_of_u250: Path) -> PhaseEntry:
    return read_plan(whole_slots_of_u250 / "plan.json").phases[0]


def test_a_module_a_slot_is_legal(whole_slots_of_u250: Path, phase: PhaseEntry) -> None:
    assert check(whole_slots_of_u250) == []
    slots = list(phase.partition.assignment.values())
    assert len(slots) == len(set(slots)) > 1


def test_a_pblock_beside_the_shell_has_several_rectangles_and_a_window_around_them(phase: PhaseEntry) -> None:
    pblocks = phase.floorplan["fpga0"].pblocks
    several = {name: entry for name, entry in pblocks.items() if len(entry.rectangles) > 1}
    assert several
    assert len(several) < len(pblocks), "one rectangle is enough where it holds the module"
    windows = {made.name: made.window for made in phase.implementations}
    for name, entry in several.items():
        columns = {column for rect in entry.rectangles for column in (rect.left, rect.right)}
        rows = {row for rect in entry.rectangles for row in (rect.bottom, rect.top)}
        size = {"columns": max(columns) - min(columns) + 1, "rows": max(rows) - min(rows) + 1}
        assert windows[name] == size


def test_what_fits_only_over_the_whole_slot_joined_nothing_for_want_of_rectangles(phase: PhaseEntry) -> None:
    assert phase.joined == [], "granularity slot was asked for"
