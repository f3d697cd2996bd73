"""Where streams may go: what links forbid, in which order cuts fill the slots, and how many SLR boundaries are crossed.

A contiguous cut fills the slots FPGA by FPGA, each up or down its SLRs, or there and back: where the host's two ends
lie at one end of an FPGA and streams may not go far, what leaves the last slot comes back through those before it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from types import MappingProxyType

import networkx as nx

from floorflow.dataflow.model import Dataflow, Stream
from floorflow.errors import Refusal
from floorflow.hardware import Fpga, Platform, boundaries_cost, boundary_pairs
from floorflow.search.candidate.context import PlanningContext, fpga_order
from floorflow.segments.hops import Hops, Near
from floorflow.segments.slot_model import Crossings


@dataclass(frozen=True)
class LinkBound:
    """A link between the FPGAs of the host's input and output, the bits a frame that must pass it, and its rate."""

    link: str
    bits_per_frame: int
    gbps: float
    clock_mhz: float

    @property
    def interval_cycles(self) -> int:
        """Shortest initiation interval at which the link carries them."""
        return ceil(self.bits_per_frame * self.clock_mhz / (self.gbps * 1e3) * (1 - 1e-9))

    def load_gbps(self, interval_cycles: int) -> float:
        """Return what the bits make at an interval."""
        return self.bits_per_frame * self.clock_mhz / (interval_cycles * 1e3)

    def refusal(self, interval_cycles: int) -> Refusal:
        """Return why an interval is too short for the link."""
        bits = f"{self.bits_per_frame:,} bits a frame"
        load = self.load_gbps(interval_cycles)
        return Refusal("link", "Gb/s", self.link, load, self.gbps, proven=True, names=(bits,))


def link_bound(
    dataflow: Dataflow, platform: Platform, weight: Callable[[Stream], Fraction] = lambda _: Fraction(1)
) -> LinkBound | None:
    """Return the link that limits the interval most, or None where none must be passed.

    ``weight``: how many frames of a stream pass in an interval, one unless networks of several rates share the links.

    Every assignment cuts the network between its input and its output at each link that every route between the host's
    slots passes; by max-flow and min-cut no cut has fewer bits. Links of rings can be gone round, and bound nothing.
    """
    steps = platform.route_steps(platform.host_in_slot, platform.host_out_slot)
    passed = {step.link for step in steps if step.link is not None} & _without_a_way_round(platform)
    if not passed:
        return None
    slowest = min(
        (link for link in platform.links if link.name in passed), key=lambda link: (link.payload_gbps, link.name)
    )
    return LinkBound(slowest.name, _narrowest_cut_bits(dataflow, weight), slowest.payload_gbps, platform.clock_mhz)


def _without_a_way_round(platform: Platform) -> set[str]:
    """Return the links without which some FPGAs would not be joined."""
    ends = {
        frozenset(platform.fpga_of[slot].name for slot in (link.source, link.target)): link.name
        for link in platform.links
    }
    return {ends[frozenset(pair)] for pair in nx.bridges(nx.Graph(tuple(pair) for pair in ends))}


def _narrowest_cut_bits(dataflow: Dataflow, weight: Callable[[Stream], Fraction]) -> int:
    """Return the fewest bits a frame over all cuts between the host's streams in and out."""
    bits: Counter[tuple[str, str]] = Counter()
    for stream in dataflow.streams:
        source = "host in" if stream.from_outside else stream.source
        target = "host out" if stream.to_outside else stream.target
        bits[source, target] += floor(stream.elements * stream.element_bits * weight(stream))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(((a, b, amount) for (a, b), amount in bits.items()), weight="capacity")
    return int(nx.minimum_cut_value(graph, "host in", "host out"))


MOST_WALKS = 2
"""Orders of the slots of one FPGA."""
SECOND_VISIT = 0.4
"""Share of a slot for what comes back to it."""

Walk = tuple[str, ...]


def slot_orders(platform: Platform, max_hops: int) -> tuple[Walk, ...]:
    """Return the orders in which slots are filled; a slot may stand in one twice."""
    walks = [_walks(platform, fpga, max_hops) for fpga in platform.fpgas]
    # Which of its walks each even and each odd FPGA takes.
    choices = ((0, 0), (-1, -1), (0, -1), (-1, 0))
    found = (tuple(slot for n, of in enumerate(walks) for slot in of[choice[n % 2]]) for choice in choices)
    return tuple(dict.fromkeys(found))


def shares(order: Walk) -> tuple[float, ...]:
    """Return the share of its slot that each place of an order gets: all, or what it leaves to later visits."""
    visits, seen = Counter(order), Counter[str]()
    found = []
    for slot in order:
        later = SECOND_VISIT / max(1, visits[slot] - 1)
        found.append(later if seen[slot] else 1 - later * (visits[slot] - 1))
        seen[slot] += 1
    return tuple(found)


def _walks(platform: Platform, fpga: Fpga, max_hops: int) -> tuple[Walk, ...]:
    """Return the shortest walks over all slots of an FPGA, from where its streams enter to where they leave.

    No step is longer than a stream may go; of those as short the ones that cost least come first.
    """
    names = [slot.name for slot in fpga.slots]
    up = tuple(names)
    ends = _enters(platform, fpga), _leaves(platform, fpga)
    if max(_hops(platform, a, b) for a in names for b in names) <= max_hops:
        return up, up[::-1]
    for length in range(len(names), 3 * len(names)):
        found = [
            walk
            for walk in _of_length(platform, names, max_hops, (), length)
            if _hops(platform, ends[0], walk[0]) <= max_hops and _hops(platform, walk[-1], ends[1]) <= max_hops
        ]
        if found:
            cost = {walk: _cost(platform, (ends[0], *walk, ends[1])) for walk in found}
            return tuple(sorted(found, key=lambda walk: (cost[walk], walk))[:MOST_WALKS])
    return up, up[::-1]


def _of_length(platform: Platform, names: Sequence[str], most: int, begun: Walk, length: int) -> Iterator[Walk]:
    """Yield the walks of a length that pass all slots and never stay."""
    left = length - len(begun)
    if len({*names} - {*begun}) > left:
        return
    if not left:
        yield begun
        return
    for name in names:
        if not begun or 0 < _hops(platform, begun[-1], name) <= most:
            yield from _of_length(platform, names, most, (*begun, name), length)


def _hops(platform: Platform, source: str, target: str) -> int:
    return max((step.hops for step in platform.route_steps(source, target) if step.link is None), default=0)


def _cost(platform: Platform, walk: Walk) -> int:
    return sum(boundaries_cost(_hops(platform, *pair)) for pair in pairwise(walk))


def _enters(platform: Platform, fpga: Fpga) -> str:
    """Return the slot in which streams come to an FPGA: the host's, or that of its links."""
    return platform.host_in_slot if fpga is platform.fpgas[0] else _link_slot(platform, fpga)


def _leaves(platform: Platform, fpga: Fpga) -> str:
    return platform.host_out_slot if fpga is platform.fpgas[-1] else _link_slot(platform, fpga)


def _link_slot(platform: Platform, fpga: Fpga) -> str:
    ends = (slot for link in platform.links for slot in (link.source, link.target))
    return next((slot for slot in ends if platform.fpga_of[slot] is fpga), fpga.host_slot)


def hops_of(context: PlanningContext) -> Hops:
    """Return which slots the ends of a stream may have, slots by their places in the platform's order."""
    graph, places = context.platform.graph, _places(context)
    order, platform = fpga_order(context) or (0,) * len(places), context.platform
    near = tuple(
        tuple(graph.hops(a, b) <= context.max_hops and order[a] <= order[b] for b in places.values())
        for a in places.values()
    )
    ends = places[platform.host_in_slot], places[platform.host_out_slot]
    return Hops(near, *ends, context.max_hops, in_order=any(order))


def near(context: PlanningContext) -> Near:
    """Return the same with the network's streams."""
    streams = [(stream.source, stream.target) for stream in context.dataflow.streams]
    return Near(hops_of(context), streams, context.wishes.apart)


def slots_in_reach(
    context: PlanningContext, within: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[str, frozenset[str]]:
    """Return in which slots each engine may lie without its streams going too far; empty where there are none.

    ``within``: slots of some engines outside of which these do not lie.
    """
    places, names = _places(context), [slot.name for slot in context.platform.slots]
    homes = context.engine_limits.homes
    inside = {**homes, **{engine: homes.get(engine, frozenset(slots)) & {*slots} for engine, slots in within.items()}}
    only = {engine: frozenset(places[slot] for slot in slots) for engine, slots in inside.items()}
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
