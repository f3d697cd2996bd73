"""The feedback loop: repairs in their order, honest claims, and Ctrl-C that leaves the best plan found so far."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.emit import bundle
from floorflow.errors import InfeasibleError, InputError, LimitError, Refusal, required
from floorflow.folding import FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.folding.problem import FoldingAnswer
from floorflow.hardware import Rect
from floorflow.output import write
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution, RoutingMap, Terms, place
from floorflow.record.run import record
from floorflow.request import DEFAULT_CAP, Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval import search
from floorflow.search.interval.rate import fewer_kinds
from floorflow.search.interval.search import WHEN_INTERRUPTED
from floorflow.search.policy.relaxation import outcome_under, rate_kept, searched_alone
from floorflow.stats import SolveStats
from floorflow.verify import check
from tests.plans import CNV, FREE, TFC
from tests.scarce_dsp import mixed_bits

HASTY: Any = {"effort": "fast", "tie_break": "scarcity"}
"""What is not about how full slots are need not be as empty as can be, which takes most of a search."""
Placer = Callable[[PlacementProblem], PlacementSolution | PlacementFailure]


def fits(problem: PlacementProblem) -> PlacementSolution:
    """Say that everything has room; where is of no interest here."""
    regions = {module.name: (Rect(0, 0, 1, 1),) for module in problem.modules}
    none = np.zeros((1, 1))
    stats = SolveStats("fake", "heuristic", 0.0)
    return PlacementSolution(regions, Terms(0.0, 0.0, 0.0), RoutingMap(none, none), 0, stats)


def refuses(slot: str) -> PlacementFailure:
    return PlacementFailure(Refusal("no room", place=slot), SolveStats("fake", "heuristic"))


def refuses_all(problem: PlacementProblem) -> PlacementFailure:
    return refuses(problem.modules[0].slot)


def at_most(count: int) -> Placer:
    """Return a placer that fails any slot with more modules."""

    def place(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        held = [module.slot for module in problem.modules]
        full = sorted(slot for slot in set(held) if held.count(slot) > count)
        return refuses(full[0]) if full else fits(problem)

    return place


def placed_by(place: Placer, context: PlanningContext) -> PlanningContext:
    return replace(context, solvers=replace(context.solvers, place=place))


CONTEXTS: dict[str, PlanningContext] = {}
FOUND: dict[str, SearchResult] = {}
"""What is known before a search, and is found where everything fits, by the request: tests look at it again."""


def prepared_once(request: Request) -> PlanningContext:
    if repr(request) not in CONTEXTS:
        CONTEXTS[repr(request)] = prepare(read_source(request.model), request, 1)
    return CONTEXTS[repr(request)]


def find(request: Request, place: Placer | None = None, **others: Any) -> SearchResult:
    """Search with a placer, and other solvers, instead of the request's."""
    if place is fits and not others:
        if repr(request) not in FOUND:
            FOUND[repr(request)] = required(search.search(placed_by(fits, prepared_once(request))))
        return FOUND[repr(request)]
    context = prepared_once(request)
    own = {"place": place, **others} if place is not None else others
    own |= {"fold_nearly": others["fold"]} if "fold" in others else {}
    return required(search.search(replace(context, solvers=replace(context.solvers, **own))))


def rate(request: Request, place: Placer) -> float:
    return 1 / find(request, place).candidate.interval_cycles


@pytest.mark.slow
def test_neighbours_merge_in_every_slot_that_fails() -> None:
    request = Request(TFC, "alveo-u250", effort="fast", **FREE)
    free = find(request, fits).candidate
    most = max(Counter(free.slot_of.values()).values())
    allowed = most - most // 2
    assert 1 < allowed < most
    packed = find(request, at_most(allowed))
    assert packed.candidate.interval_cycles == free.interval_cycles
    assert max(Counter(packed.candidate.slot_of.values()).values()) <= allowed
    assert "merged" in packed.trace[-1].detail


def test_kept_granularity_costs_rate_instead() -> None:
    kept = rate(Request(TFC, "pynq-z1", keep_granularity=True), at_most(1))
    assert kept < rate(Request(TFC, "pynq-z1"), at_most(1))


def test_a_placer_that_always_fails_ends_in_a_limit_not_in_a_proof() -> None:
    with pytest.raises(LimitError, match=r"none is proven impossible.*no room found in fpga0\.SLR0"):
        find(
            Request(TFC, "pynq-z1", effort="fast", keep_granularity=True),
            lambda problem: refuses(problem.slots[0].name),
        )


def test_a_higher_rate_is_never_easier_and_the_highest_is_never_beaten() -> None:
    # A rate that was asked for may lift limits on single engines.
    request = Request(TFC, "zcu104", **HASTY, **FREE)
    best = rate(request, fits)
    clock_hz = 200e6
    for share in (0.3, 0.999):
        found = find(request.changed(fps=best * clock_hz * share), fits)
        assert 1 / found.candidate.interval_cycles >= best * share * (1 - 1e-6)
    with pytest.raises((LimitError, InfeasibleError)):
        find(request.changed(fps=best * clock_hz * 1.02), fits)


def test_tighter_caps_never_give_a_higher_rate() -> None:
    rates = [rate(Request(TFC, "pynq-z1", cap={"LUT": cap}), fits) for cap in (0.7, 0.3, 0.15)]
    assert all(looser >= tighter for looser, tighter in pairwise(rates))
    assert rates[0] > rates[-1]


@pytest.mark.slow
def test_folding_is_called_optimal_only_against_the_whole_budget() -> None:
    found = find(Request(CNV, "pynq-z1", **HASTY), fits)
    stats = found.candidate.folding.stats
    assert stats.objective is not None
    assert stats.bound is not None
    assert (stats.status == "optimal") == (stats.objective <= stats.bound)


def interrupted_while_placing(request: Request, then: Placer) -> SearchResult:
    """Press Ctrl-C while the first floorplan is sought; from then on another placer answers."""
    begun: list[None] = []

    def place(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        begun.append(None)
        if len(begun) == 1:
            raise KeyboardInterrupt
        return then(problem)

    return find(request, place)


def test_ctrl_c_leaves_the_best_design_known_by_then() -> None:
    found = interrupted_while_placing(Request(CNV, "pynq-z1", **HASTY), fits)
    assert found.interrupted
    assert found.ended_by == WHEN_INTERRUPTED
    assert [row.verdict for row in found.trace if row.stage == "place"] == ["legal"]
    assert "after Ctrl-C" in found.trace[-1].detail
    assert not found.candidate.joined


def test_ctrl_c_leaves_a_pblock_a_slot_where_no_rectangles_are_found_in_a_moment() -> None:
    found = interrupted_while_placing(Request(CNV, "alveo-u250", effort="fast"), at_most(1))
    assert found.interrupted
    slots = list(found.candidate.slot_of.values())
    assert len(slots) == len(set(slots))
    assert {joined.slot for joined in found.candidate.joined} <= set(slots)
    assert found.candidate.joined


def test_ctrl_c_joins_nothing_where_granularity_is_kept() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted_while_placing(Request(CNV, "alveo-u250", keep_granularity=True), at_most(1))


def test_ctrl_c_before_any_design_goes_through() -> None:
    def fold(problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find(Request(CNV, "alveo-u250"), fits, fold=fold)


def test_latency_is_never_above_that_of_the_highest_rate() -> None:
    fast, quick = (find(Request(TFC, "pynq-z1", objective=goal, effort="fast"), fits) for goal in (None, "latency"))
    assert path_cycles(quick) == quick.candidate.folding.stats.objective
    assert path_cycles(quick) < path_cycles(fast)
    assert quick.whole_budget_bound is not None
    assert quick.whole_budget_bound <= path_cycles(quick)
    assert quick.ended_by.startswith("lowest latency: ")


def test_a_rate_bounds_the_interval_of_the_lowest_latency() -> None:
    found = find(Request(TFC, "pynq-z1", objective="latency", fps=200e6 / 400), fits)
    assert found.candidate.interval_cycles <= 400


def test_least_resources_use_less_than_any_rate() -> None:
    least, at_rate = (
        find(Request(CNV, "zcu104", tie_break="scarcity", **asked), fits)
        for asked in ({"objective": "resources"}, {"fps": 1000})
    )
    stats = least.candidate.folding.stats
    assert least.ended_by.startswith("least resources")
    assert ("no folding at any interval is less scarce" in least.ended_by) == (stats.status == "optimal")
    assert stats.gap is not None
    assert stats.gap < 0.001
    assert (least.candidate.folding.stats.objective or 0) < (at_rate.candidate.folding.stats.objective or 0)
    assert at_rate.ended_by == "the requested rate was met"


def test_the_fastest_design_is_a_candidate_for_a_rate_that_it_meets() -> None:
    fastest = find(Request(CNV, "xcku5p", **HASTY, keep_granularity=True), fits)
    most = max(module.lut for module in fastest.candidate.demands.values())

    def only_the_fastest(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        largest = max(module.demand.lut for module in problem.modules)
        return fits(problem) if largest == most else refuses(problem.slots[0].name)

    fps = 200e6 / fastest.candidate.interval_cycles / 4
    asked = Request(CNV, "xcku5p", fps=fps, **HASTY, keep_granularity=True)
    with pytest.raises(LimitError):
        find(asked, only_the_fastest)
    source = read_source(CNV)
    context = placed_by(only_the_fastest, prepare(source, asked, 1))
    any_rate = placed_by(only_the_fastest, prepare(source, asked.changed(fps=None), 1))
    found = required(outcome_under(searched_alone(context), (rate_kept(lambda _: any_rate),), search.search))
    assert found.candidate.interval_cycles == fastest.candidate.interval_cycles
    assert "not with the least resources" in found.ended_by
    assert found.trace[-1].verdict == "legal"
    assert found.trace[-1].detail.startswith("for the highest rate: ")
    # Nothing is claimed of the least resources: their bound is that of the rate that was asked for.
    slow = fold_at_interval(context.problem, context.problem.intervals()[-1])
    assert isinstance(slow, FoldingSolution)
    assert slow.stats.bound is not None
    assert found.whole_budget_bound == slow.stats.bound
    stats = found.candidate.folding.stats
    assert (stats.status, stats.bound) == ("feasible", slow.stats.bound)
    assert slow.stats.bound < (stats.objective or 0)


def test_what_is_not_to_be_placed_is_not_placed_at_any_rate_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def places(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        pytest.fail(f"{len(problem.modules)} modules are placed")

    monkeypatch.setattr(search, "least_resources", lambda run, intervals: None)
    asked, source = Request(TFC, "pynq-z1", fps=1000), read_source(TFC)
    context = replace(placed_by(places, prepare(source, asked, 1)), floorplans=False)
    any_rate = placed_by(places, prepare(source, asked.changed(fps=None), 1))
    found = required(outcome_under(searched_alone(context), (rate_kept(lambda _: any_rate),), search.search))
    assert "not with the least resources" in found.ended_by
    assert found.placements == {}


def test_the_plan_of_the_fastest_design_at_a_requested_rate_is_legal_and_claims_no_bound(tmp_path: Path) -> None:
    free = Request(TFC, "pynq-z1", cap={**DEFAULT_CAP, "LUT": 0.16}, keep_granularity=True, plots=False)
    fastest = find(free)
    assert fastest.bound_cycles < fastest.candidate.interval_cycles
    most = max(module.lut for module in fastest.candidate.demands.values())
    asked = free.changed(fps=100e6 / fastest.candidate.interval_cycles / 4)

    def only_the_fastest(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        largest = max(module.demand.lut for module in problem.modules)
        return place(problem) if largest == most else refuses(problem.slots[0].name)

    source = read_source(TFC)
    context = placed_by(only_the_fastest, prepare(source, asked, 1))
    any_rate = placed_by(only_the_fastest, prepare(source, free, 1))
    found = required(outcome_under(searched_alone(context), (rate_kept(lambda _: any_rate),), search.search))
    assert "not with the least resources" in found.ended_by
    assert found.bound_cycles == found.candidate.interval_cycles == fastest.candidate.interval_cycles
    plan = record(source, context, found)
    write(tmp_path / "out", bundle(plan, context.platform, context.backend), {})
    assert check(tmp_path / "out") == []


def test_a_latency_that_cannot_be_placed_gives_way_under_less_of_the_budget() -> None:
    refused: list[int] = []

    def place(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        need = sum(module.demand.lut for module in problem.modules)
        refused.extend([need] if need > 12_000 else [])
        return refuses(problem.slots[0].name) if need > 12_000 else fits(problem)

    found = find(Request(TFC, "pynq-z1", objective="latency"), place)
    assert refused
    assert [row.verdict for row in found.trace if "100% of the budget" in row.detail] == ["not found within the limit"]
    assert all("latency" in row.detail for row in found.trace)


@pytest.fixture(scope="module")
def few_dsps(tmp_path_factory: pytest.TempPathFactory) -> Request:
    """Return a request with so few DSPs that other kinds than FINN's own allow a shorter interval."""
    model = tmp_path_factory.mktemp("mixed") / "mixed_bits.onnx"
    onnx.save(mixed_bits(), model)
    cap = {**DEFAULT_CAP, "DSP": 0.01, "LUT": 0.04}
    return Request(model, platform="xcku5p", cap=cap, **HASTY)


def test_finns_own_kinds_are_tried_where_others_allow_more_but_cannot_be_placed(few_dsps: Request) -> None:
    request = few_dsps
    free, own = find(request, fits), find(request.changed(impl_style="default"), fits)
    assert free.candidate.interval_cycles < own.candidate.interval_cycles

    def fits_in_finns_own_kinds(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        return fits(problem) if among_own[-1] else refuses(problem.modules[0].slot)

    def fold(problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
        among_own.append(fewer_kinds(problem) is None)
        return fold_at_interval(problem, interval_cycles)

    among_own: list[bool] = []
    found = find(request, fits_in_finns_own_kinds, fold=fold)
    assert found.candidate.interval_cycles == own.candidate.interval_cycles
    assert found.bound_cycles == free.bound_cycles
    assert [row.verdict for row in found.trace if "kinds as the back end chooses" in row.detail][-1] == "legal"
    assert sum(row.verdict == "legal" for row in found.trace) == 1


class EnoughKnownError(Exception):
    """Ends a search from inside a solver: no outcome, so that nothing else is tried."""


@dataclass
class KindsRecorder:
    """Folds exactly and remembers whether among FINN's own kinds only, and at which interval."""

    asked: list[tuple[bool, int]] = field(default_factory=list)
    enough: Callable[[list[tuple[bool, int]]], bool] = lambda asked: False

    def __call__(self, problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
        self.asked.append((fewer_kinds(problem) is None, interval_cycles))
        if self.enough(self.asked):
            raise EnoughKnownError
        return fold_at_interval(problem, interval_cycles)


def test_other_kinds_are_tried_at_their_bound_before_longer_intervals_of_the_first(few_dsps: Request) -> None:
    request = few_dsps
    bounds = [find(request.changed(impl_style=style), fits).bound_cycles for style in ("auto", "default")]
    assert bounds[0] < bounds[1]
    fold = KindsRecorder(enough=lambda asked: asked[-1][1] not in bounds)
    with pytest.raises(EnoughKnownError):
        find(request, refuses_all, fold=fold)
    first_own = next(place for place, (own, _) in enumerate(fold.asked) if own)
    # A platform of one slot has no other bound than that of folding.
    assert {interval for _, interval in fold.asked[:first_own]} == {bounds[0]}
    assert fold.asked[first_own] == (True, bounds[1])
    longer = [(own, interval) for own, interval in fold.asked if interval not in bounds]
    assert longer
    assert not longer[0][0], "longer intervals begin with the first kinds"


def interrupted_in_the_first_kinds(request: Request, place_before: Callable[[KindsRecorder], Placer]) -> SearchResult:
    """Press Ctrl-C when the search goes back from the second choice of kinds to the first; then everything fits."""
    record = KindsRecorder()
    pressed: list[None] = []

    def fold(problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
        answer = record(problem, interval_cycles)
        if not record.asked[-1][0] and any(own for own, _ in record.asked):
            pressed.append(None)
            raise KeyboardInterrupt
        return answer

    def place(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        return fits(problem) if pressed else place_before(record)(problem)

    found = find(request, place, fold=fold)
    assert found.interrupted
    return found


def fits_in_finns_own(record: KindsRecorder) -> Placer:
    return fits if record.asked[-1][0] else refuses_all


def test_ctrl_c_between_two_choices_of_kinds_leaves_the_better_design(few_dsps: Request) -> None:
    request = few_dsps
    found = interrupted_in_the_first_kinds(request, fits_in_finns_own)
    assert found.candidate.interval_cycles == find(request.changed(impl_style="default"), fits).bound_cycles
    assert found.bound_cycles == find(request, fits).bound_cycles
    first = [row.verdict for row in found.trace if row.detail.startswith("kinds as they fit best: ")]
    second = [row.verdict for row in found.trace if row.detail.startswith("kinds as the back end chooses: ")]
    assert len(first) + len(second) == len(found.trace)
    assert first
    assert "legal" not in first
    assert (found.trace[-1].verdict, second[-1]) == ("legal", "legal")


def test_ctrl_c_leaves_what_was_folded_in_the_second_choice_of_kinds_if_the_first_has_nothing(
    few_dsps: Request,
) -> None:
    request = few_dsps
    found = interrupted_in_the_first_kinds(request, lambda record: refuses_all)
    assert "after Ctrl-C" in found.trace[-1].detail
    assert found.candidate.interval_cycles == find(request.changed(impl_style="default"), fits).bound_cycles


def test_the_highest_rate_at_a_given_rate_is_refused() -> None:
    with pytest.raises(InputError, match="--objective throughput"):
        Request(CNV, "zcu104", objective="throughput", fps=100)


def path_cycles(found: SearchResult) -> int:
    """Return the engine cycles of a chain."""
    return sum(option.cycles for option in found.candidate.folding.options.values())


@pytest.mark.slow
def test_a_folding_method_that_fails_at_the_longest_interval_may_answer_at_shorter_ones() -> None:
    found = find(Request(CNV, "alveo-u250", fold_method="finn", **HASTY), fits)
    assert found.candidate.interval_cycles == 25_088
    assert found.candidate.folding.stats.status == "heuristic"
