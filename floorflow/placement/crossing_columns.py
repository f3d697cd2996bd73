"""In which Laguna columns streams cross an SLR boundary: those nearest to the straight lines between their ends."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

from floorflow.placement.problem import Pin


@dataclass(frozen=True, slots=True)
class BoundaryCrossing:
    """A stream over one SLR boundary: its wires, and where the stretch begins and ends of which that is a part."""

    stream: str
    wires: int
    source: Pin
    target: Pin

    def column2(self, row2: int) -> int:
        """Return twice the column in which the line between its ends meets a row, given twice; rounded down."""
        rows = self.target.y2 - self.source.y2
        if rows == 0:
            return (self.source.x2 + self.target.x2) // 2
        low, high = sorted((self.source.y2, self.target.y2))
        along = min(max(row2, low), high) - self.source.y2
        return self.source.x2 + (self.target.x2 - self.source.x2) * along // rows


def crossing_columns(
    crossings: Sequence[BoundaryCrossing], row2: int, columns: Sequence[int], wires_per_column: int
) -> dict[str, dict[int, int]]:
    """Return the wires of each stream by column: in all, the fewest columns away from the lines between their ends.

    Each stream has one column, the nearest, where these have wires enough; else a flow of least cost shares out the
    wires, and may split a stream. A boundary carries what crosses it: that is the partition's rule.

    Raises ValueError if the columns have fewer wires than the streams.
    """
    away = {c.stream: {k: abs(2 * k - c.column2(row2)) for k in columns} for c in crossings}
    nearest = {c.stream: min(columns, key=lambda k: (away[c.stream][k], k)) for c in crossings}
    used: Counter[int] = Counter()
    for crossing in crossings:
        used[nearest[crossing.stream]] += crossing.wires
    if all(wires <= wires_per_column for wires in used.values()):
        return {c.stream: {nearest[c.stream]: c.wires} for c in crossings}
    return _shared_out(crossings, away, wires_per_column)


def _shared_out(
    crossings: Sequence[BoundaryCrossing], away: Mapping[str, Mapping[int, int]], wires_per_column: int
) -> dict[str, dict[int, int]]:
    """Solve the transport of wires from streams to columns; all its numbers are whole, and so is its optimum."""
    columns = [*away[crossings[0].stream]]
    flow, sink = SimpleMinCostFlow(), len(crossings) + len(columns)
    arcs = {}
    for number, crossing in enumerate(crossings):
        flow.set_node_supply(number, crossing.wires)
        for place, column in enumerate(columns, start=len(crossings)):
            arc = flow.add_arc_with_capacity_and_unit_cost(number, place, crossing.wires, away[crossing.stream][column])
            arcs[crossing.stream, column] = arc
    for place in range(len(crossings), sink):
        flow.add_arc_with_capacity_and_unit_cost(place, sink, wires_per_column, 0)
    flow.set_node_supply(sink, -sum(crossing.wires for crossing in crossings))
    if flow.solve() != flow.OPTIMAL:
        raise ValueError(f"{sum(c.wires for c in crossings)} wires in {len(columns)} columns of {wires_per_column}")
    found: dict[str, dict[int, int]] = {crossing.stream: {} for crossing in crossings}
    for (stream, column), arc in arcs.items():
        if flow.flow(arc):
            found[stream][column] = int(flow.flow(arc))
    return found
