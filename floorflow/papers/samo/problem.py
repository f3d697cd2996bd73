"""The scheduling problem on given options: which layers share a configuration, and how each is folded.

Source: Montgomerie-Corcoran et al., SAMO (2022), equations 1 to 10. A network's nodes stand in an order; *cuts* make
contiguous *partitions* of it, which the device runs one after another, reconfigured in between. Each node takes one of
its options. Of a partition count the cycles of its slowest node, its summed resources and what it moves to and from
memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from floorflow.stats import SolveStats

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RESOURCES = ("LUT", "DSP", "BRAM", "FF")
"""Columns of resources in an option table, in its order; BRAM in blocks of 18 Kb."""
COLUMN_OF = {"LUT": "LUT", "DSP": "DSP", "BRAM": "BRAM18", "FF": "FF"}
"""Our name of each of them."""
Objective = Literal["latency", "throughput"]


@dataclass(frozen=True, eq=False)
class Node:
    """A layer with its options: row r folds input channels, output channels and kernel by ``foldings[r]``.

    ``size_in`` and ``size_out`` are the words of its feature maps. ``equal_folding``: the output folding equals the
    input folding of what follows in the partition (eq. 10); ``divisible_folding``: the larger is a multiple of the
    smaller. ``cut_behind``: a partition may end here.
    """

    name: str
    foldings: Ints
    """Input, output and kernel folding, (n_options, 3)."""
    cycles: Floats
    """(n_options,), before `ScheduleProblem.cycles_scale`."""
    use: Ints
    """Resources in the order of RESOURCES, (n_options, 4)."""
    size_in: int
    size_out: int
    equal_folding: bool
    divisible_folding: bool
    cut_behind: bool


@dataclass(frozen=True)
class Design:
    """An answer: ``cuts`` are the last nodes of all partitions but the final one, ``rows`` an option of each node."""

    cuts: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True)
class ScheduleAnswer:
    """What a method found: a design, or None. ``stats.objective`` is its cost in us; ``reason``: why there is none."""

    design: Design | None
    stats: SolveStats
    reason: str = ""


@dataclass(frozen=True, eq=False)
class ScheduleProblem:
    """Nodes in topological order, the streams between them by position, and the platform.

    ``limits`` are the platform's resources, infinite where not limited. ``cycles_scale`` and ``words_scale`` multiply
    the table's cycles and sizes, for a batch; ``reconfiguration_us`` is what each partition but the first costs.
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    limits: tuple[float, ...]
    bandwidth_gbit_s: float
    wordlength_bits: int
    clock_mhz: float
    reconfiguration_us: float
    objective: Objective = "latency"
    batch: int = 1
    cycles_scale: float = 1
    words_scale: float = 1

    @cached_property
    def levels(self) -> Floats:
        """All cycles that an option has, ascending: an interval is one of them."""
        return np.unique(np.concatenate([node.cycles for node in self.nodes]))

    @cached_property
    def limited(self) -> tuple[int, ...]:
        """The columns of resources that are limited."""
        return tuple(column for column, limit in enumerate(self.limits) if limit < np.inf)

    @cached_property
    def may_end(self) -> tuple[bool, ...]:
        """Whether a partition may end behind each node: its table allows it, and one stream alone is live there."""
        inner = enumerate(self.nodes[:-1])
        return (*(node.cut_behind and self._live_behind(position) <= 1 for position, node in inner), True)

    def _live_behind(self, position: int) -> int:
        """Count the nodes up to a position that are read behind it."""
        return len({a for a, b in self.edges if a <= position < b})

    @cached_property
    def borders(self) -> tuple[int, ...]:
        """Where partitions may begin and end: 0, the nodes behind allowed cuts, and the number of nodes."""
        return (0, *(position + 1 for position, ends in enumerate(self.may_end) if ends))

    def microseconds(self, cycles: float) -> float:
        """Return the run time of a partition whose slowest node takes so many cycles of the table."""
        return cycles * self.cycles_scale / self.clock_mhz

    def moved_megabits(self, first: int, last: int) -> float:
        """Return what a partition reads and writes a run, times the clock in MHz: its bandwidth times its cycles."""
        words = self.words_scale * (self.nodes[first].size_in + self.nodes[last].size_out)
        return words * self.wordlength_bits * self.clock_mhz

    def within_bandwidth(self, first: int, last: int, cycles: Floats) -> NDArray[np.bool_]:
        """Mark the cycles that are enough for what a partition moves (eq. 7): fewer are *too fast*."""
        allowed = 1000 * self.bandwidth_gbit_s * (cycles * self.cycles_scale)
        return np.asarray(self.moved_megabits(first, last) < allowed)

    def first_slow_enough(self, first: int, last: int) -> int:
        """Return the first of `levels` that is not too fast for a partition."""
        slow = self.within_bandwidth(first, last, self.levels)
        return int(np.argmax(slow)) if slow.any() else len(self.levels)

    def partitions(self, cuts: Sequence[int]) -> list[tuple[int, int]]:
        """Return the first and last nodes of each partition (eq. 1)."""
        return [(a + 1, b) for a, b in pairwise((-1, *cuts, len(self.nodes) - 1))]


def joined(node: Node, output_folding: Ints, input_folding: Ints) -> NDArray[np.bool_]:
    """Mark the pairs of foldings that a stream out of a node may have at its ends, both of the same shape."""
    if node.equal_folding:
        return np.asarray(output_folding == input_folding)
    if node.divisible_folding:
        larger, smaller = np.maximum(output_folding, input_folding), np.minimum(output_folding, input_folding)
        return np.asarray(larger % smaller == 0)
    return np.ones(np.broadcast(output_folding, input_folding).shape, dtype=np.bool_)


def matches(node: Node, output_folding: int, input_folding: int) -> bool:
    """Whether a stream out of a node may have these foldings at its ends."""
    if node.equal_folding:
        return output_folding == input_folding
    if node.divisible_folding:
        return max(output_folding, input_folding) % min(output_folding, input_folding) == 0
    return True


@dataclass(frozen=True)
class Evaluation:
    """Cost in us of a batch: all of it, and without reconfiguration; ``broken``: rules it breaks, as sentences."""

    us: float
    run_us: float
    broken: tuple[str, ...]


def evaluate(problem: ScheduleProblem, design: Design) -> Evaluation:
    """Return what a design costs (eq. 3 for latency, the time a batch of eq. 4 for throughput) and what it breaks."""
    partitions = problem.partitions(design.cuts)
    broken = [f"a partition may not end behind {problem.nodes[cut].name}" for cut in _bad_cuts(problem, design.cuts)]
    if broken:
        return Evaluation(np.inf, np.inf, tuple(broken))
    intervals = [_interval(problem, design, first, last) for first, last in partitions]
    for (first, last), cycles in zip(partitions, intervals, strict=True):
        broken += _broken(problem, design, first, last, cycles)
    run_us = sum(problem.microseconds(cycles) for cycles in intervals)
    return Evaluation(run_us + len(design.cuts) * problem.reconfiguration_us, run_us, tuple(broken))


def _bad_cuts(problem: ScheduleProblem, cuts: tuple[int, ...]) -> list[int]:
    """Return the cuts that are not allowed, or not in order."""
    before = (-1, *cuts)
    return [cut for earlier, cut in zip(before, cuts, strict=False) if cut <= earlier or not problem.may_end[cut]]


def _interval(problem: ScheduleProblem, design: Design, first: int, last: int) -> float:
    """Return the cycles of a partition's slowest node (eq. 2)."""
    return max(float(problem.nodes[n].cycles[design.rows[n]]) for n in range(first, last + 1))


def _broken(problem: ScheduleProblem, design: Design, first: int, last: int, cycles: float) -> list[str]:
    """Return what a partition breaks: resources (eq. 6), bandwidth (eq. 7), folding along streams (eq. 10)."""
    nodes, rows = problem.nodes, design.rows
    place = f"{nodes[first].name} to {nodes[last].name}"
    use = np.sum([nodes[n].use[rows[n]] for n in range(first, last + 1)], axis=0)
    broken = [
        f"{place}: {amount:,} {name} needed, {limit:,.0f} allowed"
        for name, amount, limit in zip(RESOURCES, use.tolist(), problem.limits, strict=True)
        if amount > limit
    ]
    if not problem.within_bandwidth(first, last, np.array([cycles])).all():
        broken.append(f"{place}: too fast for the memory, {cycles:,.0f} cycles")
    for a, b in problem.edges:
        if first <= a and b <= last:
            ends = nodes[a].foldings[rows[a], 1], nodes[b].foldings[rows[b], 0]
            if not joined(nodes[a], *ends).all():
                broken.append(f"{nodes[a].name} to {nodes[b].name}: foldings {ends[0]} and {ends[1]} do not match")
    return broken
