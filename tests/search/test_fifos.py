"""FIFOs: what folding pays for them, how deep they must be, and what shallower ones cost."""

import json
from dataclasses import replace
from functools import cache, partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import onnx
import pytest

from floorflow import flow, rates
from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.channels import PartialPlacement, connect, port_widths_bits
from floorflow.dataflow.model import Engine, FoldedDataflow
from floorflow.emit.bundle import report_text as report
from floorflow.errors import required
from floorflow.facts import Plan, figures, read_plan
from floorflow.facts.estimates import throughput_warnings
from floorflow.folding import FoldingSolution
from floorflow.hardware import Crossing, Route, link_crossing, load_platform
from floorflow.modes import run
from floorflow.rates import RateProblem, RouteDelay, fifo_sizing, keeps
from floorflow.rates.fifo_sizing import Throughput
from floorflow.rates.schedule_depths import SHALLOW_WORDS
from floorflow.record.network import throughput_of
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate import candidate as candidate_module
from floorflow.search.candidate.candidate import Candidate, folded_by, least_words, route_delays
from floorflow.search.candidate.context import PlanningContext, SearchLimits
from floorflow.search.candidate.cutting import FifoPricing, held_bits, prices_of, with_cut_names
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import Priced, context_of, prepare
from floorflow.search.interval.search import search
from floorflow.segments import Segments, Space
from floorflow.verify import check
from floorflow.view.names import rate_text
from tests.channels.test_realise import SHORT, Prices, joining
from tests.conftest import make_plan
from tests.plans import TFC
from tests.random_models import random_graph, random_residual
from tests.rates.stepping import DEADLOCK, simulate
from tests.rates.test_patterns import residual
from tests.search.test_search import fits

EQUAL = tuple(1.0 for _ in RESOURCE_NAMES)


@cache
def prepared() -> PlanningContext:
    request = Request(TFC, "alveo-u250", effort="fast")
    return prepare(read_source(request.model), request, 1)


def folded() -> FoldedDataflow:
    context = prepared()
    folding = context.solvers.fold(context.problem, context.problem.intervals()[-1])
    assert isinstance(folding, FoldingSolution)
    return folded_by(context, folding)


def inner_channel() -> str:
    """Return a channel between two engines that no stage holds together."""
    inner = [s for s in prepared().dataflow.streams if not (s.from_outside or s.to_outside)]
    return inner[len(inner) // 2].channel


def test_what_is_nearly_used_up_is_dear_and_ff_are_free() -> None:
    budget = Resources(lut=1000, ff=2000, bram18=100, uram=10, dsp=0)
    prices = dict(zip(RESOURCE_NAMES, prices_of(budget, Resources(lut=500, bram18=90, uram=10)), strict=True))
    assert prices["FF"] == 0
    assert prices["LUT"] == 1 / 500
    assert prices["BRAM18"] == 1 / 10
    assert prices["LUT"] < prices["BRAM18"] < prices["URAM"] < float("inf")
    assert prices["DSP"] > prices["URAM"], "there is none of it"


def test_only_deep_fifos_hold_bits() -> None:
    network = folded()
    streams = network.dataflow.streams
    depths = {stream.channel: SHALLOW_WORDS + place % 2 for place, stream in enumerate(streams)}
    held = held_bits(prepared().dataflow, network, depths)
    assert set(held.values()) == {
        (SHALLOW_WORDS + 1) * max(port_widths_bits(stream, network)) for stream in streams[1::2]
    }
    assert set(held) == {stream.channel for stream in prepared().dataflow.streams[1::2]}


def test_a_fifo_at_a_cut_is_held_by_the_producers_segment_alone() -> None:
    dataflow = prepared().dataflow
    held = dict.fromkeys((stream.channel for stream in dataflow.streams), 1000)
    named = with_cut_names(dataflow, held)
    for stream in dataflow.streams:
        if not (stream.from_outside or stream.to_outside):
            assert named[stream.cut({stream.source}).channel] == 1000
            assert stream.cut({stream.target}).channel not in named


def test_segments_pay_for_the_fifos_of_their_outputs_and_never_of_their_inputs() -> None:
    context, name = prepared(), inner_channel()
    stream = next(s for s in context.dataflow.streams if s.channel == name)
    order = [engine.name for engine in context.dataflow.engines]
    cut = order.index(stream.target)
    sums = {}
    for bits in (0, 10**6):
        pricing = FifoPricing(context, {name: bits} if bits else {}, EQUAL)
        segments = Segments(context.dataflow, context.problem.groups, pricing.couplings)
        for side, engines in (("producer", order[:cut]), ("consumer", order[cut:])):
            problem = required(segments.of(engines).problem(Space(context.problem.budget, context.platform.silicon)))
            sums[side, bits] = sum(int(coupling.use.sum()) for coupling in problem.couplings)
    assert sums["producer", 10**6] > sums["producer", 0]
    assert sums["consumer", 10**6] == sums["consumer", 0]


def test_deeper_fifos_are_never_cheaper_at_any_width() -> None:
    context, name = prepared(), inner_channel()
    place = next(i for i, s in enumerate(context.dataflow.streams) if s.channel == name)
    prices = context.scarcity_prices
    before = None
    for bits in (0, 10**4, 10**5, 10**6):
        priced = FifoPricing(context, {name: bits}, prices).problem(context).couplings[place].use @ np.array(prices)
        assert before is None or (priced >= before - 1e-12).all()
        before = priced


def test_memory_that_runs_out_is_avoided() -> None:
    context, name = prepared(), inner_channel()
    place = next(i for i, s in enumerate(context.dataflow.streams) if s.channel == name)

    def uses(scarce: str) -> np.ndarray:
        prices = tuple(1.0 if resource == scarce else 1e-9 for resource in RESOURCE_NAMES)
        use = FifoPricing(context, {name: 10**6}, prices).problem(context).couplings[place].use
        return np.asarray(use[..., RESOURCE_NAMES.index(scarce)])

    for scarce, other in (("BRAM18", "URAM"), ("URAM", "BRAM18")):
        assert not uses(scarce).any(), f"{other} is as good as free"


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
    assert f"{kept:,} frames/s with the planned FIFOs" in figures(plan)[len(plan.unbuilt)]
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
    return context, required(search(context)).candidate


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


def test_depths_that_a_kept_folding_brings_are_lower_bounds(tfc: tuple[PlanningContext, Candidate]) -> None:
    context, candidate = tfc
    streams = tuple(replace(s, fifo_words=100 if s.source_port == 0 else 0) for s in candidate.folded.dataflow.streams)
    dataflow = replace(candidate.folded.dataflow, streams=streams)
    keeping = replace(context, dataflow=dataflow, request=context.request.changed(keep_folding=True))
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


SLACK = SearchLimits().fifo_slack


def tight(seed: int, share: float, folder: Path) -> Request:
    model = folder / f"residual_{seed}.onnx"
    onnx.save(random_residual(seed), model)
    cap = {"LUT": share, "BRAM18": share}
    return Request(model, "pynq-z1", cap=cap, tie_break="scarcity", effort="fast", plots=False)


@cache
def found(seed: int, share: float, far: float) -> SearchResult:
    """Search with a placer for which everything has room: only intervals and depths count."""
    with TemporaryDirectory() as folder:
        request = tight(seed, share, Path(folder))
        context = prepare(read_source(request.model), request, 1)
    solvers = replace(context.solvers, place=fits)
    return required(search(replace(context, solvers=solvers, search_limits=SearchLimits(far=far))))


def is_traded(seed: int, share: float) -> bool:
    """Search with and without the trade; say whether it was made, which it may only be where it keeps more."""
    without, traded = found(seed, share, inf).candidate, found(seed, share, 1.0).candidate
    assert without.fifo_slack == 0
    assert without.kept_cycles == without.interval_cycles
    assert traded.kept_cycles <= without.kept_cycles
    assert traded.fifo_slack == (SLACK if traded.kept_cycles < without.kept_cycles else 0)
    return traded.fifo_slack > 0


SEED, TRADED_AT = 3, 0.32


@pytest.fixture(scope="module")
def tight_share() -> float:
    """The share of the board at which one network is traded for; as prices move, it lies where the interval jumps."""
    low, high = 0.2, 0.4
    share = TRADED_AT
    while (candidate := found(SEED, share, 1.0).candidate).fifo_slack == 0:
        is_longest = candidate.interval_cycles <= found(SEED, 0.4, 1.0).candidate.interval_cycles
        low, high = (low, share) if is_longest else (share, high)
        share = (low + high) / 2
        assert high - low > 1e-4, "a network of other sizes is needed"
    return share


@pytest.mark.slow
def test_a_plan_with_shallower_fifos_is_taken_only_where_it_keeps_more(tight_share: float) -> None:
    assert is_traded(SEED, tight_share)
    assert not is_traded(3, 0.22)
    is_traded(6, 0.26)  # a larger network, whichever it is


@pytest.mark.slow
def test_near_the_joint_bound_nothing_is_traded() -> None:
    result = found(7, 0.3, SearchLimits().far)
    joint = result.joint_bound_cycles
    assert joint is not None
    assert joint < result.candidate.interval_cycles <= SearchLimits().far * joint
    assert result.candidate.fifo_slack == 0
    assert not any("longer" in row.detail for row in result.trace)


def test_the_plan_tells_the_rate_that_fifos_keep_and_that_it_was_chosen(
    tight_share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def far_from_any(found: Priced) -> PlanningContext:
        return replace(required(context_of(found)), search_limits=SearchLimits(far=1.0))

    monkeypatch.setattr(run, "context_of", far_from_any)
    out = make_plan(tmp_path / "out", tight(SEED, tight_share, tmp_path))
    assert check(out) == []
    plan = read_plan(out / "plan.json")
    (part,) = plan.phases[0].networks
    estimates, timed = part.estimates, part.estimates.throughput
    assert timed is not None
    assert timed.interval_cycles is not None
    assert timed.full_rate_cycles is not None
    assert part.interval_cycles < timed.interval_cycles <= timed.full_rate_cycles * (1 + SLACK) + 1
    assert estimates.sustained_fps == pytest.approx(100e6 / timed.interval_cycles)
    assert "frames/s with the planned FIFOs" in figures(plan)[len(plan.unbuilt)]
    assert any("planned for an interval 5% longer" in sentence for sentence in plan.warnings)
    assert not any("too shallow" in sentence for sentence in plan.warnings)
    rows = [row for row in plan.networks[0].trace if row.detail.startswith("FIFOs for 5% longer: ")]
    assert rows[-1].verdict == "legal"
