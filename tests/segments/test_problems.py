"""A segment's folding problem is that of its part alone, and shares options and prices with the whole."""

import random
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.folding.legal_foldings import forget_options
from floorflow.channels import StreamPrices, couplings
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InfeasibleError, InputError, required
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.resources import Resources
from floorflow.segments import Segment, Segments, Space
from tests.plans import EXAMPLES
from tests.random_family import heavy
from tests.segments.cases import (
    COSTS,
    SILICON,
    CountedCosts,
    alone,
    budgets,
    lowered,
    random_network,
    random_part,
    random_segments,
    same_coupling,
    same_group,
    segments_of,
    some_intervals,
    tight_places,
)

LOOSE = Space(SILICON, SILICON)
seeds = st.integers(0, 10**6)


def depthwise() -> Dataflow:
    """MobileNet, in which windows are tied to the units behind them."""
    return lowered(EXAMPLES / "mobilenet_v1_w4a4.onnx")


def assert_same(one: FoldingProblem, other: FoldingProblem) -> None:
    assert (one.budget, one.silicon) == (other.budget, other.silicon)
    assert all(map(same_group, one.groups, other.groups))
    assert len(one.groups) == len(other.groups)
    assert all(map(same_coupling, one.couplings, other.couplings))
    assert len(one.couplings) == len(other.couplings)


def assert_same_optima(one: FoldingProblem, other: FoldingProblem) -> None:
    for interval in some_intervals(other):
        mine, expected = fold_at_interval(one, interval), fold_at_interval(other, interval)
        assert type(mine) is type(expected)
        if isinstance(mine, FoldingSolution) and isinstance(expected, FoldingSolution):
            assert mine.stats == expected.stats
            assert mine.options == expected.options


def assert_parts_stand_alone(segments: Segments, seed: int, parts: int, *, contiguous: bool) -> None:
    rng, dataflow = random.Random(seed), segments.dataflow
    for _ in range(parts):
        engines = random_part(segments, rng, contiguous=contiguous)
        loose = required(segments.of(engines).problem(LOOSE))
        for budget in budgets(loose):
            space = Space(budget, SILICON, tight_places(loose) if rng.random() < 0.5 else ())
            problem, expected = required(segments.of(engines).problem(space)), alone(dataflow, engines, space)
            assert_same(problem, expected)
            assert_same_optima(problem, expected)


@heavy()
@given(seeds, st.booleans())
def test_a_segment_is_the_problem_of_its_part_alone(seed: int, contiguous: bool) -> None:
    assert_parts_stand_alone(random_segments(seed), seed, 2, contiguous=contiguous)


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("model", ["tfc_1w1a", "cnv_2w2a", "mobilenet_v1_w4a4"])
def test_segments_of_the_examples_are_the_problems_of_their_parts_alone(model: str, contiguous: bool) -> None:
    assert_parts_stand_alone(segments_of(lowered(EXAMPLES / f"{model}.onnx")), 7, 2, contiguous=contiguous)


@pytest.mark.parametrize("make", [depthwise, lambda: random_network(27)])
def test_the_segment_of_all_engines_is_the_whole(make: Callable[[], Dataflow]) -> None:
    dataflow = make()
    groups = COSTS.groups(dataflow)
    whole = FoldingProblem(groups, SILICON, SILICON, couplings(dataflow, groups, COSTS))
    segments = Segments(dataflow, groups, StreamPrices(COSTS).couplings, memo=whole.memo)
    assert_same(required(segments.whole.problem(LOOSE)), whole)
    assert required(segments.whole.problem(LOOSE)).memo is whole.memo


@given(seeds)
def test_a_segment_shares_the_arrays_of_the_whole(seed: int) -> None:
    segments = random_segments(seed)
    whole, part = segments.whole, segments.between(0, len(segments.order) // 2)
    everywhere = required(whole.priced_streams(()))
    mine = {group.engines: group for group in required(whole.problem(LOOSE)).groups}
    assert all(group.rows is mine[group.engines].rows for group in required(part.problem(LOOSE)).groups)
    for position, (stream, price) in required(part.priced_streams(())).items():
        other, its_price = everywhere[position]
        if stream is other and price.use.shape == its_price.use.shape and np.array_equal(price.use, its_price.use):
            assert price.use is its_price.use
            assert price.source_class is its_price.source_class


def every_segment(segments: Segments) -> list[Segment]:
    parts = range(len(segments.order))
    return [segments.between(first, last) for last in parts for first in parts[: last + 1]]


@pytest.mark.parametrize("make", [lambda: random_network(27), lambda: lowered(EXAMPLES / "cnv_2w2a.onnx")])
def test_streams_are_priced_once_for_all_segments(make: Callable[[], Dataflow]) -> None:
    dataflow, shared, apart = make(), CountedCosts(), CountedCosts()
    segments = Segments(dataflow, COSTS.groups(dataflow), StreamPrices(shared).couplings)
    parts = every_segment(segments)
    for part in parts:
        couplings(part.dataflow, part.groups, apart)
        required(part.problem(LOOSE))
    assert shared.asked.total() * 10 < apart.asked.total()
    before = shared.asked.total()
    for part in parts:
        required(part.problem(LOOSE))
        required(part.problem(Space(SILICON, SILICON, tight_places(required(segments.whole.problem(LOOSE))))))
    assert shared.asked.total() == before


def test_without_joins_no_converter_is_priced_twice() -> None:
    dataflow, costs = lowered(EXAMPLES / "cnv_2w2a.onnx"), CountedCosts()
    for part in every_segment(Segments(dataflow, COSTS.groups(dataflow), StreamPrices(costs).couplings)):
        required(part.problem(LOOSE))
    assert {times for what, times in costs.asked.items() if what[0] == "converter"} == {1}


def test_a_segment_costs_a_fraction_of_its_part_alone() -> None:
    """A tenth is asked for; a hundredth is measured (benchmarks/segments.py)."""
    dataflow = lowered(EXAMPLES / "cnv_2w2a.onnx")
    segments = segments_of(dataflow)
    required(segments.whole.problem(LOOSE))
    parts = every_segment(segments)[::9]
    start = time.process_time()
    for part in parts:
        required(part.problem(LOOSE))
    shared = time.process_time() - start
    for part in parts:
        forget_options()
        alone(dataflow, [engine.name for engine in part.dataflow.engines], LOOSE)
    assert shared * 10 < time.process_time() - start - shared


def test_a_segment_is_made_once_by_position_and_by_its_engines() -> None:
    segments = segments_of(random_network(27))
    part = segments.between(1, 3)
    engines = [engine.name for engine in part.dataflow.engines]
    assert segments.between(1, 3) is part
    assert segments.of(engines[::-1]) is part
    assert part.within(segments.whole)
    assert not segments.whole.within(part)
    assert not segments.between(0, 0).within(part)


def test_places_drop_the_foldings_that_fit_none_of_them() -> None:
    dataflow = depthwise()
    segments = segments_of(dataflow)
    part = segments.between(3, 9)
    small = required(part.problem(Space(SILICON, SILICON, (("small", Resources(1500, 3000, 20, 0, 12)),))))
    large = required(part.problem(LOOSE))
    assert sum(len(group.rows) for group in small.groups) < sum(len(group.rows) for group in large.groups)
    with pytest.raises(InfeasibleError, match=r"proven infeasible by the cost model: .* no slot"):
        required(part.problem(Space(SILICON, SILICON, (("none", Resources(lut=10)),))))


def test_tied_engines_are_not_cut_apart() -> None:
    segments = segments_of(depthwise())
    tied = next(group for group in segments.groups if len(group.engines) > 1)
    with pytest.raises(InputError, match=f"cuts {tied.engines[0]} \\+ {tied.engines[1]} apart"):
        segments.of(tied.engines[:1])
    assert required(segments.of(tied.engines).problem(LOOSE)).groups == (tied,)


def test_parts_of_an_order_may_be_modules() -> None:
    dataflow = random_network(27)
    names = [engine.name for engine in dataflow.engines]
    groups = COSTS.groups(dataflow)
    segments = Segments(dataflow, groups, StreamPrices(COSTS).couplings, [names[:4], names[4:6], names[6:]])
    assert [engine.name for engine in segments.between(1, 2).dataflow.engines] == names[4:]


@pytest.mark.parametrize("ends", [(-1, 0), (2, 1), (0, 10**6)])
def test_positions_outside_the_order_are_refused(ends: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="expected 0 <= first <= last < "):
        segments_of(random_network(27)).between(*ends)


@pytest.mark.parametrize("engines", [[], ["nobody"], "twice"])
def test_what_is_no_part_of_the_network_is_refused(engines: list[str] | str) -> None:
    segments = segments_of(random_network(27))
    known = segments.order[0][0]
    segments.of([known])
    with pytest.raises(InputError, match=r"has no engine|twice"):
        segments.of([known, known] if engines == "twice" else [known, *engines] if engines else [])


def test_an_order_has_each_engine_once() -> None:
    dataflow = random_network(27)
    groups = COSTS.groups(dataflow)
    names = [engine.name for engine in dataflow.engines]
    for order in ([names[1:]], [names, names[:1]], [[*names, "nobody"]]):
        with pytest.raises(InputError, match="each of its engines once"):
            Segments(dataflow, groups, StreamPrices(COSTS).couplings, order)
