"""The folding problem with every engine of the kind that the back end itself chooses, out of one with others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import OptionGroup
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval, restricted


def own_kinds(problem: FoldingProblem) -> FoldingProblem | None:
    """Return the problem without the options of other kinds; None if some engine has no more options."""
    keep = [_of_own_kind(group) for group in problem.groups]
    return restricted(problem, keep) if all(rows.any() for rows in keep) else None


def _of_own_kind(group: OptionGroup) -> NDArray[np.bool_]:
    """Mark the rows in which every engine is of its own kind, (n_rows,)."""
    return np.asarray((group.engine_kinds == "").all(axis=1))


def fewer_kinds(problem: FoldingProblem) -> FoldingProblem | None:
    """Return the problem of the engines' own kinds, None if that leaves all options or some engine none."""
    own = own_kinds(problem)
    same = own is not None and all(len(a.rows) == len(b.rows) for a, b in zip(own.groups, problem.groups, strict=True))
    return None if same else own


def own_kinds_reaching(problem: FoldingProblem, interval_cycles: int) -> FoldingProblem | None:
    """Return the problem of the engines' own kinds if it has fewer options and reaches an interval too, else None."""
    own = fewer_kinds(problem)
    if own is None:
        return None
    return own if isinstance(fold_at_interval(own, interval_cycles, prove=False), FoldingSolution) else None
