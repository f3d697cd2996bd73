"""A floorplan as files state it, pblocks in the order of creation, and what a report says that their cells need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites
from floorflow.verify.hardware.interconnect import is_series_7
from floorflow.verify.records import RESOURCE_NAMES
from floorflow.verify.tcl.values import Cells
from floorflow.verify.tcl.words import MAX_NAME, LimitError, Place, Work
from floorflow.verify.xdc.findings import ERROR, Findings

TRUE = ("TRUE", "1", "YES")
ROOT = "ROOT"
"""The pblock above all others."""
MAX_PARENTS = 100
"""How deep pblocks may nest by PARENT."""


@dataclass(eq=False)
class Pblock:
    """One pblock; ``created`` is None while no command has created it, ``brought`` says that the shell does.

    ``area`` are all sites of the rectangles that its SLICE ranges and clock regions span, whether named or not;
    ``names_laguna``: LAGUNA sites are among its ranges by themselves, not with their clock region.
    """

    name: str
    used: Place
    created: Place | None = None
    brought: bool = False
    sites: Sites = field(default_factory=dict)
    area: Sites = field(default_factory=dict)
    ranges: int = 0
    unjudged: set[str] = field(default_factory=set)
    held: dict[Cells, Place] = field(default_factory=dict)
    names_laguna: bool = False
    has_top: bool = False
    has_unknown_cells: bool = False
    properties: dict[str, tuple[str, Place]] = field(default_factory=dict)
    parent: tuple[str, Place] | None = None
    resized: Place | None = None

    def __post_init__(self) -> None:
        if len(self.name) > MAX_NAME:
            raise LimitError(
                self.used.line, f"the name of a pblock is longer than the limit of {MAX_NAME:,} characters"
            )

    @property
    def cells(self) -> list[tuple[Cells, Place]]:
        """Its cells in the end, with where they are added."""
        return [*self.held.items()]

    @property
    def place(self) -> Place:
        """Where it is created, else where it is first named."""
        return self.created or self.used

    @property
    def shape_place(self) -> Place:
        """Where its shape is last changed."""
        return self.resized or self.place

    def is_set(self, name: str) -> bool:
        """Whether a boolean property is set to true."""
        return self.value(name) in TRUE

    def value(self, name: str) -> str:
        """Return a property's value in capitals; empty if it is not set."""
        return self.properties[name][0].upper() if name in self.properties else ""

    @property
    def has_cells(self) -> bool:
        """Whether any cell is added to it, known or not."""
        return bool(self.held) or self.has_top or self.has_unknown_cells

    @property
    def is_hard(self) -> bool:
        """Whether its cells must not leave it."""
        return "IS_SOFT" in self.properties and not self.is_set("IS_SOFT")


@dataclass(frozen=True, slots=True)
class Held:
    """A pblock with the sites that it has in the end: those of its ranges, or what snapping leaves of them.

    ``outside``: sites that it would have if it did not snap to its parent.
    """

    block: Pblock
    sites: Sites
    areas: Sequence[Rectangle] = ()
    outside: Sites = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.block.name


@dataclass
class Floorplan:
    """All pblocks by name, and what is said of cells."""

    pblocks: dict[str, Pblock] = field(default_factory=dict)
    reconfigurable: dict[Cells, None] = field(default_factory=dict)
    slrs: list[tuple[str, Cells, Place]] = field(default_factory=list)
    sll_registers: list[tuple[Cells, Place]] = field(default_factory=list)
    homes: dict[Cells, Pblock] = field(default_factory=dict)
    moves: list[tuple[Cells, str, Place, str, Place]] = field(default_factory=list)
    """Cells that were added to a second pblock: both with their places. The second holds."""
    repeats: list[tuple[Cells, str, Place, Place]] = field(default_factory=list)
    commands: int = 0
    other_commands: int = 0
    work: Work = field(default_factory=Work)
    shell_slrs: dict[str, tuple[str, Sites]] = field(default_factory=dict)
    """The SLR in which a pblock of the shell lies, and all its sites, by the pblock's name."""
    _reconfigurable: dict[str, bool] = field(default_factory=dict)

    def add_cell(self, cell: Cells, block: Pblock, place: Place) -> None:
        """Add a cell to a pblock, which takes it out of the one that it is in."""
        before = self.homes.get(cell)
        at = before.held.get(cell) if before is not None else None
        if before is block and at is not None:
            self.repeats.append((cell, block.name, at, place))
            return
        if before is not None and at is not None:
            self.moves.append((cell, before.name, at, block.name, place))
            del before.held[cell]
        self.homes[cell] = block
        block.held[cell] = place

    def check_nesting(self) -> None:
        """Raise LimitError if pblocks nest deeper than `MAX_PARENTS`, which keeps what asks for ancestors quick."""
        for block in self.pblocks.values():
            if (
                block.parent is not None
                and sum(1 for _ in islice(self.ancestors(block.name), MAX_PARENTS + 1)) > MAX_PARENTS
            ):
                error = LimitError(
                    block.parent[1].line, f"pblocks nest deeper by PARENT than the limit of {MAX_PARENTS}"
                )
                error.file = block.parent[1].file
                raise error

    def ancestors(self, name: str) -> Iterator[str]:
        """Yield parent, grandparent, ... up to the first that is not known or comes again."""
        seen = {name}
        block = self.pblocks.get(name)
        while block is not None and block.parent is not None and block.parent[0] not in seen:
            yield block.parent[0]
            seen.add(block.parent[0])
            block = self.pblocks.get(block.parent[0])

    def is_nested(self, inner: str, outer: str) -> bool:
        """Whether a pblock is a descendant of another by PARENT."""
        return outer in self.ancestors(inner)

    def is_reconfigurable(self, block: Pblock) -> bool:
        """Whether a cell of the pblock is said to be a reconfigurable partition."""
        if not self.reconfigurable:
            return False
        if block.name not in self._reconfigurable:
            names, patterns = self._partitions
            inside = [cell.text for cell in block.held]
            for one in patterns:
                self.work.charge(one.cost(inside), block.place.line)
            self._reconfigurable[block.name] = not names.isdisjoint(inside) or any(
                any(map(one.taking(), inside)) for one in patterns
            )
        return self._reconfigurable[block.name]

    @cached_property
    def _partitions(self) -> tuple[frozenset[str], tuple[Cells, ...]]:
        """The cells that are said to be reconfigurable partitions: all as they are written, and the patterns."""
        return frozenset(one.text for one in self.reconfigurable), tuple(
            one for one in self.reconfigurable if not one.is_exact
        )

    def snaps(self, block: Pblock, device: Device) -> bool:
        """Whether Vivado itself moves its edges to what can be reconfigured: unless set, on UltraScale+ (UG909)."""
        mode = block.value("SNAPPING_MODE")
        return mode != "OFF" if mode else self.is_reconfigurable(block) and not is_series_7(device)

    def is_confined(self, block: Pblock, device: Device) -> bool:
        """Whether snapping keeps it inside its parent: SNAPPING_MODE NESTED, the default below a parent that snaps."""
        mode = block.value("SNAPPING_MODE")
        parent = self.pblocks.get(block.parent[0]) if block.parent is not None else None
        return mode == "NESTED" or (not mode and parent is not None and self.snaps(parent, device))


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
