"""Draw the silicon below the modules: columns, clock regions, SLRs, what the shell and the board's logic occupy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from floorflow.view.box import Box
from floorflow.view.die import ABSENT, FABRIC, Die, Frame
from floorflow.view.palette import COLUMN_COLOURS, INK, QUIET, RULE, Colour, darker
from floorflow.view.parts import Entry
from floorflow.view.sheet import Dashes, Sheet, Style
from floorflow.view.text import Occupied, block_size

STATIC_STYLE: Style = {"fill": "#c9ccd1", "edge": "#6b7078", "hatch": "/", "width": 0.6}
RESERVED_STYLE: Style = {"fill": "#fff3d6", "edge": "#8a6d1d", "hatch": "x", "width": 0.8}
PLATE: Style = {"fill": "white", "opacity": 0.85, "pad": 1.0}
"""Behind names on the die."""


@dataclass(frozen=True)
class PblockStyle:
    """How pblocks of a constraint style are drawn, and what key and slots say of them: soft ones bind less."""

    slot: str
    key: str
    opacity: float
    dashes: Dashes

    def of(self, colour: Colour) -> tuple[Style, Style]:
        """Return how the area of a module is filled, and how its outline is drawn."""
        return {"fill": colour, "opacity": self.opacity}, {"edge": darker(colour), "width": 1.0, "dashes": self.dashes}


PBLOCK_STYLES: Mapping[str, PblockStyle] = {
    "hard": PblockStyle("hard pblocks", "hard pblock", 0.82, ()),
    "soft": PblockStyle("soft pblocks", "soft pblock: cells may leave it", 0.55, (4.0, 2.0)),
    "slr": PblockStyle("SLR alone", "no pblock, its SLR alone: where it would fit", 0.3, (1.0, 1.8)),
    "none": PblockStyle("not constrained", "not constrained: where it would fit", 0.3, (1.0, 1.8)),
}
_SAMPLE: Colour = "#9eadc2"
"""Colour of the samples in the key."""


def draw_background(sheet: Sheet, frame: Frame, die: Die, *, numbered: bool = True) -> None:
    """Draw everything of the die that the plan has no part in, without texts inside the die.

    Clock regions are drawn only if they are ``numbered``.
    """
    sheet.rectangle(frame.die, fill=COLUMN_COLOURS[FABRIC], z=1)
    for kind in COLUMN_COLOURS:
        if kind != FABRIC and kind in die.kinds_present:
            _draw_columns(sheet, frame, die, kind, z=1)
    for box in die.static:
        sheet.rectangle(frame.place(box), z=2, **STATIC_STYLE)
    for _, box in die.reserved:
        sheet.rectangle(frame.place(box), z=2.5, **RESERVED_STYLE)
    if numbered:
        _draw_clock_regions(sheet, frame, die)
    for _, box in die.slrs:
        sheet.rectangle(frame.place(box), edge=INK, width=1.6, z=4)


def _draw_columns(sheet: Sheet, frame: Frame, die: Die, kind: str, z: float) -> None:
    sheet.shape([frame.place(box) for box in die.columns_of(kind)], fill=COLUMN_COLOURS[kind], z=z)


def draw_holes(sheet: Sheet, frame: Frame, die: Die) -> None:
    """Draw once more, over the modules' fill, where there is no fabric: their pblocks have no sites there."""
    if ABSENT in die.kinds_present:
        _draw_columns(sheet, frame, die, ABSENT, z=5.5)


def _draw_clock_regions(sheet: Sheet, frame: Frame, die: Die) -> None:
    """Draw the grid and number it: X below the die, Y at its left."""
    style: Style = {"colour": "#8d939b", "width": 0.45, "dashes": (4, 3), "z": 3}
    for number, (first, last) in enumerate(die.column_bounds):
        box = frame.place(Box(first, 0, last + 1, die.row_count))
        sheet.write(box.centre[0], box.bottom - 8, f"X{number}", 5.5, colour=QUIET, align="middle")
        if number:
            sheet.line((box.left, box.bottom), (box.left, box.top), **style)
    for number, bottom in enumerate(range(0, die.row_count, die.rows_per_clock_region)):
        _, y = frame.point(0, bottom)
        sheet.write(frame.die.left - 4, y + 3, f"Y{number}", 5.5, colour=QUIET, align="end")
        if number:
            sheet.line((frame.die.left, y), (frame.die.right, y), **style)


def label_background(sheet: Sheet, frame: Frame, die: Die, occupied: Occupied) -> None:
    """Name the shell's and the infrastructure's areas where there is room, the largest first: there it is seen."""
    largest_first = sorted(die.static, key=lambda box: (-box.area, box.left, box.bottom))
    for name, box in [*(("static shell", box) for box in largest_first), *die.reserved]:
        label_area(sheet, frame.place(box), name, occupied)


def label_area(sheet: Sheet, area: Box, name: str, occupied: Occupied) -> None:
    """Name an area in points at the first free place in it, if there is one."""
    x, y = area.centre
    sizes = [size for size in (7.5, 6.5, 5.5) if size >= sheet.style.least_type]
    for size, turned, share in product(sizes, (False, True), (0.0, 0.25, -0.25)):
        width, height = block_size((name,), size)
        box = Box.around(x, y + share * area.height, *((height, width) if turned else (width, height)))
        if area.holds(box) and occupied.take_first([box]):
            sheet.write(*box.centre, name, size, align="middle", middle=True, turned=turned, plate=PLATE)
            return


def die_key(dies: Sequence[Die], styles: Collection[str] = ()) -> Iterator[Entry]:
    """Yield the key of what there is on dies; ``styles`` are those of the pblocks."""
    present = {kind for die in dies for kind in die.kinds_present} - {FABRIC}
    for kind, colour in COLUMN_COLOURS.items():
        if kind in present:
            yield kind, "area", {"fill": colour, "edge": RULE}
    if any(die.static for die in dies):
        yield "static shell", "area", STATIC_STYLE
    if any(die.reserved for die in dies):
        yield "infrastructure", "area", RESERVED_STYLE
    for name, drawn in PBLOCK_STYLES.items():
        if name in styles:
            area, outline = drawn.of(_SAMPLE)
            yield drawn.key, "area", area | outline
