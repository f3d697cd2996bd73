"""Choose one option an engine: the least scarce folding at an interval, or the one of least latency, with proof.

A *group* is one engine or several tied ones; a *row* is a joint option of a group; a *selection* is one row a group.
At one interval the problem is a multiple-choice knapsack with several resources and with prices on pairs of neighbours.

    problem                groups, budget, couplings (what the stream between two rows costs); answers as values
    selection              what rows and selections use, streams included
    dominance              presolve: the rows at an interval that no other beats whatever the neighbours choose
    variable_elimination   the cheapest selection of a graph with prices on nodes and on edges, for many prices at once
    pricing                the cheapest selections and the min-marginals at prices on the resources, by ports' widths
    lagrangian             Lagrangian bound: prices on resources instead of limits, sought by cutting planes
    label_setting          enumeration of all selections below a cost: closes the gap, or gives up
    local_search           better foldings next to a given one, by 1- and 2-exchanges
    branching              branch and bound, where several resources bind at once
    exact                  least scarcity at an interval: Lagrangian bound, local search, label setting, branching
    least_full             the least largest share of the budget at an interval, then the least scarcity near that
    latency                the least sum of cycles along the longest path (latency_bound)
    fewest                 the fewest marked engines at an interval, such as those above a limit
    balance                ties between the cycles of consecutive layers
    infeasible             how much larger the budget would have to be, and what fills it
    methods                methods by name: `exact`, and the published ones of `floorflow.papers`
"""

from floorflow.folding.exact import FeasibilityOracle, least_scarce
from floorflow.folding.infeasible import Shortage, shortage
from floorflow.folding.latency import fold_at_interval, least_latency
from floorflow.folding.problem import (
    RATIO,
    FoldingAnswer,
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    FoldingUnknown,
    fitting,
    restricted,
    shortest_interval,
)
