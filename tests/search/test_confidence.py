"""Every slot and pblock is as likely to hold what lies in it as is asked, by a computation of the tests' own."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import prod
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.bands import UncertainSum
from floorflow.errors import Refused, required
from floorflow.facts.report import figures
from floorflow.folding import restricted
from floorflow.record.run import record
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.candidate import Candidate, slot_demands, slot_uses, uses_of
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Outcome, SearchResult
from floorflow.search.candidate.forks import with_few_link_streams
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval.least_full import crossings_of
from floorflow.search.interval.search import search
from floorflow.search.policy import confidence
from floorflow.search.policy.relaxation import CONFIDENCE, MORE_CONFIDENTLY, fewest_fpgas, outcome_under, searched_alone
from tests.plans import CNV, FREE, TFC

Use = Mapping[str, Resources]
FULL = {"LUT": 0.9}


def searched(context: PlanningContext, how: Any = CONFIDENCE) -> SearchResult | Refused:
    return outcome_under(searched_alone(context), (how,), partial(search, progress=SILENT))


@cache
def context_of(confidence: float | str, **options: Any) -> PlanningContext:
    request = Request(TFC, "pynq-z1", cap=FULL, confidence=confidence, effort="fast", **options)
    context = prepare(read_source(TFC), request, 1)
    costs = copy.copy(context.costs)
    object.__setattr__(costs, "__class__", doubtful(type(context.costs)))
    return replace(context, costs=costs)


@cache
def doubtful(costs: Any) -> Any:
    """Return costs whose engines may need twice as many LUTs as is known, so that a full board may well not do."""

    def band(self: Any, kind: str, resource: str) -> tuple[float, float]:
        low, high = costs.band(self, kind, resource)
        return (low, 2 * high) if resource == "LUT" and kind.startswith(("MVAU", "Thresholding")) else (low, high)

    return type("Doubtful", (costs,), {"band": band})


@cache
def found_at(confidence: float | str) -> SearchResult:
    return required(searched(context_of(confidence)))


def chance(context: PlanningContext, use: Use, have: Resources) -> float:
    """Return the product over the resources, kinds independent, each a factor whose tenths its band has."""
    chances = []
    for name in RESOURCE_NAMES:
        mean, variance = 0.0, 0.0
        for kind, need in use.items():
            low, high = (1.0, 1.0) if kind == "crossing registers" else context.costs.band(kind, name)
            mean += need.as_dict()[name] * (low + high) / 2
            variance += (need.as_dict()[name] * (high - low) / (2 * 1.2816)) ** 2
        if variance:
            chances.append(NormalDist(mean, variance**0.5).cdf(have.as_dict()[name]))
    return prod(chances)


def least(context: PlanningContext, found: SearchResult) -> float:
    uses, modules = slot_uses(context, found.candidate), uses_of(context, found.candidate)
    chances = [chance(context, uses[slot.name], slot.available) for slot in context.platform.slots]
    for fpga in context.platform.fpgas:
        for module, region in found.placements[fpga.name].regions.items():
            held = np.sum([fpga.device.resources(rect).as_tuple() for rect in region], axis=0).tolist()
            chances.append(chance(context, modules[module], Resources(*held)))
    return min(chances)


@pytest.mark.parametrize("confidence", [0.7, 0.99])
def test_every_slot_and_pblock_is_as_likely_as_is_asked_at_no_higher_rate(confidence: float) -> None:
    free, found = found_at("none"), found_at(confidence)
    context = context_of(confidence)
    assert least(context, free) < 0.7
    assert least(context, found) >= confidence - 1e-9
    assert found.likely
    assert free.less_likely is None
    assert found.candidate.interval_cycles > free.candidate.interval_cycles
    assert found.less_likely is not None
    assert found.less_likely.interval_cycles == free.candidate.interval_cycles
    first = required(search(context))
    assert found.less_likely.likelihood == pytest.approx(least(context, first), abs=1e-6)


def test_more_likely_is_slower_and_of_what_was_tried_on_the_way_nothing_is_proven() -> None:
    found = [found_at(confidence) for confidence in ("none", 0.7, 0.99)]
    cycles = [each.candidate.interval_cycles for each in found]
    assert cycles == sorted(cycles)
    assert {each.bound_cycles for each in found} == {found[0].bound_cycles}
    for each in found[1:]:
        free = len(found[0].trace)
        assert each.ended_at is not None
        assert [refusal.what for refusal in each.ended_at.refusals] == ["likelihood"]
        assert not any(row.verdict == "proven infeasible" for row in each.trace[free:])


@pytest.mark.slow
def test_a_likely_design_is_assigned_anew_for_few_crossings_before_it_is_placed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = Request(CNV, "xcku5p", cap=FULL, fpgas=2, effort="fast", runtime_weights="never", **FREE)
    context = prepare(read_source(CNV), request, 2)
    costs = copy.copy(context.costs)
    object.__setattr__(costs, "__class__", doubtful(type(context.costs)))
    passed: list[tuple[Candidate, Candidate]] = []

    def noted(within: PlanningContext, candidate: Candidate) -> Candidate:
        better = with_few_link_streams(within, candidate)
        passed.append((candidate, better))
        assert all(own.fits(within.limits[slot]) for slot, own in slot_demands(better).items())
        return better

    monkeypatch.setattr(confidence, "with_few_link_streams", noted)
    found = required(searched(replace(context, costs=costs)))
    assert found.less_likely is not None
    (before, after), *_ = passed
    assert crossings_of(after) <= crossings_of(before)
    assert crossings_of(found.candidate) <= crossings_of(before)


def few(context: PlanningContext, seed: int, count: int = 5) -> PlanningContext:
    """Return the same with a few foldings of each group."""
    random = np.random.default_rng(seed)
    sizes = [len(group.rows) for group in context.problem.groups]
    keep = [np.isin(np.arange(n), random.choice(n, min(n, count), replace=False)) for n in sizes]
    problem = restricted(context.problem, keep)
    return replace(context, problem=problem, unlimited=problem)


def shortest_that_may_hold(context: PlanningContext, confidence: float) -> int | None:
    """Return the shortest interval of all foldings whose engines alone are likely enough to fit and within caps."""
    slot = context.platform.slots[0]
    limit = context.limits[slot.name]
    kinds = {engine.name: engine.kind for engine in context.dataflow.engines}
    found = []
    for rows in product(*(group.rows for group in context.problem.groups)):
        options = [
            (o.kind or kinds[e], o)
            for g, row in zip(context.problem.groups, rows, strict=True)
            for e, o in zip(g.engines, row, strict=True)
        ]
        use: dict[str, Resources] = {}
        for kind, option in options:
            use[kind] = use.get(kind, Resources(0, 0, 0, 0, 0)) + option.resources
        total = Resources(*np.sum([need.as_tuple() for need in use.values()], axis=0).tolist())
        if total.fits(limit) and chance(context, use, slot.available) >= confidence:
            found.append(max(option.cycles for _, option in options))
    return min(found, default=None)


def held_against_all_foldings(seed: int) -> None:
    """Streams are left out of the bound: what is found takes no less, and holds or says that it does not."""
    context = few(context_of(0.9), seed)
    outcome = searched(context)
    shortest = shortest_that_may_hold(context, 0.9)
    if isinstance(outcome, Refused):
        return
    holds = least(context, outcome) >= 0.9 - 1e-9
    assert outcome.likely == holds
    if holds:
        assert shortest is not None
        assert outcome.candidate.interval_cycles >= shortest


@settings(max_examples=2, deadline=None, derandomize=True)
@given(st.integers(0, 2**31))
def test_no_plan_that_holds_is_faster_than_all_foldings_tried(seed: int) -> None:
    held_against_all_foldings(seed)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 2**31))
def test_no_plan_that_holds_is_faster_than_all_foldings_tried_at_length(seed: int) -> None:
    held_against_all_foldings(seed)


def test_where_nothing_holds_the_likeliest_is_told_first() -> None:
    context = context_of(0.999999)
    context = replace(context, problem=(only := few(context, 3, 1).problem), unlimited=only)
    found = required(searched(context))
    assert not found.likely
    told = figures(record(read_source(TFC), context, found))[0]
    assert told.startswith("less likely to fit than asked: ")
    assert "no plan that holds it was found, though none is proven impossible" in told
    strict = searched(context, MORE_CONFIDENTLY)
    assert isinstance(strict, Refused)
    assert "(--confidence)" in str(strict)


def test_a_number_of_fpgas_that_is_not_likely_enough_does_not_do() -> None:
    context = prepare(read_source(TFC), Request(TFC, "xcku5p"), 1)
    request = context.request.changed(fpgas="auto", max_fpgas=3)
    found = found_at("none")
    tried: list[int] = []

    def prepared(_: Request, fpgas: int) -> PlanningContext:
        tried.append(fpgas)
        return replace(context, platform=replace(context.platform, name=str(fpgas)))

    def answer(likely_from: int) -> Callable[[PlanningContext], Outcome]:
        return lambda asked: replace(found, likely=int(asked.platform.name) >= likely_from)

    held = required(outcome_under(fewest_fpgas(request, prepared, SILENT), (), answer(2)))
    assert (held.context.platform.name, tried) == ("2", [1, 2])
    assert held.tried == ("1 FPGA would not be as likely to fit as --confidence asks",)
    none = required(outcome_under(fewest_fpgas(request, prepared, SILENT), (), answer(9)))
    assert none.context.platform.name == "1"


AMOUNTS = st.fixed_dictionaries(
    {name: st.tuples(st.floats(1, 1e5), st.floats(0, 3e4), st.integers(1, 100_000)) for name in RESOURCE_NAMES}
)


@settings(max_examples=20, deadline=None)
@given(AMOUNTS, st.floats(0.05, 0.99))
def test_what_is_needed_fits_as_likely_as_is_asked(amounts: dict[str, tuple[float, float, int]], sought: float) -> None:
    outcome = UncertainSum({name: (mean, by) for name, (mean, by, _) in amounts.items()})
    have = {name: have for name, (_, _, have) in amounts.items()}
    needs = outcome.needs(have, sought)
    enough = {name: max(have[name], int(needs[name]) + 1) for name in have}
    assert outcome.likelihood(enough) >= sought - 1e-6
    alone = {name: mean + NormalDist().inv_cdf(sought) * by for name, (mean, by, _) in amounts.items()}
    assert all(needs[name] >= alone[name] - 1e-6 for name in needs)
