"""Planted mistakes in pblocks of several rectangles."""

from __future__ import annotations

from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.hardware.ranges import SiteRange, clock_region_rectangle
from tests.verify.dies import ranges_of
from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    area_of,
    board_of,
    die,
    first,
    mutant,
    name_ranges,
    pblocks,
    place,
)

STEP = 15
"""Rows that no hard block's tile leaves, counted from the bottom of a die."""


def halves(plan: Plan) -> tuple[str, Rectangle, Rectangle]:
    """Return the first pblock of one rectangle that is high enough, and that rectangle's lower and upper part."""
    for name, entry in pblocks(plan).items():
        area = area_of(entry)
        if len(entry["rectangles"]) == 1 and area.top - area.bottom + 1 >= 2 * STEP:
            middle = area.bottom + STEP
            lower = Rectangle(area.left, area.bottom, area.right, middle - 1)
            return name, lower, Rectangle(area.left, middle, area.right, area.top)
    raise NotApplicable


def cut(plan: Plan, files: Files) -> None:
    """Make two rectangles of a pblock's one, which is as legal."""
    name, lower, upper = halves(plan)
    place(plan, files, name, lower, upper)


@mutant("pblock-rectangles")
def rectangles_of_one_pblock_overlap(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    place(plan, files, name, lower, Rectangle(upper.left, upper.bottom - STEP, upper.right, upper.top))


@mutant("pblock-rectangles")
def pblock_without_rectangle(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["rectangles"].clear()


@mutant("slr-mismatch", TWO_SLRS)
def second_rectangle_in_another_slot(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    device = die(plan, files)
    bottom, top = first(
        rows for rows in map(device.slr_rows, range(len(device.raw["slrs"]))) if not rows[0] <= upper.bottom <= rows[1]
    )
    place(plan, files, name, lower, Rectangle(upper.left, bottom, upper.right, top))


@mutant("shell-touched", TWO_SLRS)
def second_rectangle_on_the_shell(plan: Plan, files: Files) -> None:
    static = board_of(plan, files).get("shell", {}).get("static", {})
    text = first(text for ranges in static.values() for text in ranges if text.startswith("CLOCKREGION"))
    x, y = text.split(":")[0].split("_X")[1].split("Y")
    corner = SiteRange("CLOCKREGION", int(x), int(y), int(x), int(y))
    name, entry = first(pblocks(plan).items())
    place(plan, files, name, area_of(entry), clock_region_rectangle(die(plan, files), corner))


@mutant("range-mismatch")
def second_rectangle_in_no_range(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    place(plan, files, name, lower, upper)
    name_ranges(plan, files, name, ranges_of(die(plan, files).sites(lower)))


@mutant("wrong-supply")
def supply_of_the_box_around_two_rectangles(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    whole = pblocks(plan)[name]["supply"]
    if upper.bottom + STEP > upper.top:
        raise NotApplicable
    place(plan, files, name, lower, Rectangle(upper.left, upper.bottom + STEP, upper.right, upper.top))
    pblocks(plan)[name]["supply"] = whole


@mutant("wrong-anchor")
def anchor_of_the_upper_rectangle(plan: Plan, files: Files) -> None:
    name, lower, upper = halves(plan)
    place(plan, files, name, upper)
    anchor = pblocks(plan)[name]["anchor"]
    place(plan, files, name, lower, upper)
    pblocks(plan)[name]["anchor"] = anchor


@mutant("implementation-window")
def second_rectangle_beyond_the_window(plan: Plan, files: Files) -> None:
    name, lower, _ = halves(plan)
    place(plan, files, name, lower)


@mutant("pblock-overlap")
def second_rectangle_on_another_pblock(plan: Plan, files: Files) -> None:
    blocks = list(pblocks(plan).items())
    if len(blocks) < 2:
        raise NotApplicable
    (name, entry), (_, other) = blocks[:2]
    place(plan, files, name, area_of(entry), area_of(other))
