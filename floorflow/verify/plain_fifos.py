"""FIFOs of tools that choose their memory themselves: block RAM of 18 Kb, or 64 bits in a LUT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BRAM_BITS, LUT_BITS = 18432, 64


def check_plain_fifo(channel: Mapping[str, Any], tool: str) -> Iterator[str]:
    """Yield what is wrong with a FIFO: a style, or too little room for its words."""
    if channel["fifo_style"]:
        yield f"a FIFO is in {channel['fifo_style']!r:.60}, and {tool} gives no choice"
    use, bits = channel["fifo_resources"], channel["fifo_depth"] * channel["width_bits"]
    if bits > use["BRAM18"] * BRAM_BITS + use["LUT"] * LUT_BITS:
        yield f"{bits} bits do not fit {use['BRAM18']} BRAM18 and {use['LUT']} LUTs"
