"""JSON of FINN that holds an object a node, with the line of each node for messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from floorflow.backends.reports import count, json_of, malformed

Nodes = dict[str, dict[str, Any]]


def nodes(text: str, file: str) -> Nodes:
    """Return the objects by node name.

    Raises
    ------
    InputError
        If it is no JSON, or no object of objects; names file and line.

    """
    content = json_of(text, file, object_pairs_hook=lambda pairs: _unique(pairs, text, file))
    if not isinstance(content, dict):
        raise malformed(file, 1, "expected an object with a key a node")
    for name, entry in content.items():
        if not isinstance(entry, dict):
            raise malformed(file, line_of(text, name), f"{name} is {entry!r:.40}, expected an object")
    return content


def _unique(pairs: Iterable[tuple[str, Any]], text: str, file: str) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise malformed(file, line_of(text, key, last=True), f"{key!r} stands there twice")
        entries[key] = value
    return entries


def line_of(text: str, key: str, *, last: bool = False) -> int:
    """Return the line in which a key first, or last, stands; 1 if it is nowhere as such."""
    quoted = json.dumps(key)
    place = text.rfind(quoted) if last else text.find(quoted)
    return text.count("\n", 0, max(place, 0)) + 1


def amount(entry: dict[str, Any], name: str, node: str, text: str, file: str) -> int:
    """Return a whole number, 0 if FINN left the key out; FINN writes some as text or as ``40.0``."""
    value = entry.get(name, 0)
    return count(str(value), file, line_of(text, node), f"{node}: {name}")
