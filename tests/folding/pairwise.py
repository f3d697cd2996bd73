"""Random problems with prices between neighbours, and every choice among their rows."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import strategies as st

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.folding.dominance import Array, ReducedProblem, reduce_by_dominance
from floorflow.folding.lagrangian import Knapsack
from floorflow.folding.pricing import Pricing, group_by_interface
from floorflow.folding.problem import FoldingProblem
from floorflow.folding.variable_elimination import LARGEST_TABLE
from floorflow.resources import Resources

WEIGHTS = np.array([3, 0, 5, 7, 2])
LOOSE = Resources(10**6, 10**6, 10**6, 10**6, 10**6)


@st.composite
def random_problems(draw: st.DrawFn, most: int = 6) -> FoldingProblem:
    """Two to six groups of up to three rows; with the next one, and some others, as neighbours, or few; some equal."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = random.integers(1, 4, draw(st.integers(2, most)))
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a + 1, len(sizes))]
    joined = [(a, b) for a, b in pairs if b == a + 1 or random.random() < 0.3]
    if draw(st.booleans()):
        # In parts, and some alone.
        joined = [pair for pair in joined if random.random() < 0.5]
    uses = [random.integers(0, 8, (size, 5)) for size in sizes]
    if draw(st.booleans()):
        uses = [uses[0]] * len(uses)
    groups = tuple(
        OptionGroup((f"e{i}",), tuple((Option({}, 1, Resources(*row), (8,), (8,)),) for row in use.tolist()))
        for i, use in enumerate(uses)
    )
    streams = tuple(_coupling(a, b, len(uses[a]), len(uses[b]), random) for a, b in joined)
    return FoldingProblem(groups, LOOSE, LOOSE, streams)


def _coupling(a: int, b: int, rows: int, others: int, random: np.random.Generator) -> Coupling:
    """Price a stream; one pair of classes in ten no hardware can join."""
    use = random.integers(0, 5, (2, 2, 5))
    use[random.random((2, 2)) < 0.1] = UNBUILDABLE
    return Coupling(a, b, random.integers(0, 2, rows), random.integers(0, 2, others), use)


def reduced_of(problem: FoldingProblem) -> ReducedProblem:
    reduced = reduce_by_dominance(problem, 1)
    assert reduced is not None
    return reduced


def knapsack_of(problem: FoldingProblem, budget: Array, largest_table: int = LARGEST_TABLE) -> Knapsack:
    """All rows under a budget, at WEIGHTS."""
    bounded = replace(problem, budget=Resources(*budget.tolist()))
    rows = [np.arange(len(group.rows)) for group in problem.groups]
    return Knapsack(Pricing(group_by_interface(bounded, rows), largest_table), WEIGHTS, budget)


def all_choices(problem: FoldingProblem) -> Iterator[tuple[int, ...]]:
    return product(*(range(len(group.rows)) for group in problem.groups))


def use_of(problem: FoldingProblem, rows: tuple[int, ...]) -> Array:
    """What one choice uses, streams and all."""
    alone = sum((group.use[row] for group, row in zip(problem.groups, rows, strict=True)), np.zeros(5, dtype=np.int64))
    streams = (c.use[c.source_class[rows[c.source]], c.target_class[rows[c.target]]] for c in problem.couplings)
    return np.asarray(sum(streams, alone))


def least_cost(problem: FoldingProblem, budget: Array) -> int | None:
    totals = [use_of(problem, rows) for rows in all_choices(problem)]
    return min((int(use @ WEIGHTS) for use in totals if (use <= budget).all()), default=None)


budgets = st.lists(st.integers(8, 60), min_size=5, max_size=5).map(np.array)
prices = st.lists(st.one_of(st.just(0), st.integers(0, 4000)), min_size=5, max_size=5).map(np.array)
