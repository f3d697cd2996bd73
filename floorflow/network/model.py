"""The Network: operations joined by tensors, as the model file means them.

Operation types: ``conv``, ``fully_connected``, ``quantise``, ``truncate``, ``affine`` (batch norm, scale, bias),
``relu``, ``clip`` (also Selu, by ``operator``), ``max_pool``, ``average_pool``, ``upsample``, ``pad``, ``flatten``
(also what only adds or drops sizes of 1), ``add``, ``multiply`` (of data), ``concat``, ``split`` (of channels),
``mean`` (not over all pixels), ``top_k``, ``softmax``, ``function`` (an activation other than ReLU), ``unread`` (an
obstacle). Tensors are channels first, as in ONNX; spatial attributes (``kernel``, ``strides``, ``dilations``,
``pads``, ``factors``) are (height, width) and pads (top, left, bottom, right); a ``conv`` with ``spread`` reads an
image with zeros between its pixels (a transposed convolution). What a back end reads in its own form has its own
types, and tensors with channels last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floorflow.network.datatype import DataType
    from floorflow.network.obstacles import Obstacle

Value = int | str | tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    """A tensor: data that flows, or the weights of a layer. Batch is 1."""

    name: str
    shape: tuple[int, ...]
    datatype: DataType

    @property
    def elements(self) -> int:
        """Number of elements a frame."""
        return prod(self.shape)


@dataclass(frozen=True)
class Operation:
    """One operation; ``name`` is the ONNX node's, ``inputs`` and ``outputs`` the tensors that flow.

    Weights are named by the attribute ``weights``. ``macs`` counts multiplications a frame, 0 without weights.
    """

    name: str
    type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Value]
    macs: int = 0

    def integer(self, key: str) -> int:
        """Return an attribute that holds one integer."""
        value = self.attributes[key]
        if not isinstance(value, int):
            raise TypeError(f"attribute '{key}' of '{self.name}' is {value!r}, not an integer")
        return value

    def integers(self, key: str) -> tuple[int, ...]:
        """Return an attribute that holds a tuple of integers."""
        value = self.attributes[key]
        if not isinstance(value, tuple):
            raise TypeError(f"attribute '{key}' of '{self.name}' is {value!r}, not a tuple")
        return value

    def text(self, key: str) -> str:
        """Return an attribute that holds a string."""
        value = self.attributes[key]
        if not isinstance(value, str):
            raise TypeError(f"attribute '{key}' of '{self.name}' is {value!r}, not a string")
        return value


@dataclass(frozen=True)
class Network:
    """A quantised network: operations in topological order, and every tensor they name."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operations: tuple[Operation, ...]
    tensors: tuple[Tensor, ...]
    notes: tuple[str, ...] = ()
    """What was assumed while reading, in sentences for the user."""
    obstacles: tuple[Obstacle, ...] = ()
    """What could not be read; operations of type ``unread`` stand for it, and their 8-bit results are guesses."""
    activation_bits: int = 0
    """Width of all activations of a network that had no quantisers; 0 for one with quantisers of its own."""

    @cached_property
    def _by_name(self) -> Mapping[str, Tensor]:
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def _consumers(self) -> Mapping[str, tuple[Operation, ...]]:
        found: dict[str, list[Operation]] = {}
        for operation in self.operations:
            for name in operation.inputs:
                found.setdefault(name, []).append(operation)
        return {name: tuple(operations) for name, operations in found.items()}

    def tensor(self, name: str) -> Tensor:
        """Return the tensor of that name."""
        return self._by_name[name]

    def weights(self, operation: Operation) -> Tensor:
        """Return the weights of a ``conv`` or ``fully_connected``."""
        return self.tensor(operation.text("weights"))

    def consumers(self, tensor: str) -> tuple[Operation, ...]:
        """Return the operations that read a tensor, once for each input that does."""
        return self._consumers.get(tensor, ())

    @property
    def layers(self) -> tuple[Operation, ...]:
        """The operations that multiply with weights."""
        return tuple(operation for operation in self.operations if operation.macs and "weights" in operation.attributes)

    @property
    def macs(self) -> int:
        """Multiplications a frame of all layers."""
        return sum(operation.macs for operation in self.operations)
