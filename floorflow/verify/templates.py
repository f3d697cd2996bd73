"""Templates of JSON values, and a matcher that says where a value departs from one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

Record = dict[str, Any]
"""One JSON object."""


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
    """An object whose values all match the inner template, and its keys that of keys."""

    inner: Any
    keys: Scalar | None = None


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


MOST = 1_000
"""So many departures are told of one value."""


def departures(value: Any, template: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield ``(where, message)`` for each of the first places at which ``value`` departs from ``template``."""
    return islice(_departures(value, template, where), MOST)


def _departures(value: Any, template: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(template, Scalar):
        if not template.accepts(value):
            yield where, f"expected {template.description}, found {value!r:.60}"
    elif isinstance(template, Nullable):
        if value is not None:
            yield from _departures(value, template.inner, where)
    elif isinstance(template, list):
        yield from _list_departures(value, template[0], where)
    elif not isinstance(value, dict):
        yield where, f"expected an object, found {value!r:.60}"
    elif isinstance(template, MapOf):
        for key in value:
            if template.keys is not None and not template.keys.accepts(key):
                yield where, f"expected keys that are {template.keys.description}, found {key!r:.60}"
            yield from _departures(value[key], template.inner, f"{where}.{key}")
    else:
        yield from _record_departures(value, template, where)


def _list_departures(value: Any, inner: Any, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        yield where, f"expected a list, found {value!r:.60}"
        return
    for index, item in enumerate(value):
        yield from _departures(item, inner, f"{where}[{index}]")


def _record_departures(value: Record, template: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    for key, inner in template.items():
        place = f"{where}.{key}" if where else key
        optional = isinstance(inner, Optional)
        if key in value:
            yield from _departures(value[key], inner.inner if optional else inner, place)
        elif not optional:
            yield place, "is missing"
