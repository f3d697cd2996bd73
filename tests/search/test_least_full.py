"""Least full designs, and the narrower limits within which they are sought."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import Refusal, required
from floorflow.folding.least_full import fullness, within
from floorflow.partition import PartitionProblem
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import Resources, largest_share
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval import least_full
from floorflow.search.interval.least_full import (
    HEADROOM,
    ROOMIEST,
    LargeEngine,
    comfortable_limits,
    is_no_worse,
    large_engines,
    limits_at_share,
    weighed,
)
from floorflow.search.interval.search import search
from floorflow.search.interval.state import share_of
from floorflow.search.policy import relaxation
from floorflow.search.policy.relaxation import outcome_under, rate_kept, searched_alone
from floorflow.stats import SolveStats
from tests.plans import CNV, TFC
from tests.random_models import random_graph
from tests.search.test_search import find as found_once
from tests.search.test_search import fits, placed_by, prepared_once


@pytest.fixture(scope="module")
def context() -> PlanningContext:
    return prepare(read_source(CNV), Request(CNV, "alveo-u250"), 1)


def test_every_slot_keeps_the_same_share(context: PlanningContext) -> None:
    half = limits_at_share(context, Fraction(1, 2), ())
    assert half == {slot: within(limit, Fraction(1, 2)) for slot, limit in context.allowed.items()}
    assert replace(context, narrowed=half).limits == half
    assert replace(context, narrowed=half).allowed == context.allowed


def test_an_engine_needs_the_least_share_that_any_of_its_foldings_has_of_any_slot(context: PlanningContext) -> None:
    interval, context = 7056, replace(context, max_hops=3)
    engines = {engine.name: engine for engine in large_engines(context, interval, (), context.allowed)}
    for group in context.problem.groups:
        for position, name in enumerate(group.engines):
            least = min(
                largest_share(Resources(*group.engine_use[row, position].tolist()), limit)
                for row in range(len(group.rows))
                if group.cycles[row] <= interval
                for limit in context.allowed.values()
            )
            assert engines[name].share == pytest.approx(least)
    shares = [engine.share for engine in large_engines(context, interval, (), context.allowed)]
    assert shares == sorted(shares, reverse=True)


def test_only_the_roomiest_slots_keep_what_a_large_engine_needs(context: PlanningContext) -> None:
    interval = context.problem.intervals()[0]
    largest = large_engines(context, interval, (), context.allowed)[0]
    scale = Fraction(largest.share) * Fraction(1, 2)
    limits = limits_at_share(context, scale, [largest])
    for slot, limit in context.allowed.items():
        scaled = within(limit, scale)
        if slot in largest.keep:
            assert largest_share(largest.keep[slot], limit) <= ROOMIEST * HEADROOM * largest.share + 0.01
            assert largest.keep[slot].fits(limits[slot])
            assert limits[slot] == scaled.most(largest.keep[slot])
        else:
            assert limits[slot] == scaled
    assert largest.slot in largest.keep
    assert limits_at_share(context, Fraction(1), [largest]) == context.allowed


def test_the_rest_of_its_stage_finds_room_beside_a_large_engine(context: PlanningContext) -> None:
    interval = context.problem.intervals()[0]
    largest = large_engines(context, interval, (), context.allowed)[0]
    other = next(group.engines[0] for group in context.problem.groups if largest.name not in group.engines)
    together = next(
        engine
        for engine in large_engines(context, interval, [(largest.name, other)], context.allowed)
        if engine.name == largest.name
    )
    beside = least_of(next(group for group in context.problem.groups if other in group.engines), interval)
    for slot, keep in together.keep.items():
        alone = largest.keep[slot]
        assert keep.lut >= alone.lut + beside.lut
        assert keep.bram18 >= alone.bram18 + beside.bram18


def least_of(group: OptionGroup, interval: int) -> Resources:
    use = group.engine_use[group.cycles <= interval][:, 0]
    return Resources(*use.min(axis=0).tolist())


def test_an_engine_counts_only_where_its_streams_may_reach_it(context: PlanningContext) -> None:
    interval = context.problem.intervals()[0]
    last = context.dataflow.engines[-1].name
    far = next(e for e in large_engines(replace(context, max_hops=3), interval, (), context.allowed) if e.name == last)
    near = next(e for e in large_engines(context, interval, (), context.allowed) if e.name == last)
    assert far.slot not in {"fpga0.SLR0", "fpga0.SLR1"}
    assert near.slot in near.keep
    assert set(near.keep) <= {"fpga0.SLR0", "fpga0.SLR1"}
    assert near.share >= far.share


def test_a_large_engine_beside_one_that_fills_the_only_slot_of_both_has_the_next_slot_widened(
    context: PlanningContext,
) -> None:
    """The last engine fills the host's slot; the one before it has no way to any but that and the next."""
    limits = context.allowed
    first, second = (context.dataflow.engines[place].name for place in (-1, -2))
    fills = {"fpga0.SLR0": share_of(limits["fpga0.SLR0"], 0.8)}
    half = {slot: share_of(limits[slot], 0.55) for slot in ("fpga0.SLR0", "fpga0.SLR1")}
    engines = [
        LargeEngine(first, 0.8, "fpga0.SLR0", "LUT", keep=fills, needs=fills),
        LargeEngine(second, 0.55, "fpga0.SLR0", "LUT", keep={}, needs=half),
    ]
    scale = Fraction(1, 2)
    scaled = {slot: within(limit, scale) for slot, limit in limits.items()}
    both = limits_at_share(context, scale, engines)
    assert both == scaled | {
        "fpga0.SLR0": scaled["fpga0.SLR0"].most(fills["fpga0.SLR0"]),
        "fpga0.SLR1": scaled["fpga0.SLR1"].most(half["fpga0.SLR1"]),
    }


def test_no_slot_is_widened_for_engines_that_find_room_beside_each_other(context: PlanningContext) -> None:
    engines = large_engines(context, 50176, (), context.allowed)
    scale = Fraction(9, 10)
    assert engines[0].share < scale
    assert limits_at_share(context, scale, engines) == limits_at_share(context, scale, ())


def find(request: Request, placer: Any = fits) -> SearchResult:
    if request.fpgas == 1:
        return found_once(request, placer)
    return required(search(placed_by(placer, prepare(read_source(request.model), request, request.fpgas))))


def fullest(result: SearchResult, request: Request) -> float:
    """Return the largest demand over limit, from the candidate's own figures."""
    context = prepared_once(request)
    demands, limits = slot_demands(result.candidate), cap_limits(context)
    return float(max(fullness(demands[slot], limits[slot]) for slot in demands))


@pytest.fixture(scope="module")
def even() -> SearchResult:
    return find(Request(CNV, "alveo-u250", effort="fast"))


@pytest.fixture(scope="module")
def scarce() -> SearchResult:
    return find(Request(CNV, "alveo-u250", effort="fast", tie_break="scarcity"))


def test_the_fullest_slot_is_emptier_at_the_same_interval(even: SearchResult, scarce: SearchResult) -> None:
    assert even.candidate.interval_cycles == scarce.candidate.interval_cycles
    request = Request(CNV, "alveo-u250")
    assert fullest(even, request) < 0.85 * fullest(scarce, request)
    assert even.fullness.slots.objective == pytest.approx(fullest(even, request))
    assert scarce.fullness.slots.objective == pytest.approx(fullest(scarce, request))


def test_fullness_is_told_with_a_bound_that_holds_for_the_other_design_too(
    even: SearchResult, scarce: SearchResult
) -> None:
    slots, sums = even.fullness.slots, even.fullness.folding
    assert slots.bound is not None
    assert sums.bound is not None
    assert slots.bound <= min(slots.objective or 0, scarce.fullness.slots.objective or 0)
    assert sums.bound <= min(sums.objective or 0, scarce.fullness.folding.objective or 0)
    assert sums.bound <= slots.bound
    assert scarce.fullness.slots.bound is None
    assert scarce.fullness.slots.status == "heuristic"


def test_one_engine_alone_may_be_what_bounds_it(even: SearchResult) -> None:
    assert even.fullness.slots.method == "bound by MVAU_hls_1 alone"


def test_on_one_slot_the_folding_is_as_even_as_it_can_be() -> None:
    request = Request(TFC, "zcu104", fps=1_000_000, effort="fast")
    result = find(request)
    assert result.candidate.narrowed is not None
    assert (result.fullness.folding.gap or 0.0) <= 0.03
    least_scarce = find(request.changed(tie_break="scarcity"))
    assert fullest(result, request) <= fullest(least_scarce, request)


def test_a_small_design_stays_together(tmp_path: Path) -> None:
    """Below half of its limits no slot is too full: one that fits there crosses nothing."""
    onnx.save(random_graph(27), tmp_path / "small.onnx")
    request = Request(tmp_path / "small.onnx", "alveo-u250", effort="fast", fps=1000)
    result = find(request)
    assert len(set(result.candidate.slot_of.values())) == 1
    assert (
        result.candidate.partition.stats.objective
        == find(request.changed(tie_break="scarcity")).candidate.partition.stats.objective
    )


@pytest.mark.slow
def test_where_what_is_even_has_no_floorplan_the_limits_are_those_of_the_request() -> None:
    """The placer refuses designs until one is found within all that slots allow."""
    request = Request(CNV, "alveo-u250", effort="fast")
    context = prepare(read_source(CNV), request, 1)
    limits = cap_limits(context)

    def full_ones_only(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        used: dict[str, int] = {}
        for module in problem.modules:
            used[module.slot] = used.get(module.slot, 0) + module.demand.lut
        if max(lut / limits[slot].lut for slot, lut in used.items()) < 0.5:
            return PlacementFailure(Refusal("no room", place=problem.modules[0].slot), SolveStats("fake", "heuristic"))
        return fits(problem)

    result = find(request, full_ones_only)
    assert result.candidate.narrowed is None
    assert result.candidate.interval_cycles == result.bound_cycles


@pytest.mark.slow
def test_narrow_tries_stand_in_the_trace_and_the_interval_is_legal(tmp_path: Path) -> None:
    onnx.save(random_graph(27), tmp_path / "tight.onnx")
    cap = {**DEFAULT_CAP, "LUT": 0.01}
    result = find(Request(tmp_path / "tight.onnx", "alveo-u250", effort="fast", cap=cap, fpgas=2))
    tries = [row for row in result.trace if row.detail.startswith("each slot at most")]
    assert all(row.verdict == "not found within the limit" for row in tries)
    assert any(row.verdict == "legal" for row in result.trace)


def test_the_folding_keeps_the_budget_that_it_is_held_against(even: SearchResult) -> None:
    folding = even.candidate.folding
    assert folding.resources.fits(folding.budget)
    assert even.candidate.narrowed is not None
    assert folding.stats.bound is not None
    assert folding.stats.bound <= (folding.stats.objective or 0)


def comfortable(context: PlanningContext, candidate: Candidate) -> bool:
    """Whether a candidate keeps to the shares, worked out from what slots have."""
    have = {slot.name: slot.available for slot in context.platform.slots}
    return all(
        need.lut < 0.6 * have[slot].lut and need.bram18 < 0.75 * have[slot].bram18
        for slot, need in slot_demands(candidate).items()
    )


@given(lut=st.floats(0.05, 1), bram18=st.floats(0.05, 1))
@settings(max_examples=20, deadline=None)
def test_what_is_comfortable_is_less_than_its_shares_and_no_more_than_is_allowed(lut: float, bram18: float) -> None:
    cap = {**DEFAULT_CAP, "LUT": lut, "BRAM18": bram18}
    asked = prepare_once(Request(TFC, "alveo-u250", cap=cap))
    for slot in asked.platform.slots:
        limit, allowed = comfortable_limits(asked)[slot.name], asked.allowed[slot.name]
        assert limit.fits(allowed)
        assert (limit.ff, limit.uram, limit.dsp) == (allowed.ff, allowed.uram, allowed.dsp)
        assert limit.lut < 0.6 * slot.available.lut
        assert limit.lut + 1 >= min(0.6 * slot.available.lut, allowed.lut)
        assert limit.bram18 < 0.75 * slot.available.bram18
        assert limit.bram18 + 1 >= min(0.75 * slot.available.bram18, allowed.bram18)


def prepare_once(request: Request) -> PlanningContext:
    return prepare(read_source(request.model), request, 1)


def test_a_design_that_stays_comfortable_in_one_slot_crosses_nothing(even: SearchResult) -> None:
    assert even.design is not None
    assert (even.design.rule, even.design.passed) == ("comfortable", ())
    assert comfortable(even.context, even.candidate)
    assert even.candidate.partition.stats.objective == 0


def test_both_ends_stand_beside_what_was_taken(even: SearchResult) -> None:
    found = weighed(even, SILENT).evenness
    assert found is not None
    least, fewest, taken = found.rows
    assert taken.fullness == even.fullness.slots
    assert taken.crossings == even.candidate.partition.stats
    assert (least.fullness.objective or 0) < 0.7 * (taken.fullness.objective or 0)
    assert (least.crossings.objective or 0) > 0
    assert least.crossings.bound is not None
    assert least.fullness.bound == taken.fullness.bound
    assert fewest.crossings == taken.crossings


def test_nothing_is_weighed_on_one_slot_or_where_no_evenness_is_sought(scarce: SearchResult) -> None:
    one_slot = find(Request(TFC, "zcu104", effort="fast"))
    assert one_slot.design is not None
    assert weighed(one_slot, SILENT) is one_slot
    assert weighed(scarce, SILENT) is scarce


@pytest.fixture
def two_slots(monkeypatch: pytest.MonkeyPatch) -> PlanningContext:
    """Return a search for which TFC is too large to be comfortable in one slot of a U250."""
    monkeypatch.setattr(least_full, "COMFORTABLE", {"LUT": Fraction(1, 15), "BRAM18": Fraction(3, 4)})
    return prepare_once(Request(TFC, "alveo-u250", effort="fast"))


def cheapest(problem: PartitionProblem, limits: Mapping[str, Resources]) -> int:
    """Try all assignments."""
    slots = tuple(replace(slot, limit=limits[slot.name]) for slot in problem.slots)
    problem, names = replace(problem, slots=slots), list(problem.demands)
    every = (dict(zip(names, chosen, strict=True)) for chosen in product(range(len(slots)), repeat=len(names)))
    return min(problem.cost(slot_of) for slot_of in every if problem.is_legal(slot_of))


def test_crossings_alone_decide_among_comfortable_designs(two_slots: PlanningContext) -> None:
    found = required(search(placed_by(fits, two_slots)))
    assert found.design is not None
    assert found.design.rule == "comfortable"
    best = cheapest(found.candidate.problem, comfortable_limits(two_slots))
    assert found.candidate.partition.stats.objective == best > 0
    assert len(set(found.candidate.slot_of.values())) > 1


def test_what_has_no_floorplan_gives_way_to_what_is_nearly_least_full() -> None:
    """All of TFC is comfortable in one slot, where the placer refuses it."""
    context = prepare_once(Request(TFC, "alveo-u250", effort="fast"))

    def sparse(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        for slot, limit in context.allowed.items():
            if sum(module.demand.lut for module in problem.modules if module.slot == slot) > 0.09 * limit.lut:
                return PlacementFailure(Refusal("no room", place=slot), SolveStats("fake", "heuristic"))
        return fits(problem)

    first, found = (required(search(placed_by(place, context))) for place in (fits, sparse))
    assert first.candidate.partition.stats.objective == 0
    assert found.design is not None
    assert (found.design.rule, found.design.passed) == ("nearly least full", ("comfortable",))
    near = found.design.candidate.narrowed
    assert near is not None
    assert found.candidate.partition.stats.objective == cheapest(found.candidate.problem, near) > 0


def test_where_nothing_is_comfortable_no_slot_is_a_tenth_fuller_than_the_least_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(least_full, "COMFORTABLE", {"LUT": Fraction(1, 1000)})
    context = prepare_once(Request(TFC, "alveo-u250", effort="fast"))
    found = weighed(required(search(placed_by(fits, context))), SILENT)
    assert found.evenness is not None
    assert found.evenness.rule == "nearly least full"
    least, _, taken = (row.fullness.objective or 0 for row in found.evenness.rows)
    assert least <= taken <= 1.1 * least * 1.01
    near = found.candidate.narrowed
    assert near is not None
    assert found.candidate.partition.stats.objective == cheapest(found.candidate.problem, near)


def at_rate(request: Request, fps: float) -> SearchResult:
    """Search for the least resources at a rate, the fastest design first."""
    free, asked = (placed_by(fits, prepare_once(request.changed(fps=each))) for each in (None, fps))
    return required(outcome_under(searched_alone(asked), (rate_kept(lambda _: free),), search))


@pytest.mark.parametrize(
    ("model", "board"), [(TFC, "pynq-z1"), (TFC, "alveo-u250"), pytest.param(CNV, "xcku5p", marks=pytest.mark.slow)]
)
def test_the_same_question_has_the_same_answer(model: Path, board: str) -> None:
    request = Request(model, board, effort="fast")
    fastest = find(request)
    fps = fastest.context.platform.clock_mhz * 1e6 / fastest.candidate.interval_cycles
    found = at_rate(request, fps)
    assert found.candidate == fastest.candidate
    assert found.design == fastest.design
    assert found.bound_cycles == found.candidate.interval_cycles
    assert found.ended_by.startswith("the requested rate was met by the fastest design found")


@pytest.mark.parametrize("share", [0.93, pytest.param(0.5, marks=pytest.mark.slow), 0.1])
def test_a_lower_rate_costs_no_more_than_the_highest(share: float) -> None:
    request = Request(TFC, "alveo-u250", effort="fast")
    fastest = find(request)
    found = at_rate(request, share * 250e6 / fastest.candidate.interval_cycles)
    assert is_no_worse(found.context, found.candidate, fastest.candidate)
    assert found.candidate.interval_cycles * share <= fastest.candidate.interval_cycles
    assert found.candidate.folding.stats.objective <= fastest.candidate.folding.stats.objective  # type: ignore[operator]


def test_the_fastest_design_is_the_plan_where_less_is_fuller_or_crosses_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaxation, "is_no_worse", lambda *_: False)
    found = at_rate(Request(TFC, "pynq-z1", effort="fast"), 100)
    assert found.ended_by.endswith(
        "; not with the least resources: what was found with less is fuller or costs more in crossings"
    )
    assert found.trace[0].verdict == "not found within the limit"
    assert found.whole_budget_bound is not None
    assert found.whole_budget_bound <= (found.candidate.folding.stats.objective or 0)


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from([0.98, 0.7, 0.3]))
@settings(max_examples=200, deadline=None)
def test_random_networks_cost_no_more_at_lower_rates(seed: int, share: float) -> None:
    with TemporaryDirectory() as folder:
        onnx.save(random_graph(seed), Path(folder) / "random.onnx")
        request = Request(Path(folder) / "random.onnx", "alveo-u250", effort="fast")
        fastest = find(request)
        found = at_rate(request, share * 250e6 / fastest.candidate.interval_cycles)
        assert is_no_worse(found.context, found.candidate, fastest.candidate)
