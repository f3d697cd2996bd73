"""Tcl's own commands, as far as they are known without Vivado: variables, loops, choices, lists, texts, arithmetic.

What depends on a value that only Vivado has is noted and left; of a condition that is not known the first branch is
read.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

from floorflow.verify.tcl.interpreter import Interpreter, OwnHandler, Procedure
from floorflow.verify.tcl.values import BadCommandError, Jump, Selection, Unknown, Value, joined, texts_of
from floorflow.verify.tcl.words import MAX_VALUE, SPACE, LimitError, Place, as_item, list_items

ELSEWHERE = ("source", "read_xdc", "add_files")
"""Commands of scripts that read other files."""
TOO_LONG = f"a value is longer than the limit of {MAX_VALUE:,} characters"

# arithmetic of ``expr`` on whole numbers, with which scripts compute coordinates, and equality of texts

_PLAIN = re.compile(r"[0-9\s+\-*/%()<>=!&|]{1,200}")
_EQUALITIES = ("eq", "ne", "==", "!=")
_SIGNS = ((r"&&", " and "), (r"\|\|", " or "), (r"!(?!=)", " not "))
_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type[ast.AST], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
LARGEST = 10**12


def evaluated(text: str) -> int | None:
    """Return the value of an expression of whole numbers; None if it is anything else.

    >>> evaluated("60 * 2 - 1")
    119
    """
    if "**" in text or not _PLAIN.fullmatch(text):
        return _compared(text)
    for sign, word in _SIGNS:
        text = re.sub(sign, word, text)
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _compared(text: str) -> int | None:
    """Return whether two texts are equal, if that is all that is asked; either may be empty."""
    words = text.split(maxsplit=3)
    at = next((at for at, word in enumerate(words) if word in _EQUALITIES), None)
    if at is None or len(words) > 3 or at > 1 or len(words) - at > 2 or any(char in text for char in "&|()"):
        return None
    first, second = (" ".join(part).strip('"{}') for part in (words[:at], words[at + 1 :]))
    return int((first == second) == (words[at] in ("eq", "==")))


def _value(node: ast.AST) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        found = node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = -_value(node.operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        found = int(not _value(node.operand))
    elif isinstance(node, ast.BoolOp):
        values = [_value(value) != 0 for value in node.values]
        found = int(all(values) if isinstance(node.op, ast.And) else any(values))
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        found = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        found = int(_COMPARISONS[type(node.ops[0])](_value(node.left), _value(node.comparators[0])))
    else:
        raise ValueError("no whole-number arithmetic")
    if abs(found) > LARGEST:
        raise ValueError("too large")
    return found


def _expression(tcl: Interpreter, text: str, place: Place) -> Value:
    value = tcl.substituted(text, place)
    number = evaluated(value) if isinstance(value, str) else None
    return Unknown("expr") if number is None else str(number)


def _condition(tcl: Interpreter, value: Value, place: Place) -> bool | None:
    """Whether a condition holds; None if only Vivado knows."""
    found = _expression(tcl, value, place) if isinstance(value, str) else value
    return found != "0" if isinstance(found, str) else None


def _expr(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    texts = texts_of(given)
    return Unknown("expr") if texts is None else _expression(tcl, " ".join(texts), place)


# variables


def _set(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    if not given or not isinstance(given[0], str):
        return Unknown("set")
    name = given[0].removeprefix("::")
    if len(given) == 1:
        return tcl.variable(name, place)
    tcl.variables[name] = given[1]
    return given[1]


def _incr(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    if not given or not isinstance(given[0], str):
        return Unknown("incr")
    before, by = tcl.variables.get(given[0], "0"), given[1] if len(given) > 1 else "1"
    known = texts_of((before, by)) is not None
    total = _expression(tcl, f"{before} + ({by})", place) if known else Unknown("incr")
    tcl.variables[given[0]] = total
    return total


def _array(tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    if len(given) == 3 and given[0] == "set" and isinstance(given[2], str):
        items = list_items(given[2])
        for key, value in zip(items[::2], items[1::2], strict=False):
            tcl.variables[f"{given[1]}({key})"] = value
        return ""
    return Unknown("array")


def _global(tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    for name in given:
        if isinstance(name, str) and name in tcl.outermost:
            tcl.variables[name] = tcl.outermost[name]
    return ""


# choices, loops, procedures and bodies


def _if(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    parts = iter([value for value in given if value != "then"])
    test: Value | None = next(parts, None)
    while test is not None and (body := next(parts, None)) is not None:
        holds = _condition(tcl, test, place)
        if holds is None:
            tcl.noted("a condition; its first branch was read", place)
        if holds in (True, None):
            return tcl.run(body, place.line, inner=True) if isinstance(body, str) else Unknown("if")
        joint = next(parts, None)
        test = next(parts, None) if joint == "elseif" else "1" if joint == "else" else joint
    return ""


def _switch(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    words = [value for value in given if isinstance(value, str)]
    first = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    words, how = words[first:], words[:first]
    if len(words) < 2 or texts_of(given) is None or not {*how} <= {"-exact", "--"}:
        return tcl.noted("a switch on what only Vivado knows: its branches", place)
    branches = list_items(words[1]) if len(words) == 2 else words[1:]
    for number in range(0, len(branches) - 1, 2):
        if branches[number] in (words[0], "default"):
            bodies = (body for body in branches[number + 1 :: 2] if body != "-")
            return tcl.run(next(bodies, ""), place.line, inner=True)
    return ""


def _body(tcl: Interpreter, body: Value, place: Place) -> bool:
    """Run a body once; return whether the loop goes on."""
    tcl.step(place)
    tcl.looping += 1
    try:
        tcl.run(body if isinstance(body, str) else "", place.line, inner=True)
    except Jump as jump:
        if jump.kind not in ("break", "continue"):
            raise
        return jump.kind == "continue"
    finally:
        tcl.looping -= 1
    return True


def _for(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    if len(given) != 4 or not isinstance(given[0], str):
        raise BadCommandError("command-malformed", f"{len(given)} arguments", "for START TEST NEXT BODY")
    tcl.run(given[0], place.line, inner=True)
    return _repeated(tcl, ("for", given[1], given[3], given[2]), place)


def _while(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    if len(given) != 2:
        raise BadCommandError("command-malformed", f"{len(given)} arguments", "while TEST BODY")
    return _repeated(tcl, ("while", given[0], given[1], ""), place)


def _repeated(tcl: Interpreter, loop: tuple[str, Value, Value, Value], place: Place) -> Value:
    name, test, body, after = loop
    while (holds := _condition(tcl, test, place)) is not False:
        if holds is None:
            return tcl.noted(f"{name} with a condition that only Vivado knows: its body", place)
        if not _body(tcl, body, place):
            break
        tcl.run(after if isinstance(after, str) else "", place.line, inner=True)
    return ""


def _foreach(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    if len(given) < 3 or len(given) % 2 == 0:
        raise BadCommandError("command-malformed", f"{len(given)} arguments", "foreach NAMES LIST BODY")
    columns: list[tuple[list[str], list[Value]]] = []
    for names, over in zip(given[:-1:2], given[1:-1:2], strict=True):
        items = _items(over)
        if items is None or not isinstance(names, str):
            return tcl.noted("a foreach over what only Vivado knows: its body", place)
        columns.append((list_items(names) or ["_"], items))
    for number in range(max(-(-len(items) // len(names)) for names, items in columns)):
        for own, values in columns:
            for at, name in enumerate(own, number * len(own)):
                tcl.variables[name] = values[at] if at < len(values) else ""
        if not _body(tcl, given[-1], place):
            break
    return ""


def _items(over: Value) -> list[Value] | None:
    """Return what a loop goes over; None if only Vivado knows it."""
    if isinstance(over, str):
        return list(list_items(over))
    if isinstance(over, Selection) and over.kind == "pblocks":
        return [Selection("pblocks", (name,)) for name in over.pblocks]
    return None


def _jump(kind: str) -> OwnHandler:
    def handler(_tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
        raise Jump(kind, given[-1] if given else "")

    return handler


def _proc(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    texts = texts_of(given)
    if texts is not None and len(texts) == 3:
        parameters = [list_items(item) for item in list_items(texts[1])]
        known = tuple((item[0], item[1] if len(item) > 1 else None) for item in parameters if item)
        tcl.procedures[texts[0].removeprefix("::")] = Procedure(known, texts[2], place.line)
    return ""


def _eval(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    texts = texts_of(given)
    if not texts:
        return tcl.noted("an eval of what only Vivado knows", place)
    tcl.looping += 1
    try:
        return tcl.run(" ".join(texts), place.line, inner=True)
    finally:
        tcl.looping -= 1


def _catch(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    """Run the body of ``catch`` as if all went well."""
    if not given or not isinstance(given[0], str):
        return tcl.noted("a body that only Vivado knows", place)
    if given[1:] and isinstance(given[1], str):
        tcl.variables[given[1]] = Unknown("the result of catch")
    try:
        tcl.run(given[0], place.line, inner=True)
    except Jump as jump:
        return str(("return", "break", "continue").index(jump.kind) + 2)
    return "0"


def _try(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    body = given[0] if given else ""
    return tcl.run(body, place.line, inner=True) if isinstance(body, str) else tcl.noted("a try", place)


def _namespace(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    if len(given) == 3 and given[0] == "eval" and isinstance(given[2], str):
        return tcl.run(given[2], place.line, inner=True)
    return Unknown("namespace")


def _elsewhere(tcl: Interpreter, given: Sequence[Value], place: Place) -> Value:
    names = [value for value in given if isinstance(value, str) and not value.startswith("-")]
    told = names[-1] if names else "another file"
    return tcl.noted(f"{told:.80}, which is read here: give it as well, in this place", place)


# lists and texts

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


def _list(_tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    return joined(given)


def _concat(_tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    texts = texts_of(given)
    return joined(given) if texts is None else " ".join(text.strip(SPACE) for text in texts)


def _lappend(tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    if not given or not isinstance(given[0], str):
        return Unknown("lappend")
    before, added = tcl.variables.get(given[0], ""), joined(given[1:])
    tcl.copied(before)
    both: Value = Unknown("lappend")
    if isinstance(before, str) and isinstance(added, str):
        both = f"{before} {added}".strip(SPACE)
    elif isinstance(added, Selection):
        both = joined([before, added]) if before else added
    tcl.variables[given[0]] = both
    return both


def _append(tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    if not given or not isinstance(given[0], str):
        return Unknown("append")
    parts = [tcl.variables.get(given[0], ""), *given[1:]]
    tcl.copied(parts[0])
    texts = texts_of(parts)
    both: Value = Unknown("append") if texts is None else "".join(texts)
    tcl.variables[given[0]] = both
    return both


def _llength(tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
    value = given[0] if len(given) == 1 else Unknown("llength")
    if isinstance(value, str):
        return str(len(list_items(value)))
    if isinstance(value, Selection) and value.kind == "pblocks":
        exist = [tcl.exists(name) for name in value.pblocks]
        return Unknown("llength") if None in exist else str(exist.count(True))
    return Unknown("llength")


def _of_texts(how: Callable[[list[str]], str | None]) -> OwnHandler:
    """Return a handler of a command on texts; of anything else, only Vivado knows."""

    def handler(_tcl: Interpreter, given: Sequence[Value], _place: Place) -> Value:
        texts = texts_of(given)
        try:
            found = how(texts) if texts else None
        except LimitError:
            raise
        except (IndexError, ValueError):
            found = None
        return Unknown("a list") if found is None else found

    return handler


def _place_in(text: str, length: int) -> int:
    """Return the place that an index such as ``end-1`` names; ValueError if it is none."""
    match = _INDEX.fullmatch(text)
    if match is None or not text:
        raise ValueError(text)
    return (length - 1 if match[1] else 0) + int(match[2] or 0)


def _join(texts: list[str]) -> str:
    items, between = list_items(texts[0]), texts[1] if len(texts) > 1 else " "
    if len(items) * len(between) > MAX_VALUE:
        raise LimitError(0, TOO_LONG)
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
        raise LimitError(0, TOO_LONG)

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


OF_XDC: Mapping[str, OwnHandler] = {"set": _set, "list": _list, "expr": _expr}
"""Those that XDC files may hold."""
OF_SCRIPTS: Mapping[str, OwnHandler] = {
    **OF_XDC,
    "if": _if,
    "switch": _switch,
    "for": _for,
    "while": _while,
    "foreach": _foreach,
    **{kind: _jump(kind) for kind in ("return", "break", "continue")},
    "proc": _proc,
    "catch": _catch,
    "try": _try,
    "eval": _eval,
    "namespace": _namespace,
    **dict.fromkeys(ELSEWHERE, _elsewhere),
    "incr": _incr,
    "array": _array,
    "global": _global,
    "concat": _concat,
    "lappend": _lappend,
    "append": _append,
    "llength": _llength,
    "join": _of_texts(_join),
    "lindex": _of_texts(_lindex),
    "lrange": _of_texts(_lrange),
    "split": _of_texts(_split),
    "format": _of_texts(_format),
    "string": _of_texts(_string),
}
"""All."""
