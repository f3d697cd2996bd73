"""Random cases: a few in every run, many where slow tests are asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

FEW, MANY = 20, 200


def seeds(many: int = MANY, few: int = FEW) -> list[Any]:
    """Return numbers to parametrise a test by: those behind the first few are slow."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))]


def random_family(*strategies: Any, **named: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Do as hypothesis' `given`, with few examples, and with many in a test of its own that is slow."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        runs = {
            count: settings(max_examples=count, deadline=None)(given(*strategies, **named)(test))
            for count in (FEW, MANY)
        }

        def run(examples: int, **fixtures: Any) -> None:
            runs[examples](**fixtures)

        own = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        fixtures = inspect.signature(runs[FEW]).parameters.values()
        run.__signature__ = inspect.Signature([own, *fixtures])  # type: ignore[attr-defined]
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        counts = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]
        decorated: Callable[..., None] = pytest.mark.parametrize("examples", counts)(run)
        return decorated

    return decorate
