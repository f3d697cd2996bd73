"""Folding methods by name: interchangeable, so that a published heuristic can be held against the exact solver."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from floorflow.folding.annealing import annealing
from floorflow.folding.brute import brute
from floorflow.folding.cpsat import cpsat
from floorflow.folding.exact import FeasibilityOracle, FoldingAnswer, least_scarce
from floorflow.folding.problem import FoldingProblem, FoldingSolution
from floorflow.folding.rule import rule


class FoldingMethod(Protocol):
    """Folds a problem within an interval, or without one at the shortest that it can find."""

    def __call__(self, problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0) -> FoldingAnswer:
        """Return the folding, a proof that there is none, or neither."""


def exact(problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0) -> FoldingAnswer:
    """Return the least scarce folding within an interval; without one, the shortest interval's least scarce.

    ``seed`` is not used.
    """
    del seed
    if interval_cycles is not None:
        return least_scarce(problem, interval_cycles)
    oracle = FeasibilityOracle(problem)
    shortest = oracle.shortest(lambda answer: isinstance(answer, FoldingSolution))
    # The last interval that has no folding, for the reason.
    return oracle.least_scarce(problem.intervals()[-1] if shortest is None else shortest)


METHODS: Mapping[str, FoldingMethod] = MappingProxyType(
    {"exact": exact, "cpsat": cpsat, "rule": rule, "annealing": annealing, "brute": brute}
)
"""Methods that need no more than the problem; ``finn``, which needs FINN's engines, is in `floorflow.study`."""
