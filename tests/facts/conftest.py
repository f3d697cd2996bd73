"""Plans that several of these tests read."""

from pathlib import Path

import pytest

from floorflow.facts import Plan, read_plan


@pytest.fixture
def pynq(cnv_on_pynq: Path) -> Plan:
    return read_plan(cnv_on_pynq / "plan.json")


@pytest.fixture
def u250(cnv_on_u250: Path) -> Plan:
    return read_plan(cnv_on_u250 / "plan.json")


@pytest.fixture
def two(branches_on_two_u250: Path) -> Plan:
    return read_plan(branches_on_two_u250 / "plan.json")
