"""Placement methods by name, a file for each; a new one is a new file with ``solve(problem, limits, seed)``."""

from collections.abc import Mapping

from floorflow.placement.problem import Limits, PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.stats import Method, methods_in

METHODS: Mapping[str, Method[PlacementProblem, Limits, PlacementSolution | PlacementFailure]] = methods_in("placement")
