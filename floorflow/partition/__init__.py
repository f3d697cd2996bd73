"""Assign modules to slots within resources and SLL wires, at the least wire length over boundaries."""

from floorflow.partition.methods import METHODS, partition
from floorflow.partition.problem import (
    Boundary,
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    Place,
)

__all__ = [
    "METHODS",
    "Boundary",
    "ModuleStream",
    "PartitionFailure",
    "PartitionProblem",
    "PartitionSolution",
    "Place",
    "partition",
]
