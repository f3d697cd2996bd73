"""What placement is asked and what it answers: rectangles for the modules of one FPGA.

Coordinates are physical device columns and CLB rows, inclusive on both sides. A rectangle is legal if it lies in
its slot's region, starts and ends on legal edges, overlaps neither another rectangle nor a keep-out, and holds
``demand <= floor(fill * supply + 1e-9)`` of each resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from floorflow.errors import InputError
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.stats import SolveStats
from floorflow.target.device import Device
from floorflow.target.geometry import Rect
from floorflow.target.slots import Slot

Effort = Literal["fast", "default", "best"]
EFFORTS: tuple[Effort, ...] = ("fast", "default", "best")


@dataclass(frozen=True, slots=True)
class PlacedModule:
    """A module, the name of the slot it was assigned to, and what it needs."""

    name: str
    slot: str
    demand: Resources


@dataclass(frozen=True, slots=True)
class Wire:
    """A stream between two modules (by name), ``width_bits`` wide."""

    source: str
    target: str
    width_bits: int


@dataclass(frozen=True)
class PlacementProblem:
    """Modules of one FPGA, each with its slot, to be placed as rectangles with least wirelength.

    ``fill`` gives the share of a pblock's supply that may be used (resource name to fraction; 1 if left out).
    ``max_aspect`` is the largest ratio of a rectangle's sides (columns to rows or rows to columns) that the search
    takes: the wirelength of centres alone would favour slivers, whose inside cannot be routed well. It is a
    preference: it is doubled, then dropped, where nothing fits otherwise; None does not limit at all.
    """

    device: Device
    slots: tuple[Slot, ...]
    modules: tuple[PlacedModule, ...]
    wires: tuple[Wire, ...]
    fill: Mapping[str, float]
    effort: Effort = "default"
    max_aspect: float | None = 3.0

    def __post_init__(self) -> None:
        """Raise InputError for names that do not exist and for values out of range."""
        _require_unique("module", [module.name for module in self.modules])
        _require_unique("slot", [slot.name for slot in self.slots])
        for module in self.modules:
            _require_known(f"slot of module '{module.name}'", module.slot, self.slot_of)
        for wire in self.wires:
            _require_known("source of a wire", wire.source, self.index_of)
            _require_known("target of a wire", wire.target, self.index_of)
            if wire.width_bits < 0:
                raise InputError(f"wire {wire.source} -> {wire.target}: width_bits is {wire.width_bits}, expected >= 0")
        for name, share in self.fill.items():
            _require_known("resource of fill", name, RESOURCE_NAMES)
            if not 0 < share <= 1:
                raise InputError(f"fill of {name} is {share}, expected more than 0 and at most 1")
        _require_known("effort", self.effort, EFFORTS)
        if self.max_aspect is not None and self.max_aspect < 1:
            raise InputError(f"max_aspect is {self.max_aspect}, expected at least 1 or none")

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
    """A legal rectangle for every module.

    ``hpwl`` is the sum over wires of width_bits * (|dx| + |dy|) between centres, in bit columns and bit rows.
    ``stats.bound`` holds for every legal rectangle of the aspects that ``stats.method`` names, not only for those that
    were tried. ``congestion`` has ``max``
    and ``mean``: bits of wires whose bounding box covers a tile (see `congestion.congestion_of`).
    """

    rectangles: Mapping[str, Rect]
    hpwl: float
    congestion: Mapping[str, float]
    stats: SolveStats


@dataclass(frozen=True, slots=True)
class PlacementFailure:
    """No placement: the first slot and its modules that found no room, and whether that is proven."""

    slot: str
    modules: tuple[str, ...]
    reason: str
    proven: bool
    stats: SolveStats


def hpwl_of(rectangles: Mapping[str, Rect], wires: Sequence[Wire]) -> float:
    """Return the sum over wires of width_bits * (|dx| + |dy|) between rectangle centres."""
    return (
        sum(wire.width_bits * _twice_distance(rectangles[wire.source], rectangles[wire.target]) for wire in wires) / 2
    )


def _twice_distance(a: Rect, b: Rect) -> int:
    """Return twice the Manhattan distance of two centres; doubled, it is an integer."""
    return abs(a.left + a.right - b.left - b.right) + abs(a.bottom + a.top - b.bottom - b.top)


def _require_unique(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{what} names must differ; repeated: {', '.join(repeated)}")


def _require_known(what: str, name: str, known: Mapping[str, object] | Sequence[str]) -> None:
    if name not in known:
        raise InputError(f"{what} is '{name}', expected one of {', '.join(known)}")
