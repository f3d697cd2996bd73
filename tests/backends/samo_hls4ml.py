"""hls4ml's layers by SAMO's model, of which the back end has the legal reuse factors alone.

Source: SAMO (c562238), its back end for hls4ml 0.6.0; LUT, FF and BRAM have no model there and are 0.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.hls4ml.foldings import taken
from floorflow.backends.layered.areas import divisors
from floorflow.backends.layered.graph import has_square_kernel, refuse_others
from floorflow.network import Network, Operation

KINDS = {
    "conv": "Conv2D",
    "fully_connected": "Dense",
    "relu": "Activation",
    "max_pool": "Pooling2D",
    "average_pool": "Pooling2D",
    "flatten": "Reshape",
}


@dataclass(frozen=True)
class Layer:
    """A layer: ``pixels`` of its input feature map, 1 where it is a vector; ``kernel`` the side of its square."""

    op: str
    channels_in: int
    channels_out: int
    kernel: int
    pixels: int

    @property
    def products(self) -> int:
        return self.channels_in * self.channels_out * self.kernel**2


def multipliers(layer: Layer) -> NDArray[np.int64]:
    n = np.array(divisors(layer.products), dtype=np.int64)
    return n[taken(layer.channels_in * layer.kernel**2, layer.channels_out, n)]


def options(layer: Layer) -> NDArray[np.float64]:
    """Return every option: input, output and kernel folding, cycles a frame, LUT, DSP, BRAM18 and FF, (n, 8)."""
    n = multipliers(layer)
    table = np.zeros((len(n), 8))
    table[:, :2] = 1
    table[:, 2] = n
    table[:, 3] = layer.pixels * (layer.products // n)
    table[:, 5] = n if layer.op in {"Conv2D", "Dense"} else 0
    return table


def layers_of(network: Network) -> dict[str, Layer]:
    operations = [operation for operation in network.operations if operation.type != "quantise"]
    refuse_others(network, operations, _has_layer, "hls4ml", "")
    return {operation.name: _layer(network, operation) for operation in operations}


def _has_layer(operation: Operation) -> bool:
    return operation.type in KINDS and operation.attributes.get("group", 1) == 1 and has_square_kernel(operation)


def _layer(network: Network, operation: Operation) -> Layer:
    before, after = (network.tensor(ends[0]) for ends in (operation.inputs, operation.outputs))
    kernel = operation.integers("kernel")[0] if operation.type == "conv" else 1
    return Layer(KINDS[operation.type], before.shape[1], after.shape[1], kernel, prod(before.shape[2:]))
