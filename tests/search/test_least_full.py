"""Least full designs, and the narrower limits within which they are sought."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import Refusal, required
from floorflow.folding.least_full import fullness, within
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import Resources, largest_share
from floorflow.search.candidate.candidate import slot_demands
from floorflow.search.candidate.context import PlanningContext, cap_limits
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval.least_full import HEADROOM, ROOMIEST, LargeEngine, large_engines, limits_at_share
from floorflow.search.interval.search import search
from floorflow.search.interval.state import share_of
from floorflow.stats import SolveStats
from tests.plans import CNV, TFC
from tests.random_models import random_graph
from tests.search.test_search import fits


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
    context = prepare(read_source(request.model), request, 1 if request.fpgas == "auto" else request.fpgas)
    return required(search(replace(context, solvers=replace(context.solvers, place=placer))))


def fullest(result: SearchResult, request: Request) -> float:
    """Return the largest demand over limit, from the candidate's own figures."""
    context = prepare(read_source(request.model), request, 1)
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
