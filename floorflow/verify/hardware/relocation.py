"""Whether a placed circuit can be moved from one window to another, row by row from the device's YAML file.

Columns must be of one kind, hard blocks be met at the same row of their tiles, and clock spines (the middle of each
clock region), edges of clock regions and SLR boundaries lie between the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorflow.verify.hardware.geometry import Device, Rectangle

Cell = tuple[str, int | None]


def moves_onto(device: Device, window: Sequence[Rectangle], other: Sequence[Rectangle]) -> bool:
    """Whether the rectangles of one window, each moved as far, are those of the other and meet the same cells."""
    own, others = (sorted(areas, key=lambda area: (area.left, area.bottom)) for areas in (window, other))
    if len(own) != len(others):
        return False
    pairs = list(zip(own, others, strict=True))
    moves = {(b.left - a.left, b.bottom - a.bottom) for a, b in pairs}
    moves |= {(b.right - a.right, b.top - a.top) for a, b in pairs}
    return len(moves) == 1 and all(list(_rows(device, a)) == list(_rows(device, b)) for a, b in pairs)


def _rows(device: Device, area: Rectangle) -> Iterator[tuple[list[Cell], str]]:
    """Yield the cells of each row, and what lies between it and the next one inside."""
    ends = {device.slr_rows(number)[1] for number in range(len(device.raw["slrs"]))}
    for row in range(area.bottom, area.top + 1):
        region, height = divmod(row, device.region_rows)
        layout = device.raw["layouts"][device.raw["clock_region_layouts"][region]]
        phases = {char: _phase(device, char, height) for char in set(layout[area.left : area.right + 1])}
        cells = [(char, phases[char]) for char in layout[area.left : area.right + 1]]
        yield cells, "" if row == area.top else _above(device, row, ends)


def _phase(device: Device, char: str, height: int) -> int | None:
    """Return which row of its tile a kind of column has at a height of the clock region, None below its tiles."""
    entry = device.raw["legend"][char]
    above = height - entry.get("first_row", 0)
    return above % (entry.get("tile_rows") or 1) if above >= 0 else None


def _above(device: Device, row: int, ends: set[int]) -> str:
    if row in ends:
        return "SLR"
    place = (row + 1) % device.region_rows
    return "region" if place == 0 else "spine" if place == device.region_rows // 2 else ""
