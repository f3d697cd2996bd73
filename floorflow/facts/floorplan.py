"""Where modules sit on an FPGA: pblocks, ports, wire length, and how much wire each part of the die has to carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.channel import LongStreamEntry
from floorflow.facts.text import number, table, wrapped
from floorflow.facts.values import Amount, Amounts, PlanModel, RectangleEntry, Stats


class PlacedPortEntry(PlanModel):
    """One end of a stream at the edge of its module's box: rows ``first..last`` of its left or right, else columns."""

    channel: str
    direction: Literal["in", "out"]
    side: Literal["left", "right", "bottom", "top"]
    first: Amount
    last: Amount


class ColumnWires(PlanModel):
    """Wires in a Laguna column, by its physical number."""

    column: Amount
    wires: Annotated[int, Field(ge=1)]


class SllColumnsEntry(PlanModel):
    """In which Laguna columns a stream best crosses an SLR boundary."""

    channel: str
    boundary: str
    columns: list[ColumnWires]


class PblockEntry(PlanModel):
    """Where a module sits: disjoint rectangles, most often one.

    ``likelihood`` that it holds its module is null where the cost model knows no error. ``short``: it has less room
    than it should have, and its slot has no more for it. ``pins_per_row``: wires of a port to each of its rows, or to
    two of its columns.
    """

    slot: str
    rectangles: Annotated[list[RectangleEntry], Field(min_length=1)]
    ranges: list[str]
    anchor: str
    demand: Amounts
    supply: Amounts
    likelihood: Annotated[float | None, Field(ge=0, le=1)]
    short: bool
    ports: list[PlacedPortEntry]
    pins_per_row: Annotated[int, Field(ge=1)]

    @property
    def box(self) -> RectangleEntry:
        """The least rectangle around all of them."""
        return RectangleEntry(
            left=min(rect.left for rect in self.rectangles),
            bottom=min(rect.bottom for rect in self.rectangles),
            right=max(rect.right for rect in self.rectangles),
            top=max(rect.top for rect in self.rectangles),
        )

    @property
    def cells(self) -> int:
        """Columns times rows of all of them."""
        return sum((r.right - r.left + 1) * (r.top - r.bottom + 1) for r in self.rectangles)


class PlacementTerms(PlanModel):
    """A number for each term of placement's objective: weights, or the terms in bit-tiles."""

    wire: float
    reach: float
    congestion: float


RoutingRow = Annotated[str, Field(pattern=r"^\d+( \d+)*$")]


class RoutingMapEntry(PlanModel):
    """How much wire each bin of a die has to carry (docs/plan.md, *Routing map*).

    A bin has so many columns and rows. ``capacity`` is the most that a bin offers, ``peak`` and ``mean`` what one
    carries, ``peak_at`` which carries the peak, ``over`` how many carry more than they offer; those that offer nothing,
    as over a processor, count for neither. ``demand``: a row of bins each, the lowest first, from left to right, in
    whole numbers.
    """

    unit: Literal["bit-tiles"]
    bin_columns: int
    bin_rows: int
    capacity: float
    peak: float
    peak_at: RectangleEntry
    mean: float
    over: Amount
    demand: Annotated[list[RoutingRow], Field(min_length=1)]


class FloorplanEntry(PlanModel):
    """The pblocks of one FPGA; ``port_length`` is the wire length from port to port, ``hpwl`` from middle to middle.

    ``longest``: the five longest of the streams between pblocks and the host's port. The objective of ``stats`` is the
    sum of the terms, each times its weight.
    """

    pblocks: dict[str, PblockEntry]
    hpwl: float
    port_length: float
    sll_columns: list[SllColumnsEntry]
    longest: list[LongStreamEntry]
    weights: PlacementTerms
    terms: PlacementTerms
    congestion: RoutingMapEntry
    stats: Stats


Floorplans = Mapping[str, FloorplanEntry]
"""The pblocks of each FPGA of a phase."""


def pblocks_of(floorplans: Floorplans) -> dict[str, PblockEntry]:
    """Return the pblocks of all FPGAs, by module."""
    return {name: entry for held in floorplans.values() for name, entry in held.pblocks.items()}


_UNIT = "bit-tiles: wires of one bit over one column or row; wires between modules alone, docs/placement.md says how"


def routing(floorplans: Floorplans) -> list[str]:
    """Return the terms of the objective with their weights, and peak, mean and worst place of each routing map."""
    placed = {fpga: entry for fpga, entry in floorplans.items() if entry.pblocks}
    if not placed:
        return []
    rows: list[tuple[str, ...]] = [
        ("", "wires", "late streams", "above capacity", "peak of a bin", "of", "mean", "bins above", "worst place")
    ]
    rows += [(fpga, *_row(entry)) for fpga, entry in placed.items()]
    weights = next(iter(placed.values())).weights
    told = f"weights: wire {weights.wire:g}, reach {weights.reach:g}, congestion {weights.congestion:g}"
    return [*wrapped([told, _UNIT]), *table(rows)]


def _row(entry: FloorplanEntry) -> tuple[str, ...]:
    found, terms = entry.congestion, entry.terms
    return (
        *map(number, (round(terms.wire), round(terms.reach), round(terms.congestion))),
        number(round(found.peak)),
        number(round(found.capacity)),
        f"{found.mean:,.1f}",
        str(found.over),
        _place(found),
    )


def _place(found: RoutingMapEntry) -> str:
    at = found.peak_at
    return f"columns {at.left} to {at.right}, rows {at.bottom} to {at.top}"
