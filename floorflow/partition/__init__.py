"""Assign modules to the slots of one or more FPGAs within resources, SLL wires and link rates, at least wire cost."""

from floorflow.partition.methods import METHODS, partition
from floorflow.partition.problem import (
    LINK_WEIGHT,
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    SlotCapacity,
)
from floorflow.partition.routes import Edge

__all__ = [
    "LINK_WEIGHT",
    "METHODS",
    "Edge",
    "ModuleStream",
    "PartitionFailure",
    "PartitionProblem",
    "PartitionSolution",
    "SlotCapacity",
    "partition",
]
