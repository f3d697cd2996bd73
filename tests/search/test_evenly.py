"""Evenly full designs: the least share of every slot's limits that will do, its bound, and what comes without one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from floorflow.backends.finn.read.source import read_source
from floorflow.errors import Refusal, required
from floorflow.folding.least_full import fullness
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution, place
from floorflow.request import DEFAULT_CAP, Request
from floorflow.search.candidate.candidate import slot_demands
from floorflow.search.candidate.context import cap_limits
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval.search import search
from floorflow.stats import SolveStats
from tests.conftest import CNV, TFC
from tests.random_models import random_graph


def find(request: Request, placer: object = None) -> SearchResult:
    context = prepare(read_source(request.model), request, 1 if request.fpgas == "auto" else request.fpgas)
    solvers = context.solvers if placer is None else replace(context.solvers, place=placer)
    return required(search(replace(context, solvers=solvers)))


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


def test_equal_runs_give_equal_designs(even: SearchResult) -> None:
    again = find(Request(CNV, "alveo-u250", effort="fast"))
    assert again.candidate.slot_of == even.candidate.slot_of
    assert again.candidate.folding.options == even.candidate.folding.options


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
        return place(problem, "auto", 0)

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
