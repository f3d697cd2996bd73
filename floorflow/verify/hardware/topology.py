"""Which FPGAs of a number of equal ones links join."""

from __future__ import annotations

from functools import lru_cache

TOPOLOGIES = ("pair", "chain", "ring", "star", "full")


@lru_cache(maxsize=16)
def joined_pairs(topology: str, fpga_count: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of FPGAs, by number and the lower first, between which there is a link."""
    everyone = ((low, high) for high in range(fpga_count) for low in range(high))
    return tuple(pair for pair in everyone if _are_joined(topology, *pair, fpga_count))


def _are_joined(topology: str, low: int, high: int, fpga_count: int) -> bool:
    if topology == "full":
        return True
    if topology == "star":
        return low == 0
    return high - low == 1 or (topology == "ring" and high - low == fpga_count - 1)
