"""What the report says of FPGAs that a plan could do without."""

from dataclasses import replace
from pathlib import Path

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.emit.bundle import platform_facts
from floorflow.facts import PhaseEntry, Plan, read_plan
from floorflow.facts.context import Context
from floorflow.facts.next_steps import spare_fpgas
from floorflow.hardware import Platform, load_platform


def spare(plan: Plan, platform: Platform) -> str:
    return spare_fpgas(Context(plan, plan.phases[0], platform_facts(plan, platform), BACKEND))


@pytest.fixture
def plan(branches_on_two_u250: Path) -> Plan:
    return read_plan(branches_on_two_u250 / "plan.json")


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load_platform("alveo-u250", 2)


def without_pblocks(phase: PhaseEntry, name: str, fpga: str) -> PhaseEntry:
    """Return a phase of that name with nothing on an FPGA."""
    empty = phase.floorplan[fpga].model_copy(update={"pblocks": {}})
    return phase.model_copy(update={"name": name, "floorplan": {**phase.floorplan, fpga: empty}})


def phases(plan: Plan, *idle: str) -> Plan:
    """Return the plan with a phase for each FPGA, in which that one holds no module."""
    made = [without_pblocks(plan.phases[0], f"p{i}", fpga) for i, fpga in enumerate(idle)]
    return plan.model_copy(update={"phases": made})


def test_an_fpga_that_no_phase_uses_is_left_out(plan: Plan, platform: Platform) -> None:
    told = spare(phases(plan, "fpga1", "fpga1"), platform)
    assert told == "fpga1 holds no module: --fpgas 1 should give the same rate"


def test_an_fpga_that_another_phase_uses_is_not_idle(plan: Plan, platform: Platform) -> None:
    assert "no module" not in spare(phases(plan, "fpga0", "fpga1"), platform)


def test_what_a_platform_file_describes_is_never_a_matter_of_the_option(plan: Plan, platform: Platform) -> None:
    described = replace(platform, described=True)
    told = spare(phases(plan, "fpga1"), described)
    assert told == "fpga1 holds no module: the platform file without it should give the same rate"
    phase = plan.phases[0]
    small = plan.model_copy(update={"phases": [phase.model_copy(update={"modules": phase.modules[:1]})]})
    assert "--fpgas 1 may do" in spare(small, platform)
    assert spare(small, described) == ""


def test_fewer_fpgas_must_do_for_every_phase(plan: Plan, platform: Platform) -> None:
    phase = plan.phases[0]
    small, large = (phase.model_copy(update={"modules": held}) for held in (phase.modules[:1], phase.modules * 4))
    assert "--fpgas 1 may do" in spare(plan.model_copy(update={"phases": [small, small]}), platform)
    assert spare(plan.model_copy(update={"phases": [small, large]}), platform) == ""
