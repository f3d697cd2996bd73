"""Assign modules to the slots of one or more FPGAs within resources, SLL wires and link rates, at least wire cost."""

from floorflow.hardware import Edge
from floorflow.partition.infeasibility import worst
from floorflow.partition.methods import METHODS, partition
from floorflow.partition.problem import (
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    SlotCapacity,
)
