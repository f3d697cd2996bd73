"""Choose one option an engine: the least scarce folding at an interval, or the one of least latency, with proof.

A *group* is one engine or several tied ones; a *row* is a joint option of a group; *picks* are one row a group.

    problem        groups, budget, couplings (what the stream between two rows costs); answers as values
    streams        what streams add to rows and to pairs of rows
    candidates     the rows at an interval that no other beats whatever the neighbours choose
    elimination    the cheapest picks of a graph with prices on nodes and on edges, for many prices at once
    states         rows by what their neighbours see of them
    pricing        the cheapest rows at prices on the resources
    relaxation     Lagrangian bound: prices on resources instead of limits (cutting_planes: which prices to try)
    labels         enumeration of all picks below a cost: closes the gap, or gives up
    descent        better foldings next to a given one, by exchanges
    branching      branch and bound, where labels give up because several resources bind at once (counts: how to split)
    exact          least scarcity at an interval: relaxation, descent, then labels or branching
    intervals      which interval to try next, looking for the shortest
    latency, ...   the same for the sum of cycles along the longest path (paths, states, latency_bound, latency_model)
    infeasible     how much larger the budget would have to be, and what fills it
    methods        all ways to fold, by name: beside `exact` the published ones (cpsat, rule, annealing, brute; picks)
"""

from floorflow.folding.exact import Answer, FeasibilityOracle, least_scarce
from floorflow.folding.infeasible import Shortage, shortage
from floorflow.folding.interval_search import RATIO, shortest_interval
from floorflow.folding.latency import least_latency
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown, fitting

__all__ = [
    "RATIO",
    "FeasibilityOracle",
    "FoldingInfeasible",
    "FoldingProblem",
    "FoldingSolution",
    "FoldingUnknown",
    "Shortage",
    "fitting",
    "fold_at_interval",
    "shortage",
    "shortest_interval",
]


def fold_at_interval(problem: FoldingProblem, interval_cycles: int, *, prove: bool = True) -> Answer:
    """Return the best folding with no engine above ``interval_cycles``, or the proof that none exists.

    Best is the least scarce one, or that of least latency if the problem has ``paths``. Without ``prove`` the first
    folding within the budget will do; its ``stats`` are of its scarcity.
    """
    if problem.paths is None or not prove:
        return least_scarce(problem, interval_cycles, prove=prove)
    return least_latency(problem, interval_cycles)
