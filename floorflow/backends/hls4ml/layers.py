"""hls4ml's layers by SAMO's model: multipliers that a reuse factor may leave, cycles and DSPs.

Source: SAMO (c562238), its back end for hls4ml 0.6.0; the legal numbers are hls4ml's test for reuse factors, which SAMO
puts to numbers of multipliers. LUT, FF and BRAM have no model there and are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.layered.graph import NamedLayer, has_square_kernel, refuse_others
from floorflow.network import Network, Operation

WITH_WEIGHTS = frozenset({"Conv2D", "Dense"})


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
        """Multiplications a pixel, and the largest number of multipliers."""
        return self.channels_in * self.channels_out * self.kernel**2


def multipliers(layer: Layer) -> NDArray[np.int64]:
    """Return the numbers of multipliers that are legal, ascending: products over reuse factors."""
    products, inputs, outputs = layer.products, layer.channels_in * layer.kernel**2, layer.channels_out
    n = np.array(divisors(products), dtype=np.int64)
    limit = -(-(inputs * outputs) // np.minimum(inputs, n))
    return np.asarray(n[((limit % outputs == 0) | (n >= inputs)) & ((n % inputs == 0) | (n < inputs))])


def divisors(number: int) -> list[int]:
    """Return the divisors of a number, ascending."""
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def options(layer: Layer) -> NDArray[np.float64]:
    """Return every option: input, output and kernel folding, cycles a frame, LUT, DSP, BRAM18 and FF, (n, 8)."""
    n = multipliers(layer)
    table = np.zeros((len(n), 8))
    table[:, :2] = 1
    table[:, 2] = n
    table[:, 3] = layer.pixels * (layer.products // n)
    table[:, 5] = n if layer.op in WITH_WEIGHTS else 0
    return table


def layers_of(network: Network) -> tuple[NamedLayer[Layer], ...]:
    """Return the layers of a network; quantisers are none, for hls4ml's types stand on layers.

    Raises InputError if operations have no layer; all of them are named.
    """
    operations = [operation for operation in network.operations if operation.type != "quantise"]
    hint = "hls4ml's layers are read from conv (square, one group), fully_connected, relu, pools and flatten"
    refuse_others(network, operations, _has_layer, "hls4ml", hint)
    return tuple(_named(network, operation) for operation in operations)


def _has_layer(operation: Operation) -> bool:
    return operation.type in _KINDS and operation.attributes.get("group", 1) == 1 and has_square_kernel(operation)


def _named(network: Network, operation: Operation) -> NamedLayer[Layer]:
    before, after = (network.tensor(ends[0]) for ends in (operation.inputs, operation.outputs))
    op, kernel = _KINDS[operation.type]
    pixels = prod(before.shape[2:])
    layer = Layer(op, before.shape[1], after.shape[1], kernel(operation), pixels)
    return NamedLayer(operation.name, layer, before.elements, after.elements)


def _one(_: Operation) -> int:
    return 1


def _side(operation: Operation) -> int:
    return operation.integers("kernel")[0]


_KINDS: Mapping[str, tuple[str, Callable[[Operation], int]]] = {
    "conv": ("Conv2D", _side),
    "fully_connected": ("Dense", _one),
    "relu": ("Activation", _one),
    "max_pool": ("Pooling2D", _one),
    "average_pool": ("Pooling2D", _one),
    "flatten": ("Reshape", _one),
}
"""By type of operation: hls4ml's, and the side of the kernel that counts in products."""
