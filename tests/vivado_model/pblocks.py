"""Pblocks of a design: what holds once a script has ended, and what UG909 asks of reconfigurable partitions."""

from collections.abc import Iterator, Mapping, Sequence
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


LEFT = {True: "nmdbq", False: "MmlB"}
"""Letters of columns that stand left of their interconnect, on 7 series or not; a URAM column stands between two."""
RIGHT = {True: "NMDBQ", False: "LD"}


def check_partition(cell: str, pblock: Pblock | None, sites: Sites) -> None:
    """Refuse a partition without a pblock of its own, and one whose pblock does not meet UG909's rules."""
    if pblock is None:
        raise VivadoError(f"[DRC HDPR] cell '{cell}' is reconfigurable and has no pblock")
    if pblock.cells != [cell]:
        raise VivadoError(f"[DRC HDPR] pblock '{pblock.name}' of '{cell}' holds other cells too")
    if "SLICE" not in pblock.masks:
        raise VivadoError(f"[DRC HDPR-18] pblock '{pblock.name}' has no range of SLICE")
    mode = pblock.property("SNAPPING_MODE")
    if sites.is_series_7 and mode not in ("ON", "ROUTING"):
        raise VivadoError(f"pblock '{pblock.name}': SNAPPING_MODE is '{mode}', and off by default on 7 series")
    if not sites.is_series_7 and mode not in ("", "ON"):
        raise VivadoError(f"pblock '{pblock.name}': SNAPPING_MODE {mode} is not for UltraScale+ (UG912)")
    reset = pblock.property("RESET_AFTER_RECONFIG") == "TRUE"
    if reset and not sites.is_series_7:
        raise VivadoError(f"pblock '{pblock.name}': UltraScale+ has no RESET_AFTER_RECONFIG (UG909)")
    _check_columns(pblock, sites, reset=reset, may_gap=mode == "ROUTING" or not sites.is_series_7)


def _check_columns(pblock: Pblock, sites: Sites, *, reset: bool, may_gap: bool) -> None:
    """Check, in each row of clock regions, edges, gaps, heights and that no type of site inside is left out."""
    for row, letters in enumerate(sites.letters):
        held = _columns(pblock, sites, row)
        if not held:
            continue
        first, last = min(held), max(held)
        left, right = LEFT[sites.is_series_7], RIGHT[sites.is_series_7]
        if letters[first] not in left:
            raise VivadoError(f"pblock '{pblock.name}': its left edge splits the interconnect of column {first}")
        if letters[last] not in right:
            raise VivadoError(f"pblock '{pblock.name}': its right edge splits the interconnect of column {last}")
        for column in range(first, last + 1):
            if column not in held and letters[column] in left + right + "U" and not may_gap:
                raise VivadoError(f"pblock '{pblock.name}' leaves out column {column}, which is inside of it")
            if column not in held and sites.is_series_7 and letters[column] in left + right:
                raise VivadoError(f"pblock '{pblock.name}' leaves out the sites of column {column}: split interconnect")
        other = [letters[c] for c in range(first, last + 1) if letters[c] not in left + right + "UIGH"]
        if other and not may_gap:
            raise VivadoError(f"pblock '{pblock.name}' spans columns of other kinds: SNAPPING_MODE must be ROUTING")
        if reset and any(not whole for whole in held.values()):
            raise VivadoError(f"pblock '{pblock.name}': RESET_AFTER_RECONFIG needs whole clock regions (UG909)")


def _columns(pblock: Pblock, sites: Sites, row: int) -> dict[int, bool]:
    """Return the columns of which a pblock has sites in a row of clock regions, and whether it has all of each type."""
    found: dict[int, bool] = {}
    for site, mask in pblock.masks.items():
        part, there = sites.in_row(site, mask, row), sites.in_row(site, sites.exists[site], row)
        for x in np.flatnonzero(part.any(axis=1)).tolist():
            column = sites.column(site, x)
            found[column] = found.get(column, True) and bool((part[x] == there[x]).all())
    return found


def check_partitions_apart(pblocks: Sequence[Pblock], sites: Sites) -> None:
    """Refuse two partitions in one configuration frame: a column of a clock region is of one alone (UG909)."""
    owner: dict[tuple[int, int], str] = {}
    for pblock in pblocks:
        for row in range(len(sites.letters)):
            for column in _columns(pblock, sites, row):
                other = owner.setdefault((row, column), pblock.name)
                if other != pblock.name:
                    raise VivadoError(f"pblocks '{other}' and '{pblock.name}' share frames of column {column}")
