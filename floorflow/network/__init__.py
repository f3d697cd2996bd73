"""The Network: what a model file computes, with shapes and bit widths; knows no hardware."""

from floorflow.network.datatype import DataType
from floorflow.network.dialects import EIGHT_BITS, FloatBits
from floorflow.network.model import Network, Operation, Tensor
from floorflow.network.reader import network_from, partial_network, read

__all__ = [
    "EIGHT_BITS",
    "DataType",
    "FloatBits",
    "Network",
    "Operation",
    "Tensor",
    "network_from",
    "partial_network",
    "read",
]
