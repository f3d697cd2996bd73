"""Merged modules keep their slots, and pblocks have room for what lies in them."""

from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.channels import connect
from floorflow.dataflow.bands import FF_PER_LUT, fit_likelihood
from floorflow.dataflow.modules import Module
from floorflow.facts import read_plan
from floorflow.facts.floorplan import PblockEntry
from floorflow.folding import FoldingSolution
from floorflow.hardware import free_supply
from floorflow.partition import PartitionFailure, PartitionSolution
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.search.candidate.assignment import by_slot, crowded_rings, merge_groups
from floorflow.search.candidate.candidate import Candidate, folded_by, realised
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.slot_problem import fullest_supply, has_room, is_sized_hard, roomy_supply
from floorflow.stats import SolveStats
from floorflow.verify import check
from tests.conftest import Planned, make_plan
from tests.plans import CNV, TFC


def prepared(**options: Any) -> PlanningContext:
    request = Request(TFC, "alveo-u250", **options)
    return prepare(read_source(request.model), request, 1)


def in_turns(context: PlanningContext) -> Candidate:
    """Return a chain of single engines that lie in the two lowest slots in turns."""
    folding = context.solvers.fold(context.problem, context.problem.intervals()[-1])
    assert isinstance(folding, FoldingSolution)
    folded = folded_by(context, folding)
    modules = [Module(engine.name, (engine.name,)) for engine in folded.dataflow.engines]
    slot_of = dict(zip((module.name for module in modules), cycle((0, 1)), strict=False))
    streams = connect(folded, context.costs)
    return realised(context, folding, modules, streams, PartitionSolution(slot_of, SolveStats("turns", "heuristic")))


def test_with_granularity_slot_all_of_a_slot_become_one_though_they_feed_each_other_in_a_ring() -> None:
    context = prepared(granularity="slot")
    candidate = in_turns(context)
    merged = by_slot(context, candidate, sorted(set(candidate.slot_of.values())), keep=1)
    assert isinstance(merged, Candidate)
    assert sorted(merged.slot_of.values()) == ["fpga0.SLR0", "fpga0.SLR1"]
    slots = {engine: merged.slot_of[module.name] for module in merged.modules for engine in module.engines}
    assert slots == {module.engines[0]: candidate.slot_of[module.name] for module in candidate.modules}
    assert crowded_rings(merged.modules, merged.slot_of, merged.channels) == ()


def test_a_ring_of_modules_that_are_not_alone_in_their_slots_is_refused() -> None:
    context = prepared()
    candidate = in_turns(context)
    lower = [name for name, slot in candidate.slot_of.items() if slot == "fpga0.SLR0"]
    assert len(lower) > 2
    refused = merge_groups(context, candidate, [lower[:2]])
    assert isinstance(refused, PartitionFailure)
    assert refused.refusals[0].what == "merged cycle"


def test_modules_may_feed_themselves_through_one_over_a_whole_slot() -> None:
    context = prepared()
    candidate = in_turns(context)
    lower = [name for name, slot in candidate.slot_of.items() if slot == "fpga0.SLR0"]
    merged = merge_groups(context, candidate, [lower])
    assert isinstance(merged, Candidate)
    assert list(merged.slot_of.values()).count("fpga0.SLR0") == 1
    assert list(merged.slot_of.values()).count("fpga0.SLR1") > 1


def test_the_slots_of_a_ring_are_named_unless_whole_slots_break_it() -> None:
    candidate = in_turns(prepared())
    engines = list(candidate.slot_of)
    ends = Module("ends", (engines[0], engines[2]))
    others = [module for module in candidate.modules if not {*module.engines} & {*ends.engines}]
    places = {"ends": "fpga0.SLR0"} | {module.name: candidate.slot_of[module.name] for module in others}
    assert crowded_rings([ends, *others], places, candidate.channels) == ("fpga0.SLR0", "fpga0.SLR1")
    assert crowded_rings([ends, *others], places | {"ends": "fpga0.SLR2"}, candidate.channels) == ()


@pytest.mark.parametrize("granularity", ["slot", "stage"])
def test_only_one_module_a_slot_may_be_as_large_as_all_that_is_free_there(granularity: str) -> None:
    context = prepared(granularity=granularity)
    fpga = context.platform.fpgas[0]
    free = free_supply(fpga.device, fpga.slots[0]).lut
    largest = max(held.lut for held in context.pblock_capacities["fpga0.SLR0"])
    assert (largest == free) == (granularity == "slot")


SMALL = {"MVAU_hls": Resources(10_000, 8_000, 100, 0, 20)}
LARGE = {"MVAU_hls": Resources(60_000, 50_000, 0, 0, 0)}


def prepared_for(board: str = "alveo-u250", **options: Any) -> PlanningContext:
    request = Request(TFC, board, plots=False, **options)
    return prepare(read_source(request.model), request, 1)


def roomy(use: dict[str, Resources], board: str = "alveo-u250", **options: Any) -> Resources:
    context = prepared_for(board, **options)
    return roomy_supply(context, context.platform.fpgas[0].device, use)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("use", [SMALL, LARGE], ids=["small", "large"])
def test_a_roomy_pblock_holds_its_module_with_the_confidence(use: dict[str, Resources], confidence: float) -> None:
    context = prepared_for(confidence=confidence)
    device = context.platform.fpgas[0].device
    supply = roomy_supply(context, device, use)
    beside = Resources(supply.lut, max(supply.ff, FF_PER_LUT * supply.lut), supply.bram18, supply.uram, supply.dsp)
    assert fit_likelihood(use, beside, context.costs.band) >= confidence
    assert has_room(context, device, use)(beside)


def test_more_confidence_takes_more_room() -> None:
    sizes = [roomy(SMALL, confidence=confidence).lut for confidence in ("none", 0.9, 0.99, 0.999)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_block_ram_urams_and_dsps_of_a_hard_pblock_stay_at_nine_tenths() -> None:
    supply = roomy(SMALL, confidence="none")
    assert (supply.bram18, supply.dsp) == (112, 23)
    assert roomy(SMALL, confidence="none", constraint_style="soft").bram18 == 100


def test_a_hard_pblock_of_many_luts_is_three_quarters_full() -> None:
    assert roomy(LARGE, confidence="none").lut == 80_000
    assert roomy({"MVAU_hls": Resources(lut=50_000)}, confidence="none").lut == 58_824
    assert roomy(LARGE, confidence="none", constraint_style="soft").lut == 70_589


def test_a_fill_of_the_user_wins_over_confidence_and_rule() -> None:
    assert roomy(LARGE, fill={"LUT": 0.95}, confidence=0.999).lut == 63_158
    assert roomy(SMALL, fill={"BRAM18": 1.0}, confidence=0.999).bram18 == 100
    assert roomy(SMALL, fill={"LUT": 0.1}).lut == 100_000


def test_without_errors_of_the_costs_only_fills_count() -> None:
    assert roomy(SMALL, costs="finn", constraint_style="soft") == fullest_supply(
        Request(TFC, "alveo-u250"), SMALL["MVAU_hls"]
    )


@pytest.mark.parametrize(
    ("board", "style", "hard"),
    [
        ("alveo-u250", "auto", True),
        ("alveo-u250", "soft", False),
        ("alveo-u250", "slr", False),
        ("zcu104", "auto", False),
        ("zcu104", "hard", True),
    ],
)
def test_pblocks_are_sized_hard_where_they_may_become_so(board: str, style: str, hard: bool) -> None:
    context = prepared_for(board, constraint_style=style)
    assert is_sized_hard(context.request, context.platform.fpgas[0].device) is hard


def entries(out: Path) -> list[PblockEntry]:
    phase = read_plan(out / "plan.json").phases[0]
    return [entry for held in phase.floorplan.values() for entry in held.pblocks.values()]


def crowded(out: Path, **options: Any) -> Path:
    """Plan modules that may not merge, of engines as large as may be, in a slot that is nearly full."""
    request = Request(
        CNV,
        "xcku5p",
        cap={"LUT": 0.8},
        keep_granularity=True,
        effort="fast",
        max_fpgas=1,
        max_products="none",
        max_engine_share="none",
        runtime_weights="always",
        plots=False,
        **options,
    )
    return make_plan(out, request)


@pytest.mark.slow
def test_where_a_slot_has_no_room_the_plan_lists_pblocks_as_short_and_the_report_too(tmp_path: Path) -> None:
    out = crowded(tmp_path / "out", constraint_style="hard")
    short = [entry for entry in entries(out) if entry.short]
    assert short
    assert check(out) == []
    report = (out / "report.txt").read_text()
    assert "short of room in fpga0.SLR0, which has no more: " in report


def test_modules_whose_roomy_pblocks_fill_too_much_of_a_slot_share_some_and_all_have_room(planned: Planned) -> None:
    out = planned(Request(CNV, "xcku5p", effort="fast", plots=False))
    assert "neighbours merged" in (out / "report.txt").read_text()
    assert not [entry for entry in entries(out) if entry.short]
    assert min(entry.likelihood or 0 for entry in entries(out)) >= 0.9


def test_without_a_confidence_pblocks_stay_as_small_as_fills_allow(planned: Planned) -> None:
    made = {}
    for confidence in ("none", 0.9):
        out = planned(Request(TFC, "alveo-u250", confidence=confidence, effort="fast", plots=False))
        assert check(out) == []
        made[confidence] = sum(entry.supply.LUT for entry in entries(out))
    assert made["none"] < made[0.9]
