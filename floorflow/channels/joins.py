"""Where branches join: how much longer the longest branch takes to fill its windows than each of the others.

While the windows of one branch fill, the data of the others must wait in FIFOs, or the pipeline stalls. docs/plan.md
("Window fill") holds the definitions.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from floorflow.dataflow.model import Dataflow, Engine, Stream

_HOST = "host"


def waits_cycles(dataflow: Dataflow, interval_cycles: int) -> dict[Stream, int]:
    """Return, for each stream on a shorter branch into a join, the window fill of the join's longest branch."""
    graph = nx.DiGraph()
    for stream in dataflow.streams:
        if not stream.to_host:
            graph.add_edge(_HOST if stream.from_host else stream.source, stream.target)
    joins = [e.name for e in dataflow.engines if sum(s.target == e.name for s in dataflow.streams) > 1]
    if not joins:
        return {}
    forks = nx.immediate_dominators(graph, _HOST)
    fills = {e.name: window_fill_cycles(e, interval_cycles) for e in dataflow.engines}
    waits: dict[Stream, int] = {}
    for join in joins:
        inputs = [s for s in dataflow.streams if s.target == join]
        reach = _longest_fills(graph, forks[join], fills)
        branch = {s: reach.get(_HOST if s.from_host else s.source, 0) for s in inputs}
        longest = max(branch.values())
        waits |= {stream: longest for stream, fill in branch.items() if fill < longest}
    return waits


def window_fill_cycles(engine: Engine, interval_cycles: int) -> int:
    """Return the cycles until a sliding window's first window is complete; 0 for every other kind."""
    if not engine.kind.startswith("ConvolutionInputGenerator"):
        return 0
    height, width = _pair(engine, "IFMDim")
    (kernel_h, kernel_w), (dilation_h, dilation_w) = _pair(engine, "ConvKernelDim"), _pair(engine, "Dilation")
    pixels = min((kernel_h - 1) * dilation_h * width + (kernel_w - 1) * dilation_w + 1, height * width)
    return -(-pixels * interval_cycles // (height * width))


def _longest_fills(graph: nx.DiGraph, fork: str, fills: Mapping[str, int]) -> dict[str, int]:
    """Return the largest sum of fills over the paths from the fork, not included, to each engine behind it."""
    reach = {fork: 0}
    for name in nx.topological_sort(graph):
        before = [reach[p] for p in graph.predecessors(name) if p in reach]
        if name != fork and before:
            reach[name] = max(before) + fills[name]
    return reach


def _pair(engine: Engine, attribute: str) -> tuple[int, int]:
    value = engine.attributes[attribute]
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"{engine.name}: {attribute} is {value!r}, expected a pair")
    return value[0], value[1]
