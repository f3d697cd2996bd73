"""What a design costs, and which rules it breaks: SAMO's equations on one design, without any solver's shortcuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.papers.samo.problem import RESOURCES, Design, ScheduleProblem, joined


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
