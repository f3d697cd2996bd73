"""What is known of each tensor while operations are translated: shape, datatype, constant or data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from floorflow.network.datatype import FLOAT32, DataType
from floorflow.network.obstacles import Obstacle, ObstacleError
from floorflow.network.onnx_file import Node, OnnxFile, is_small
from floorflow.network.shapes import shape_of

_CONSTANT_SOURCES = ("Constant", "ConstantOfShape", "Shape", "Size")
"""Operators whose output is constant once all shapes are."""

_CONSTANT_ATTRIBUTES = ("value", "value_float", "value_floats", "value_int", "value_ints")

_TYPE_KEEPING = ("Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten", "Identity", "Slice", "Expand")
"""Operators that move weights about without changing their datatype."""


@dataclass
class Facts:
    """Facts on the tensors of one file. ``types`` grows in file order; FLOAT32 means not quantised.

    ``raw`` holds the data tensors that come from an input without quantiser, ``entering`` also those behind its
    quantisers, whose order is the host's, ``alias`` the tensors that are another tensor under a second name.
    """

    source: OnnxFile
    shapes: Mapping[str, tuple[int, ...]]
    constants: frozenset[str]
    types: dict[str, DataType] = field(default_factory=dict)
    raw: set[str] = field(default_factory=set)
    entering: set[str] = field(default_factory=set)
    alias: dict[str, str] = field(default_factory=dict)

    def shape(self, name: str, node: Node) -> tuple[int, ...]:
        """Return a tensor's shape, for a node that needs it."""
        return shape_of(self.shapes, name, self.source, node.name)

    def told(self, name: str, node: Node) -> tuple[int, ...]:
        """Return a tensor's shape as the file has it, for a message; `shape` may have its channels elsewhere."""
        return self.source.file_shapes.get(name) or self.shape(name, node)

    def type(self, name: str) -> DataType:
        """Return a tensor's datatype."""
        return self.types.get(name, FLOAT32)

    def value(self, name: str) -> Any | None:
        """Return the array of an initialiser or Constant, None if it is computed, large or outside the file."""
        tensor = self.source.initialisers.get(name)
        if tensor is None:
            return next((_constant(node) for node in self.source.nodes if name in node.outputs), None)
        return numpy_helper.to_array(tensor) if is_small(tensor) else None

    def number(self, name: str, node: Node, what: str) -> float:
        """Return the one number that a constant holds."""
        value = self.value(name) if name else None
        if value is None or value.size == 0 or value.min() != value.max():
            raise self.refuse(node, f"{what} ('{name}') is not a constant single number")
        return float(value.flat[0])

    def data_inputs(self, node: Node) -> tuple[str, ...]:
        """Return the inputs that flow, under their first names."""
        return tuple(self.resolve(name) for name in node.inputs if name and name not in self.constants)

    def resolve(self, name: str) -> str:
        """Return a tensor's first name."""
        return self.alias.get(name, name)

    def refuse(self, node: Node, reason: str, hint: str = "", *, unsupported: bool = False) -> ObstacleError:
        """Return the error for a node that cannot be read."""
        todo = hint or "Change the network or its export at that node."
        return ObstacleError(Obstacle(self.source.path, "node", node.name, node.op_type, reason, todo, unsupported))


def find_constants(source: OnnxFile) -> frozenset[str]:
    """Return the names of all tensors that do not depend on the data."""
    constants = set(source.initialisers)
    for node in source.nodes:
        if node.op_type in _CONSTANT_SOURCES or (node.inputs and constants.issuperset(filter(None, node.inputs))):
            constants.update(node.outputs)
    return frozenset(constants)


def keeps_type(node: Node) -> bool:
    """Whether a node on constants only moves elements about."""
    return node.op_type in _TYPE_KEEPING


def _constant(node: Node) -> Any | None:
    if node.op_type != "Constant":
        return None
    for key in _CONSTANT_ATTRIBUTES:
        if key in node.attributes:
            value = node.attributes[key]
            if isinstance(value, onnx.TensorProto):
                return numpy_helper.to_array(value)
            return np.atleast_1d(np.asarray(value, dtype=np.float64))
    return None
