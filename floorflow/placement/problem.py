"""What placement is asked and what it answers: where the modules of one FPGA lie.

Coordinates are physical device columns and CLB rows, inclusive on both sides. A rectangle is legal if it lies in
its slot's region, starts and ends on legal edges, overlaps neither another rectangle nor a keep-out, and holds
``demand <= floor(fill * supply + 1e-9)`` of each resource, or the supply that its module asks for. A module gets one,
or, if it has a slot to itself and no rectangle holds it, all that is free there: several.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from math import inf
from typing import Literal

from floorflow.errors import InputError, Refusal, sentence, some
from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect, bounding_box
from floorflow.hardware.slots import Slot
from floorflow.placement.congestion import RoutingMap
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.stats import SolveStats

Effort = Literal["fast", "default", "best"]
EFFORTS: tuple[Effort, ...] = ("fast", "default", "best")

Region = tuple[Rect, ...]
"""Disjoint rectangles of one module, at least one."""


@dataclass(frozen=True, slots=True)
class PlacedModule:
    """A module, the name of the slot it was assigned to, and what it needs.

    ``supply``: the least that its rectangle must hold, if that is not what the problem's fill asks for. All that is
    free of its slot is held against the fill.
    """

    name: str
    slot: str
    demand: Resources
    supply: Resources | None = None


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """A fixed end of wires, such as a link's port: twice a column and twice a row, as centres are counted."""

    x2: int
    y2: int

    @classmethod
    def at_centre(cls, rect: Rect) -> "Pin":
        """Return the pin in the middle of a rectangle."""
        return cls(rect.left + rect.right, rect.bottom + rect.top)


@dataclass(frozen=True, slots=True)
class Wire:
    """A stream between two modules (by name), or between a module and a pin.

    ``width_bits``: for how many bits it counts in the wirelength; ``wires``: those that it takes of the routing, as
    many if None.
    """

    source: str | Pin
    target: str | Pin
    width_bits: int
    wires: int | None = None

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the modules at its ends."""
        return tuple(end for end in (self.source, self.target) if isinstance(end, str))

    @property
    def pin(self) -> Pin | None:
        """Its fixed end, if it has one."""
        return next((end for end in (self.source, self.target) if isinstance(end, Pin)), None)


@dataclass(frozen=True, slots=True)
class Weights:
    """What a bit-tile of wire, of the penalty for streams beyond their reach, and of congestion costs."""

    wire: float = 1.0
    reach: float = 0.0
    congestion: float = 0.0

    def __post_init__(self) -> None:
        """Raise InputError for weights below zero, and where all are zero."""
        weights = (self.wire, self.reach, self.congestion)
        if not all(0 <= weight < inf for weight in weights) or not any(weights):
            raise InputError(f"weights of placement are {weights}, expected numbers from 0 up, of which one is not 0")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of the objective in bit-tiles, each without its weight (`floorflow.placement.objective`)."""

    wire: float
    reach: float
    congestion: float

    def weighted(self, weights: Weights) -> float:
        """Return the objective."""
        return weights.wire * self.wire + weights.reach * self.reach + weights.congestion * self.congestion


@dataclass(frozen=True)
class PlacementProblem:
    """Modules of one FPGA, each with its slot, to be placed as rectangles for the least weighted sum of three terms.

    ``fill`` gives the share of a pblock's supply that may be used (resource name to fraction; 1 if left out).
    ``max_aspect`` is the largest ratio of a rectangle's sides (columns to rows or rows to columns) that the search
    takes: the wirelength of centres alone would favour slivers, whose inside cannot be routed well. It is a
    preference: it is doubled, then dropped, where nothing fits otherwise; None does not limit at all. ``hints`` are
    rectangles, by module, from which the search may start. Of a ``draft`` little more is asked than that it is legal.

    ``fixed`` are rectangles that modules must have. ``previous`` are those that they had: as few as can be leave them
    (`staying`). ``alike`` are groups of equal modules whose rectangles one circuit is to fit (`alike`).

    ``reach_tiles``: columns and rows that a stream gets in one cycle, None if it does not matter. ``boundary_rows`` are
    the SLR boundaries at which streams have registers, as rows: between rows 239 and 240 lies 239.5.
    """

    device: Device
    slots: tuple[Slot, ...]
    modules: tuple[PlacedModule, ...]
    wires: tuple[Wire, ...]
    fill: Mapping[str, float]
    effort: Effort = "default"
    max_aspect: float | None = 3.0
    hints: Mapping[str, Rect] = dataclass_field(default_factory=dict)
    draft: bool = False
    fixed: Mapping[str, Rect] = dataclass_field(default_factory=dict)
    previous: Mapping[str, Rect] = dataclass_field(default_factory=dict)
    alike: tuple[tuple[str, ...], ...] = ()
    weights: Weights = Weights()
    reach_tiles: float | None = None
    boundary_rows: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Raise InputError for names that do not exist and for values out of range."""
        _require_unique("module", [module.name for module in self.modules])
        _require_unique("slot", [slot.name for slot in self.slots])
        for module in self.modules:
            _require_known(f"slot of module '{module.name}'", module.slot, self.slot_of)
        for wire in self.wires:
            for end in wire.modules:
                _require_known("end of a wire", end, self.index_of)
            if not wire.modules:
                raise InputError(f"wire {wire.source} -> {wire.target}: both ends are pins, expected a module at one")
            if wire.width_bits < 0:
                raise InputError(f"wire {wire.source} -> {wire.target}: width_bits is {wire.width_bits}, expected >= 0")
        for name, share in self.fill.items():
            _require_known("resource of fill", name, RESOURCE_NAMES)
            if not 0 < share <= 1:
                raise InputError(f"fill of {name} is {share}, expected more than 0 and at most 1")
        _require_known("effort", self.effort, EFFORTS)
        if self.max_aspect is not None and self.max_aspect < 1:
            raise InputError(f"max_aspect is {self.max_aspect}, expected at least 1 or none")
        if self.reach_tiles is not None and not self.reach_tiles > 0:
            raise InputError(f"reach_tiles is {self.reach_tiles}, expected more than 0 or none")
        self._check_wishes()

    def _check_wishes(self) -> None:
        """Raise InputError for fixed modules and groups of equal ones that do not exist, or are in two groups."""
        grouped = [name for group in self.alike for name in group]
        _require_unique("alike", grouped)
        for what, names in (("fixed", list(self.fixed)), ("alike", grouped)):
            for name in names:
                _require_known(what, name, self.index_of)

    @cached_property
    def slot_of(self) -> Mapping[str, Slot]:
        """Slots by name."""
        return {slot.name: slot for slot in self.slots}

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """Position of each module in ``modules``, by name."""
        return {module.name: index for index, module in enumerate(self.modules)}


@dataclass(frozen=True, slots=True)
class PlacementSolution:
    """A legal region for every module: one rectangle, or several over all that is free of its slot.

    ``hpwl`` is the sum over wires of width_bits * (|dx| + |dy|) between middles, in bit columns and bit rows.
    ``stats.objective`` is the weighted sum of the ``terms``, of which ``hpwl`` is the first. ``stats.bound`` holds for
    every legal rectangle of the aspects that ``stats.method`` names, not only for those that were tried; it is one of
    the first term, for the others cannot be negative. ``beyond_reach`` counts the streams inside an SLR that are longer
    than their reach.
    """

    regions: Mapping[str, Region]
    terms: Terms
    # It follows from the regions.
    routing: RoutingMap = dataclass_field(compare=False)
    beyond_reach: int
    stats: SolveStats

    @property
    def hpwl(self) -> float:
        """Wirelength in bit columns and bit rows."""
        return self.terms.wire

    def is_no_worse(self, other: "PlacementSolution") -> bool:
        """Whether it has fewer streams beyond their reach than another of the same problem, or costs no more."""
        return self.beyond_reach < other.beyond_reach or (self.stats.objective or 0.0) <= (other.stats.objective or 0.0)


@dataclass(frozen=True, slots=True)
class PlacementFailure:
    """No placement: the refusal names the first slot and its modules that found no room."""

    refusal: Refusal
    stats: SolveStats

    @property
    def slot(self) -> str:
        """The first slot whose modules found no room."""
        return self.refusal.place

    @property
    def proven(self) -> bool:
        """Whether no placement exists."""
        return self.refusal.proven

    def __str__(self) -> str:
        return sentence(self.refusal)


def hpwl_of(regions: Mapping[str, Region], wires: Sequence[Wire]) -> float:
    """Return the sum over wires of width_bits * (|dx| + |dy|) between the middles of regions and pins."""
    twice = 0
    for wire in wires:
        a, b = point_of(wire.source, regions), point_of(wire.target, regions)
        twice += wire.width_bits * (abs(a.x2 - b.x2) + abs(a.y2 - b.y2))
    return twice / 2


def point_of(end: str | Pin, regions: Mapping[str, Region]) -> Pin:
    """Return where a wire ends: at a pin, or in the middle of a module's bounding box; doubled, it is integral."""
    return end if isinstance(end, Pin) else Pin.at_centre(bounding_box(regions[end]))


def _require_unique(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{what} names must differ; repeated: {some(repeated)}")


def _require_known(what: str, name: str, known: Mapping[str, object] | Sequence[str]) -> None:
    if name not in known:
        raise InputError(f"{what} is '{name}', expected one of {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work an effort allows; none of it is wall time.

    ``improve_rounds`` are for ten modules and one start of a draft. Else rounds of annealing are counted by module:
    ``tight_rounds`` over the smallest rectangles, then ``every_rounds`` over those of every span. Up to
    ``complete_limit`` legal rectangles in all, CP-SAT sees every one of them, for ``complete_work`` of its
    deterministic seconds.
    Where a slot's modules are not all placed by the constructions, each try to pack them has ``packing_rounds``.
    Up to ``complete_modules`` modules CP-SAT then looks for anything shorter among all legal rectangles, for
    ``proof_work`` seconds of its own count; of the processor's these are about three; up to
    ``searched_modules`` for ``searched_work``. Up to ``ordered_modules`` it
    looks for the best layout of the same order, for ``ordered_work`` each time that it found a better one.
    For the bound of more than ``complete_modules`` it proves how short the wires inside each full slot of at most
    ``full_slot_modules`` can be, for ``full_slot_work`` each (0: not at all).
    """

    repaired_starts: int
    repair_rounds: int
    improved_starts: int
    improve_rounds: int
    complete_limit: int = 4000
    complete_work: float = 2.0
    packing_rounds: int = 300
    tight_rounds: int = 180
    every_rounds: int = 80
    complete_modules: int = 6
    proof_work: float = 10.0
    searched_modules: int = 9
    searched_work: float = 0.6
    ordered_modules: int = 0
    ordered_work: float = 0.2
    full_slot_modules: int = 6
    full_slot_work: float = 0.0


LIMITS: dict[Effort, Limits] = {
    "fast": Limits(
        2,
        100,
        1,
        200,
        packing_rounds=100,
        tight_rounds=50,
        every_rounds=20,
        complete_modules=5,
        proof_work=1.0,
        searched_modules=5,
    ),
    "default": Limits(4, 400, 1, 400),
    "best": Limits(
        8,
        2000,
        2,
        800,
        complete_work=10.0,
        packing_rounds=1000,
        tight_rounds=1500,
        every_rounds=700,
        complete_modules=8,
        proof_work=60.0,
        ordered_modules=60,
        ordered_work=5.0,
        full_slot_work=3.0,
    ),
}
