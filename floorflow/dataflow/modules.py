"""Cluster engines into modules: sets of engines that get one pblock."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

import networkx as nx

from floorflow.dataflow.model import Dataflow, Engine
from floorflow.resources import Resources, total

SMALL_LUT = 1500
SMALL_BRAM18 = 8
"""A cluster below both joins a neighbour: nobody wants a pblock for it."""


@dataclass(frozen=True)
class Module:
    """Engines that share one pblock, in dataflow order."""

    name: str
    engines: tuple[str, ...]


@dataclass(frozen=True)
class Joined:
    """A module that shares one pblock because its parts, modules as clustered, found no rectangles; ``why`` says it."""

    module: str
    parts: tuple[str, ...]
    slot: str
    why: str


@dataclass(frozen=True)
class Naming:
    """What modules are called: after their largest engine, by ``shares``, how much of the device each engine needs.

    Of equal ones it is a core, and the first. Modules whose engines ``earlier`` knows are called as they are there.
    """

    dataflow: Dataflow
    shares: Mapping[str, float]
    earlier: Mapping[frozenset[str], str] = field(default_factory=dict)

    def of(self, engines: Collection[str]) -> str:
        """Return the name of a module of these engines, which only an earlier one can have too."""
        known = self.earlier.get(frozenset(engines))
        if known is not None:
            return known
        inside = [engine for engine in self.dataflow.engines if engine.name in set(engines)]
        name = max(inside, key=lambda engine: (self.shares[engine.name], engine.role == "core")).name
        # With several networks engines are ``net/engine``, and modules have names that Tcl takes.
        return re.sub(r"[^A-Za-z0-9_]", "_", name.replace("/", "__")) if self.dataflow.networks else name


@dataclass(frozen=True)
class Wire:
    """A realised stream as clustering sees it: two engines and a width."""

    source: str
    target: str
    width_bits: int


def cluster(
    naming: Naming,
    wires: Sequence[Wire],
    resources: Mapping[str, Resources],
    granularity: str,
    pblock_capacities: Sequence[Resources] = (),
    *,
    slot_of: Mapping[str, str] | None = None,
    joins_apart: bool = False,
) -> tuple[Module, ...]:
    """Group engines by ``granularity`` (``stage``, ``block`` or ``layer``; ``slot`` starts from stages) into modules.

    A stage is one core (`dataflow.model.Role`) with what stands in front of it and behind it; a
    block is what lies between consecutive points where a single stream is live (in a chain, a stage). ``wires`` join
    engines only (no host ends); ``resources`` are the engines' with their FIFOs and converters.
    No cluster grows beyond the largest of ``pblock_capacities`` (none: there is no such rule). None lies in two slots
    where engines have a slot already, ``slot_of``. ``joins_apart``: a stage that joins branches, and a
    block, joins no other, however small, and a block begins where branches part.
    """
    slots, dataflow = slot_of or {}, naming.dataflow
    engines = [engine.name for engine in dataflow.engines]
    if granularity == "layer":
        return named([(name,) for name in engines], naming)
    pairs = [(wire.source, wire.target) for wire in wires]
    groups = stages(dataflow.engines, pairs)
    joins = {name for name, inputs in Counter(target for _, target in pairs).items() if inputs > 1}
    if granularity == "block":
        groups = _blocks(groups, wires, at_forks=joins_apart)
    groups = _by_slot(groups, slots, engines, pairs)
    kept = {frozenset(group) for group in groups if joins_apart and (granularity == "block" or joins & group)}
    groups = _absorb_small(groups, wires, resources, pblock_capacities, slots, kept=kept)
    order = {name: index for index, name in enumerate(engines)}
    members = [tuple(sorted(group, key=order.__getitem__)) for group in groups]
    members.sort(key=lambda names: order[names[0]])
    return named(members, naming)


def merge(modules: Sequence[Module], joined: Sequence[str], naming: Naming) -> tuple[Module, ...]:
    """Replace the modules named in ``joined`` by one new module that holds all their engines."""
    return _replaced(modules, [[e for m in modules if m.name in set(joined) for e in m.engines]], naming)


def taken_out(modules: Sequence[Module], groups: Collection[Sequence[str]], naming: Naming) -> tuple[Module, ...]:
    """Make each group of engines a module of its own; what is left of a module is one still."""
    out = {engine for group in groups for engine in group}
    left = [[e for e in m.engines if e not in out] for m in modules if not out.isdisjoint(m.engines)]
    return _replaced(modules, [*(engines for engines in left if engines), *groups], naming)


def _replaced(modules: Sequence[Module], groups: Collection[Sequence[str]], naming: Naming) -> tuple[Module, ...]:
    """Return a module of each group of engines, and the modules that have none of these."""
    order = {engine.name: index for index, engine in enumerate(naming.dataflow.engines)}
    out = {engine for group in groups for engine in group}
    kept = [module for module in modules if out.isdisjoint(module.engines)]
    members = [tuple(sorted(group, key=order.__getitem__)) for group in groups]
    return tuple(sorted(named(members, naming, kept), key=lambda m: order[m.engines[0]]))


def named(members: Iterable[tuple[str, ...]], naming: Naming, kept: Sequence[Module] = ()) -> tuple[Module, ...]:
    """Return ``kept``, and a module of each tuple of engines, none called as another."""
    modules = {module.name: module for module in kept}
    for names in members:
        name = _free(naming.of(names), modules)
        modules[name] = Module(name, names)
    return tuple(modules.values())


def module_of(modules: Sequence[Module]) -> dict[str, str]:
    """Map every engine to its module."""
    return {engine: module.name for module in modules for engine in module.engines}


def stages(engines: Sequence[Engine], pairs: Sequence[tuple[str, str]]) -> list[set[str]]:
    """Join what stands in front with the engine that follows, everything else but a core with the one before.

    ``pairs`` are the ends of the streams between two engines: no folding is needed. No stage depends on itself.
    """
    depths = _depths(engines, pairs)
    wishes = {engine.name: _wished(engine, pairs, depths) for engine in engines}
    graph = nx.Graph()
    graph.add_nodes_from(wishes)
    graph.add_edges_from((name, partners[0]) for name, partners in wishes.items() if partners)
    return _without_circles([set(component) for component in nx.connected_components(graph)], wishes, pairs)


def _depths(engines: Sequence[Engine], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Count the engines on the longest way to each, itself among them."""
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(engine.name for engine in engines)
    generations = enumerate(nx.topological_generations(graph), 1)
    return {name: depth for depth, names in generations for name in names}


def _wished(engine: Engine, pairs: Sequence[tuple[str, str]], depths: Mapping[str, int]) -> tuple[str, ...]:
    """Return the engines with which one would share a stage, the first one rather than the second."""
    if engine.role == "core":
        return ()
    before = sorted((a for a, b in pairs if b == engine.name), key=lambda name: -depths[name])
    after = [b for a, b in pairs if a == engine.name]
    # What joins branches belongs to what follows: with a branch it would lie around the others. Where nothing follows
    # it belongs to the longest branch, which is the least likely to fork into another.
    in_front = engine.role == "front" or len(before) != 1
    return tuple(after + before if in_front else before + after)


def _without_circles(
    groups: list[set[str]], wishes: Mapping[str, Sequence[str]], pairs: Sequence[tuple[str, str]]
) -> list[set[str]]:
    """Take apart the groups that depend on themselves, and join their engines again where that closes no circle.

    A path that leads out of a group and back puts it on a circle with what lies between. ``wishes`` name those with
    whom each engine may be joined, by streams: the first with whom it can be is taken.
    """
    group_of = {name: i for i, group in enumerate(groups) for name in group}
    circles = nx.strongly_connected_components(_between(group_of, pairs))
    apart = {group for circle in circles if len(circle) > 1 for group in circle}
    if not apart:
        return groups
    loose = [name for name in wishes if group_of[name] in apart]
    group_of |= {name: len(groups) + i for i, name in enumerate(loose)}
    graph = _between(group_of, pairs)
    for name in loose:
        own = group_of[name]
        there = (group_of[other] for other in wishes[name])
        joined = next((other for other in there if other == own or joins_without_cycle(graph, own, other)), own)
        if joined != own:
            nx.contracted_nodes(graph, joined, own, self_loops=False, copy=False)
            group_of |= {member: joined for member, group in group_of.items() if group == own}
    return [{name for name in group_of if group_of[name] == group} for group in sorted({*group_of.values()})]


def _between(group_of: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> nx.DiGraph:
    """Return which groups feed which others."""
    graph = nx.DiGraph((group_of[a], group_of[b]) for a, b in pairs if group_of[a] != group_of[b])
    graph.add_nodes_from(group_of.values())
    return graph


def _blocks(formed: list[set[str]], wires: Sequence[Wire], *, at_forks: bool = False) -> list[set[str]]:
    """Join stages, as they were formed, until a single stream leads from each union to the next."""
    groups = [part for stage in formed for part in _join_and_fork(stage, wires, at_forks=at_forks)]
    group_of = {name: i for i, group in enumerate(groups) for name in group}
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(len(groups)))
    graph.add_edges_from(
        (group_of[w.source], group_of[w.target]) for w in wires if group_of[w.source] != group_of[w.target]
    )
    blocks: list[set[str]] = [set()]
    live = 0
    for index in nx.lexicographical_topological_sort(graph):
        if live <= 1 and blocks[-1]:
            blocks.append(set())
        blocks[-1] |= groups[index]
        live += graph.out_degree(index) - graph.in_degree(index)
    return blocks


def _join_and_fork(stage: set[str], wires: Sequence[Wire], *, at_forks: bool) -> list[set[str]]:
    """Return a stage that joins branches and forks again in two, where one stream leads from the join to the fork.

    A block ends with the join, and the next begins with the fork; ``at_forks``: that, whether anything is joined.
    """
    inside = nx.DiGraph()
    inside.add_nodes_from(stage)
    inside.add_edges_from((wire.source, wire.target) for wire in wires if {wire.source, wire.target} <= stage)
    order = list(nx.lexicographical_topological_sort(inside))
    for index in range(len(order) - 1, 0, -1):
        first, rest = set(order[:index]), set(order[index:])
        between = [wire for wire in wires if wire.source in first and wire.target in rest]
        joins = at_forks or sum(wire.target in first and wire.source not in first for wire in wires) > 1
        forks = sum(wire.source in rest and wire.target not in rest for wire in wires) > 1
        passed = any(wire.source in first and wire.target not in stage for wire in wires)
        entered = any(wire.target in rest and wire.source not in stage for wire in wires)
        if len(between) == 1 and joins and forks and not passed and not entered:
            return [first, rest]
    return [stage]


def _by_slot(
    groups: list[set[str]], slot_of: Mapping[str, str], engines: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> list[set[str]]:
    """Return what of each cluster lies in each slot; a path that leads through another slot takes that apart."""
    key = {name: (i, slot_of.get(name, "")) for i, group in enumerate(groups) for name in group}
    parts = [
        {name for name in group if key[name] == part} for group in groups for part in sorted({key[n] for n in group})
    ]
    inside = {name: [a for a, b in pairs if b == name and key[a] == key[name]] for name in engines}
    return _without_circles(parts, inside, pairs)


def _absorb_small(
    groups: list[set[str]],
    wires: Sequence[Wire],
    resources: Mapping[str, Resources],
    pblock_capacities: Sequence[Resources],
    slot_of: Mapping[str, str],
    *,
    kept: Collection[frozenset[str]],
) -> list[set[str]]:
    """Join small clusters with the neighbour on their widest stream, unless that closes a cycle or fits no pblock.

    Those that are ``kept`` join none.
    """
    stuck = {*kept}
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
        slot = slot_of.get(min(groups[index]), "")
        beside = [slot_of.get(min(group), "") == slot for group in groups]
        partner = _partner(
            index,
            groups,
            wires,
            lambda other: beside[other] and _fits_some(use[index] + use[other], pblock_capacities),  # noqa: B023
        )
        if partner is None:
            stuck.add(frozenset(groups[index]))
            continue
        groups[partner] |= groups[index]
        del groups[index]


def _fits_some(demand: Resources, pblock_capacities: Sequence[Resources]) -> bool:
    return not pblock_capacities or any(demand.fits(capacity) for capacity in pblock_capacities)


def _partner(index: int, groups: list[set[str]], wires: Sequence[Wire], fits_with: Callable[[int], bool]) -> int | None:
    group_of = {name: i for i, group in enumerate(groups) for name in group}
    widest: dict[int, int] = {}
    for wire in wires:
        ends = (group_of[wire.source], group_of[wire.target])
        if index in ends and ends[0] != ends[1]:
            other = ends[0] if ends[1] == index else ends[1]
            widest[other] = max(widest.get(other, 0), wire.width_bits)
    graph = _between(group_of, [(wire.source, wire.target) for wire in wires])
    ranked = sorted(widest, key=lambda i: (-widest[i], i))
    return next((o for o in ranked if fits_with(o) and joins_without_cycle(graph, index, o)), None)


def joins_without_cycle(graph: nx.DiGraph, a: Hashable, b: Hashable) -> bool:
    """Whether two neighbours in an acyclic graph can become one: no path between them but the direct edge."""
    source, target = (a, b) if graph.has_edge(a, b) else (b, a)
    onward = (n for n in graph.successors(source) if n != target)
    return not any(nx.has_path(graph, n, target) for n in onward)


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name with a number behind it where that is taken: ``a/b__c`` and ``a__b/c`` are both ``a__b__c``."""
    return next(free for free in chain([name], (f"{name}_{n}" for n in count(2))) if free not in taken)
