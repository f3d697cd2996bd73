"""FPGAs in order: streams go on to later FPGAs, never back, and a fork lies where its branches take one link alone."""

from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow.assets import asset_folder
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.modules import Module, module_of, taken_out
from floorflow.errors import Refused
from floorflow.facts import read_plan
from floorflow.folding import FoldingSolution, fold_at_interval
from floorflow.folding.least_full import within
from floorflow.partition import PartitionSolution
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, Resources, scaled_down
from floorflow.search.candidate import candidate as candidate_module
from floorflow.search.candidate.assignment import improved
from floorflow.search.candidate.candidate import Candidate, connected, folded_by, naming_of, realised, slot_demands
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.forks import FULLER, overloaded_links, paid_on_links, with_few_link_streams
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.candidate.routes import hops_of
from floorflow.search.interval.state import SearchState, shortest_possible
from floorflow.search.policy.fpga_order import with_hint_of_order
from floorflow.stats import SolveStats
from tests.random_models import random_residual


def test_no_stream_of_a_plan_goes_back(branches_on_two_u250: Path) -> None:
    plan = read_plan(branches_on_two_u250 / "plan.json")
    links = [entry for entry in plan.phases[0].partition.crossings if entry.kind == "link"]
    assert links
    assert all(entry.source < entry.target for entry in links)
    summary = (branches_on_two_u250 / "report.txt").read_text()
    bits = sum(entry.width_bits for entry in links)
    assert f"cards in order: none goes back; {len(links)} stream" in summary
    fewest = ", and no plan has fewer" if len(links) == 1 else ""
    assert f"over links, {bits:,} bits{fewest}; no design" in summary
    other = plan.networks[0].search.other_order
    assert other is not None
    assert other.cycles is None or other.cycles < plan.networks[0].search.interval_cycles


def test_what_order_costs_is_told_where_nothing_in_order_is_found(tmp_path: Path) -> None:
    context = context_of(residual(tmp_path))
    refused = with_hint_of_order(context, Refused("nothing", hint="a larger card"), SILENT)
    fastest = shortest_possible(SearchState(context, SILENT))
    told = f"--allow-cycles, with which a design of {fastest[0][fastest[1]]:,} cycles was folded and cut, not placed"
    assert refused.hint == f"a larger card; or {told}"
    free = context_of(residual(tmp_path), allow_cycles=True)
    assert with_hint_of_order(free, Refused("nothing"), SILENT).hint == ""


def context_of(model: Path, **options: Any) -> PlanningContext:
    request = Request(model, "alveo-u250", fpgas=2, max_hops=3, **options)
    return prepare(read_source(model), request, 2)


def test_finn_plus_sends_one_stream_a_cable_and_others_any_number(tmp_path: Path) -> None:
    model = residual(tmp_path)

    def most(platform: str, fpgas: int, **options: Any) -> int | None:
        request = Request(model, platform, fpgas=fpgas, **options)
        return prepare(read_source(model), request, fpgas).link_streams

    assert (most("alveo-u250", 2, finn="plus"), most("alveo-u250", 3, finn="plus")) == (2, 1)
    assert (most("alveo-u250", 2), most("alveo-u250", 2, link_streams=3)) == (None, 3)


def residual(folder: Path, seed: int = 3) -> Path:
    onnx.save(random_residual(seed), folder / "residual.onnx")
    return folder / "residual.onnx"


def test_streams_may_go_back_where_that_is_allowed(tmp_path: Path) -> None:
    model = residual(tmp_path)
    ordered, free = hops_of(context_of(model)).near, hops_of(context_of(model, allow_cycles=True)).near
    assert (ordered[2][6], ordered[6][2]) == (True, False)
    assert (free[2][6], free[6][2]) == (True, True)


def cut_behind_the_first_fork(context: PlanningContext) -> tuple[Candidate, str]:
    """Return a candidate with all up to the first fork in the first FPGA and the rest in the second, and the fork."""
    folding = fold_at_interval(context.problem, context.problem.intervals()[-1])
    assert isinstance(folding, FoldingSolution)
    folded = folded_by(context, folding)
    channels = connected(context, folded)
    sources = [channel.stream.source for channel in channels]
    names = [engine.name for engine in folded.dataflow.engines]
    fork = next(name for name in names if sources.count(name) > 1)
    end = names.index(fork) + 1
    modules = (Module("before", tuple(names[:end])), Module("behind", tuple(names[end:])))
    slot_of = {"before": 2, "behind": 6}
    answer = PartitionSolution(slot_of, SolveStats("by hand", "heuristic", 0.0))
    return realised(context, folding, modules, channels, answer), fork


def test_fifos_leave_what_link_kernels_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, slot = context_of(residual(tmp_path)), "fpga1.SLR2"
    demand = slot_demands(cut_behind_the_first_fork(context)[0])[slot]
    left = next(own.available.lut for own in context.platform.slots if own.name == slot) - ceil(demand.lut / 0.7)
    monkeypatch.setattr(candidate_module, "link_charges", lambda *_: {slot: Resources(left + 100, 0, 0, 0, 0)})
    beside, _ = cut_behind_the_first_fork(context)
    assert beside.problem.slots[6].limit.lut < demand.lut
    assert slot_demands(beside)[slot].fits(beside.problem.slots[6].limit)


def with_room_for(context: PlanningContext, candidate: Candidate, times: int = 1) -> PlanningContext:
    """Return the context in which the slots of a candidate hold what it has there, on the second card so many times."""
    demands = slot_demands(candidate)
    more = {slot: need.times(times) if slot.startswith("fpga1") else need for slot, need in demands.items()}
    return replace(context, narrowed={slot: need.least(context.allowed[slot]) for slot, need in more.items()})


def test_a_fork_whose_branches_all_pass_a_link_lies_behind_it(tmp_path: Path) -> None:
    context = context_of(residual(tmp_path))
    candidate, fork = cut_behind_the_first_fork(context)
    moved = with_few_link_streams(with_room_for(context, candidate, 2), candidate)
    assert candidate.problem.streams_over(candidate.partition.slot_of)[-1] == (2, 0)
    assert moved.problem.streams_over(moved.partition.slot_of)[-1] == (1, 0)
    assert moved.slot_of[module_of(moved.modules)[fork]].startswith("fpga1")
    assert len(moved.modules) == 2
    assert moved.problem.is_legal(moved.partition.slot_of)
    assert moved.problem.cost(moved.partition.slot_of) == moved.partition.stats.objective


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_links_cost_no_more_than_with_forks_where_they_were(tmp_path: Path, seed: int) -> None:
    context = context_of(residual(tmp_path, seed))
    candidate, _ = cut_behind_the_first_fork(context)
    room = with_room_for(context, candidate, 2)
    few, alone = with_few_link_streams(room, candidate), improved(room, candidate)
    assert paid_on_links(few) <= paid_on_links(alone)
    assert few.problem.is_legal(few.partition.slot_of)


def test_a_link_that_carries_one_branch_of_a_fork_is_overloaded_only_where_all_pass_it(tmp_path: Path) -> None:
    wide = context_of(residual(tmp_path))
    candidate, fork = cut_behind_the_first_fork(wide)
    slot_of = candidate.partition.slot_of
    (two, _) = candidate.problem.link_bits(slot_of)[-1]
    gbps = 0.75 * two * candidate.problem.frames_per_s / 1e9
    link = (asset_folder("platforms") / "links" / "ethernet-100g.yaml").read_text()
    link = link.replace("gbps: 100\n", f"gbps: {gbps}\n").replace("overhead: 0.045", "overhead: 0")
    (tmp_path / "link.yaml").write_text(link.replace("name: ethernet-100g", "name: slow"))
    slow = context_of(tmp_path / "residual.onnx", link=str(tmp_path / "link.yaml"))
    held = slot_demands(candidate)
    # The second card has room for the fork, not for all that feeds it.
    more = scaled_down(held["fpga0.SLR2"], dict.fromkeys(RESOURCE_NAMES, 0.6))
    room = replace(slow, narrowed={**held, "fpga1.SLR2": held["fpga1.SLR2"] + more})
    refusal = overloaded_links(room, candidate.folded, candidate.modules)
    assert refusal is not None
    assert refusal.names == (f"{two:,} bits a frame",)
    assert refusal.needed == pytest.approx(gbps / 0.75, rel=1e-4)
    apart = taken_out(candidate.modules, [(fork,)], naming_of(wide, candidate.folded))
    assert overloaded_links(room, candidate.folded, apart) is None


def test_slots_become_fuller_for_fewer_streams_over_links(tmp_path: Path) -> None:
    context = context_of(residual(tmp_path))
    candidate, _ = cut_behind_the_first_fork(context)
    narrow = with_room_for(context, candidate)
    found = with_few_link_streams(narrow, candidate)
    assert paid_on_links(found) < paid_on_links(improved(narrow, candidate))
    assert found.narrowed is not None
    assert all(found.narrowed[slot].fits(within(limit, FULLER[0])) for slot, limit in context.allowed.items())
