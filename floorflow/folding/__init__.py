"""Choose one option an engine: the shortest interval under the budget, then the least scarcity. Exact, with proof."""

from floorflow.folding.exact import fold_at_interval, shortest_interval
from floorflow.folding.problem import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown, fitting

__all__ = [
    "FoldingInfeasible",
    "FoldingProblem",
    "FoldingSolution",
    "FoldingUnknown",
    "fitting",
    "fold_at_interval",
    "shortest_interval",
]
