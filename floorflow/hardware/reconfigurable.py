"""What of a die may be swapped while the rest runs, by the rules of Dynamic Function eXchange (UG909).

A region is a rectangle of whole *units* of columns and whole rows of clock regions. A unit is what shares interconnect:
on 7 series two INT columns stand back to back, one of the column on their left and one of that on their right, and an
edge between them splits them; on UltraScale+ one INT column serves both neighbours, and a programmable unit is all
three. Frames are a clock region high on both families, so that less height would load no faster, and on 7 series
RESET_AFTER_RECONFIG needs it. The processor is never inside. Clock, I/O and configuration columns may be, as a gap: the
region's pblock names none of their sites.

Frames and bytes of a bitstream. Source, 7 series: frames of each column in Project X-Ray's ``part.json`` of Zynq-7000
(CLB 36, DSP 28, BRAM 28 and 128 of contents), 101 words a frame (UG470). With two frames of padding a row and block
type they add up to the 10,008 frames of the whole xc7z020, whose 32,364,512 bits (UG585) leave 583 words of commands.
Source, UltraScale+: byteman (CLB 16, INT 76, DSP 8, BRAM 6, URAM 9), 93 words a frame (UG570); 256 frames of BRAM
contents are assumed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.grid import IntArray, Tile

BoolArray = NDArray[np.bool_]
FABRIC = ("clb", "dsp", "bram", "uram")
"""Kinds of columns that a region may own."""
_SIDE = re.compile(r"(?:CLBLL|CLBLM|DSP|BRAM)_([LR])\b")
"""Tile types of 7 series, with the side of the INT pair on which they stand."""


@dataclass(frozen=True)
class FrameFacts:
    """Frames of one column in one row of clock regions, by kind; ``contents`` are those of a BRAM column's data."""

    words: int
    frames: Mapping[str, int]
    contents: int
    assumed: bool


_FACTS = {
    # A clock or VFRAME column has 30, a configuration column 36: the most of what a region may span.
    "7series": FrameFacts(101, {"clb": 36, "dsp": 28, "bram": 28, "other": 36}, 128, assumed=False),
    "ultrascale+": FrameFacts(
        93,
        {"clb": 16, "interconnect": 76, "dsp": 8, "bram": 6, "uram": 9, "laguna": 16, "other": 12},
        256,
        assumed=True,
    ),
}
PADDING_FRAMES = 2
"""Frames after the last of a row of clock regions, for each of the two block types."""
COMMAND_WORDS = 583
"""Words of a bitstream beside its frames: those of the whole xc7z020, an upper bound for a part of it."""


def frame_facts(device: Device) -> FrameFacts:
    """Return the frames of a die's columns."""
    return _FACTS[device.architecture]


def unit_frames(device: Device, tiles: Iterable[Tile]) -> int:
    """Return the frames of neighbouring columns in one row of clock regions."""
    facts = frame_facts(device)
    return sum(facts.frames.get(tile.kind, 0) + (facts.contents if tile.kind == "bram" else 0) for tile in tiles)


def bitstream_bytes(device: Device, frames: int, clock_region_rows: int) -> int:
    """Return the bytes of a bitstream of so many frames in so many rows of clock regions, at most."""
    padded = frames + 2 * PADDING_FRAMES * clock_region_rows
    return 4 * (padded * frame_facts(device).words + COMMAND_WORDS)


@dataclass(frozen=True, eq=False)
class RegionGrid:
    """A die in units of columns and rows of clock regions: arrays are (clock-region rows, units).

    ``whole``: all columns of the unit are fabric, so that an edge may lie beside it; ``may_span``: a region may lie
    over it; ``owned``: its logic belongs to a region that does. ``supply`` (rows, units, 5) is what a region gets of
    it, in the order of `RESOURCE_NAMES`; ``frames`` are those of its configuration.
    """

    device: Device
    units: tuple[tuple[int, int], ...]
    whole: BoolArray
    may_span: BoolArray
    owned: BoolArray
    supply: IntArray
    frames: IntArray

    @property
    def slr_rows(self) -> tuple[tuple[int, int], ...]:
        """First and last row of clock regions of each SLR."""
        height = self.device.rows_per_clock_region
        return tuple((slr.bottom // height, slr.top // height) for slr in self.device.slrs)

    def rect(self, first: int, last: int, bottom: int, top: int) -> Rect:
        """Return the rectangle of units ``first..last`` and clock-region rows ``bottom..top``."""
        height = self.device.rows_per_clock_region
        return Rect(self.units[first][0], bottom * height, self.units[last][1], (top + 1) * height - 1)

    def owned_rectangles(self, first: int, last: int, bottom: int, top: int) -> tuple[Rect, ...]:
        """Return disjoint rectangles, bottom to top, of what a region there owns."""
        rects: list[Rect] = []
        for runs, alike in groupby(range(bottom, top + 1), lambda row: tuple(self._runs(row, first, last))):
            rows = list(alike)
            rects += [self.rect(a, b, rows[0], rows[-1]) for a, b in runs]
        return tuple(rects)

    def _runs(self, row: int, first: int, last: int) -> Iterator[tuple[int, int]]:
        for owned, run in groupby(range(first, last + 1), lambda unit: bool(self.owned[row, unit])):
            units = list(run)
            if owned:
                yield units[0], units[-1]


def region_grid(device: Device, keep_outs: Iterable[Rect] = ()) -> RegionGrid:
    """Return what regions may be made of; none may touch ``keep_outs``."""
    units = _pairs(device) if device.architecture == "7series" else device.units
    tiles = [[device.legend[char] for char in layout] for layout in device.layouts]
    by_unit = [[row[first : last + 1] for first, last in units] for row in tiles]
    whole = np.array([[all(map(_is_fabric, unit)) for unit in row] for row in by_unit])
    may_span = np.array([[not any(tile.is_closed for tile in unit) for unit in row] for row in by_unit])
    height = device.rows_per_clock_region
    bounds = np.array(
        [[first, y * height, last, (y + 1) * height - 1] for y in range(len(tiles)) for first, last in units],
        dtype=np.int64,
    )
    held = device.resources_of(bounds).reshape(len(tiles), len(units), -1)
    # Snapping leaves out the logic of a programmable unit that is not whole; on 7 series, with ROUTING, it does not.
    owned: BoolArray = np.asarray(held.any(axis=2) if device.architecture == "7series" else whole)
    for rect in keep_outs:
        touched = np.array([rect.overlaps(Rect(*bound)) for bound in bounds.tolist()])
        may_span &= ~touched.reshape(may_span.shape)
    frames = np.array([[unit_frames(device, unit) for unit in row] for row in by_unit], dtype=np.int64)
    return RegionGrid(device, units, whole, may_span, owned & may_span, held * owned[..., None], frames)


def _is_fabric(tile: Tile) -> bool:
    return tile.kind == "interconnect" or (tile.kind in FABRIC and tile.first_row == 0)


def _pairs(device: Device) -> tuple[tuple[int, int], ...]:
    """Return the columns of 7 series two by two, as their INT columns stand back to back: left one, then right one."""
    starts: set[int] = set()
    for layout in device.layouts:
        for column, char in enumerate(layout):
            side = _SIDE.match(device.legend[char].description)
            if side:
                starts.add(column if side[1] == "L" else column - 1)
    joined = {start + 1 for start in starts}
    firsts = [column for column in range(device.column_count) if column not in joined]
    return tuple((column, column + (column in starts)) for column in firsts)
