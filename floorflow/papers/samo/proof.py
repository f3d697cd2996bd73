"""What prices do not decide: the segment as a folding problem of floorflow's own, proven by branching."""

from __future__ import annotations

import numpy as np

from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup, OptionTable, TableRows, objects
from floorflow.errors import LimitError
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution
from floorflow.papers.samo.problem import RESOURCES, Ints, joined
from floorflow.papers.samo.segment_model import Mask, SegmentModel
from floorflow.resources import RESOURCE_NAMES, Resources

COLUMN_OF = {"LUT": "LUT", "DSP": "DSP", "BRAM": "BRAM18", "FF": "FF"}
UNLIMITED = UNBUILDABLE - 1
WEIGHT = 1 << 24
"""What all of a limit weighs in the cost that is minimised."""


def prove(model: SegmentModel, level: int, keep: Mask | None = None) -> Ints | None:
    """Return a selection of the model's rows up to a level within the limits; None: proven that there is none.

    ``keep``, (n_rows,), leaves out rows.

    Raises
    ------
    LimitError
        If the folding solver stops before it knows.

    """
    rows = [_rows_of(model, number, level, keep) for number in range(len(model.nodes))]
    if not all(some.size for some in rows):
        return None
    problem = folding_problem(model, rows)
    answer = FeasibilityOracle(problem)(int(max(group.cycles.max() for group in problem.groups)))
    if isinstance(answer, FoldingInfeasible):
        return None
    if not isinstance(answer, FoldingSolution):
        raise LimitError("the folding solver reached its limit within a partition", hint="use --methods rule,annealing")
    chosen = (int(str(answer.options[str(number)].folding["row"])) for number in range(len(rows)))
    return np.array([some[row] for some, row in zip(rows, chosen, strict=True)], dtype=np.int64)


def _rows_of(model: SegmentModel, number: int, level: int, keep: Mask | None) -> Ints:
    mine = (model.row_node == number) & (model.level <= level)
    return np.flatnonzero(mine if keep is None else mine & keep)


def folding_problem(model: SegmentModel, rows: list[Ints]) -> FoldingProblem:
    """Return a segment as a folding problem: one group a node, a coupling where a rule ties the ends of a stream."""
    limits = dict.fromkeys(RESOURCE_NAMES, 0)
    for name, limit in zip(RESOURCES, model.problem.limits, strict=True):
        limits[COLUMN_OF[name]] = int(limit) if limit < np.inf else UNLIMITED
    budget = Resources(*limits.values())
    weights = [round(WEIGHT / max(1, limits[name])) for name in RESOURCE_NAMES]
    groups = tuple(_group(model, number, some) for number, some in enumerate(rows))
    return FoldingProblem(groups, budget, budget, tuple(_couplings(model, rows)), weights=tuple(weights))


def _group(model: SegmentModel, number: int, rows: Ints) -> OptionGroup:
    numbers = np.zeros((7, len(rows)), dtype=np.int64)
    numbers[0] = model.level[rows] + 1
    for column, name in enumerate(model.problem.limited):
        numbers[1 + RESOURCE_NAMES.index(COLUMN_OF[RESOURCES[name]])] = model.use[rows, column]
    numbers[6] = np.arange(len(rows))
    nothing = objects([{}] * len(rows))
    table = OptionTable(numbers, nothing, objects([""] * len(rows)), 0, ("row",))
    return OptionGroup((str(number),), TableRows((table,)))


def _couplings(model: SegmentModel, rows: list[Ints]) -> list[Coupling]:
    """Return what streams forbid: a pair of foldings that do not match uses more than any budget."""
    couplings = []
    for a, b in model.edges:
        node = model.nodes[a]
        if not (node.equal_folding or node.divisible_folding):
            continue
        outputs, source_class = np.unique(node.foldings[model.row_number[rows[a]], 1], return_inverse=True)
        inputs, target_class = np.unique(model.nodes[b].foldings[model.row_number[rows[b]], 0], return_inverse=True)
        use = np.zeros((len(outputs), len(inputs), len(RESOURCE_NAMES)), dtype=np.int64)
        use[~joined(node, outputs[:, None], inputs)] = UNBUILDABLE
        couplings.append(Coupling(a, b, source_class.reshape(-1), target_class.reshape(-1), use))
    return couplings
