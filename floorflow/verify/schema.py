"""Where a JSON value departs from the judge's own specification: `plan_records`, or ``files.schema.json`` beside this.

Only after the structure matches do rules index into a value. In the file a record lists its fields with types of
`records`: one with a question mark may be left out; [x] is a list of x, {"*": x} an object of any keys; "x or null" and
[x, null] may be null.
"""

import builtins
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from floorflow.verify import plan_records, records
from floorflow.verify.records import Keys, Scalar
from floorflow.verify.violations import Findings

MOST = 1_000
"""So many departures are told of one value."""

Problems = Iterable[tuple[str, str]]
"""Places and sentences."""
Match = Callable[[Any, str], Problems]
"""Tells where a value departs, given its place."""

PLAIN = {
    str: Scalar("a string", (str,)),
    bool: Scalar("true or false", (bool,)),
    int: Scalar("an integer", (int,)),
    float: Scalar("a finite number", (int, float)),
}
_KNOWN = {**vars(builtins), **vars(records), **vars(plan_records)}
"""Types by the names that ``files.schema.json`` has for them."""


@cache
def file_record(name: str) -> Any:
    """Return the type of another file that check reads, or of a record in one."""
    content = json.loads(Path(__file__).with_name("files.schema.json").read_text(encoding="utf-8"))
    return _type(content["records"][name])


def _type(shape: Any) -> Any:
    if isinstance(shape, str):
        name = shape.removesuffix(" or null")
        found = _KNOWN.get(name) or file_record(name)
        return found if name == shape else found | None
    if isinstance(shape, list):
        found = list[_type(shape[0])]  # type: ignore[misc]  # a type that is made here
        return found | None if None in shape else found
    if "*" in shape:
        return dict[str, _type(shape["*"])]  # type: ignore[misc]
    fields = {
        name.removesuffix("?"): NotRequired[_type(inner)] if name.endswith("?") else _type(inner)
        for name, inner in shape.items()
    }
    make: Any = TypedDict  # of fields that a file lists
    return make("FileRecord", fields)


def departures(value: Any, hint: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield ``(where, message)`` for each of the first places at which a value departs from a type."""
    return islice(match_of(hint)(value, where), MOST)


def holds(value: Any, hint: Any, findings: Findings, name: str, where: str = "") -> bool:
    """Whether a value is of a type; record as ``name`` each of the first places at which it is not."""
    faults = list(departures(value, hint, where))
    for place, message in faults:
        findings.add(name, place, message)
    return not faults


def scalar_of(hint: Any) -> Scalar | None:
    """Return the kind of single value that a type is, None if it is none."""
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return Scalar(f"{', '.join(words[:-1])} or {words[-1]}", words=words)
    stated = hint.__metadata__[0] if get_origin(hint) is Annotated else PLAIN.get(hint)
    return stated if isinstance(stated, Scalar) else None


def fields_of(hint: Any) -> dict[str, Any] | None:
    """Return the fields of a record by name, some of which need not be there; None if a type is no record."""
    if is_typeddict(hint):
        return get_type_hints(hint, include_extras=True)
    if get_origin(hint) is Annotated and isinstance(hint.__metadata__[0], Keys):
        return dict.fromkeys(hint.__metadata__[0].names, get_args(get_args(hint)[0])[1])
    return None


def without_null(hint: Any) -> Any:
    """Return what a type is where it is not null."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return next(inner for inner in get_args(hint) if inner is not NoneType)


@cache
def match_of(hint: Any) -> Match:
    """Return what tells where a value departs from a type."""
    if hint is Any:
        return lambda _value, _where: ()
    if (inner := without_null(hint)) is not hint:
        match = match_of(inner)
        return lambda value, where: () if value is None else match(value, where)
    if (scalar := scalar_of(hint)) is not None:
        return _scalar(scalar)
    if (fields := fields_of(hint)) is not None:
        return _record(fields)
    return (_list if get_origin(hint) is list else _table)(*get_args(hint))


def _scalar(scalar: Scalar) -> Match:
    def match(value: Any, where: str) -> Problems:
        return () if scalar.holds(value) else ((where, f"expected {scalar.expected}, found {value!r:.60}"),)

    return match


def _list(item: Any) -> Match:
    of_item = match_of(item)

    def match(value: Any, where: str) -> Problems:
        if not isinstance(value, list):
            yield where, f"expected a list, found {value!r:.60}"
            return
        for index, held in enumerate(value):
            yield from of_item(held, f"{where}[{index}]")

    return match


def _table(key: Any, item: Any) -> Match:
    kind, of_item = scalar_of(key) or PLAIN[str], match_of(item)

    def match(value: Any, where: str) -> Problems:
        if not isinstance(value, dict):
            yield where, f"expected an object, found {value!r:.60}"
            return
        for name, held in value.items():
            if not kind.holds(name):
                yield where, f"expected keys that are {kind.expected}, found {name!r:.60}"
            yield from of_item(held, f"{where}.{name}")

    return match


def _record(fields: dict[str, Any]) -> Match:
    needless = {name for name, hint in fields.items() if get_origin(hint) is NotRequired}
    matches = {name: match_of(get_args(hint)[0] if name in needless else hint) for name, hint in fields.items()}

    def match(value: Any, where: str) -> Problems:
        if not isinstance(value, dict):
            yield where, f"expected an object, found {value!r:.60}"
            return
        for name, of_field in matches.items():
            place = f"{where}.{name}" if where else name
            if name in value:
                yield from of_field(value[name], place)
            elif name not in needless:
                yield place, "is missing"

    return match
