"""Tcl's commands on lists and texts, as far as they are known without Vivado."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import count

from floorflow.verify.xdc.evaluator import Evaluator, Handler
from floorflow.verify.xdc.findings import Place
from floorflow.verify.xdc.values import Selection, Unknown, Value
from floorflow.verify.xdc.words import MAX_VALUE, SPACE, LimitError, as_item, list_items

_FORMAT = re.compile(r"%(0?[0-9]{0,3})([dsxX%])")
_INDEX = re.compile(r"(end)?([+-]?[0-9]{1,9})?")
_TEXTS: dict[str, Callable[[str], str]] = {
    "toupper": str.upper,
    "tolower": str.lower,
    "trim": lambda text: text.strip(SPACE),
    "trimleft": lambda text: text.lstrip(SPACE),
    "trimright": lambda text: text.rstrip(SPACE),
    "length": lambda text: str(len(text)),
}


def joined(given: Sequence[Value]) -> Value:
    """Return a list of values: objects of one kind, or texts."""
    selections = [value for value in given if isinstance(value, Selection)]
    if selections and len(selections) == len(given):
        cells = tuple(cell for one in selections for cell in one.cells)
        return Selection(selections[0].kind, tuple(name for one in selections for name in one.pblocks), cells)
    unknown = next((value for value in given if not isinstance(value, str)), None)
    if unknown is not None:
        return unknown if isinstance(unknown, Unknown) else Unknown("a list of objects and texts")
    return " ".join(as_item(value) for value in given if isinstance(value, str))


class Lists:
    """Those commands for one interpreter."""

    def __init__(self, tcl: Evaluator) -> None:
        self._tcl = tcl
        self.handlers: dict[str, Handler] = {
            "list": lambda given, _: joined(given),
            "concat": self._concat,
            "lappend": self._lappend,
            "append": self._append,
            "llength": self._llength,
            "join": _of_texts(_join),
            "lindex": _of_texts(_lindex),
            "lrange": _of_texts(_lrange),
            "split": _of_texts(_split),
            "format": _of_texts(_format),
            "string": _of_texts(_string),
        }

    def _concat(self, given: Sequence[Value], _place: Place) -> Value:
        texts = [value.strip(SPACE) for value in given if isinstance(value, str)]
        return " ".join(texts) if len(texts) == len(given) else joined(given)

    def _lappend(self, given: Sequence[Value], _place: Place) -> Value:
        if not given or not isinstance(given[0], str):
            return Unknown("lappend")
        before, added = self._tcl.variables.get(given[0], ""), joined(given[1:])
        self._tcl.copied(before)
        both: Value = Unknown("lappend")
        if isinstance(before, str) and isinstance(added, str):
            both = f"{before} {added}".strip(SPACE)
        elif isinstance(added, Selection):
            both = joined([before, added]) if before else added
        self._tcl.variables[given[0]] = both
        return both

    def _append(self, given: Sequence[Value], _place: Place) -> Value:
        if not given or not isinstance(given[0], str):
            return Unknown("append")
        parts = [self._tcl.variables.get(given[0], ""), *given[1:]]
        self._tcl.copied(parts[0])
        texts = [part for part in parts if isinstance(part, str)]
        both: Value = "".join(texts) if len(texts) == len(parts) else Unknown("append")
        self._tcl.variables[given[0]] = both
        return both

    def _llength(self, given: Sequence[Value], _place: Place) -> Value:
        value = given[0] if len(given) == 1 else Unknown("llength")
        if isinstance(value, str):
            return str(len(list_items(value)))
        if isinstance(value, Selection) and value.kind == "pblocks":
            exist = [self._tcl.exists(name) for name in value.pblocks]
            return Unknown("llength") if None in exist else str(exist.count(True))
        return Unknown("llength")


def _of_texts(how: Callable[[list[str]], str | None]) -> Handler:
    """Return a handler of a command on texts; of anything else, only Vivado knows."""

    def handler(given: Sequence[Value], _place: Place) -> Value:
        texts = [value for value in given if isinstance(value, str)]
        try:
            found = how(texts) if texts and len(texts) == len(given) else None
        except LimitError:
            raise
        except (IndexError, ValueError):
            found = None
        return Unknown("a list") if found is None else found

    return handler


def _place_in(text: str, length: int) -> int:
    """Return the place that an index such as ``end-1`` names.

    Raises
    ------
    ValueError
        If it is none.

    """
    match = _INDEX.fullmatch(text)
    if match is None or not text:
        raise ValueError(text)
    return (length - 1 if match[1] else 0) + int(match[2] or 0)


def _join(texts: list[str]) -> str:
    items, between = list_items(texts[0]), texts[1] if len(texts) > 1 else " "
    if len(items) * len(between) > MAX_VALUE:
        raise LimitError(0, f"a value is longer than the limit of {MAX_VALUE:,} characters")
    return between.join(items)


def _lindex(texts: list[str]) -> str | None:
    items, place = list_items(texts[0]), texts[1]
    at = _place_in(place, len(items))
    return (items[at] if 0 <= at < len(items) else "") if len(texts) == 2 else None


def _lrange(texts: list[str]) -> str:
    items = list_items(texts[0])
    first, last = (_place_in(text, len(items)) for text in texts[1:3])
    return " ".join(as_item(item) for item in items[max(0, first) : max(0, last + 1)])


def _split(texts: list[str]) -> str:
    signs = texts[1] if len(texts) > 1 else " \t\n"
    parts: Iterable[str] = re.split(f"[{re.escape(signs)}]", texts[0]) if signs else texts[0]
    return " ".join(as_item(part) for part in parts)


def _format(texts: list[str]) -> str | None:
    places = count(1)
    if sum(int(match[1] or 0) for match in _FORMAT.finditer(texts[0])) > MAX_VALUE:
        raise LimitError(0, f"a value is longer than the limit of {MAX_VALUE:,} characters")

    def one(match: re.Match[str]) -> str:
        if match[2] == "%":
            return "%"
        value = texts[next(places)]
        return f"{value:>{match[1] or 0}}" if match[2] == "s" else f"{int(value):{match[1]}{match[2]}}"

    return None if _FORMAT.sub("", texts[0]).count("%") else _FORMAT.sub(one, texts[0])


def _string(texts: list[str]) -> str | None:
    if texts[0] == "equal" and len(texts) == 3:
        return str(int(texts[1] == texts[2]))
    return _TEXTS[texts[0]](texts[1]) if texts[0] in _TEXTS and len(texts) == 2 else None
