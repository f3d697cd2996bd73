"""Words that FIFOs hold where branches join: while windows of another branch fill, and because routes take time.

While the windows of one branch fill, the data of the others must wait in FIFOs, or the pipeline stalls. docs/plan.md
("Window fill") holds the definitions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx
from ortools.linear_solver import pywraplp

from floorflow.dataflow.model import Dataflow, Stream
from floorflow.hardware.slot_graph import Route
from floorflow.solver import linear_solver
from floorflow.stats import SolveStats

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
    fills = [(e.name, e.window_fill) for e in dataflow.engines]
    place = {_HOST: 0} | {name: number for number, (name, _) in enumerate(fills)}
    found: dict[Stream, Fraction] = {}
    for join in joins:
        inputs = [s for s in dataflow.streams if s.target == join]
        # The engines of a dataflow are in topological order.
        reach = _longest_fills(graph, forks[join], fills[place[forks[join]] : place[join]])
        branch = {s: reach.get(_HOST if s.from_outside else s.source, Fraction(0)) for s in inputs}
        longest = max(branch.values())
        found |= {stream: longest for stream, fill in branch.items() if fill < longest}
    return found


def _longest_fills(graph: nx.DiGraph, fork: str, fills: Iterable[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Return the largest sum of fills over the paths from the fork, not included, to each of some engines behind it."""
    reach = {fork: Fraction(0)}
    for name, fill in fills:
        before = [reach[p] for p in graph.predecessors(name) if p in reach]
        if before:
            reach[name] = max(before) + fill
    return reach


@dataclass(frozen=True)
class Balance:
    """Words more that each FIFO may hold than it would without routes, by channel, and what those of joins come to.

    ``stats``: bits in FIFOs that wait for what comes over longer routes, beside those of a route's own way and back.
    """

    words: Mapping[str, int]
    stats: SolveStats


def balance(dataflow: Dataflow, routes: Mapping[str, Route], width_bits: Mapping[str, int]) -> Balance:
    """Return the least bits of FIFOs with which routes cost no rate; ``width_bits`` by channel.

    Routes delay a schedule of the pipeline: each engine starts late by at least what its inputs' writers are and the
    cycles of their routes. A FIFO then keeps its words for as much longer as its reader is later than its writer, and
    until their places are known to be free again; at most a word comes in each of these cycles. Where branches meet,
    any start between the soonest and the latest is as good for the rate, but not for the bits: what waits should wait
    where it is narrow. That is the dual of a flow of least cost, so that the linear programme has whole solutions:

    variables    late[engine] >= 0; what is outside comes and goes when it may, and holds no word more
    constraints  late[target] >= late[source] + cycles[stream]
    objective    least sum over streams of width x (late[target] - late[source] - cycles)
    """
    cycles = {s: routes[s.channel].cycles if s.channel in routes else 0 for s in dataflow.streams}
    inside = [s for s in dataflow.streams if not (s.from_outside or s.to_outside)]
    late: dict[str, int] = {}
    for engine in dataflow.engines:
        arriving = (late[s.source] + cycles[s] for s in inside if s.target == engine.name)
        late[engine.name] = max(arriving, default=0)
    if any(late[s.target] - late[s.source] > cycles[s] for s in inside):
        late = _least_late(inside, cycles, width_bits)
    waiting = {s: late[s.target] - late[s.source] - cycles[s] for s in inside}
    bits = sum(width_bits[s.channel] * words for s, words in waiting.items())
    words = {s.channel: waiting.get(s, 0) + 2 * cycles[s] for s in dataflow.streams}
    return Balance(words, SolveStats("linear programme", "optimal", bits, bits))


def _least_late(
    streams: Sequence[Stream], cycles: Mapping[Stream, int], width_bits: Mapping[str, int]
) -> dict[str, int]:
    solver = linear_solver()
    ends = dict.fromkeys(end for s in streams for end in (s.source, s.target))
    late = {name: solver.NumVar(0, solver.infinity(), name) for name in ends}
    for s in streams:
        solver.Add(late[s.target] - late[s.source] >= cycles[s])
    solver.Minimize(solver.Sum(width_bits[s.channel] * (late[s.target] - late[s.source]) for s in streams))
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        raise AssertionError("engines that start late enough exist, and bits are not below 0")
    found = {name: round(variable.solution_value()) for name, variable in late.items()}
    if any(found[s.target] < found[s.source] + cycles[s] for s in streams):
        raise AssertionError("starts are whole at a corner of the programme")
    return found
