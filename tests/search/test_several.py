"""Several networks on one platform: the measure of their intervals, the joint choice, and what each gets."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import floorflow as ff
from floorflow.api.asking import asked_of_several
from floorflow.backends.backend import Backend
from floorflow.dataflow.model import Dataflow, Engine, Option, Stream
from floorflow.dataflow.options import OptionGroup
from floorflow.emit import bundle
from floorflow.errors import required
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, shortest_interval
from floorflow.output import write
from floorflow.record.several import record_several
from floorflow.resources import Resources, total
from floorflow.search.candidate.assignment import join_slots
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.members import Member, Pace, Together
from floorflow.search.candidate.placing import PlacedCandidate, place_candidate, with_slices
from floorflow.search.candidate.preparing import read
from floorflow.search.candidate.progress import SILENT
from floorflow.search.candidate.routes import link_bound
from floorflow.search.interval.least_full import fullness_of
from floorflow.search.interval.search import search
from floorflow.search.interval.state import SearchState
from floorflow.search.many.several import Target, networks_of, search_several, stretch_of
from floorflow.segments import orders_of
from floorflow.verify import check
from tests.several_models import copies, planned

ROOM = Resources(100, 100, 100, 100, 100)
Rows = list[tuple[int, int, int]]
"""Cycles, LUT and DSP of the foldings of an engine."""


def group(engine: str, rows: Rows) -> OptionGroup:
    options = [
        Option({"PE": n}, cycles, Resources(lut, 0, 0, 0, dsp), (8,), (8,)) for n, (cycles, lut, dsp) in enumerate(rows)
    ]
    return OptionGroup((engine,), tuple((option,) for option in options))


def member(name: str, engines: list[Rows], pace: Pace | None) -> Member:
    names = [f"e{n}" for n in range(len(engines))]
    ends = ["host:in0", *names, "host:out0"]
    streams = tuple(Stream(a, 0, b, 0, 64, 8, 8) for a, b in pairwise(ends))
    dataflow = Dataflow(name, tuple(Engine(n, "core", "op", {}, 0, 8, 8, role="core") for n in names), streams)
    return Member(name, dataflow, tuple(group(n, rows) for n, rows in zip(names, engines, strict=True)), pace)


def together(*members: Member) -> Together:
    return Together(members, cast("Backend", None))


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 10**7))
def test_cycles_count_at_most_as_the_longest_where_the_target_is_met_and_nowhere_else(
    own: int, more: int, cycles: int
) -> None:
    pace = Pace(own, own + more)
    counted = int(pace.paced(np.array([cycles]))[0])
    assert (counted <= pace.longest) == (cycles <= own)
    assert pace.own_cycles(counted) == cycles


def test_what_counts_as_more_is_the_row_of_its_folding_in_cycles_of_its_own() -> None:
    """Where what is likely enough to fit is sought, resources are above those that rows have."""
    made = together(member("a", [[(6, 1, 0), (3, 2, 0)]], Pace(3, 12)))
    paced = made.groups[0].rows[1][0]
    for counted in (paced, replace(paced, resources=Resources(3, 0, 0, 0, 1))):
        own = dict(made._own(made.members[0], {"a/e0": counted}))
        assert own == {"e0": replace(counted, cycles=3)}


ENGINE = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 40), st.integers(0, 40)), min_size=1, max_size=4)


@given(
    st.lists(st.lists(ENGINE, min_size=1, max_size=2), min_size=2, max_size=3),
    st.lists(st.integers(1, 50), min_size=3, max_size=3),
    st.integers(20, 160),
)
def test_the_bound_is_the_least_stretch_of_all_choices(
    networks: list[list[Rows]], targets: list[int], lut: int
) -> None:
    own = targets[: len(networks)]
    longest = max(own)
    names = [f"n{n}" for n in range(len(networks))]
    members = [member(n, e, Pace(t, longest)) for n, e, t in zip(names, networks, own, strict=True)]
    budget = Resources(lut, 0, 0, 0, 100)
    problem = FoldingProblem(together(*members).groups, budget, ROOM)
    least = brute_force(networks, own, budget)
    oracle, intervals = FeasibilityOracle(problem), problem.intervals()
    found = shortest_interval(intervals, lambda i: not isinstance(oracle(i), FoldingInfeasible), 0)
    if least is None:
        assert found is None
    else:
        assert found is not None
        assert intervals[found] == -(-least.numerator * longest // least.denominator)
        # Foldings that count alike may differ by less than a cycle of the slowest: a bound is below all of them.
        assert least - Fraction(1, longest) < together(*members).least_stretch(intervals[found]) <= least


def brute_force(networks: list[list[Rows]], targets: list[int], budget: Resources) -> Fraction | None:
    """Return the least over all choices of the largest interval over its target's."""
    engines = [(target, rows) for engines, target in zip(networks, targets, strict=True) for rows in engines]
    ratios = [
        max(Fraction(row[0], target) for row, (target, _) in zip(chosen, engines, strict=True))
        for chosen in product(*(rows for _, rows in engines))
        if total(Resources(lut, 0, 0, 0, dsp) for _, lut, dsp in chosen).fits(budget)
    ]
    return min(ratios, default=None)


def test_a_network_that_is_held_may_have_any_of_its_foldings() -> None:
    rows: Rows = [(1000, 1, 0), (5, 90, 0)]
    groups = together(member("held", [rows], None), member("free", [rows], Pace(10, 10))).groups
    assert [g.cycles.tolist() for g in groups] == [[1, 1], [1000, 5]]


def test_networks_side_by_side_begin_and_end_together() -> None:
    rows: Rows = [(1, 1, 1)]
    both = together(member("long", [rows] * 4, Pace(1, 1)), member("short", [rows] * 2, Pace(1, 1)))
    parts = tuple((engine.name,) for engine in both.dataflow.engines)
    first = orders_of(both.dataflow, parts)[0]
    assert [names[0] for names in first] == ["long/e0", "short/e0", "long/e1", "long/e2", "short/e1", "long/e3"]


def test_a_link_carries_each_network_at_its_own_rate() -> None:
    rows: Rows = [(1, 1, 1)]
    platform = ff.platform("alveo-u250", fpgas=2).loaded
    alone = member("slow", [rows], Pace(100, 100))
    both = together(alone, member("fast", [rows], Pace(25, 100)))
    one = link_bound(alone.dataflow, platform)
    two = link_bound(both.dataflow, platform, both.weight)
    assert one is not None
    assert two is not None
    assert (one.bits_per_frame, two.bits_per_frame) == (512, 5 * 512)


def target(name: str, fps: float | None, cycles: int, most: int | None = None) -> Target:
    return Target(name, fps, None, cycles, most, 1)


def test_networks_without_a_rate_do_not_count_while_one_that_was_asked_for_is_missed() -> None:
    both = [target("asked", 10.0, 100), target("free", None, 10)]
    assert stretch_of(both, (120, 90)) == Fraction(6, 5)
    assert stretch_of(both, (100, 90)) == 9
    assert stretch_of(both, (50, 5)) == 1


def test_a_network_is_starved_below_half_its_rate_unless_less_was_allowed() -> None:
    assert target("a", 10.0, 100).starves(201)
    assert not target("a", 10.0, 100).starves(200)
    assert not target("a", 10.0, 100, most=500).starves(500)
    assert not target("a", None, 100).starves(500)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("several")


def shares(plan: ff.Plan) -> dict[str, float]:
    targets = plan.plan.targets
    assert targets is not None
    return {row.network: row.share for row in targets.networks}


def intervals(plan: ff.Plan) -> dict[str, int]:
    return {part.network: part.interval_cycles for part in plan.plan.only_phase.networks}


@pytest.fixture(scope="module")
def met(out: Path) -> ff.Plan:
    return planned(out / "met", "left", "right", fps={"left": 4000, "right": 1000})


def test_each_network_has_its_rate_its_streams_and_no_more_than_it_needs(met: ff.Plan, out: Path) -> None:
    plan = met
    assert shares(plan) == {"left": 1.0, "right": 1.0}
    rates = {name: 100e6 / cycles for name, cycles in intervals(plan).items()}
    assert rates["left"] >= 4000
    assert 1000 <= rates["right"] < 100_000
    ends = {channel["source"] for channel in plan.channels} | {channel["target"] for channel in plan.channels}
    assert {f"{n}/host:{end}0" for n in ("left", "right") for end in ("in", "out")} <= ends
    assert plan.plan.options.objective == "resources"
    plan.save(out / "met" / "plan")
    assert check(out / "met" / "plan") == []
    assert {f"finn/{n}/folding_config.json" for n in ("left", "right")} <= plan.files.keys()


def test_two_equal_networks_get_equal_shares(out: Path) -> None:
    free = planned(out / "free", "left", "right", cap={"LUT": 0.3})
    assert len(set(intervals(free).values())) == 1
    asked = planned(out / "asked", "left", "right", fps=dict.fromkeys(("left", "right"), 5e7), effort="default")
    assert len(set(shares(asked).values())) == 1
    assert max(shares(asked).values()) < 1


def test_a_least_rate_is_kept_at_the_cost_of_the_others(out: Path) -> None:
    asked: dict[str, Any] = {"fps": {"left": 5e7, "right": 5e7}, "cap": {"LUT": 0.4}}
    even = planned(out / "even", "left", "right", **asked)
    cycles = even.summary["networks"][0]["interval_cycles"]
    least = 1.5 * even.summary["clock_mhz"] * 1e6 / cycles  # rates that are asked for are those of engines
    kept = planned(out / "kept", "left", "right", **asked, min_rate={"left": least})
    assert 1.5 * kept.summary["networks"][0]["interval_cycles"] <= cycles
    assert kept.summary["networks"][1]["fps"] < even.summary["networks"][1]["fps"]


def test_a_slot_in_which_nothing_packs_may_become_one_pblock_of_all_networks(out: Path) -> None:
    asked = dict.fromkeys(("left", "right"), 1000.0)
    request, _ = asked_of_several(copies(out / "joined", *asked), "pynq-z1", {"fps": asked, "plots": False})
    sources = [read(one) for one in request.each]
    networks = required(networks_of(request, sources, 1))
    found = required(search_several(networks, search, search))
    joined = join_slots(found.context, found.result.candidate, {"fpga0.SLR0": "nothing packs"})
    placed = place_candidate(found.context, joined, "", tight=True)
    assert isinstance(placed, PlacedCandidate)
    full = fullness_of(SearchState(found.context, SILENT), placed.candidate, bounded=False)
    candidate = with_slices(found.context, placed.candidate, placed.placements)
    result = replace(found.result, candidate=candidate, placements=placed.placements, fullness=full)
    plan = record_several(sources, replace(found, result=result))
    (module,) = plan.only_phase.modules
    assert {engine.split("/")[0] for engine in module.engines} == {"left", "right"}
    files = bundle(plan, found.context.platform, found.context.backend)
    write(out / "joined" / "plan", files, {})
    assert check(out / "joined" / "plan") == []


def test_ctrl_c_while_more_is_sought_leaves_what_all_have(out: Path) -> None:
    asked = dict.fromkeys(("left", "right"), 5e7)
    request, _ = asked_of_several(copies(out / "cut", *asked), "pynq-z1", {"fps": asked})
    networks = required(networks_of(request, [read(one) for one in request.each], 1))

    def stopped(context: PlanningContext) -> SearchResult:
        raise KeyboardInterrupt

    found = required(search_several(networks, search, stopped))
    assert found.result.interrupted
    assert found.intervals[0] == found.intervals[1]


def test_a_set_that_cannot_fit_is_proven_infeasible_and_says_what_is_short(out: Path) -> None:
    with pytest.raises(ff.Infeasible, match=r"proven infeasible.*LUT") as error:
        planned(out / "short", "left", "right", cap={"LUT": 0.02}, max_engine_share="none")
    assert error.value.exit_code == 3


def test_equal_runs_give_equal_plans(met: ff.Plan, out: Path) -> None:
    assert planned(out / "met", "left", "right", fps={"left": 4000, "right": 1000}).files == met.files
