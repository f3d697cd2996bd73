"""A network as the layers that the engine runs: convolutions, each with the ReLU and the pool behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from floorflow.backends.layered.named import has_square_kernel, refuse_others
from floorflow.network import Network, Operation

_READ = frozenset({"conv", "relu", "max_pool", "average_pool"})
_WIRES = frozenset({"quantise", "affine", "flatten"})
"""Words have 16 bits whatever quantisers say, and batch norm is a convolution's."""
_CLASSIFIER = frozenset({"fully_connected", "softmax", "top_k"})
_HINT = "f-CNN^x' engine runs a chain of conv (square kernel, one group), relu and pools"


@dataclass(frozen=True)
class Pool:
    """A pool behind a convolution."""

    kernel: int
    rows_out: int
    columns_out: int


@dataclass(frozen=True)
class ConvLayer:
    """A convolution of ``maps_in`` x ``rows_in`` x ``columns_in`` with the ReLU and the pool behind it."""

    name: str
    maps_in: int
    rows_in: int
    columns_in: int
    kernel: int
    maps_out: int
    rows_out: int
    columns_out: int
    has_relu: bool = False
    pool: Pool | None = None

    @property
    def macs(self) -> int:
        """Multiplications a frame."""
        return self.maps_in * self.maps_out * self.kernel**2 * self.rows_out * self.columns_out

    @property
    def results(self) -> int:
        """Words of the feature map that leaves, behind the pool."""
        rows, columns = (self.pool.rows_out, self.pool.columns_out) if self.pool else (self.rows_out, self.columns_out)
        return self.maps_out * rows * columns

    @property
    def operations(self) -> int:
        """Operations a frame as Table I counts them: two a multiplication, one each of ReLU and in a pool's window."""
        relu = self.maps_out * self.rows_out * self.columns_out if self.has_relu else 0
        return 2 * self.macs + relu + (self.results * self.pool.kernel**2 if self.pool else 0)


def layers_of(network: Network) -> tuple[ConvLayer, ...]:
    """Return the layers of a network's feature extractor; dense layers behind it stay on the host.

    Raises
    ------
    InputError
        If operations before the first dense layer have no stage; all of them are named.

    """
    body = _feature_extractor(network)
    refuse_others(network, body, _has_stage, "f-CNN^x' engine", _HINT)
    _refuse_branches(network, body)
    layers: list[ConvLayer] = []
    for operation in body:
        if operation.type == "conv":
            layers.append(_convolution(network, operation))
        elif operation.type == "relu":
            layers[-1] = replace(layers[-1], has_relu=True)
        else:
            layers[-1] = replace(layers[-1], pool=_pool(network, operation))
    return tuple(layers)


def _feature_extractor(network: Network) -> list[Operation]:
    """Return the operations that have stages, up to the classifier."""
    body = []
    for operation in network.operations:
        if operation.type in _CLASSIFIER:
            break
        if operation.type not in _WIRES:
            body.append(operation)
    return body


def _has_stage(operation: Operation) -> bool:
    return operation.type in _READ and has_square_kernel(operation) and operation.attributes.get("group", 1) == 1


def _refuse_branches(network: Network, body: list[Operation]) -> None:
    """Refuse what is no chain, or has a ReLU or pool where no convolution stands before it."""
    behind: set[str] = set()

    def in_chain(operation: Operation) -> bool:
        if len(operation.inputs) != 1 or len(network.consumers(operation.outputs[0])) > 1:
            return False
        if operation.type == "conv":
            behind.clear()
            behind.add("conv")
            return True
        alone = "conv" in behind and operation.type not in behind and "pool" not in behind
        behind.add("pool" if operation.type.endswith("pool") else operation.type)
        return alone

    refuse_others(network, body, in_chain, "f-CNN^x' engine", f"{_HINT}, one of each behind a convolution")


def _convolution(network: Network, operation: Operation) -> ConvLayer:
    _, maps_in, rows_in, columns_in = network.tensor(operation.inputs[0]).shape
    _, maps_out, rows_out, columns_out = network.tensor(operation.outputs[0]).shape
    kernel = operation.integers("kernel")[0]
    return ConvLayer(operation.name, maps_in, rows_in, columns_in, kernel, maps_out, rows_out, columns_out)


def _pool(network: Network, operation: Operation) -> Pool:
    _, _, rows, columns = network.tensor(operation.outputs[0]).shape
    given = operation.attributes.get("kernel")
    kernel = given[0] if isinstance(given, tuple) else network.tensor(operation.inputs[0]).shape[2]
    return Pool(int(kernel), rows, columns)
