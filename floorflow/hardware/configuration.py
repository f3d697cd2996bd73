"""How large the bitstream of a part of a die is: frames by kind of column, and bytes.

Source, 7 series: frames of each column in Project X-Ray's ``part.json`` of Zynq-7000 (CLB 36, DSP 28, BRAM 28 and 128
of contents), 101 words a frame (UG470). With two frames of padding a row and block type they add up to the 10,008
frames of the whole xc7z020, whose 32,364,512 bits (UG585) leave 583 words of commands. Source, UltraScale+: byteman
(CLB 16, INT 76, DSP 8, BRAM 6, URAM 9), 93 words a frame (UG570); 256 frames of BRAM contents are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from floorflow.hardware.device import Device
from floorflow.hardware.grid import Tile


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
