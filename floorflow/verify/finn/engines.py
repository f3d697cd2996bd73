"""One engine of the plan with its folding: attributes, data types, parts; and a network of them as FINN builds it."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from floorflow.verify.back_end import Row
from floorflow.verify.hardware.boards import commercial, has_uram
from floorflow.verify.plan_records import EngineRecord
from floorflow.verify.records import Record, is_count

_VERSAL = ("xcvc", "xcve", "xcvm", "xcvp")
_VERSAL_SINCE_DEV = ("xcv80",)


def is_versal(part: str, flavour: str) -> bool:
    """Whether FINN of a flavour (``main``, ``dev`` or ``plus``) takes a part for a Versal."""
    known = _VERSAL if flavour == "main" else _VERSAL + _VERSAL_SINCE_DEV
    return commercial(part).startswith(known)


_FIXED = re.compile(r"FIXED<([1-9][0-9]{0,3}),-?[0-9]{1,4}>")
_INTEGER = re.compile(r"U?INT([1-9][0-9]{0,3})")
_FLOAT = re.compile(r"FLOAT([1-9][0-9]{0,3})")
_SHORT = {"BIPOLAR": 1, "BINARY": 1, "TERNARY": 2}

_TYPE_ATTRIBUTES: dict[Literal["input_bits", "output_bits", "weight_bits"], tuple[str, ...]] = {
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


def width_objections(engine: EngineRecord) -> Iterator[str]:
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
    # Copies of a fork are as wide as the original.
    types = engine["attributes"].get("inputDataTypes", [])
    for data_type in types if isinstance(types, list) else [types]:
        if not isinstance(data_type, str) or bits_of(data_type) is None:
            yield f"inputDataTypes holds {data_type!r}, expected a FINN data type"
    if engine["kind"].startswith("DuplicateStreams") and engine["output_bits"] != engine["input_bits"]:
        yield f"{engine['input_bits']} bits enter, {engine['output_bits']} leave each output"


MAX_DIMENSIONS = 64
"""Most integers in an attribute: sizes of a tensor, or channels of each of many streams."""


class AttributeProblem(Exception):  # noqa: N818 - a finding about the plan, caught by the rules
    """An attribute that the kind needs is absent or of the wrong type."""


@dataclass(frozen=True, slots=True)
class FoldedEngine:
    """An engine's entry in ``networks`` together with the attributes of its folding in a phase.

    ``flavour`` is the FINN whose rules hold (``main``, ``dev`` or ``plus``), ``has_uram`` and ``versal`` are of
    the part.
    """

    name: str
    entry: EngineRecord
    folding: Record
    flavour: str = "main"
    has_uram: bool = True
    versal: bool = False

    @property
    def kind(self) -> str:
        """FINN's op type."""
        return self.entry["kind"]

    @property
    def input_bits(self) -> int:
        """Bits of one input element."""
        return self.entry["input_bits"]

    @property
    def output_bits(self) -> int:
        """Bits of one output element."""
        return self.entry["output_bits"]

    def has(self, attribute: str) -> bool:
        """Whether the engine has the attribute."""
        return attribute in self.entry["attributes"]

    def number(self, attribute: str, default: int | None = None) -> int:
        """Return an integer attribute; a list of one integer counts as that integer."""
        value = self.entry["attributes"].get(attribute, default)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, bool) or not isinstance(value, int):
            raise AttributeProblem(f"attribute {attribute} is {value!r}, expected an integer")
        return int(value)

    def numbers(self, attribute: str, default: list[int] | None = None) -> list[int]:
        """Return a list attribute; an integer counts as a list of one."""
        value = self.entry["attributes"].get(attribute, default)
        if is_count(value):
            value = [value]
        if not isinstance(value, list) or not value or not all(is_count(item) for item in value):
            raise AttributeProblem(f"attribute {attribute} is {value!r:.60}, expected a list of integers")
        if len(value) > MAX_DIMENSIONS:
            raise AttributeProblem(f"attribute {attribute} has {len(value)} dimensions, no tensor has so many")
        return value

    def pair(self, attribute: str, default: list[int] | None = None) -> tuple[int, int]:
        """Return an attribute of two integers; a plain integer stands for both."""
        values = self.numbers(attribute, default)
        plain = is_count(self.entry["attributes"].get(attribute, default))
        if len(values) != (1 if plain else 2):
            raise AttributeProblem(f"attribute {attribute} is {values!r}, expected two integers")
        return values[0], values[-1]

    def pixels(self, attribute: str = "numInputVectors") -> int:
        """Product of ``numInputVectors``, 1 where the engine has none."""
        return math.prod(self.numbers(attribute, [1]))

    def texts(self, attribute: str) -> list[str]:
        """Return an attribute that is a list of strings, empty where absent."""
        value = self.entry["attributes"].get(attribute, [])
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]

    @property
    def output_type(self) -> str | None:
        """Data type of the outputs; kinds that only move elements emit what they take. None if not stated."""
        return self._type("outputDataType", "OutputDataType", "out_dtype", "dataType", "dtype") or (
            self._type("inputDataType", "InputDataType") if self.kind.startswith(_MOVING) else None
        )

    def input_type(self, port: int) -> str | None:
        """Return the data type at an input, None if not stated."""
        each = self.entry["attributes"].get("inputDataTypes")
        if isinstance(each, list) and port < len(each):
            return str(each[port])
        streamed = [side for side in ("lhs", "rhs") if self.texts(f"{side}_style") != ["const"]]
        own = (f"inputDataType{port}", *(f"{side}_dtype" for side in streamed[port : port + 1]))
        return self._type(*own, "inputDataType", "InputDataType", "dataType", "dtype")

    def _type(self, *attributes: str) -> str | None:
        stated = (self.entry["attributes"].get(attribute) for attribute in attributes)
        return next((value for value in stated if isinstance(value, str)), None)

    def parallelism(self, name: str) -> int:
        """Return the folding's ``PE`` or ``SIMD``, a positive integer."""
        value = self.folding.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise AttributeProblem(f"folding has {name} = {value!r}, expected a positive integer")
        return value

    @property
    def pe(self) -> int:
        """FINN's PE."""
        return self.parallelism("PE")

    @property
    def simd(self) -> int:
        """FINN's SIMD."""
        return self.parallelism("SIMD")

    @property
    def parallel_window(self) -> bool:
        """Whether a sliding window emits its whole kernel in one word."""
        return self.choice("parallel_window", 0) == 1

    def choice(self, name: str, default: int | str) -> int | str:
        """Return a folding attribute, else the engine's attribute of that name, else the default."""
        value = self.folding.get(name, self.entry["attributes"].get(name, default))
        return value if isinstance(value, int | str) else default


_MOVING = (
    *("ConvolutionInputGenerator", "FMPadding", "DuplicateStreams", "StreamingMaxPool", "StreamingSplit"),
    *("UpsampleNearestNeighbour", "DownSampler"),
)
"""Kinds whose outputs have the type of their input."""

_OPERATIONS = (
    *("AbsDiff", "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater"),
    *("GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mul", "Or", "Sub", "Xor"),
)
ELEMENTWISE = (
    *(f"Elementwise{operation}_hls" for operation in _OPERATIONS),
    *(f"Elementwise{operation}_rtl" for operation in ("Add", "Mul", "Sub")),
)
"""FINN's kinds with two operands of any shape, of which one may be stored in the engine."""


FOLDER = "finn"


@dataclass(frozen=True)
class BuiltNetwork:
    """A network's engines by the names of FINN's nodes, in their order, with their rows.

    ``folder`` holds its files, a path in the phase's folder.
    """

    folder: str
    nodes: dict[str, FoldedEngine]
    rows: dict[str, Row]


def folded_engine(row: Row, options: Mapping[str, Any]) -> FoldedEngine:
    """Return an engine as FINN's rules see it, on the part that it lies on."""
    flavour, part = str(options.get("finn", "main")), str(row["part"])
    return FoldedEngine(
        row["entry"]["name"],
        row["entry"],
        row["folding"]["attributes"],
        flavour,
        has_uram(part),
        is_versal(part, flavour),
    )


def networks_of(context: Mapping[str, Any]) -> list[BuiltNetwork]:
    """Return the networks of a phase that have engines there."""
    rows: dict[str, dict[str, Row]] = {}
    for row in context["engines"].values():
        rows.setdefault(row["network"], {})[row["id"]] = row
    copies = context.get("copies") or ()
    if copies:  # one build makes all
        rows = {name: own for name, own in rows.items() if name == copies[0]}
    several = context["several_networks"] and not copies
    return [
        _built(f"{FOLDER}/{name}" if several else FOLDER, engines, context["options"]) for name, engines in rows.items()
    ]


def _built(folder: str, rows: Mapping[str, Row], options: Mapping[str, Any]) -> BuiltNetwork:
    by_name = {row["entry"]["name"]: row for row in rows.values()}
    return BuiltNetwork(folder, {name: folded_engine(row, options) for name, row in by_name.items()}, by_name)
