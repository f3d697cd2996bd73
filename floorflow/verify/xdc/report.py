"""What a report by hierarchy says that the cells of pblocks need, and which cells a design has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from floorflow.verify.hardware.geometry import Device, Sites
from floorflow.verify.records import RESOURCE_NAMES
from floorflow.verify.tcl.values import Cells
from floorflow.verify.tcl.words import Work
from floorflow.verify.xdc.findings import ERROR, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Held, Pblock

NEARLY_FULL = 0.85
Amounts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Demand:
    """What the cells of a pblock need, and of which cells the report says nothing."""

    amounts: Amounts
    missing: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the report has every cell."""
        return not self.missing


@dataclass(frozen=True)
class Report:
    """The rows of a report: resources by the whole name of a cell; "" is the design."""

    file: str
    rows: Mapping[str, Amounts]
    work: Work = field(default_factory=Work)
    _taken: dict[Cells, list[str]] = field(default_factory=dict)

    @cached_property
    def _parents(self) -> frozenset[str]:
        return frozenset(name.rpartition("/")[0] for name in self.rows if name)

    def matching(self, cells: Cells) -> list[str]:
        """Return the cells of the report that a pattern takes."""
        if cells.is_exact:
            return [cells.text] if cells.text in self.rows else []
        if cells not in self._taken:
            self.work.charge(cells.cost(self.rows))
            takes = cells.taking()
            self._taken[cells] = [name for name in self.rows if name and takes(name)]
        return self._taken[cells]

    def may_hide(self, cells: Cells) -> bool:
        """Whether a cell may be below the depth to which the report goes: its nearest row is then a leaf of it."""
        if not cells.is_exact:
            return True
        above = cells.text.rpartition("/")[0]
        while above and above not in self.rows:
            above = above.rpartition("/")[0]
        return bool(above) and above not in self._parents

    def owners(self, floorplan: Floorplan) -> dict[str, str]:
        """Return the pblock of each cell that is added to one; the last holds."""
        owner: dict[str, str] = {}
        for block in floorplan.pblocks.values():
            if block.has_top:
                owner[""] = block.name
        added = [(place.order, cell, block.name) for block in floorplan.pblocks.values() for cell, place in block.cells]
        for _, cell, name in sorted(added, key=lambda one: one[0]):
            owner |= dict.fromkeys(self.matching(cell), name)
        return owner

    def demands(self, floorplan: Floorplan) -> dict[str, Demand]:
        """Return what each pblock has to hold: its cells and its descendants', less cells that others took out."""
        owner = self.owners(floorplan)
        amounts = {name: dict.fromkeys(RESOURCE_NAMES, 0) for name in floorplan.pblocks}
        for cell, name in owner.items():
            above = _owner_above(cell, owner)
            inside = {name, *floorplan.ancestors(name)}
            before = {above, *floorplan.ancestors(above)} if above is not None else set()
            for blocks, sign in ((inside - before, 1), (before - inside, -1)):
                for block in blocks & amounts.keys():
                    for resource in RESOURCE_NAMES:
                        amounts[block][resource] += sign * self.rows[cell].get(resource, 0)
        return {
            block.name: Demand(amounts[block.name], tuple(c.text for c, _ in block.cells if not self.matching(c)))
            for block in floorplan.pblocks.values()
        }


def _owner_above(cell: str, owner: Mapping[str, str]) -> str | None:
    """Return the pblock of the nearest cell above that is in one."""
    while cell:
        cell = cell.rpartition("/")[0]
        if cell in owner:
            return owner[cell]
    return None


@dataclass(frozen=True, slots=True)
class Fullness:
    """What a pblock holds and, with a report, what its cells need."""

    pblock: str
    supply: Amounts
    demand: Amounts | None = None
    missing: tuple[str, ...] = field(default_factory=tuple)

    def shares(self) -> Iterator[tuple[str, int, int]]:
        """Yield resource, demand and supply of whatever is needed."""
        for name, needed in (self.demand or {}).items():
            if needed > 0:
                yield name, needed, self.supply[name]


def fullness_of(device: Device, block: Held, demand: Demand | None) -> Fullness:
    """Return what a pblock holds: its sites; block RAM by either of its two types."""
    supply = device.resources_of(block.sites)
    if not supply["BRAM18"]:
        supply["BRAM18"] = 2 * count(block.sites, "RAMB36")
    if demand is None:
        return Fullness(block.name, supply)
    return Fullness(block.name, supply, demand.amounts, demand.missing)


def count(sites: Sites, kind: str) -> int:
    """Return how many sites of a type there are."""
    return sum(mask.bit_count() for (own, _), mask in sites.items() if own == kind)


def judge_fullness(block: Pblock, full: Fullness, findings: Findings) -> None:
    """Judge each resource; types that no range names are told as unconstrained."""
    for name, needed, there in full.shares():
        if not there:
            continue
        found = f"{needed:,} {name} of {there:,} ({needed / there:.0%})"
        if needed > there:
            expected, severity = f"at most {there:,}", ERROR
            findings.add("pblock-overfull", block.shape_place, found, expected, pblock=block.name, severity=severity)
        elif needed > NEARLY_FULL * there:
            expected = f"at most {int(NEARLY_FULL * there):,}"
            findings.add("pblock-nearly-full", block.shape_place, found, expected, pblock=block.name)
