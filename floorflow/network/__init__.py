"""The Network: what a model file computes, with shapes and bit widths; knows no hardware."""

from floorflow.network.dialects import EIGHT_BITS, FloatBits
from floorflow.network.model import Network, Operation, Tensor
from floorflow.network.reader import partial_network, read
