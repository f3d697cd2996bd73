"""Choose one option an engine: the shortest interval, the least scarcity or the least latency. With proof."""

from floorflow.folding.exact import shortest_interval
from floorflow.folding.objective import fold_at_interval
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
