"""Cluster engines into modules: sets of engines that get one pblock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from floorflow.dataflow.model import Dataflow, Engine
from floorflow.resources import Resources, total

SMALL_LUT = 1500
SMALL_BRAM18 = 8
"""A cluster below both joins a neighbour: nobody wants a pblock for it."""

_CORES = ("MVAU", "VVAU", "Pool", "StreamingMaxPool", "GlobalAccPool")
_BEFORE_CORE = ("FMPadding", "ConvolutionInputGenerator", "AddStreams", "StreamingConcat", "StreamingEltwise")


@dataclass(frozen=True)
class Module:
    """Engines that share one pblock, in dataflow order."""

    name: str
    engines: tuple[str, ...]


@dataclass(frozen=True)
class Wire:
    """A realised stream as clustering sees it: two engines and a width."""

    source: str
    target: str
    width_bits: int


def cluster(
    dataflow: Dataflow, wires: Sequence[Wire], resources: Mapping[str, Resources], granularity: str
) -> tuple[Module, ...]:
    """Group engines by ``granularity`` (``stage`` or ``layer``; ``slot`` starts from stages) into modules.

    A stage is one matrix-vector or pool engine with its padding and window before it and the thresholds after
    it. ``wires`` join engines only (no host ends); ``resources`` are the engines' with their FIFOs and converters.
    """
    engines = [engine.name for engine in dataflow.engines]
    if granularity == "layer":
        return tuple(Module(name, (name,)) for name in engines)
    groups = _stages(dataflow.engines, wires)
    groups = _absorb_small(groups, wires, resources)
    order = {name: index for index, name in enumerate(engines)}
    members = [tuple(sorted(group, key=order.__getitem__)) for group in groups]
    members.sort(key=lambda names: order[names[0]])
    return tuple(Module(_name(names, dataflow), names) for names in members)


def merge(modules: Sequence[Module], joined: Sequence[str], dataflow: Dataflow) -> tuple[Module, ...]:
    """Replace the modules named in ``joined`` by one new module that holds all their engines."""
    order = {engine.name: index for index, engine in enumerate(dataflow.engines)}
    inside = {e for m in modules if m.name in set(joined) for e in m.engines}
    names = tuple(sorted(inside, key=order.__getitem__))
    rest = [m for m in modules if m.name not in set(joined)]
    merged = [*rest, Module(_name(names, dataflow), names)]
    return tuple(sorted(merged, key=lambda m: order[m.engines[0]]))


def module_of(modules: Sequence[Module]) -> dict[str, str]:
    """Map every engine to its module."""
    return {engine: module.name for module in modules for engine in module.engines}


def _is(engine: Engine, kinds: Sequence[str]) -> bool:
    return any(engine.kind.rsplit("_", 1)[0] == kind for kind in kinds)


def _stages(engines: Sequence[Engine], wires: Sequence[Wire]) -> list[set[str]]:
    """Join padding, windows and adders with the engine that follows, everything else but a core with the one before."""
    graph = nx.Graph()
    graph.add_nodes_from(engine.name for engine in engines)
    before = {engine.name: [w.source for w in wires if w.target == engine.name] for engine in engines}
    after = {engine.name: [w.target for w in wires if w.source == engine.name] for engine in engines}
    for engine in engines:
        name = engine.name
        if _is(engine, _CORES):
            continue
        if (_is(engine, _BEFORE_CORE) or not before[name]) and after[name]:
            graph.add_edge(name, after[name][0])
        elif before[name]:
            graph.add_edge(before[name][0], name)
    return [set(component) for component in nx.connected_components(graph)]


def _absorb_small(groups: list[set[str]], wires: Sequence[Wire], resources: Mapping[str, Resources]) -> list[set[str]]:
    """Join every small cluster with the neighbour on its widest stream, unless that would close a cycle."""
    stuck: set[frozenset[str]] = set()
    while True:
        use = [total(resources[name] for name in group) for group in groups]
        small = [
            (u.lut, index)
            for index, u in enumerate(use)
            if u.lut < SMALL_LUT and u.bram18 < SMALL_BRAM18 and frozenset(groups[index]) not in stuck
        ]
        if not small or len(groups) == 1:
            return groups
        _, index = min(small)
        partner = _partner(index, groups, wires)
        if partner is None:
            stuck.add(frozenset(groups[index]))
            continue
        groups[partner] |= groups[index]
        del groups[index]


def _partner(index: int, groups: list[set[str]], wires: Sequence[Wire]) -> int | None:
    home = {name: i for i, group in enumerate(groups) for name in group}
    widest: dict[int, int] = {}
    for wire in wires:
        ends = (home[wire.source], home[wire.target])
        if index in ends and ends[0] != ends[1]:
            other = ends[0] if ends[1] == index else ends[1]
            widest[other] = max(widest.get(other, 0), wire.width_bits)
    acyclic = _stays_acyclic(groups, wires, home)
    for other in sorted(widest, key=lambda i: (-widest[i], i)):
        if acyclic(index, other):
            return other
    return None


def _stays_acyclic(
    groups: list[set[str]], wires: Sequence[Wire], home: Mapping[str, int]
) -> Callable[[int, int], bool]:
    """Return a test whether two groups can be contracted: no path between them but the direct edge."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(groups)))
    graph.add_edges_from((home[w.source], home[w.target]) for w in wires if home[w.source] != home[w.target])

    def test(a: int, b: int) -> bool:
        contracted = nx.contracted_nodes(graph, a, b, self_loops=False, copy=True)
        return bool(nx.is_directed_acyclic_graph(contracted))

    return test


def _name(names: Sequence[str], dataflow: Dataflow) -> str:
    """Name a module after its core engine, or after its first and last one if it has several."""
    inside = [engine for engine in dataflow.engines if engine.name in set(names)]
    cores = [engine.name for engine in inside if _is(engine, _CORES)] or [engine.name for engine in inside]
    return cores[0] if len(cores) == 1 else f"{cores[0]}_to_{cores[-1]}"
