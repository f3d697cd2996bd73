"""The folding of least latency against brute force: bound <= least <= answer, on chains and on graphs with branches."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.folding.latency import least_latency
from floorflow.folding.latency_bound import EngineGraph, bound_latency, engine_graph_of, row_bounds
from floorflow.folding.pricing import group_by_interface
from floorflow.resources import Resources
from tests.folding.test_exact import coupled_problems, option, problem_of


def engine_names(problem: FoldingProblem) -> list[str]:
    return [name for group in problem.groups for name in group.engines]


@st.composite
def branched_problems(draw: st.DrawFn) -> FoldingProblem:
    """Coupled groups, some of them of two engines, with streams from earlier to later engines."""
    problem = draw(coupled_problems())
    tied = draw(st.lists(st.booleans(), min_size=len(problem.groups), max_size=len(problem.groups)))
    extra = st.integers(1, 8).map(lambda cycles: option(cycles, 1))
    groups = tuple(
        replace(g, engines=(*g.engines, f"{g.engines[0]}b"), rows=tuple((*row, draw(extra)) for row in g.rows))
        if pair
        else g
        for g, pair in zip(problem.groups, tied, strict=True)
    )
    names = [name for group in groups for name in group.engines]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    paths = tuple(draw(st.lists(st.sampled_from(pairs), max_size=8))) if pairs else ()
    return replace(problem, groups=groups, paths=paths)


def chained(problem: FoldingProblem) -> FoldingProblem:
    names = engine_names(problem)
    return replace(problem, paths=tuple(pairwise(names)))


def path_length(problem: FoldingProblem, cycles: dict[str, int]) -> int:
    assert problem.paths is not None
    before: dict[str, list[str]] = {name: [] for name in cycles}
    for source, target in problem.paths:
        before[target].append(source)

    def done(name: str) -> int:
        return cycles[name] + max((done(source) for source in before[name]), default=0)

    return max(done(name) for name in cycles)


def least_by_brute_force(problem: FoldingProblem, interval: int) -> int | None:
    latencies = []
    for selection in product(*(range(len(group.rows)) for group in problem.groups)):
        use = sum(group.use[pick] for group, pick in zip(problem.groups, selection, strict=True))
        use = use + sum(
            c.use[c.source_class[selection[c.source]], c.target_class[selection[c.target]]] for c in problem.couplings
        )
        chosen = [group.rows[pick] for group, pick in zip(problem.groups, selection, strict=True)]
        cycles = dict(zip(engine_names(problem), (o.cycles for row in chosen for o in row), strict=True))
        if max(cycles.values()) <= interval and Resources(*(int(v) for v in use)).fits(problem.budget):
            latencies.append(path_length(problem, cycles))
    return min(latencies, default=None)


def judge(problem: FoldingProblem, interval: int) -> None:
    expected = least_by_brute_force(problem, interval)
    answer = fold_at_interval(problem, interval)
    if expected is None:
        assert isinstance(answer, FoldingInfeasible)
        return
    assert isinstance(answer, FoldingSolution)
    assert answer.resources.fits(problem.budget)
    assert answer.interval_cycles <= interval
    assert answer.stats.objective == path_length(problem, {n: o.cycles for n, o in answer.options.items()})
    assert (answer.stats.status, answer.stats.objective, answer.stats.bound) == ("optimal", expected, expected)


@given(coupled_problems(), st.integers(1, 8))
def test_least_latency_of_a_chain_equals_brute_force(problem: FoldingProblem, interval: int) -> None:
    judge(chained(problem), interval)


@given(branched_problems(), st.integers(1, 8))
def test_least_latency_with_branches_equals_brute_force(problem: FoldingProblem, interval: int) -> None:
    judge(problem, interval)


@given(branched_problems())
def test_the_bound_and_its_margins_hold_before_anything_is_enumerated(problem: FoldingProblem) -> None:
    budget = np.array(problem.budget.as_tuple())
    keep = [np.flatnonzero((group.use <= budget).all(axis=1)) for group in problem.groups]
    least = least_by_brute_force(problem, 99)
    if least is None:
        return
    classes = group_by_interface(problem, keep)
    bounded = bound_latency(classes, engine_graph_of(problem), budget, 2 * least)
    assert bounded.bound <= least <= bounded.latency
    # Some folding of that latency is left whatever row is struck out for being above it.
    kept = [
        rows[m <= least * bounded.prices.scale]
        for rows, m in zip(classes.rows, row_bounds(classes, budget, bounded.prices), strict=True)
    ]
    left = replace(
        problem,
        couplings=tuple(
            replace(c, source_class=c.source_class[kept[c.source]], target_class=c.target_class[kept[c.target]])
            for c in problem.couplings
        ),
        groups=tuple(
            replace(g, rows=tuple(g.rows[i] for i in rows)) for g, rows in zip(problem.groups, kept, strict=True)
        ),
    )
    assert least_by_brute_force(left, 99) == least


def test_without_time_to_prove_the_answer_is_called_feasible() -> None:
    rows = [option(9, 10), option(6, 20), option(5, 35), option(1, 60)]
    answer = least_latency(chained(problem_of([rows] * 4, Resources(lut=130))), 9, most_rows=0)
    assert isinstance(answer, FoldingSolution)
    assert answer.stats.status == "feasible"
    assert answer.stats.bound is not None
    assert answer.stats.objective is not None
    assert answer.stats.bound < answer.stats.objective
    assert answer.stats.bound <= least_by_brute_force(chained(problem_of([rows] * 4, Resources(lut=130))), 9)  # type: ignore[operator]


def test_a_branch_that_nobody_waits_for_is_folded_small() -> None:
    long, short = [option(50, 10), option(10, 50)], [option(9, 10), option(2, 50)]
    diamond = replace(problem_of([long, short, long], Resources(lut=110)), paths=(("e0", "e2"), ("e1", "e2")))
    answer = fold_at_interval(diamond, 99)
    assert isinstance(answer, FoldingSolution)
    assert answer.stats.objective == 20
    assert answer.options["e1"].cycles == 9


@given(st.lists(st.floats(0, 1), min_size=7, max_size=7), st.integers(1, 1000))
def test_a_flow_of_integers_passes_every_cut_whole(shares: list[float], amount: int) -> None:
    graph = EngineGraph(((2, 3), (3,), (4,), (4, 5), (), ()), (0, 1, 2, 3, 4, 5))
    edges = [(-1, 0), (-1, 1), (0, 2), (0, 3), (1, 3), (3, 4), (3, 5)]
    flow = graph.unit_flow(dict(zip(edges, shares, strict=True)), amount)
    assert flow.min() >= 0
    assert flow[0] + flow[1] == amount == flow[4] + flow[5]
    assert flow[2] + flow[3] == amount
