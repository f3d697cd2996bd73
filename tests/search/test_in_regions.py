"""Parts of a network in regions: the best path is the best of all, and what is planned is legal and in time."""

import json
import shutil
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from floorflow import flow
from floorflow.errors import InfeasibleError, InputError, required
from floorflow.facts import Plan
from floorflow.hardware import load_platform
from floorflow.output import write
from floorflow.request import Request
from floorflow.search.many.in_regions import _Way
from floorflow.search.many.phases import SegmentPlans
from floorflow.search.many.regions import SizedRegions, region_sizes
from floorflow.segments.paths import spread
from floorflow.verify import check
from tests.papers.dpr.simulator import SimulatedChunk, simulate
from tests.plans import CNV, TFC
from tests.reconfigured import least_share
from tests.verify.mutants_phases import IN_TIMELINES as MISTAKES
from tests.verify.planned_in_region import partial_request


def way(loads_us: tuple[float, ...], blocks: int) -> _Way:
    plans = cast(SegmentPlans, SimpleNamespace(count=blocks))
    sized = cast(SizedRegions, SimpleNamespace(loads_us=loads_us))
    return _Way(sized, (plans,) * len(loads_us), 1.0, 1)


def replayed(runs: list[float], loads_us: tuple[float, ...]) -> float:
    """Return when the last of some runs ends, each in the next region: event by event."""
    port, free, ran = 0.0, [0.0] * len(loads_us), 0.0
    for number, run in enumerate(runs):
        region = number % len(loads_us)
        port = max(port, free[region]) + loads_us[region]
        ran = free[region] = max(port, ran) + run
    return ran


def paths(blocks: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all ways to cut blocks in at least two segments."""
    for count in range(1, blocks):
        for inner in combinations(range(1, blocks), count):
            borders = [0, *inner, blocks]
            yield list(pairwise(borders))


@st.composite
def chunked(draw: st.DrawFn) -> tuple[tuple[float, ...], list[NDArray[np.float64]]]:
    blocks, regions = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    amounts = st.integers(0, 40).map(float)
    loads = tuple(draw(st.lists(amounts, min_size=regions, max_size=regions)))
    costs = []
    for _ in range(regions):
        cost = np.full((blocks + 1, blocks + 1), np.inf)
        for a in range(blocks):
            for b in range(a + 1, blocks + 1):
                cost[a, b] = draw(st.one_of(amounts, st.just(np.inf))) if b - a > 1 else draw(amounts)
        costs.append(cost)
    return loads, costs


@given(chunked())
def test_the_best_path_is_the_best_of_all_with_more_parts_than_regions(
    drawn: tuple[tuple[float, ...], list[NDArray[np.float64]]],
) -> None:
    loads, costs = drawn
    blocks = len(costs[0]) - 1
    found, _ = way(loads, blocks).best(costs)
    every = [
        replayed([float(costs[n % len(loads)][span]) for n, span in enumerate(path)], loads)
        for path in paths(blocks)
        if len(path) > len(loads)
    ]
    assert found == pytest.approx(min(every, default=np.inf))


@given(st.lists(st.integers(1, 99), min_size=10, max_size=10))
def test_a_segment_takes_no_less_than_any_inside_it(amounts: list[int]) -> None:
    lowest = np.full((5, 5), np.inf)
    lowest[np.triu_indices(5, 1)] = amounts
    closed = spread(lowest)
    for a, b in combinations(range(5), 2):
        assert closed[a, b] == max(lowest[c, d] for c, d in combinations(range(a, b + 1), 2))


def test_regions_of_all_sizes_leave_the_static_part_its_own_and_load_the_faster_the_smaller() -> None:
    platform = load_platform("pynq-z1", 1)
    request = Request(TFC, "pynq-z1", reconfigure="partial")
    sizes = required(region_sizes(platform, request))
    loads = [sized.loads_us[0] for sized in sizes]
    assert loads == sorted(loads)
    for sized, (own,) in ((sized, sized.platforms) for sized in sizes):
        (slot,) = own.slots
        assert slot.available == sized.choice.regions[0].supply
        assert min((sized.choice.static_left - sized.problem.static_need).as_tuple()) >= 0


@pytest.fixture(scope="module")
def in_two_regions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    folder = tmp_path_factory.mktemp("two")
    # A little more than the whole network takes at its slowest, and less than that a region.
    made = flow.plan(partial_request(folder, regions=2, area=2.3 * least_share(), cap={"LUT": 0.5}))
    write(folder / "out", made.files, {})
    return made.plan, folder / "out"


def test_a_plan_in_two_regions_is_legal_and_loads_one_while_another_runs(in_two_regions: tuple[Plan, Path]) -> None:
    plan, out = in_two_regions
    assert check(out) == []
    assert plan.schedule is not None
    steps = plan.schedule.steps
    assert len(steps) > 2
    assert [phase.region for phase in plan.phases] == [f"r{number % 2}" for number in range(len(steps))]
    waited = sum(step.load_us for step in steps) - (plan.schedule.period_us - sum(step.run_us for step in steps))
    assert waited > 0


def test_a_simulator_of_images_and_loads_comes_to_the_times_of_the_plan(in_two_regions: tuple[Plan, Path]) -> None:
    plan, _ = in_two_regions
    assert plan.schedule is not None
    assert plan.reconfigurable is not None
    loads = {region.name: region.load_us for region in plan.reconfigurable.regions}
    chunks = [
        SimulatedChunk(
            tuple(entry.cycles for entry in phase.engines.values()),
            sum(c.bits_per_frame for c in phase.channels if {"host", "memory"} & {end.outside for end in c.ends}),
            list(loads).index(phase.region or ""),
            loads[phase.region or ""],
        )
        for phase in plan.phases
    ]
    gbs = (plan.schedule.memory_gbps or 0) / 8
    log = simulate(chunks, plan.schedule.batch, plan.summary.clock_mhz, gbs)
    for number, step in enumerate(plan.schedule.steps):
        assert log.load_start[number] == pytest.approx(step.load_start_us, rel=1e-3)
        assert log.run_start[number] == pytest.approx(step.run_start_us, rel=1e-3)
        assert log.run_start[number] >= log.load_end[number]
    assert max(log.run_end.values()) == pytest.approx(plan.schedule.period_us, rel=1e-3)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_times_is_found(name: str, in_two_regions: tuple[Plan, Path], tmp_path: Path) -> None:
    expected, spoil = MISTAKES[name]
    out = tmp_path / "out"
    shutil.copytree(in_two_regions[1], out)
    content = json.loads((out / "plan.json").read_text())
    spoil(content)
    (out / "plan.json").write_text(json.dumps(content))
    assert expected in {violation.name for violation in check(out)}


def test_what_fits_uncut_in_the_area_is_not_loaded_at_all(tmp_path: Path) -> None:
    plan = flow.plan(partial_request(tmp_path, area=0.4)).plan
    assert len(plan.phases) == 1
    assert plan.reconfigurable is None


def test_an_area_below_the_smallest_region_is_proven_infeasible_with_what_is_short(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"--area 0\.005 allows .* LUT, the smallest regions hold"):
        flow.plan(partial_request(tmp_path, area=0.005))


def test_what_no_region_holds_is_proven_infeasible_by_the_part_that_is_short(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"any region of quick .* alone: .*LUT: at least"):
        flow.plan(partial_request(tmp_path, area=0.12, cap={"LUT": 0.05}))


@pytest.mark.parametrize(
    ("platform", "options", "told"),
    [
        ("alveo-u250", {}, "has 4 slots"),
        ("samo:zc706", {}, "no geometry"),
        ("pynq-z1", {"reconfigure": "full", "regions": 2}, "--regions"),
        ("pynq-z1", {"reconfigure": "none", "area": 0.5}, "--area"),
    ],
)
def test_what_does_not_go_with_regions_is_refused(platform: str, options: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        flow.plan(Request(CNV, platform, **{"reconfigure": "partial", **options}))
