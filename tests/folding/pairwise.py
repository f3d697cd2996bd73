"""Random candidates with prices between neighbours, and every choice among them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hypothesis import strategies as st

from floorflow.folding.candidates import Array, Candidates

WEIGHTS = np.array([3, 0, 5, 7, 2])


@st.composite
def random_candidates(draw: st.DrawFn) -> Candidates:
    """Two to six groups of up to three rows; each with the next one, and some others, as neighbours."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = random.integers(1, 4, draw(st.integers(2, 6)))
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a + 1, len(sizes))]
    joined = [(a, b) for a, b in pairs if b == a + 1 or random.random() < 0.3]
    if draw(st.booleans()):
        joined = joined[1:]  # in two parts
    return Candidates(
        tuple(np.arange(size) for size in sizes),
        tuple(random.integers(0, 8, (size, 5)) for size in sizes),
        {(a, b): random.integers(0, 5, (sizes[a], sizes[b], 5)) for a, b in joined},
    )


def all_choices(choices: Candidates) -> Iterator[tuple[int, ...]]:
    return product(*(range(rows.size) for rows in choices.rows))


def least_cost(choices: Candidates, budget: Array) -> int | None:
    totals = [choices.total(picks) for picks in all_choices(choices)]
    return min((int(use @ WEIGHTS) for use in totals if (use <= budget).all()), default=None)


budgets = st.lists(st.integers(8, 60), min_size=5, max_size=5).map(np.array)
prices = st.lists(st.integers(0, 4000), min_size=5, max_size=5).map(np.array)
