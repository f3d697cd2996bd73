"""FINN's data types: their bits and signs, and what an engine states of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from floorflow.verify.records import Record

_FIXED = re.compile(r"FIXED<([1-9][0-9]{0,3}),-?[0-9]{1,4}>")
_INTEGER = re.compile(r"U?INT([1-9][0-9]{0,3})")
_FLOAT = re.compile(r"FLOAT([1-9][0-9]{0,3})")
_SHORT = {"BIPOLAR": 1, "BINARY": 1, "TERNARY": 2}

_TYPE_ATTRIBUTES = {
    "input_bits": ("inputDataType", "dataType", "InputDataType"),
    "output_bits": ("outputDataType", "dataType", "OutputDataType"),
    "weight_bits": ("weightDataType",),
}
"""Attributes that state an engine's data types, by the width that they decide."""


def bits_of(data_type: str) -> int | None:
    """Return the bits of a FINN data type such as ``INT4``, None if the name is unknown."""
    if data_type in _SHORT:
        return _SHORT[data_type]
    for pattern in (_INTEGER, _FIXED, _FLOAT):
        match = pattern.fullmatch(data_type)
        if match:
            return int(match.group(1))
    return None


def is_signed(data_type: str) -> bool:
    """Whether the data type holds negative values."""
    return data_type in ("BIPOLAR", "TERNARY") or data_type.startswith(("INT", "FIXED", "FLOAT"))


def width_objections(engine: Record) -> Iterator[str]:
    """Yield where an engine's entry states other widths than its data types have."""
    for width, attributes in _TYPE_ATTRIBUTES.items():
        if width == "weight_bits" and not engine["kind"].startswith(("MVAU", "VVAU")):
            continue  # elsewhere weightDataType is the type of thresholds
        for attribute in attributes:
            if attribute not in engine["attributes"]:
                continue
            stated = engine["attributes"][attribute]
            if not isinstance(stated, str) or bits_of(stated) != engine[width]:
                yield f"{width} is {engine[width]}, {attribute} is {stated}"
    yield from _port_objections(engine)


def _port_objections(engine: Record) -> Iterator[str]:
    """Yield where the ports of a join are of unknown types, and copies of a fork are not as wide as the original."""
    types = engine["attributes"].get("inputDataTypes", [])
    for data_type in types if isinstance(types, list) else [types]:
        if not isinstance(data_type, str) or bits_of(data_type) is None:
            yield f"inputDataTypes holds {data_type!r}, expected a FINN data type"
    if engine["kind"].startswith("DuplicateStreams") and engine["output_bits"] != engine["input_bits"]:
        yield f"{engine['input_bits']} bits enter, {engine['output_bits']} leave each output"
