"""The ``cost`` command: one engine a JSON line in, the same line with its cycles, resources and widths out."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

from floorflow.backends.finn.attributes import GivenAttributes
from floorflow.backends.finn.cost.calibrated import band
from floorflow.backends.finn.kinds.kind import CostModel, priced
from floorflow.backends.finn.kinds.registry import WITH_WEIGHTS, doubt, known_kind
from floorflow.backends.finn.names import FinnVersion, family, technology_for
from floorflow.backends.finn.samo import estimate
from floorflow.errors import FloorflowError, InputError
from floorflow.resources import Resources
from floorflow.technology import Technology, require_known_family, technology_of

DEFAULT_PART = "xcu250-figd2104-2L-e"

MOST_BAD_LINES = 10
"""So many lines that are no objects, and none that is one, are a file of another kind."""

_BINARY = re.compile("[\x00-\x08\x0e-\x1f\ufffd]")
"""What no line of JSON holds; U+FFFD stands for bytes that are not UTF-8."""

_FLAGS = (
    *("binaryXnorMode", "deep_pipeline", "depthwise", "dynamic_input", "dynamic_mode", "noActivation"),
    *("parallel_window", "pumpedCompute", "pumpedMemory", "runtime_writeable_weights", "uniform_thres"),
)
"""Attributes that FINN allows to be 0 or 1 wherever they occur, also where no estimate reads them."""

_VERSIONS: tuple[FinnVersion, ...] = get_args(FinnVersion)


@dataclass(frozen=True, slots=True)
class CostOptions:
    """What a line that does not say otherwise means."""

    model: CostModel = "finn"
    finn: FinnVersion = "main"
    part: str = DEFAULT_PART
    vivado: tuple[int, int] | None = None


def cost_lines(lines: Iterable[str], options: CostOptions) -> Iterator[dict[str, Any]]:
    """Yield the answer to every line that is not blank; a bad one has ``error`` instead of numbers.

    A line is an object with ``op_type``, ``attrs`` (FINN's names, folding included) and perhaps ``finn`` and
    ``part``, which beat the options. The answer holds the line's fields and ``cycles``, ``LUT``, ``BRAM_18K``,
    ``URAM``, ``DSP``, ``in_width`` and ``out_width`` (bits of the first ports, un-padded, null where FINN refuses to
    tell), with floorflow's own models also ``FF``, and with ``calibrated`` ``band``, the tenths of each amount.

    Raises InputError if no line is an object and one is binary, or there are many: then it is a file of another kind.
    """
    bad: list[dict[str, Any]] = []
    lines_of_objects = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        given, fault = _object(number, line)
        lines_of_objects = lines_of_objects or given is not None
        if given is None:
            bad.append({"line": number, "error": fault})
        if lines_of_objects:
            yield from bad
            bad.clear()
        elif _BINARY.search(line):
            raise _no_json_lines(f"line {number} is binary")
        elif len(bad) == MOST_BAD_LINES:
            raise _no_json_lines(f"of its first {number} lines none is a JSON object")
        if given is not None:
            yield _answer(given, options)
    yield from bad


def _no_json_lines(found: str) -> InputError:
    return InputError(
        f"the input holds no JSON lines: {found}",
        hint="give one object a line, with op_type and attrs; see cost --help",
    )


def _object(number: int, line: str) -> tuple[dict[str, Any] | None, str]:
    """Return the object in a line, or what is wrong with it."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        return None, f"line {number} is not JSON: {error}"
    if not isinstance(given, dict):
        return None, f"line {number} is not a JSON object, expected op_type and attrs"
    return given, ""


def _answer(question: dict[str, Any], options: CostOptions) -> dict[str, Any]:
    try:
        return question | _cost(question, options)
    except FloorflowError as error:
        return question | {"error": f"{error}; {error.hint}" if error.hint else str(error)}
    except ArithmeticError as error:
        return question | {"error": f"numbers out of range: {error}"}


def _cost(question: Mapping[str, Any], options: CostOptions) -> dict[str, Any]:
    finn = _version(question.get("finn", options.finn))
    kind = known_kind(_text(question, "op_type"), finn)
    own = options.model != "finn"
    technology = _technology(_text({"part": options.part, **question}, "part"), None if own else finn)
    technology = replace(technology, vivado=options.vivado)
    unit = kind.unit(_attributes(question), finn)
    if options.model == "samo":
        cycles, resources = estimate(question["op_type"], _attributes(question))
    else:
        cycles, resources = unit.cycles, priced(unit, technology, options.model)
    inside, outside = unit.finn_widths_bits
    return {
        "cycles": cycles,
        "LUT": resources.lut,
        **({"FF": resources.ff} if own else {}),
        "BRAM_18K": resources.bram18,
        "URAM": resources.uram,
        "DSP": resources.dsp,
        "in_width": inside,
        "out_width": outside,
        **({"band": _band(question, resources, technology, finn)} if options.model == "calibrated" else {}),
    }


def _band(
    question: Mapping[str, Any], resources: Resources, technology: Technology, finn: FinnVersion
) -> dict[str, list[int]]:
    """Return the tenths; of engines with weights by any HLS that `--vivado` leaves open."""
    low, high = band(question["op_type"], resources)
    if family(question["op_type"]) in WITH_WEIGHTS:
        less, more = doubt(question["op_type"], _attributes(question), technology, (finn,))
        low, high = low - less, high + more
        low = Resources(*(max(0, amount) for amount in low.as_tuple()))
    names = {"lut": "LUT", "ff": "FF", "bram18": "BRAM_18K", "uram": "URAM", "dsp": "DSP"}
    return {name: [getattr(low, key), getattr(high, key)] for key, name in names.items()}


@cache
def _technology(part: str, finn: FinnVersion | None) -> Technology:
    """Return the family as that FINN tells it, or as it is."""
    if finn is not None:
        return technology_for(part, finn)
    require_known_family(part)
    return technology_of(part)


def _version(name: object) -> FinnVersion:
    for version in _VERSIONS:
        if name == version:
            return version
    raise InputError(f"finn is {name!r}, expected one of {', '.join(_VERSIONS)}")


def _text(question: Mapping[str, Any], name: str) -> str:
    value = question.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name} is {'missing' if value is None else repr(value)}, expected a string")
    return value


def _attributes(question: Mapping[str, Any]) -> GivenAttributes:
    attributes = question.get("attrs")
    if not isinstance(attributes, dict):
        raise InputError("attrs is not an object, expected FINN's attributes by name")
    for name in _FLAGS:
        if attributes.get(name, 0) not in (0, 1):
            raise InputError(f"attribute {name} is {attributes[name]!r}, expected 0 or 1")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}
