"""Tcl's own commands in scripts: loops, choices, returns, and variables, as far as they are known.

What depends on a value that only Vivado has is noted and left.
"""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.verify.xdc.arguments import BadCommandError
from floorflow.verify.xdc.evaluator import Evaluator, Handler
from floorflow.verify.xdc.findings import Place
from floorflow.verify.xdc.values import Selection, Unknown, Value
from floorflow.verify.xdc.words import list_items

ELSEWHERE = ("source", "read_xdc", "add_files")
"""Commands of scripts that read other files."""


class Jump(Exception):  # noqa: N818 - a way out of a body, no error
    """Return, break or continue; ``value`` is what a procedure returns."""

    def __init__(self, kind: str, value: Value = "") -> None:
        super().__init__(kind)
        self.kind, self.value = kind, value


class Scripts:
    """Those commands for one interpreter."""

    def __init__(self, tcl: Evaluator) -> None:
        self._tcl = tcl
        self.handlers: dict[str, Handler] = {
            "for": self._for,
            "while": self._while,
            "foreach": self._foreach,
            "switch": self._switch,
            "return": lambda given, _: self._jump("return", given),
            "break": lambda given, _: self._jump("break", given),
            "continue": lambda given, _: self._jump("continue", given),
            "incr": self._incr,
            "array": self._array,
            "global": self._global,
            **dict.fromkeys(ELSEWHERE, self._elsewhere),
        }

    # loops

    def _body(self, body: Value, place: Place) -> bool:
        """Run a body once; return whether the loop goes on."""
        self._tcl.step(place)
        self._tcl.looping += 1
        try:
            self._tcl.run(body if isinstance(body, str) else "", place.line, inner=True)
        except Jump as jump:
            if jump.kind not in ("break", "continue"):
                raise
            return jump.kind == "continue"
        finally:
            self._tcl.looping -= 1
        return True

    def _for(self, given: Sequence[Value], place: Place) -> Value:
        if len(given) != 4 or not isinstance(given[0], str):
            raise BadCommandError("command-malformed", f"{len(given)} arguments", "for START TEST NEXT BODY")
        self._tcl.run(given[0], place.line, inner=True)
        return self._repeated("for", given[1], given[3], given[2], place)

    def _while(self, given: Sequence[Value], place: Place) -> Value:
        if len(given) != 2:
            raise BadCommandError("command-malformed", f"{len(given)} arguments", "while TEST BODY")
        return self._repeated("while", given[0], given[1], "", place)

    def _repeated(self, name: str, test: Value, body: Value, after: Value, place: Place) -> Value:
        while (holds := self._tcl.condition(test, place)) is not False:
            if holds is None:
                return self._tcl.noted(f"{name} with a condition that only Vivado knows: its body", place)
            if not self._body(body, place):
                break
            self._tcl.run(after if isinstance(after, str) else "", place.line, inner=True)
        return ""

    def _foreach(self, given: Sequence[Value], place: Place) -> Value:
        if len(given) < 3 or len(given) % 2 == 0:
            raise BadCommandError("command-malformed", f"{len(given)} arguments", "foreach NAMES LIST BODY")
        columns: list[tuple[list[str], list[Value]]] = []
        for names, over in zip(given[:-1:2], given[1:-1:2], strict=True):
            items = _items(over)
            if items is None or not isinstance(names, str):
                return self._tcl.noted("a foreach over what only Vivado knows: its body", place)
            columns.append((list_items(names) or ["_"], items))
        for number in range(max(-(-len(items) // len(names)) for names, items in columns)):
            for own, values in columns:
                for at, name in enumerate(own, number * len(own)):
                    self._tcl.variables[name] = values[at] if at < len(values) else ""
            if not self._body(given[-1], place):
                break
        return ""

    def _switch(self, given: Sequence[Value], place: Place) -> Value:
        words = [value for value in given if isinstance(value, str)]
        first = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
        words, how = words[first:], words[:first]
        if len(words) < 2 or any(not isinstance(value, str) for value in given) or not {*how} <= {"-exact", "--"}:
            return self._tcl.noted("a switch on what only Vivado knows: its branches", place)
        branches = list_items(words[1]) if len(words) == 2 else words[1:]
        for number in range(0, len(branches) - 1, 2):
            if branches[number] in (words[0], "default"):
                bodies = (body for body in branches[number + 1 :: 2] if body != "-")
                return self._tcl.run(next(bodies, ""), place.line, inner=True)
        return ""

    def _jump(self, kind: str, given: Sequence[Value]) -> Value:
        raise Jump(kind, given[-1] if given else "")

    # variables

    def _incr(self, given: Sequence[Value], place: Place) -> Value:
        if not given or not isinstance(given[0], str):
            return Unknown("incr")
        before, by = self._tcl.variables.get(given[0], "0"), given[1] if len(given) > 1 else "1"
        total = self._tcl.expression(f"{before} + ({by})", place) if _are_texts(before, by) else Unknown("incr")
        self._tcl.variables[given[0]] = total
        return total

    def _array(self, given: Sequence[Value], _place: Place) -> Value:
        if len(given) == 3 and given[0] == "set" and isinstance(given[2], str):
            items = list_items(given[2])
            for key, value in zip(items[::2], items[1::2], strict=False):
                self._tcl.variables[f"{given[1]}({key})"] = value
            return ""
        return Unknown("array")

    def _global(self, given: Sequence[Value], _place: Place) -> Value:
        for name in given:
            if isinstance(name, str) and name in self._tcl.outermost:
                self._tcl.variables[name] = self._tcl.outermost[name]
        return ""

    def _elsewhere(self, given: Sequence[Value], place: Place) -> Value:
        names = [value for value in given if isinstance(value, str) and not value.startswith("-")]
        told = names[-1] if names else "another file"
        return self._tcl.noted(f"{told:.80}, which is read here: give it as well, in this place", place)


def _are_texts(*values: Value) -> bool:
    return all(isinstance(value, str) for value in values)


def _items(over: Value) -> list[Value] | None:
    """Return what a loop goes over; None if only Vivado knows it."""
    if isinstance(over, str):
        return list(list_items(over))
    if isinstance(over, Selection) and over.kind == "pblocks":
        return [Selection("pblocks", (name,)) for name in over.pblocks]
    return None
