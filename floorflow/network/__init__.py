"""The Network: what a model file computes, with shapes and bit widths; knows no hardware."""

from floorflow.network.datatype import DataType
from floorflow.network.model import Network, Operation, Tensor
from floorflow.network.reader import read

__all__ = ["DataType", "Network", "Operation", "Tensor", "read"]
