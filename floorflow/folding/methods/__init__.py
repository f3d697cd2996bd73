"""Folding methods by name, a file for each: interchangeable, to hold published heuristics against the exact solver.

A new one is a new file here with a function ``solve(problem, interval_cycles, seed)``. Methods that need to know the
engines are a back end's (`floorflow.search.candidate.engine_limits`).
"""

from collections.abc import Mapping

from floorflow.folding.problem import FoldingAnswer, FoldingProblem
from floorflow.stats import Method, methods_in

FoldingMethod = Method[FoldingProblem, int | None, FoldingAnswer]
"""Folds a problem within an interval, or without one at the shortest that it can find."""

METHODS: Mapping[str, FoldingMethod] = methods_in("folding")
