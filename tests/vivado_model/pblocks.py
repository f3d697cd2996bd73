"""Pblocks of a design and what must hold for them all once a script has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from .arguments import VivadoError
from .sites import Mask, RangeError, Sites

BOOLEANS = {"TRUE": "TRUE", "FALSE": "FALSE", "1": "TRUE", "0": "FALSE"}
LEGAL_VALUES: Mapping[str, Mapping[str, str]] = {
    "IS_SOFT": BOOLEANS,
    "CONTAIN_ROUTING": BOOLEANS,
    "EXCLUDE_PLACEMENT": BOOLEANS,
    "RESET_AFTER_RECONFIG": BOOLEANS,
    "SNAPPING_MODE": {mode: mode for mode in ("OFF", "ON", "NESTED", "ROUTING", "FINE_GRAINED")},
}
"""Settable pblock properties beside PARENT (UG912): what may be given, and how Vivado gives it back."""
DEFAULTS = {"IS_SOFT": "TRUE", "CONTAIN_ROUTING": "FALSE", "EXCLUDE_PLACEMENT": "FALSE"}


@dataclass
class Pblock:
    """One pblock. ``existing`` ones come with the shell: scripts may refer to them, not change them."""

    name: str
    existing: bool = False
    ranges: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    parent: str | None = None
    masks: dict[str, Mask] = field(default_factory=dict)

    def property(self, name: str) -> str:
        return self.properties.get(name, DEFAULTS.get(name, ""))

    def add(self, text: str, sites: Sites) -> None:
        """Add one range."""
        for site, mask in _masks(self.name, text, sites).items():
            self.masks[site] = self.masks[site] | mask if site in self.masks else mask
        self.ranges.append(text)

    def remove(self, text: str, sites: Sites) -> None:
        """Take the sites of one range away."""
        for site, mask in _masks(self.name, text, sites).items():
            if site in self.masks:
                self.masks[site] = self.masks[site] & ~mask
        self.ranges.append(f"-{text}")


def _masks(name: str, text: str, sites: Sites) -> dict[str, Mask]:
    try:
        return sites.masks(text)
    except RangeError as error:
        raise VivadoError(f"pblock '{name}': {error}") from error


def ancestors(table: Mapping[str, Pblock], name: str) -> Iterator[str]:
    """Yield parent, grandparent, ..."""
    parent = table[name].parent
    while parent is not None:
        yield parent
        parent = table[parent].parent


def check_finished(table: Mapping[str, Pblock], slr_of: Mapping[str, str]) -> None:
    """Raise VivadoError for the first pblock of a script that is incomplete, outside its parent or on another.

    A cell that has an SLR, or is inside one that has, lies in no pblock: one of the two would be ignored.
    """
    made = [pblock for pblock in table.values() if not pblock.existing]
    for pblock in made:
        _check_complete(pblock)
        if pblock.parent is not None:
            _check_inside(pblock, table[pblock.parent])
    _check_overlaps(table, made)
    _check_nested_cells(table, made)
    for pblock in made:
        for cell in pblock.cells:
            if slr_of.keys() & {cell, *(cell[:i] for i, sign in enumerate(cell) if sign == "/")}:
                raise VivadoError(f"cell '{cell}' of pblock '{pblock.name}' is assigned to an SLR as well")


def _check_complete(pblock: Pblock) -> None:
    if not any(mask.any() for mask in pblock.masks.values()):
        raise VivadoError(f"pblock '{pblock.name}' has no ranges")
    if not pblock.cells:
        raise VivadoError(f"pblock '{pblock.name}' has no cells")
    if pblock.property("IS_SOFT") == "TRUE":
        for name in ("CONTAIN_ROUTING", "EXCLUDE_PLACEMENT"):
            if pblock.property(name) == "TRUE":
                raise VivadoError(f"pblock '{pblock.name}': {name} needs IS_SOFT FALSE")


def _check_inside(child: Pblock, parent: Pblock) -> None:
    for site, mask in sorted(child.masks.items()):
        outside = mask & ~parent.masks[site] if site in parent.masks else mask
        if outside.any():
            x, y = (int(position[0]) for position in np.nonzero(outside))
            raise VivadoError(
                f"pblock '{child.name}' is not inside its parent '{parent.name}': "
                f"{site}_X{x}Y{y} and {int(outside.sum()) - 1} more sites lie outside"
            )


def _check_overlaps(table: Mapping[str, Pblock], made: list[Pblock]) -> None:
    hard = [pblock for pblock in made if pblock.property("IS_SOFT") == "FALSE"]
    owners: dict[str, np.ndarray] = {}
    for index, pblock in enumerate(hard):
        for site, mask in sorted(pblock.masks.items()):
            owner = owners.setdefault(site, np.full(mask.shape, -1, dtype=np.int32))
            for other in sorted(set(owner[mask].tolist()) - {-1}):
                _refuse_overlap(table, hard[other], pblock, site)
            owner[mask] = index


def _refuse_overlap(table: Mapping[str, Pblock], first: Pblock, second: Pblock, site: str) -> None:
    if first.name in ancestors(table, second.name) or second.name in ancestors(table, first.name):
        return
    count = int((first.masks[site] & second.masks[site]).sum())
    raise VivadoError(f"pblocks '{first.name}' and '{second.name}' overlap in {count} sites of type {site}")


def _check_nested_cells(table: Mapping[str, Pblock], made: list[Pblock]) -> None:
    owner = {cell: pblock.name for pblock in made for cell in pblock.cells}
    for cell, name in sorted(owner.items()):
        parts = cell.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            if owner.get(above, name) != name and owner[above] not in ancestors(table, name):
                raise VivadoError(f"cell '{cell}' of pblock '{name}' is inside cell '{above}' of '{owner[above]}'")
