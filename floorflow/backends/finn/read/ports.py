"""What flows through a FINN node: the datatypes of its ports and weights, from its attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from floorflow.backends.finn.lower.types import pool_sum
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Attributes
from floorflow.network.datatype import FLOAT32, DataType, integer, named, smallest

_OUTPUT_TYPES = ("outputDataType", "OutputDataType", "out_dtype", "EmbeddingType", "dataType", "dtype")
_INPUT_TYPES = ("inputDataType", "InputDataType", "dataType", "InputType", "dtype")
_PAIRS = (("lhs_dtype", "rhs_dtype"), ("inputDataType0", "inputDataType1"))
"""Attributes of kinds whose two inputs may differ."""
_WEIGHT_TYPES = ("weightDataType", "paramDataType", "EmbeddingType")
_WIDENING = ("AddStreams", "StreamingEltwise")
"""Kinds whose results have one bit more than their inputs."""
_ODD_WIDTH = re.compile(r"(?:FIXED|SCALEDINT)<([1-9][0-9]{0,3})")


def datatype(name: str) -> DataType:
    """Return the type of that name.

    Types that engines pass on but do not compute with (floats, fixed point) have the right width and no range.
    """
    try:
        return named(name)
    except ValueError:
        match = _ODD_WIDTH.match(name)
        bits = int(match[1]) if match else 16 if name == "FLOAT16" else FLOAT32.bits
        return DataType(name, bits, signed=True, min=FLOAT32.min, max=FLOAT32.max)


def input_type(attributes: Attributes, position: int) -> DataType:
    """Return the type that an engine expects at an input."""
    for pair in _PAIRS:
        if pair[0] in attributes:
            return datatype(str(attributes[pair[min(position, 1)]]))
    types = attributes.get("inputDataTypes")
    if isinstance(types, tuple) and types:
        return datatype(str(types[min(position, len(types) - 1)]))
    return next((datatype(str(attributes[key])) for key in _INPUT_TYPES if key in attributes), FLOAT32)


def output_type(op_type: str, attributes: Attributes) -> DataType:
    """Return the type that an engine sends."""
    for key in _OUTPUT_TYPES:
        if key in attributes:
            return datatype(str(attributes[key]))
    kind = family(op_type)
    if kind in _WIDENING:
        inputs = [input_type(attributes, position) for position in (0, 1)]
        signed = kind == "StreamingEltwise" or any(i.signed for i in inputs)
        return integer(max(i.bits for i in inputs) + 1, signed=signed)
    source = input_type(attributes, 0)
    if kind == "GlobalAccPool":
        return pool_sum(source, _pixels(attributes))
    if "inputDataTypes" in attributes:
        return _common(attributes)
    return source


def _common(attributes: Attributes) -> DataType:
    """Return the smallest type that holds the values of all parts of a concatenation."""
    types = attributes["inputDataTypes"]
    parts = [datatype(str(name)) for name in types] if isinstance(types, tuple) else []
    if len({part.name for part in parts}) == 1:
        return parts[0]
    return smallest(min(part.min for part in parts), max(part.max for part in parts))


def weight_type(attributes: Attributes) -> DataType | None:
    """Return the type of an engine's parameters; None if it has none."""
    for key in _WEIGHT_TYPES:
        if key in attributes:
            return datatype(str(attributes[key]))
    for side in ("lhs", "rhs"):
        if attributes.get(f"{side}_style") == "const":
            return datatype(str(attributes[f"{side}_dtype"]))
    return None


def weight_shape(op_type: str, attributes: Attributes) -> tuple[int, ...] | None:
    """Return the shape of the weights that a layer multiplies with: (inputs, neurons), or (channels, 1, h, w)."""
    kind = family(op_type)
    if kind == "MVAU":
        return _number(attributes, "MW"), _number(attributes, "MH")
    if kind == "VVAU":
        return (_number(attributes, "Channels"), 1, *numbers(attributes, "Kernel"))
    return None


def macs(op_type: str, attributes: Attributes) -> int:
    """Return the multiplications a frame of a layer, 0 for other kinds."""
    weights = prod(weight_shape(op_type, attributes) or (0,))
    pixels = prod(numbers(attributes, "Dim")) if family(op_type) == "VVAU" else _pixels(attributes)
    return weights * pixels


def _pixels(attributes: Attributes) -> int:
    return prod(numbers(attributes, "numInputVectors"))


def _number(attributes: Attributes, key: str) -> int:
    return prod(numbers(attributes, key))


def numbers(attributes: Mapping[str, object], key: str) -> tuple[int, ...]:
    """Return an attribute of integers; one integer counts as a list, what is absent or no integer as 1."""
    value = attributes.get(key, 1)
    if isinstance(value, tuple):
        return tuple(item for item in value if isinstance(item, int))
    return (value,) if isinstance(value, int) else (1,)
