"""Words that FIFOs hold where branches join: while windows of another branch fill, and because routes take time.

While the windows of one branch fill, the data of the others must wait in FIFOs, or the pipeline stalls. docs/plan.md
("Window fill") holds the definitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import networkx as nx

from floorflow.dataflow.model import Dataflow, Stream
from floorflow.hardware.slot_graph import Route

_HOST = "host"


def waits(dataflow: Dataflow) -> dict[Stream, Fraction]:
    """Return, for each stream on a shorter branch into a join, the window fill of the join's longest branch."""
    graph = nx.DiGraph()
    for stream in dataflow.streams:
        if not stream.to_outside:
            graph.add_edge(_HOST if stream.from_outside else stream.source, stream.target)
    ends = Counter(stream.target for stream in dataflow.streams)
    joins = [e.name for e in dataflow.engines if ends[e.name] > 1]
    if not joins:
        return {}
    forks = nx.immediate_dominators(graph, _HOST)
    fills = {e.name: e.window_fill for e in dataflow.engines}
    found: dict[Stream, Fraction] = {}
    for join in joins:
        inputs = [s for s in dataflow.streams if s.target == join]
        reach = _longest_fills(graph, forks[join], fills)
        branch = {s: reach.get(_HOST if s.from_outside else s.source, Fraction(0)) for s in inputs}
        longest = max(branch.values())
        found |= {stream: longest for stream, fill in branch.items() if fill < longest}
    return found


def _longest_fills(graph: nx.DiGraph, fork: str, fills: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return the largest sum of fills over the paths from the fork, not included, to each engine behind it."""
    reach = {fork: Fraction(0)}
    # The engines of a dataflow are in topological order.
    for name in fills:
        before = [reach[p] for p in graph.predecessors(name) if p in reach]
        if name != fork and before:
            reach[name] = max(before) + fills[name]
    return reach


def words_on_routes(dataflow: Dataflow, routes: Mapping[str, Route]) -> dict[str, int]:
    """Return how many words more each FIFO may hold than it would without routes, by channel.

    Routes delay a schedule of the pipeline: each engine starts later by the longest sum of them before it. A FIFO then
    keeps its words for as much longer as its reader is delayed more than its writer, and until their places are
    known to be free again; at most a word comes in each of these cycles.
    """
    late: dict[str, int] = {}
    for engine in dataflow.engines:
        arriving = [s for s in dataflow.streams if s.target == engine.name]
        late[engine.name] = max((late.get(s.source, 0) + _cycles(routes, s.channel) for s in arriving), default=0)
    more = {}
    for stream in dataflow.streams:
        back, source = _cycles(routes, stream.channel), late.get(stream.source, 0)
        more[stream.channel] = late.get(stream.target, source + back) - source + back
    return more


def _cycles(routes: Mapping[str, Route], channel: str) -> int:
    return routes[channel].cycles if channel in routes else 0
