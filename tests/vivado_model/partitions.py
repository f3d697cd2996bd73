"""What UG909 asks of the pblock of a reconfigurable partition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arguments import VivadoError
from .pblocks import Pblock
from .sites import Sites

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
