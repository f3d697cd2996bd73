"""Method ``exact``: floorflow's own, with proof."""

from floorflow.folding.exact import FeasibilityOracle, least_scarce
from floorflow.folding.problem import FoldingAnswer, FoldingProblem, FoldingSolution


def solve(problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0) -> FoldingAnswer:
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
