"""Random cases: a few in every run, many where slow tests are asked for."""

from typing import Any

import pytest
from hypothesis import settings


def seeds(many: int = 200, few: int = 20) -> list[Any]:
    """Return numbers to parametrise a test by: those behind the first few are slow."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many))]


def heavy() -> settings:
    """Return how many cases of a family are tried that take long each: a third of those of others, in slow runs too."""
    return settings(max_examples=settings().max_examples // 3)
