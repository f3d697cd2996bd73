"""Merged modules keep their slots, and only those over whole slots may feed each other in a ring."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest

from floorflow.backends.finn.read.source import read_source
from floorflow.channels import connect
from floorflow.dataflow.modules import Module
from floorflow.folding import FoldingSolution
from floorflow.hardware import free_supply
from floorflow.partition import PartitionFailure, PartitionSolution
from floorflow.request import Request
from floorflow.search.candidate.assignment import by_slot, crowded_rings, merge_groups
from floorflow.search.candidate.candidate import Candidate, folded_by, realised
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare
from floorflow.stats import SolveStats
from tests.conftest import TFC


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
