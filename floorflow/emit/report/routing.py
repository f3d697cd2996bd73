"""What placement weighed, and how much wire the fullest part of each die has to carry."""

from __future__ import annotations

from floorflow.emit.tables import number, table, wrapped
from floorflow.facts import FloorplanEntry, PhaseEntry, RoutingMapEntry

_UNIT = "bit-tiles: wires of one bit over one column or row; wires between modules alone, docs/search.md says how"


def routing(phase: PhaseEntry) -> list[str]:
    """Return the terms of the objective with their weights, and peak, mean and worst place of each routing map."""
    placed = {fpga: entry for fpga, entry in phase.floorplan.items() if entry.pblocks}
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
