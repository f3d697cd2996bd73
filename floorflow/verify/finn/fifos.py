"""Memories of FIFOs: which FINN builds at a depth, and how many bits fit what the plan charges for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.verify.hardware.parts import has_uram

SHIFT_REGISTER_WORDS = 33
"""Depth up to which FINN's FIFO is of shift registers, whatever is asked for."""
LARGEST = {"LUT": 64, "BRAM18": 18432, "URAM": 294912}
"""Bits in one unit of each resource."""
MEMORIES = {
    "auto": ("LUT",),
    "srl": ("LUT",),
    "distributed": ("LUT",),
    "block": ("BRAM18", "LUT"),
    "ultra": ("URAM", "BRAM18", "LUT"),
}
"""Resources that the words of a FIFO lie in, by style; the first of block and ultra is always needed."""
REGISTERED_WORDS = {"auto": 2, "srl": 2, "distributed": 2, "block": 2, "ultra": 18}
"""Words that may lie in registers at the two ends."""


def fifo_objections(channel: Mapping[str, Any], part: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the style of a channel's FIFO, and with what it costs in that style."""
    style, depth = channel["fifo_style"], channel["fifo_depth"]
    finns_own = options.get("costs") == "finn"
    if style not in MEMORIES:
        yield f"fifo_style is {style!r:.40}, expected one of {', '.join(MEMORIES)}"
        return
    if depth <= SHIFT_REGISTER_WORDS or (finns_own and options.get("finn") != "plus"):
        if style != "auto":
            yield f"fifo_style is {style}, yet FINN has one FIFO for {depth} words: auto"
    elif style == "auto":
        yield f"fifo_style is auto, yet {depth} words leave a choice"
    if style == "ultra" and not finns_own and not has_uram(part):
        yield f"fifo_style is ultra on {part}, a part without UltraRAM"
    if not finns_own:
        yield from _bits_objections(channel, style)


def _bits_objections(channel: Mapping[str, Any], style: str) -> Iterator[str]:
    depth, use = channel["fifo_depth"], channel["fifo_resources"]
    others = [name for name in ("BRAM18", "URAM") if use[name] and name not in MEMORIES[style]]
    if others:
        yield f"a FIFO of style {style} has no {' and '.join(others)}"
    first = MEMORIES[style][0]
    if first != "LUT" and not use[first]:
        yield f"a FIFO of style {style} has no {first}"
    bits = max(0, depth - REGISTERED_WORDS[style]) * channel["width_bits"]
    room = sum(LARGEST[name] * use[name] for name in MEMORIES[style])
    if bits > room:
        yield f"{bits} bits in {style} do not fit {', '.join(f'{use[n]} {n}' for n in MEMORIES[style])}"
