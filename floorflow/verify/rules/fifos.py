"""The FIFO of every channel: whose it is, how deep and in what, from modules, SLR boundaries, links and joins.

Engines and what is outside form an acyclic graph whose root is the outside. The fork of a join is its immediate
dominator, so that every path from the root to an input of the join runs through it. The fill of a branch (docs/plan.md,
*Window fill*) is therefore the largest sum of fills from the root to that input, less the same sum up to and with the
fork.
"""

import math
from fractions import Fraction

from floorflow.verify.facts import PhaseFacts, is_outside
from floorflow.verify.graphs import has_cycle, least_starts, topological_order
from floorflow.verify.hardware.routes import Link, Route, links_on
from floorflow.verify.phase_records import ChannelRecord
from floorflow.verify.records import SIDES

_ROOT = "outside:"
"""What is outside, taken as one place, as the root of the graph: no engine's name."""


def join_fills(phase: PhaseFacts) -> dict[tuple[str, int], Fraction]:
    """Return the fill of the longest branch, a share of the frame, for each shorter input of a join."""
    feeding = _feeding(phase)
    longest = _longest_fills(phase, feeding)
    forks = _dominators(feeding)
    fills: dict[tuple[str, int], Fraction] = {}
    for name, channels in feeding.items():
        if len(channels) < 2:
            continue
        upstream = [longest[_node(channel)] for channel in channels]
        whole = max(upstream) - longest[forks[name]]
        for channel, fill in zip(channels, upstream, strict=True):
            if fill < max(upstream):
                fills[(name, channel["target_port"])] = whole
    return fills


def _node(channel: ChannelRecord) -> str:
    return _ROOT if is_outside(channel["source"]) else channel["source"]


def _feeding(phase: PhaseFacts) -> dict[str, list[ChannelRecord]]:
    """Return the channels into each engine, engines in topological order; those on or behind a cycle are left out."""
    feeding: dict[str, list[ChannelRecord]] = {name: [] for name in topological_order(phase.successors)}
    for channel in phase.channels:
        known = _node(channel) == _ROOT or channel["source"] in feeding
        if known and channel["target"] in feeding:
            feeding[channel["target"]].append(channel)
    return feeding


def _longest_fills(phase: PhaseFacts, feeding: dict[str, list[ChannelRecord]]) -> dict[str, Fraction]:
    """Return the largest sum of fills over the paths from the host to and with each engine."""
    longest = {_ROOT: Fraction(0)}
    for name, channels in feeding.items():
        before = max((longest[_node(channel)] for channel in channels), default=Fraction(0))
        longest[name] = before + phase.folded[name].facts.window_fill
    return longest


def _dominators(feeding: dict[str, list[ChannelRecord]]) -> dict[str, str]:
    """Return the immediate dominator of each engine that is fed: the nearest node on every path from the host."""
    above: dict[str, str] = {}
    depth = {_ROOT: 0}
    for name, channels in feeding.items():
        fork = _node(channels[0]) if channels else _ROOT
        for channel in channels[1:]:
            fork = _nearest_common(fork, _node(channel), above, depth)
        above[name], depth[name] = fork, depth[fork] + 1
    return above


def _nearest_common(first: str, second: str, above: dict[str, str], depth: dict[str, int]) -> str:
    while first != second:
        if depth[first] < depth[second]:
            first, second = second, first
        first = above[first]
    return first


def words_in(share: Fraction, channel: ChannelRecord) -> int:
    """Return the words of a channel that pass in a share of a frame, rounded up."""
    return math.ceil(share * channel["words_per_frame"])


DEPTH_INSIDE_A_MODULE = 2
DEPTH_BETWEEN_MODULES = 32
WORDS_PER_STAGE = 2
"""Words of FIFO for each register stage at an SLR boundary: a word on its way there, and one while `ready` is back."""

LINK_ROUND_TRIP = 2
"""Latencies of a link that a word and its credit take together."""


def check_fifos(phase: PhaseFacts) -> None:
    """Judge module, memory and depth of every channel's FIFO."""
    fills = join_fills(phase)
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        owner = channel["target"] if is_outside(channel["source"]) else channel["source"]
        phase.expect("fifo-module", where, "fifo_module", channel["fifo_module"], phase.module_of.get(owner))
        slot = phase.slot_of_module(channel["fifo_module"])
        if phase.back_end is not None and slot is not None:
            phase.back_end.check_fifo(channel, phase.fpgas[slot.fpga]["part"], where)
        route = phase.route(channel)
        if route is None:
            continue  # reported where ends and links are judged
        depth = _depth_without_joins(phase, channel, route)
        # What the full rate needs is the plan's own statement, which the rate is judged by; here it only must be kept.
        if not channel["fifo_needed"]:
            depth += words_in(fills.get((channel["target"], channel["target_port"]), Fraction(0)), channel)
        least = max(depth, channel["fifo_needed"])
        if channel["fifo_depth"] < least:
            phase.add("wrong-fifo-depth", where, f"fifo_depth is {channel['fifo_depth']}, expected at least {least}")


def check_waiting(phase: PhaseFacts) -> None:
    """Judge what FIFOs hold where branches meet after routes of unequal cycles: the least bits of all starts."""
    if has_cycle(phase.successors):
        return  # reported where channels are judged
    edges, own = [], 0
    planned = any(channel["fifo_needed"] for channel in phase.channels)  # else the tool sees to depths
    for channel in phase.channels if planned else ():
        route = phase.route(channel)
        if route is not None and channel["source"] in phase.folded and channel["target"] in phase.folded:
            cycles, bits = phase.stages(route) + phase.link_cycles(route), channel["width_bits"]
            edges.append((channel["source"], channel["target"], cycles, bits))
            own += cycles * bits
    where, stated = f"{phase.where}.partition", phase.raw["partition"]["waiting_bits"]
    phase.expect("wrong-waiting", where, "waiting_bits", stated, least_starts(edges) - own)


def check_unplaced_fifos(phase: PhaseFacts, part: str) -> None:
    """Judge memory and depth of every channel's FIFO where nothing is placed: as inside one module."""
    fills = join_fills(phase)
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        if phase.back_end is not None:
            phase.back_end.check_fifo(channel, part, where)
        waiting = words_in(fills.get((channel["target"], channel["target_port"]), Fraction(0)), channel)
        least = DEPTH_INSIDE_A_MODULE + waiting
        if channel["fifo_depth"] < least:
            phase.add("wrong-fifo-depth", where, f"fifo_depth is {channel['fifo_depth']}, expected at least {least}")


def _depth_without_joins(phase: PhaseFacts, channel: ChannelRecord, route: Route) -> int:
    """Words for the place of the ends; what is outside is in no module."""
    homes = [phase.module_of.get(channel[end]) for end in SIDES]
    inside = homes[0] == homes[1] and homes[0] is not None
    depth = DEPTH_INSIDE_A_MODULE if inside else DEPTH_BETWEEN_MODULES
    depth += WORDS_PER_STAGE * phase.stages(route)
    return depth + sum(_round_trip_words(phase, channel, link) for link in links_on(route))


def _round_trip_words(phase: PhaseFacts, channel: ChannelRecord, link: Link) -> int:
    """Words that pass while one travels there and its credit back, exact in the decimals of the plan."""
    interval = phase.interval_cycles(channel)
    if not interval:
        return 0
    cycles: Fraction = LINK_ROUND_TRIP * Fraction(str(link.entry["latency_us"])) * Fraction(str(phase.clock_mhz))
    return math.ceil(cycles * channel["words_per_frame"] / Fraction(interval))
