"""The structure of plan.json, version 1, as a template, and a matcher that says where a value departs from it.

Only after the structure matches do the other rules index into the plan. Additional keys are allowed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]
"""One JSON object."""

RESOURCE_NAMES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
"""Keys of every ``resources`` object, in the order of messages."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that ``accepts`` takes; ``description`` completes "expected ..."."""

    description: str
    accepts: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Nullable:
    """Null or a value of the inner template."""

    inner: Any


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose values all match the inner template; ``named`` if its keys must be plain names."""

    inner: Any
    named: bool = False


@dataclass(frozen=True, slots=True)
class Optional:
    """A key that may be left out."""

    inner: Any


def is_count(value: object) -> bool:
    """Whether the value is a non-negative integer below 2^63 (booleans are not)."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def is_number(value: object) -> bool:
    """Whether the value is a finite int or float (booleans are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_name(text: str) -> bool:
    """Whether a text can name an engine, a module or a pblock in Vivado without quoting."""
    return _NAME.fullmatch(text) is not None


_NAME = re.compile(r"[A-Za-z0-9_]+")
_FOLDER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")

COUNT = Scalar("a non-negative integer below 2^63", is_count)
INTEGER = Scalar("an integer", lambda value: isinstance(value, int) and not isinstance(value, bool))
NUMBER = Scalar("a finite number", is_number)
TEXT = Scalar("a string", lambda value: isinstance(value, str))
FLAG = Scalar("true or false", lambda value: isinstance(value, bool))
FOLDER = Scalar("a plain file name", lambda value: isinstance(value, str) and _FOLDER_NAME.fullmatch(value) is not None)
NAME = Scalar("a name of letters, digits and _", lambda value: isinstance(value, str) and is_name(value))
ANYTHING = Scalar("anything", lambda _: True)
AMOUNTS = dict.fromkeys(RESOURCE_NAMES, COUNT)
FRACTIONS = dict.fromkeys(RESOURCE_NAMES, NUMBER)
STATS = {
    "method": TEXT,
    "status": TEXT,
    "objective": Nullable(NUMBER),
    "bound": Nullable(NUMBER),
    "gap": Nullable(NUMBER),
}
ENGINE = {
    "name": NAME,
    "kind": TEXT,
    "operation": TEXT,
    "attributes": MapOf(ANYTHING),
    "weight_bits": COUNT,
    "input_bits": COUNT,
    "output_bits": COUNT,
}
CHANNEL = {
    "name": TEXT,
    "source": TEXT,
    "source_port": COUNT,
    "target": TEXT,
    "target_port": COUNT,
    "width_bits": COUNT,
    "words_per_frame": COUNT,
    "source_width_bits": COUNT,
    "target_width_bits": COUNT,
    "converter": Nullable(TEXT),
    "converter_module": Nullable(TEXT),
    "fifo_depth": COUNT,
    "fifo_needed": Optional(COUNT),
    "fifo_module": Nullable(TEXT),
    "crossing_registers": COUNT,
    "link": Nullable(TEXT),
    "resources": AMOUNTS,
    "converter_resources": AMOUNTS,
    "fifo_resources": AMOUNTS,
    "crossing_resources": MapOf(AMOUNTS),
}
RECTANGLE = {"left": COUNT, "bottom": COUNT, "right": COUNT, "top": COUNT}
PBLOCK = {
    "slot": TEXT,
    "rectangle": RECTANGLE,
    "ranges": [TEXT],
    "anchor": TEXT,
    "demand": AMOUNTS,
    "supply": AMOUNTS,
}
PARTITION = {
    "assignment": MapOf(TEXT),
    "utilisation": MapOf(MapOf(NUMBER)),
    "crossings": [
        {
            "channel": TEXT,
            "source": TEXT,
            "target": TEXT,
            "width_bits": COUNT,
            "gbps": NUMBER,
            "hops": COUNT,
            "kind": TEXT,
        }
    ],
    "cost": NUMBER,
    "loads": Optional([{"name": TEXT, "kind": TEXT, "use": NUMBER, "capacity": NUMBER}]),
    "stats": STATS,
}
THROUGHPUT = {
    "full_rate_cycles": Nullable(COUNT),
    "interval_cycles": Nullable(COUNT),
    "first_word_cycles": Nullable(COUNT),
    "first_frame_cycles": Nullable(COUNT),
    "deadlock": [TEXT],
    "shallow": [{"channel": TEXT, "planned": COUNT, "needed": COUNT}],
    "not_analysed": TEXT,
}
PHASE = {
    "folding": {
        "engines": MapOf({"cycles": COUNT, "resources": AMOUNTS}, named=True),
        "cycles": COUNT,
        "resources": AMOUNTS,
        "budget": AMOUNTS,
        "stats": STATS,
        "whole_budget_bound": Nullable(NUMBER),
    },
    "channels": [CHANNEL],
    "modules": [
        {"name": NAME, "engines": [NAME], "implementation": TEXT, "reused": FLAG, "resources": AMOUNTS},
    ],
    "implementations": [{"name": TEXT, "window": MapOf(ANYTHING), "ports": [ANYTHING]}],
    "partition": PARTITION,
    "floorplan": MapOf(
        {"pblocks": MapOf(PBLOCK, named=True), "hpwl": NUMBER, "congestion": MapOf(NUMBER), "stats": STATS}
    ),
    "estimates": {
        "clock_mhz": NUMBER,
        "cycles": COUNT,
        "fps": NUMBER,
        "latency_us": NUMBER,
        "bottleneck": TEXT,
        "sustained_fps": Optional(Nullable(NUMBER)),
        "throughput": Optional(Nullable(THROUGHPUT)),
    },
}
PLATFORM = {
    "name": TEXT,
    "fpgas": [
        {
            "name": FOLDER,
            "board": FOLDER,
            "part": TEXT,
            "device": FOLDER,
            "host_slot": TEXT,
            "host_port": RECTANGLE,
            "link_port": Nullable(RECTANGLE),
            "crossing_registers": COUNT,
            "unstated": Optional([TEXT]),
            "slots": [{"name": TEXT, "slr": TEXT, "capacity": AMOUNTS, "available": AMOUNTS}],
        }
    ],
    "links": [
        {
            "name": TEXT,
            "kind": TEXT,
            "source": TEXT,
            "target": TEXT,
            "gbps": NUMBER,
            "latency_us": NUMBER,
            "assumed": FLAG,
        }
    ],
    "infrastructure": [{"name": TEXT, "slot": TEXT, "resources": AMOUNTS}],
    "slls": [{"lower": TEXT, "upper": TEXT, "wires": COUNT}],
    "files": [TEXT],
}
OPTIONS = {
    "cap": FRACTIONS,
    "fill": FRACTIONS,
    "clock_mhz": NUMBER,
    "effort": TEXT,
    "fps": Nullable(NUMBER),
    "granularity": TEXT,
    "link": Nullable(FOLDER),
    "objective": TEXT,
    "topology": TEXT,
    "backend": TEXT,
    "backend_options": MapOf(ANYTHING),
}
PLAN = {
    "schema": TEXT,
    "version": TEXT,
    "seed": INTEGER,
    "options": OPTIONS,
    "inputs": [{"path": TEXT, "sha256": TEXT}],
    "platform": PLATFORM,
    "networks": [{"name": TEXT, "operations": [MapOf(ANYTHING)], "engines": [ENGINE]}],
    "phases": [PHASE],
    "search": {"interval_cycles": COUNT, "bound_cycles": COUNT, "gap": NUMBER, "ended_by": TEXT},
    "trace": [
        {
            "interval_cycles": COUNT,
            "verdict": TEXT,
            "stage": TEXT,
            "detail": TEXT,
            "refusals": [
                {
                    "what": TEXT,
                    "resource": TEXT,
                    "place": TEXT,
                    "needed": Nullable(NUMBER),
                    "allowed": Nullable(NUMBER),
                    "proven": FLAG,
                    "names": [TEXT],
                }
            ],
        }
    ],
    "warnings": [TEXT],
    "interrupted": Optional(FLAG),
}
"""Fields of plan.json: those that check reads, and the structure of those that it does not check."""


def departures(value: Any, template: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield ``(where, message)`` for each place at which ``value`` departs from ``template``."""
    if isinstance(template, Scalar):
        if not template.accepts(value):
            yield where, f"expected {template.description}, found {value!r:.60}"
    elif isinstance(template, Nullable):
        if value is not None:
            yield from departures(value, template.inner, where)
    elif isinstance(template, list):
        yield from _list_departures(value, template[0], where)
    elif not isinstance(value, dict):
        yield where, f"expected an object, found {value!r:.60}"
    elif isinstance(template, MapOf):
        for key in value:
            if template.named and not is_name(str(key)):
                yield where, f"expected keys of letters, digits and _, found {key!r:.60}"
            yield from departures(value[key], template.inner, f"{where}.{key}")
    else:
        yield from _record_departures(value, template, where)


def _list_departures(value: Any, inner: Any, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield where, f"expected a list, found {value!r:.60}"
        return
    for index, item in enumerate(value):
        yield from departures(item, inner, f"{where}[{index}]")


def _record_departures(value: Record, template: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    for key, inner in template.items():
        place = f"{where}.{key}" if where else key
        optional = isinstance(inner, Optional)
        if key in value:
            yield from departures(value[key], inner.inner if optional else inner, place)
        elif not optional:
            yield place, "is missing"
