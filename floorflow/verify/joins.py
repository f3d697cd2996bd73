"""Joins: how long each branch holds back its first word (docs/plan.md, *Window fill*).

Engines and what is outside form an acyclic graph whose root is the outside. The fork of a join is its immediate
dominator, so that every path from the root to an input of the join runs through it. The fill of a branch is therefore
the largest sum of fills from the root to that input, less the same sum up to and with the fork.
"""

from __future__ import annotations

import math
from fractions import Fraction

from floorflow.verify.ends import is_outside
from floorflow.verify.graphs import topological_order
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record

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


def _node(channel: Record) -> str:
    """Return the node that a channel comes from."""
    source: str = channel["source"]
    return _ROOT if is_outside(source) else source


def _feeding(phase: PhaseFacts) -> dict[str, list[Record]]:
    """Return the channels into each engine, engines in topological order; those on or behind a cycle are left out."""
    feeding: dict[str, list[Record]] = {name: [] for name in topological_order(phase.successors)}
    for channel in phase.channels:
        known = _node(channel) == _ROOT or channel["source"] in feeding
        if known and channel["target"] in feeding:
            feeding[channel["target"]].append(channel)
    return feeding


def _longest_fills(phase: PhaseFacts, feeding: dict[str, list[Record]]) -> dict[str, Fraction]:
    """Return the largest sum of fills over the paths from the host to and with each engine."""
    longest = {_ROOT: Fraction(0)}
    for name, channels in feeding.items():
        before = max((longest[_node(channel)] for channel in channels), default=Fraction(0))
        longest[name] = before + phase.folded[name].facts.window_fill
    return longest


def _dominators(feeding: dict[str, list[Record]]) -> dict[str, str]:
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


def words_in(share: Fraction, channel: Record) -> int:
    """Return the words of a channel that pass in a share of a frame, rounded up."""
    words: int = channel["words_per_frame"]
    return math.ceil(share * words)
