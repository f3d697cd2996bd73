"""Formulas that serve one folding and a column of thousands alike.

A unit that is read has integers for its PE and SIMD, a unit that stands for a batch of foldings has columns: numpy
arrays of integers. Arithmetic is the same for both. What takes ``if``, ``min`` or ``int`` for an integer is done by the
functions here, so that every formula stands once. No formula may add in place (``+=``), which would change a column
that others read. Formulas are typed for one folding.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import ceil
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
Mask = NDArray[np.bool_]
Amount = TypeVar("Amount", int, float)


def in_formulas(column: Column) -> int:
    """Return a column as what formulas take."""
    return cast("int", column)


def where(condition: bool, then: Amount, otherwise: Amount) -> Amount:
    """Return ``then`` where the condition holds; both are computed, so neither may fail."""
    if isinstance(condition, np.ndarray):
        return cast("Amount", np.where(condition, then, otherwise))
    return then if condition else otherwise


def first_of(cases: Iterable[tuple[bool, int]], otherwise: int) -> int:
    """Return the amount of the first case whose condition holds."""
    return reduce(lambda amount, case: where(case[0], case[1], amount), reversed(tuple(cases)), otherwise)


def least(*amounts: int) -> int:
    """Return the smallest amount."""
    return reduce(lambda one, other: where(one <= other, one, other), amounts)


def most(*amounts: int) -> int:
    """Return the largest amount."""
    return reduce(lambda one, other: where(one >= other, one, other), amounts)


def whole(amount: float) -> int:
    """Cut off what follows the point."""
    return cast("int", amount.astype(np.int64)) if isinstance(amount, np.ndarray) else int(amount)


def ceiling(amount: float) -> int:
    """Round up; what is negative becomes 0."""
    if isinstance(amount, np.ndarray):
        return cast("int", np.maximum(np.ceil(amount), 0).astype(np.int64))
    return max(ceil(amount), 0)
