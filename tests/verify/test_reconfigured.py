"""Partitions in time from a model to files, and mistakes planted in them that check finds."""

from pathlib import Path
from typing import Any

import pytest

from floorflow import flow
from floorflow.facts import Plan as WholePlan
from floorflow.facts import read_plan
from floorflow.output import write
from floorflow.request import Request
from floorflow.verify import check
from tests.plans import TFC
from tests.reconfigured import BATCH, LOAD_MS, quick_board, quick_request
from tests.verify.mutants import Mutant
from tests.verify.mutants_phases import RECONFIGURED
from tests.verify.tiny import found_after, read_folder


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reconfigured")
    write(folder / "out", flow.plan(quick_request(folder, effort="fast")).files, {})
    return folder / "out"


@pytest.fixture(scope="module")
def plan(out: Path) -> WholePlan:
    return read_plan(out / "plan.json")


def test_partitions_in_time_are_legal(out: Path) -> None:
    assert check(out) == []


def test_a_batch_takes_what_equation_4_says(plan: WholePlan) -> None:
    schedule = plan.schedule
    assert schedule is not None
    assert schedule.stats is not None
    assert len(plan.phases) == 2
    cycles = sum(phase.networks[0].interval_cycles for phase in plan.phases)
    assert schedule.period_us == pytest.approx(BATCH * cycles / 100 + LOAD_MS * 1e3)
    assert plan.summary.networks[0].fps == pytest.approx(BATCH * 1e6 / schedule.period_us)
    assert schedule.stats.bound is not None
    assert schedule.stats.bound <= schedule.period_us


def test_partitions_are_no_worse_than_one_alone(plan: WholePlan, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"cap": plan.options.cap.model_dump(), "bargains": "none", "effort": "fast", "plots": False}
    alone = flow.plan(Request(TFC, quick_board(tmp_path), **asked)).plan
    assert plan.schedule is not None
    assert plan.schedule.period_us <= BATCH * 1e6 / alone.summary.networks[0].fps


def test_engines_have_the_names_of_the_whole_network_and_buffers_that_of_their_source(plan: WholePlan) -> None:
    names = [engine.name for engine in plan.networks[0].engines]
    assert len({*names}) == len(names)
    first, second = plan.phases
    assert sorted([*first.engines, *second.engines]) == sorted(names)
    (stored,) = (c for c in first.channels if c.target.startswith("memory:"))
    assert stored.target == f"memory:{stored.source}.0"
    assert [c.source for c in second.channels if c.source.startswith("memory:")] == [stored.target]


def test_a_frame_of_one_is_not_worth_a_load(tmp_path: Path) -> None:
    plan = flow.plan(quick_request(tmp_path, batch=None, objective="latency", effort="fast")).plan
    assert len(plan.phases) == 1
    assert plan.schedule is not None
    assert (plan.schedule.objective, plan.schedule.batch) == ("latency", 1)
    assert plan.schedule.period_us == plan.phases[0].networks[0].interval_cycles / 100


@pytest.mark.parametrize("mutant", RECONFIGURED.mutants, ids=lambda mutant: mutant.title)
def test_a_mistake_in_time_is_found(mutant: Mutant, out: Path, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *read_folder(out), tmp_path)
