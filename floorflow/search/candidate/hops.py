"""How far a stream may go: from the platform's slots to the rules and costs that cuts and relaxations know."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import ceil
from types import MappingProxyType

from floorflow.hardware import Platform, boundary_pairs
from floorflow.search.candidate.context import PlanningContext
from floorflow.segments import Crossings, Hops, Near


def hops_of(context: PlanningContext) -> Hops:
    """Return which slots the ends of a stream may have, slots by their places in the platform's order."""
    graph, places = context.platform.graph, _places(context)
    near = tuple(tuple(graph.hops(a, b) <= context.max_hops for b in places.values()) for a in places.values())
    return Hops(near, places[context.platform.host_in_slot], places[context.platform.host_out_slot], context.max_hops)


def near(context: PlanningContext) -> Near:
    """Return the same with the network's streams."""
    return Near(hops_of(context), [(stream.source, stream.target) for stream in context.dataflow.streams])


def slots_in_reach(
    context: PlanningContext, within: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[str, frozenset[str]]:
    """Return in which slots each engine may lie without its streams going too far; empty where there are none.

    ``within``: slots of some engines outside of which these do not lie.
    """
    places, names = _places(context), [slot.name for slot in context.platform.slots]
    only = {engine: frozenset(places[slot] for slot in slots) for engine, slots in within.items()}
    reach = near(context).in_reach((engine.name for engine in context.dataflow.engines), only)
    return {engine: frozenset(names[slot] for slot in slots) for engine, slots in reach.items()}


def crossings(context: PlanningContext, interval_cycles: int) -> Crossings:
    """Return what streams cost that cross from slot to slot, on a tree of the links: bits a cycle for wires."""
    together = context.together
    weight = (lambda _: 1) if together is None else together.weight
    streams = [
        (s.source, s.target, ceil(s.elements * s.element_bits * weight(s) / interval_cycles))
        for s in context.dataflow.streams
    ]
    tree, places = context.platform.graph.spanning_tree(), _places(context)
    pairs = (pair for pair in boundary_pairs(tree, context.max_hops) if pair.allowed)
    return Crossings(
        streams,
        [(side, edge.crossing.cost) for side, edge in zip(tree.beyond, tree.edges, strict=True)],
        [(*pair.outer, 1) for pair in pairs],
        places[context.platform.host_in_slot],
        places[context.platform.host_out_slot],
    )


def longest_stretch(platform: Platform) -> int:
    """Return the most SLR boundaries that a stream can cross one after the other in an FPGA."""
    graph = platform.graph
    return max(graph.hops(a, b) for a in range(graph.slots) for b in range(graph.slots))


def more_hops(context: PlanningContext) -> str:
    """Return the end of a hint: to allow more hops, where streams could make them."""
    most = context.max_hops
    return f", or --max-hops {most + 1}" if longest_stretch(context.platform) > most else ""


def _places(context: PlanningContext) -> Mapping[str, int]:
    return {slot.name: place for place, slot in enumerate(context.platform.slots)}
