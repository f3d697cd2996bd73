"""The folding problem with every engine of the kind that the back end itself chooses, out of one with others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval


def own_kinds(problem: FoldingProblem) -> FoldingProblem | None:
    """Return the problem without the options of other kinds; None if some engine has no more options."""
    keep = [_of_own_kind(group) for group in problem.groups]
    if not all(rows.any() for rows in keep):
        return None
    groups = tuple(group.subset(rows) for group, rows in zip(problem.groups, keep, strict=True))
    streams = tuple(_between(stream, keep[stream.source], keep[stream.target]) for stream in problem.couplings)
    return replace(problem, groups=groups, couplings=streams)


def _between(stream: Coupling, source: NDArray[np.bool_], target: NDArray[np.bool_]) -> Coupling:
    """Return the prices of a stream between the rows that are left."""
    sources, source_class = np.unique(stream.source_class[source], return_inverse=True)
    targets, target_class = np.unique(stream.target_class[target], return_inverse=True)
    use = stream.use[np.ix_(sources, targets)]
    return replace(stream, source_class=source_class, target_class=target_class, use=use)


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
