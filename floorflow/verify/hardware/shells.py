"""What a shell keeps, and what its user's cells and pblocks are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from floorflow.verify.hardware.pblock_rules import KeepOut

KNOWN_PREFIXES = ("pfm_top_i/dynamic_region", "level0_i/level1/level1_i/ulp", "level0_i/ulp")
"""Where the shells of Alveo cards hold the user's kernels."""
_OF_ALVEO = frozenset(("pblock_dynamic_region", *(f"pblock_dynamic_SLR{number}" for number in range(4))))


def brought(prefix: str, parents: Iterable[str]) -> frozenset[str]:
    """Return the pblocks that a shell brings: its parents and, of Alveo cards, those of either way to name them."""
    return frozenset(parents) | (_OF_ALVEO if prefix in KNOWN_PREFIXES else frozenset())


@dataclass(frozen=True)
class Shell:
    """A shell: ``reserved`` is where a memory controller is placed if it is in use."""

    name: str
    prefix: str
    brought: frozenset[str]
    static: KeepOut
    reserved: Mapping[str, KeepOut]

    def holds(self, cell: str) -> bool:
        """Whether a cell is named as under this shell."""
        return cell == self.prefix or cell.startswith(f"{self.prefix}/")
