"""What a shell keeps, and what its user's cells and pblocks are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from floorflow.verify.hardware.pblock_rules import KeepOut

KNOWN_PREFIXES = ("pfm_top_i/dynamic_region", "level0_i/level1/level1_i/ulp", "level0_i/ulp")
"""Where the shells of Alveo cards hold the user's kernels."""
ONE_STAGE = {"level0_i/level1/level1_i/ulp": "level0_i/ulp"}
"""Prefix of two-stage shells, and of those of one stage, which a card may carry instead: only the user knows."""
IN_PARENT = "{slr}"
"""What stands for the SLR in the name of the pblock that a shell brings for each."""
_OF_ALVEO = ("pblock_dynamic_region", f"pblock_dynamic_{IN_PARENT}")


def parents(prefix: str, own: Iterable[str]) -> tuple[str, ...]:
    """Return how a shell calls the pblocks that it brings: as stated and, of Alveo cards, in either of two ways."""
    return tuple(dict.fromkeys((*own, *(_OF_ALVEO if prefix in KNOWN_PREFIXES else ()))))


def brought(names: Iterable[str], slrs: Sequence[str]) -> frozenset[str]:
    """Return the pblocks that a shell brings on a die with these SLRs."""
    return frozenset(name.replace(IN_PARENT, slr) for name in names for slr in slrs)


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
