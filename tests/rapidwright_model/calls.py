"""Calls of Java's methods: which there are, and of which types arguments and results are, says api.json.

`tests/tools_rapidwright` made it by asking RapidWright's own classes, and asks them again.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

PREFIX = "com.xilinx.rapidwright."
API: dict[str, dict[str, list[dict[str, Any]]]] = json.loads(Path(__file__).with_name("api.json").read_text())[
    "classes"
]
"""By class and method (``<init>``: the constructor) the forms of it: whether static, types of arguments and result."""
CONSTRUCTOR = "<init>"


class RapidWrightError(Exception):
    """A call that RapidWright does not have, or whose effect nobody means."""


class Java:
    """An object of a class of RapidWright, whose method ``name`` is ``_name`` here."""

    java: ClassVar[str]
    calls: ClassVar[set[tuple[str, str, tuple[str, ...]]]] = set()
    """Each method that was called, in which form."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments: called(self, type(self).java, name, arguments)


class Face:
    """A class as a script imports it: static methods, and the constructor."""

    def __init__(self, made: type[Java], *first: Any) -> None:
        self._made, self._first = made, first

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: called(self._made, self._made.java, name, arguments, *self._first)

    def __call__(self, *arguments: Any) -> Any:
        check(self._made.java, CONSTRUCTOR, arguments)
        return self._made(*arguments)


def called(owner: Any, java: str, name: str, arguments: Sequence[Any], *first: Any) -> Any:
    """Call a method that the index has, with arguments as it has them."""
    form = check(java, name, arguments)
    if form["static"] != isinstance(owner, type):
        raise RapidWrightError(f"{java}.{name} is {'' if form['static'] else 'not '}static")
    answer = getattr(owner, f"_{name}")(*first, *arguments)
    if not _is(answer, form["returns"], or_null=True):
        raise AssertionError(f"the model's {java}.{name} returned {answer!r}, expected a {form['returns']}")
    return answer


def check(java: str, name: str, arguments: Sequence[Any]) -> dict[str, Any]:
    """Return the form of a method that some arguments fit."""
    forms = API.get(java, {}).get(name, [])
    for form in forms:
        wanted = form["arguments"]
        if len(wanted) == len(arguments) and all(map(_is, arguments, wanted)):
            Java.calls.add((java, name, tuple(wanted)))
            return form
    given = ", ".join(getattr(one, "java", type(one).__name__) for one in arguments)
    raise RapidWrightError(f"{java} has no {name}({given}); it has {[form['arguments'] for form in forms]}")


def _is(value: Any, wanted: str, *, or_null: bool = False) -> bool:
    if value is None:
        return wanted == "void" or (or_null and wanted not in ("boolean", "int"))
    plain = {"boolean": bool, "java.lang.Boolean": bool, "java.lang.String": str, "int": int}.get(wanted)
    if plain is not None:
        return type(value) is plain
    if wanted in ("java.util.List", "java.util.Collection", "java.util.Set", "java.util.ArrayList"):
        return isinstance(value, list)
    return isinstance(value, Java) and wanted == PREFIX + value.java
