"""Pairs of SLR boundaries of one FPGA: what makes a stream over several of them dear, or forbids it.

A stream over b boundaries passes b (b - 1) / 2 pairs of them. With one unit of cost for each boundary and one for each
pair a wire costs b (b + 1) / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ortools.sat.python import cp_model

from floorflow.partition.problem import PartitionProblem

Soften = Callable[[cp_model.CpModel, int], Any]
"""From the model and a limit to an amount by which it may be exceeded."""
HOP_LIMIT = 10
"""Stands for a limit where hops too many are softened: each counts as a tenth of a limit."""


@dataclass(frozen=True)
class BoundaryPair:
    """Two SLR boundaries of one FPGA, as edges.

    ``outer`` are the slots on either side of both: behind the first, and behind the second, seen from between them.
    ``allowed``: whether a stream may cross both.
    """

    first: int
    second: int
    outer: tuple[frozenset[int], frozenset[int]]
    allowed: bool

    def is_passed(self, source: int, target: int) -> bool:
        """Whether a stream between two slots crosses both."""
        one, other = self.outer
        return (source in one and target in other) or (source in other and target in one)


def boundary_pairs(problem: PartitionProblem) -> tuple[BoundaryPair, ...]:
    """Return the pairs of boundaries; of those that no stream may cross both only the nearest, which imply the rest."""
    found = []
    numbered = [(k, fpga) for k, fpga in enumerate(problem.graph.fpga_of_edge) if fpga >= 0]
    for (j, fpga), (k, other) in combinations(numbered, 2):
        if fpga != other:
            continue
        outer = _behind(problem, j, k), _behind(problem, k, j)
        ends = [(problem.edges[j].a, problem.edges[j].b), (problem.edges[k].a, problem.edges[k].b)]
        near, far = (next(slot for slot in pair if slot in side) for pair, side in zip(ends, outer, strict=True))
        apart, most = problem.graph.boundaries_passed(near, far)[fpga], problem.max_hops
        if most is None or apart <= most + 1:
            found.append(BoundaryPair(j, k, outer, most is None or apart <= most))
    return tuple(found)


def _behind(problem: PartitionProblem, edge: int, other: int) -> frozenset[int]:
    """Return the slots on that side of an edge on which the other edge is not."""
    side = problem.beyond[edge]
    return side if problem.edges[other].a not in side else frozenset(range(len(problem.slots))) - side


def passed_pairs(
    cp: cp_model.CpModel,
    pairs: Sequence[BoundaryPair],
    ends: Iterable[tuple[int, int]],
    outside: Callable[[int, int, int], Any],
    soften: Soften | None,
) -> dict[tuple[int, int, int], Any]:
    """Return whether streams with these ends pass both of a pair, by (end, end, pair): a variable, or a constant.

    ``outside(end, pair, i)`` says whether an end lies on a pair's outer side ``i``, as an expression or a constant.
    Pairs that no stream may pass are constrained, or count as hops too many where limits are softened.
    """
    both: dict[tuple[int, int, int], Any] = {}
    for a, b in ends:
        for r, pair in enumerate(pairs):
            sides = [(outside(a, r, i), outside(b, r, 1 - i)) for i in (0, 1)]
            ways = [way for way in sides if not any(isinstance(one, int) and one == 0 for one in way)]
            if not ways:
                continue
            passed: Any = soften(cp, HOP_LIMIT) if soften is not None and not pair.allowed else 0
            if pair.allowed:
                passed = both[a, b, r] = cp.new_bool_var(f"both[{a},{b},{r}]")
            for one, other in ways:
                _at_most_one(cp, one, other, passed)
    return both


def _at_most_one(cp: cp_model.CpModel, one: Any, other: Any, passed: Any) -> None:
    """Add: an end lies on its side, or the other on its own, not both unless both are passed."""
    if all(isinstance(each, int) for each in (one, other, passed)):
        if one + other > 1 + passed:
            cp.add_bool_or([]).with_name("hops")
        return
    cp.add(one + other <= 1 + passed).with_name("hops")
