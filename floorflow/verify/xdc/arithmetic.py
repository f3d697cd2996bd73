"""Arithmetic of ``expr`` on whole numbers, with which scripts compute coordinates, and equality of texts."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

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
