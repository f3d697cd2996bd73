"""What one frame takes: planned depths against the stepping simulator, and what plans say of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import onnx
import pytest

from floorflow import flow, rates
from floorflow.api.told import told
from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.read.source import read_source
from floorflow.channels import PartialPlacement, connect
from floorflow.dataflow.model import Engine
from floorflow.emit.report import report
from floorflow.errors import required
from floorflow.facts import Plan, read_plan
from floorflow.hardware import Crossing, Route, link_crossing, load_platform
from floorflow.rates import RateProblem, RouteDelay, keeps
from floorflow.record.throughput import throughput_of, throughput_warnings
from floorflow.request import Request
from floorflow.search.candidate import candidate as candidate_module
from floorflow.search.candidate import fifo_sizing
from floorflow.search.candidate.candidate import Candidate, least_words, route_delays
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.fifo_sizing import Throughput
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval import search
from floorflow.view.contents.names import rate_text
from tests.channels.test_realise import SHORT, Prices, joining
from tests.conftest import CNV, TFC
from tests.random_models import random_graph
from tests.rates.stepping import DEADLOCK, simulate
from tests.rates.test_patterns import residual

rate_problem = partial(rates.rate_problem, known=BACKEND)
full_rate = partial(fifo_sizing.full_rate, known=BACKEND)
throughput = partial(fifo_sizing.throughput, known=BACKEND)


BYPASS = "dup.1->add.1"


@pytest.fixture(scope="module")
def branched() -> RateProblem:
    return rate_problem(residual())


def test_full_rate_and_its_latency_are_those_of_the_stepping_simulator(branched: RateProblem) -> None:
    full = full_rate(residual())
    found, seen = throughput(residual(), full.depths), simulate(branched, full.depths)
    assert found.interval_cycles == found.full_rate_cycles == full.interval_cycles == seen.interval_cycles
    assert (found.first_word_cycles, found.first_frame_cycles) == (seen.first_word_cycles, seen.first_frame_cycles)
    assert (found.shallow, found.deadlock, found.not_analysed) == ((), (), "")


def test_fifos_for_a_longer_interval_than_the_engines_are_shallower_and_keep_it(branched: RateProblem) -> None:
    full, longer = full_rate(residual()), full_rate(residual(), slack=1)
    assert full.interval_cycles is not None
    assert longer.interval_cycles == 2 * full.interval_cycles
    assert keeps(branched, longer.depths, longer.interval_cycles)
    assert not keeps(branched, longer.depths, full.interval_cycles)
    assert sum(longer.depths.values()) < sum(full.depths.values())


def test_of_a_frame_of_many_bursts_the_interval_that_fifos_were_chosen_for_is_told(
    branched: RateProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths = full_rate(residual(), slack=1).depths
    bisected = throughput(residual(), depths, slack=1)
    monkeypatch.setattr(fifo_sizing, "STEPPED_BURSTS", branched.bursts - 1)
    told = throughput(residual(), depths, slack=1)
    assert told.interval_cycles == 2 * max(actor.cycles for actor in branched.actors)
    assert bisected.interval_cycles is not None
    assert bisected.interval_cycles <= told.interval_cycles
    assert told == replace(bisected, interval_cycles=told.interval_cycles)


@pytest.mark.parametrize("missing", [1, 4, 10])
def test_of_a_frame_of_many_bursts_the_interval_of_shallow_fifos_is_found_by_periods(
    missing: int, branched: RateProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = full_rate(residual()).depths
    depths = {**full, BYPASS: full[BYPASS] - missing}
    exact = throughput(residual(), depths)
    monkeypatch.setattr(fifo_sizing, "STEPPED_BURSTS", branched.bursts - 1)
    found = throughput(residual(), depths)
    if exact.deadlock:
        assert found.interval_cycles is None
        assert "no interval up to" in found.not_analysed
        return
    assert exact.interval_cycles is not None
    assert found.interval_cycles is not None
    assert exact.interval_cycles <= found.interval_cycles <= exact.interval_cycles * 1.002 + 1
    assert keeps(branched, depths, found.interval_cycles)
    assert found == replace(exact, interval_cycles=found.interval_cycles)


def test_of_a_frame_of_many_bursts_a_deadlock_is_not_taken_for_a_rate(
    branched: RateProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fifo_sizing, "STEPPED_BURSTS", branched.bursts - 1)
    depths = {**full_rate(residual()).depths, BYPASS: 2}
    found = throughput(residual(), depths)
    assert simulate(branched, depths).interval_cycles == DEADLOCK
    assert found.interval_cycles is None
    assert "no interval up to" in found.not_analysed
    assert [row.channel for row in found.shallow] == [BYPASS]


@pytest.mark.parametrize("missing", [1, 4, 10])
def test_a_shallow_fifo_is_named_and_costs_the_rate_that_the_simulator_loses(missing: int) -> None:
    full = full_rate(residual()).depths
    depths = {**full, BYPASS: full[BYPASS] - missing}
    found = throughput(residual(), depths)
    assert [(row.channel, row.needed_words - row.planned_words) for row in found.shallow] == [(BYPASS, missing)]
    # The simulator stalls before every word, the analysis between bursts; so single steps are compared.
    seen = simulate(rate_problem(residual()).single_steps(), depths)
    assert found.full_rate_cycles is not None
    assert found.interval_cycles is not None or found.deadlock
    if found.interval_cycles is not None:
        assert found.full_rate_cycles <= seen.interval_cycles <= found.interval_cycles


def test_a_fifo_too_shallow_for_the_window_beside_it_deadlocks() -> None:
    depths = {**full_rate(residual()).depths, BYPASS: 2}
    found = throughput(residual(), depths)
    assert BYPASS in {row.fifo for row in found.deadlock}
    assert found.interval_cycles is found.first_frame_cycles is None
    assert simulate(rate_problem(residual()), depths).interval_cycles == DEADLOCK


@pytest.mark.parametrize("on", ["pad.0->swg.0", "mvau.0->add.0", BYPASS])
def test_words_on_the_routes_are_added_on_them_and_beside_them(on: str) -> None:
    boundary = Crossing("sll", registers=2, cycles=2)
    link = link_crossing(gbps=100, latency_us=0.06, clock_mhz=100)
    net, routes = residual(), {on: Route((boundary, link, boundary))}
    home = {engine.name: "m" for engine in net.dataflow.engines}
    least = full_rate(net).depths
    planned = {c.name: c.fifo_depth_words for c in connect(net, Prices(), PartialPlacement(home, routes, least))}
    cycles = {name: RouteDelay(10, 10) for name in routes}
    problem = rate_problem(net, cycles)
    shortest = max(actor.cycles for actor in problem.actors)
    assert keeps(problem, planned, shortest)
    assert not keeps(problem, {**planned, **least}, shortest)
    assert throughput(net, planned, cycles).interval_cycles == shortest


def test_an_analysis_that_takes_too_long_ends_and_says_so() -> None:
    full = full_rate(residual()).depths
    depths = {**full, BYPASS: full[BYPASS] - 1}
    found = throughput(residual(), depths, steps=2_000)
    assert found.interval_cycles is None
    assert found.not_analysed == "the analysis stopped at its limit of 2,000 steps"
    assert [row.channel for row in found.shallow] == [BYPASS]


def test_depths_that_finn_plans_for_a_small_network_are_analysed_and_their_interval_is_kept(tmp_path: Path) -> None:
    """Its waits grow one by one near the shortest interval: without a limit on steps that takes many minutes."""
    model = tmp_path / "graph.onnx"
    onnx.save(random_graph(5), model)
    context, candidate = planned(Request(model, "pynq-z1", costs="finn", finn="plus", effort="fast"))
    depths = {channel.name: channel.fifo_depth_words for channel in candidate.channels}
    found = throughput(candidate.folded, depths, route_delays(context, candidate))
    assert found.interval_cycles is not None
    assert found.full_rate_cycles is not None
    assert found.interval_cycles > found.full_rate_cycles
    problem = rate_problem(candidate.folded, route_delays(context, candidate))
    assert keeps(problem, depths, found.interval_cycles)
    plan = flow.plan(context.request.changed(plots=False)).plan
    kept = int(100e6 / found.interval_cycles)
    assert plan.phases[0].networks[0].estimates.sustained_fps == pytest.approx(100e6 / found.interval_cycles)
    assert f"{kept:,} frames/s with the planned FIFOs" in told(plan).splitlines()[len(plan.unbuilt)]
    assert "which do not allow the rate of the engines" in report(plan, load_platform("pynq-z1"), BACKEND)
    assert f"{kept:,} frames/s (engines alone: " in rate_text(plan.model_dump(by_alias=True))


def test_a_kind_without_a_pattern_is_named() -> None:
    net = residual()
    engines = tuple(
        Engine(e.name, "Shuffle_rtl" if e.name == "add" else e.kind, "", e.attributes, 4, 4, 4)
        for e in net.dataflow.engines
    )
    unknown = replace(net, dataflow=replace(net.dataflow, engines=engines))
    assert full_rate(unknown).depths == {}
    found = throughput(unknown, {})
    assert found == Throughput(not_analysed=found.not_analysed)
    assert "add: when Shuffle_rtl reads and writes is unknown" in found.not_analysed


def planned(request: Request) -> tuple[PlanningContext, Candidate]:
    context = prepare(read_source(request.model), request, 1)
    return context, required(search.search(context)).candidate


@pytest.fixture(scope="module")
def tfc() -> tuple[PlanningContext, Candidate]:
    return planned(Request(TFC, "alveo-u250", fps=10_000))


def test_planned_fifos_keep_the_full_rate(tfc: tuple[PlanningContext, Candidate]) -> None:
    context, candidate = tfc
    found = throughput_of(context, candidate)
    assert found.interval_cycles == found.full_rate_cycles
    assert throughput_warnings(found) == []
    assert found == throughput_of(context, candidate)
    deep = least_words(context, candidate.folded)
    assert all(c.fifo_depth_words >= deep[c.name] for c in candidate.channels)


def test_a_design_whose_fifo_is_made_shallow_is_warned_of(tfc: tuple[PlanningContext, Candidate]) -> None:
    context, candidate = tfc
    depths = full_rate(candidate.folded, route_delays(context, candidate)).depths
    worst = max(candidate.channels, key=lambda c: depths[c.name])
    channels = tuple(replace(c, fifo_depth_words=1) if c == worst else c for c in candidate.channels)
    found = throughput_of(context, replace(candidate, channels=channels))
    assert worst.name in {row.channel for row in found.shallow}
    assert any(worst.name in line for line in throughput_warnings(found))


def test_the_report_tells_latency_and_rate_and_what_is_shallow(cnv_on_u250: Path) -> None:
    plan = read_plan(cnv_on_u250 / "plan.json")
    timed = plan.phases[0].networks[0].estimates.throughput
    assert timed is not None
    assert timed.shallow == []
    platform = load_platform(plan.platform.name, 1)
    text = report(plan, platform, BACKEND)
    assert f"({timed.first_frame_cycles:,} cycles) from an empty pipeline" in text
    assert "every FIFO is deep enough" in text
    data = json.loads(plan.to_json())
    row = {"channel": "a.0->b.0", "planned": 2, "needed": 77}
    data["phases"][0]["networks"][0]["estimates"]["throughput"] |= {
        "shallow": [row],
        "interval_cycles": 10 * plan.networks[0].search.interval_cycles,
    }
    text = report(Plan.model_validate(data), platform, BACKEND)
    assert "900.0% longer than the cycles of the slowest engine, since FIFOs are too shallow" in text
    assert "77" in text.split("too shallow for the full rate")[1].splitlines()[2]


def test_the_report_of_a_plan_without_analysis_tells_no_frame(cnv_on_u250: Path) -> None:
    data = json.loads((cnv_on_u250 / "plan.json").read_text())
    data["phases"][0]["networks"][0]["estimates"]["throughput"] = None
    plan = Plan.model_validate(data)
    assert "What one frame takes" not in report(plan, load_platform(plan.platform.name, 1), BACKEND)


def test_depths_that_a_kept_folding_brings_are_lower_bounds() -> None:
    context, candidate = planned(Request(CNV, "alveo-u250", fps=1_000))
    streams = tuple(replace(s, fifo_words=100 if s.source_port == 0 else 0) for s in candidate.folded.dataflow.streams)
    dataflow = replace(candidate.folded.dataflow, streams=streams)
    keeping = replace(context, dataflow=dataflow, request=context.request.changed(keep_folding=True), needs={})
    folded = replace(candidate.folded, dataflow=dataflow)
    assert min(least_words(keeping, folded).values()) >= 100
    assert min(least_words(context, folded).values()) < 100


@pytest.mark.parametrize("analysed", [False, True])
def test_a_kept_depth_takes_nothing_from_what_waits_at_a_join_that_was_not_analysed(analysed: bool) -> None:
    """Half of 24 words waits there; 2 may be no more than what FINN gives every FIFO at first."""
    net = joining()
    streams = tuple(replace(s, fifo_words=2) for s in net.dataflow.streams)
    folded = replace(net, dataflow=replace(net.dataflow, streams=streams))
    context = prepare(read_source(TFC), Request(TFC, "alveo-u250", fps=10_000), 1)
    context = replace(context, request=context.request.changed(keep_folding=True))
    known = dict.fromkeys((s.channel for s in streams), 5) if analysed else {}
    with patch.object(candidate_module, "_full_rate_depths", return_value=known):
        kept = least_words(context, folded)
    channels = {c.name: c for c in connect(folded, Prices(), PartialPlacement({}, {}, kept))}
    assert channels[SHORT].fifo_depth_words == (5 if analysed else 2 + 12)
    assert kept["fork.0->window.0"] == (5 if analysed else 2)
