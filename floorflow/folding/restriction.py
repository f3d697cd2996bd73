"""The folding problem with fewer rows: the same prices of streams, among what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.folding.problem import FoldingProblem

Mask = NDArray[np.bool_]


def restricted(problem: FoldingProblem, keep: Sequence[Mask]) -> FoldingProblem:
    """Return the problem with the marked rows of each group, (n_rows,) each, at least one; itself if these are all.

    Groups that share their rows, and keep the same ones, go on sharing them.
    """
    if all(rows.all() for rows in keep):
        return problem
    shared: dict[tuple[int, bytes], OptionGroup] = {}
    groups = []
    for group, rows in zip(problem.groups, keep, strict=True):
        first = shared.setdefault((id(group.rows), rows.tobytes()), group.subset(rows))
        groups.append(group.subset(rows) if rows.all() else OptionGroup(group.engines, first.rows))
    couplings = tuple(_between(c, keep[c.source], keep[c.target]) for c in problem.couplings)
    return replace(problem, groups=tuple(groups), couplings=couplings)


def _between(stream: Coupling, source: Mask, target: Mask) -> Coupling:
    """Return the prices of a stream between the rows that are left."""
    if source.all() and target.all():
        return stream
    sources, source_class = np.unique(stream.source_class[source], return_inverse=True)
    targets, target_class = np.unique(stream.target_class[target], return_inverse=True)
    left = np.ix_(sources, targets)
    at_source = None if stream.at_source is None else stream.at_source[left]
    return replace(
        stream, use=stream.use[left], at_source=at_source, source_class=source_class, target_class=target_class
    )
