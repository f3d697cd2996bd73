"""Where a JSON value departs from the judge's own schemas: ``plan.schema.json`` and ``files.schema.json`` beside this.

Only after the structure matches do rules index into a value. How schemas are written stands in the first of the files.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from floorflow.verify.records import Record, is_number

MOST = 1_000
"""So many departures are told of one value."""
_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}


@cache
def _file(name: str) -> Record:
    content: Record = json.loads(Path(__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8"))
    return content


@cache
def scalars() -> dict[str, Record]:
    """Return the kinds of single values by name."""
    found: dict[str, Record] = _file("plan")["scalars"]
    return found


@cache
def records() -> dict[str, Record]:
    """Return the kinds of objects by name, those of all files."""
    return {**_file("plan")["records"], **_file("files")["records"]}


def is_a(name: str, value: object) -> bool:
    """Whether a value is a scalar of a kind."""
    kind = scalars()[name]
    if kind.keys() == {"expected"} or (isinstance(value, str) and value in kind.get("enum", ())):
        return True
    if isinstance(value, str) and "pattern" in kind:
        return re.fullmatch(kind["pattern"], value) is not None
    return "type" in kind and _is_of_type(kind, value)


def _is_of_type(kind: Record, value: Any) -> bool:
    types = _TYPES[kind["type"]]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        return False
    if not is_number(value):
        return not isinstance(value, float)
    inside = kind.get("minimum", value) <= value <= kind.get("maximum", value)
    return bool(inside and kind.get("above", -math.inf) < value < kind.get("below", math.inf))


def departures(value: Any, record: str, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield ``(where, message)`` for each of the first places at which a value departs from a record."""
    return islice(_departures(value, record, where), MOST)


def _departures(value: Any, shape: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(shape, str):
        name = shape.removesuffix(" or null")
        if name != shape and value is None:
            return
        if name in scalars():
            if not is_a(name, value):
                yield where, f"expected {scalars()[name]['expected']}, found {value!r:.60}"
        else:
            yield from _departures(value, records()[name], where)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            if value is not None or None not in shape:
                yield where, f"expected a list, found {value!r:.60}"
            return
        for index, item in enumerate(value):
            yield from _departures(item, shape[0], f"{where}[{index}]")
    elif isinstance(value, dict):
        yield from _of_object(value, shape, where)
    else:
        yield where, f"expected an object, found {value!r:.60}"


def _of_object(value: Record, shape: Record, where: str) -> Iterator[tuple[str, str]]:
    for field, inner in shape.items():
        name = field.removesuffix("?")
        place = f"{where}.{name}" if where else name
        if field.startswith("*"):
            yield from _of_map(value, inner, field[2:], where)
        elif name in value:
            yield from _departures(value[name], inner, place)
        elif name == field:
            yield place, "is missing"


def _of_map(value: Record, inner: Any, kind: str, where: str) -> Iterator[tuple[str, str]]:
    for key, held in value.items():
        if kind and not is_a(kind, key):
            yield where, f"expected keys that are {scalars()[kind]['expected']}, found {key!r:.60}"
        yield from _departures(held, inner, f"{where}.{key}")
