"""What does not pack as rectangles gets one pblock a slot, and the plan says so; what fits the slots is placed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow import flow
from floorflow.errors import LimitError, Refusal, required
from floorflow.facts import read_plan
from floorflow.hardware import free_supply
from floorflow.modes import run
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution, place
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request
from floorflow.resources import Resources
from floorflow.search.candidate.candidate import Candidate, slot_demands
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.placing import PlacedCandidate
from floorflow.search.candidate.preparing import Priced, context_of
from floorflow.search.candidate.progress import SILENT
from floorflow.search.candidate.repair import crowded_slots, place_slots_whole, place_with_repairs
from floorflow.search.interval.state import SearchState
from floorflow.search.interval.strategies import fold_whole
from floorflow.stats import SolveStats
from floorflow.verify import check
from tests.conftest import make_plan
from tests.random_family import seeds
from tests.random_models import random_graph, random_residual
from tests.search.test_relaxation import prepared

SPREAD: dict[str, Any] = {"max_hops": 3, "fill": DEFAULT_FILL, "cap": {**DEFAULT_CAP, "LUT": 0.05}}
"""Options under which a small network fills some SLRs of a U250 with several modules each."""
FULL = {**DEFAULT_FILL, "LUT": 0.01}
"""What pblocks may be filled with: of the SLR beside the shell's, a small network needs more than a rectangle."""


def branches(folder: Path, seed: int = 27, **options: object) -> Request:
    onnx.save(random_graph(seed), folder / "branches.onnx")
    asked = {"fill": FULL, "effort": "fast", "plots": False} | options
    return Request(folder / "branches.onnx", "alveo-u250", **asked)


def packing_one_a_slot(found: Priced) -> PlanningContext:
    """Return what is known before the search, with a placer that finds no room for two modules in a slot."""
    context = required(context_of(found))
    rounds = {"assignment_rounds": 1, "folding_rounds": 1, "cut_rounds": 1, "slot_rounds": 1}
    limits = replace(context.search_limits, merges=0, area_shares=(), ladder=1.5, scatter_work=0.3, **rounds)
    return replace(context, solvers=replace(context.solvers, place=only_alone([])), search_limits=limits)


def folded_whole(context: PlanningContext) -> Candidate:
    """Return a candidate at the shortest interval at which the network folded as a whole comes apart into slots."""
    state = SearchState(context, SILENT)
    intervals = context.problem.intervals()
    possible = (fold_whole(state, interval) for interval in intervals[context.problem.first_possible(intervals) :])
    return next(candidate for candidate in possible if candidate is not None)


def test_where_every_slot_is_one_pblock_those_of_one_module_are_as_they_were(tmp_path: Path) -> None:
    context = prepared(branches(tmp_path, **SPREAD | {"cap": {**DEFAULT_CAP, "LUT": 0.03}}))
    candidate = folded_whole(context)
    held = Counter(candidate.slot_of.values())
    assert sorted(held.values()) == [1, 3]
    placed = place_slots_whole(context, candidate, "in haste")
    assert isinstance(placed, PlacedCandidate)
    assert {joined.slot for joined in placed.candidate.joined} == {slot for slot, count in held.items() if count > 1}
    assert {joined.why for joined in placed.candidate.joined} == {"in haste"}


def test_modules_that_do_not_pack_share_the_slots_pblock_and_the_plan_says_which_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "context_of", packing_one_a_slot)
    out = make_plan(tmp_path / "out", branches(tmp_path, **SPREAD))
    assert check(out) == []
    phase = read_plan(out / "plan.json").phases[0]
    assert phase.joined
    for joined in phase.joined:
        held = [name for name, slot in phase.partition.assignment.items() if slot == joined.slot]
        assert held == [joined.module]
        assert len(joined.modules) > 1
        assert "no room" in joined.why
        assert joined.slot in joined.why
        assert joined.why in " ".join((out / "report.txt").read_text(encoding="utf-8").split())
        assert phase.floorplan["fpga0"].pblocks.keys() >= {joined.module}


@pytest.mark.slow
def test_kept_granularity_joins_nothing_where_that_is_all_that_would_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "context_of", packing_one_a_slot)
    with pytest.raises(LimitError, match="no room found"):
        flow.plan(branches(tmp_path, seed=3, **SPREAD, keep_granularity=True, granularity="layer"))


@pytest.mark.slow
def test_kept_granularity_gives_each_module_a_rectangle(tmp_path: Path) -> None:
    out = make_plan(tmp_path / "out", branches(tmp_path, max_hops=3, keep_granularity=True))
    assert check(out) == []
    phase = read_plan(out / "plan.json").phases[0]
    assert phase.joined == []
    assert all(len(entry.rectangles) == 1 for entry in phase.floorplan["fpga0"].pblocks.values())


def only_alone(refused: list[str]) -> Callable[[PlacementProblem], PlacementSolution | PlacementFailure]:
    """Return a placer that finds no room for a module beside another; it notes the slots that it refuses."""

    def placer(problem: PlacementProblem) -> PlacementSolution | PlacementFailure:
        held = [module.slot for module in problem.modules]
        full = [slot for slot in held if held.count(slot) > 1]
        if full:
            refused.append(full[0])
            return PlacementFailure(Refusal("no room", place=full[0]), SolveStats("fake", "heuristic"))
        return place(problem)

    return placer


def test_every_engine_stays_in_its_slot_when_modules_join(tmp_path: Path) -> None:
    context = prepared(branches(tmp_path, fill=DEFAULT_FILL, cap={**DEFAULT_CAP, "LUT": 0.03}))
    candidate = folded_whole(context)
    assert len(set(candidate.slot_of.values())) < len(candidate.modules)
    refused: list[str] = []
    alone = replace(context, solvers=replace(context.solvers, place=only_alone(refused)))
    alone = replace(alone, search_limits=replace(alone.search_limits, merges=0, area_shares=()))
    answer = place_with_repairs(alone, candidate)
    assert isinstance(answer, PlacedCandidate)
    found = answer.candidate
    assert {joined.slot for joined in found.joined} == set(refused) != set()
    slots = [
        {engine: made.slot_of[module.name] for module in made.modules for engine in module.engines}
        for made in (candidate, found)
    ]
    assert slots[0] == slots[1]
    parts = {module.name: set(module.engines) for module in candidate.modules}
    for joined in found.joined:
        whole = next(module for module in found.modules if module.name == joined.module)
        assert set(whole.engines) == set().union(*(parts[name] for name in joined.parts))
    kept = place_with_repairs(replace(alone, request=alone.request.changed(keep_granularity=True)), candidate)
    assert isinstance(kept, PlacementFailure)


def crowded_request(seed: int, folder: Path) -> Request:
    """Return a request whose slots are nearly full: by what pblocks may be filled with, or by the cap."""
    model = folder / "model.onnx"
    onnx.save((random_residual if seed % 2 else random_graph)(seed), model)
    fill = {**DEFAULT_FILL, "LUT": (0.02, 0.04, 0.08)[seed % 3]}
    return Request(model, ("alveo-u250", "xcku5p")[seed % 2], fpgas=1 + seed % 2, fill=fill, effort="fast")


@pytest.mark.parametrize("seed", seeds(many=6, few=2))
def test_what_fits_the_sums_of_slots_is_placed(seed: int, tmp_path: Path) -> None:
    context = prepared(crowded_request(seed, tmp_path))
    candidate = folded_whole(context)
    assert candidate.problem.is_legal(candidate.partition.slot_of)
    answer = place_with_repairs(context, candidate)
    assert isinstance(answer, PlacedCandidate), answer
    assert answer.candidate.interval_cycles == candidate.interval_cycles
    assert answer.candidate.folding == candidate.folding
    fill = context.request.fill.as_dict()
    for fpga in context.platform.fpgas:
        demands = slot_demands(answer.candidate)
        for slot in fpga.slots:
            have = free_supply(fpga.device, slot).as_dict()
            assert all(amount <= fill[name] * have[name] for name, amount in demands[slot.name].as_dict().items())


def test_a_slot_is_crowded_only_where_several_modules_fill_nearly_all_of_its_cells(tmp_path: Path) -> None:
    context = prepared(branches(tmp_path, fill=DEFAULT_FILL))
    candidate = folded_whole(context)
    assert crowded_slots(context, candidate, tight=True) == ()
    slot = next(iter(candidate.slot_of.values()))
    inside = [name for name, place in candidate.slot_of.items() if place == slot]
    engine = next(module.engines[0] for module in candidate.modules if module.name == inside[0])
    most = Resources(lut=int(0.98 * DEFAULT_FILL["LUT"] * context.limits[slot].lut / 0.7))
    large = {**candidate.folded.options, engine: replace(candidate.folded.options[engine], resources=most)}
    crowded = replace(candidate, folded=replace(candidate.folded, options=large))
    assert (crowded_slots(context, crowded, tight=True) == (slot,)) == (len(inside) > 1)
