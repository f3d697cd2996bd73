"""Boards with more or fewer registers at an SLR boundary: FIFOs and latency follow, and check derives both itself."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from floorflow.assets import asset_folder
from floorflow.request import DEFAULT_CAP, Request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import TFC

COUNTS = (0, 2, 8, 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("registers")


@cache
def planned(folder: Path, registers: int) -> Path:
    """Plan a network over SLRs of a U250 whose file states another number of registers."""
    text = (asset_folder("platforms") / "boards" / "alveo-u250.yaml").read_text(encoding="utf-8")
    board = folder / f"mine{registers}.yaml"
    text = text.replace("name: alveo-u250", f"name: mine{registers}", 1)
    board.write_text(text.replace("crossing_registers: 2\n", f"crossing_registers: {registers}\n"), encoding="utf-8")
    cap = {**DEFAULT_CAP, "LUT": 0.035}
    request = Request(TFC, str(board), fps=16_000_000, cap=cap, effort="fast", plots=False)
    return make_plan(folder / f"out{registers}", request)


def phase_of(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "plan.json").read_text())["phases"][0]
    return found


def crossed(phase: dict[str, Any]) -> dict[str, int]:
    """Boundaries crossed by each channel that crosses any."""
    found: dict[str, int] = {}
    for crossing in phase["partition"]["crossings"]:
        found[crossing["channel"]] = found.get(crossing["channel"], 0) + crossing["hops"]
    return found


@pytest.mark.parametrize("registers", COUNTS)
def test_plans_are_legal_and_their_fifos_hold_what_is_in_flight(folder: Path, registers: int) -> None:
    out = planned(folder, registers)
    assert check(out) == []
    phase = phase_of(out)
    over = crossed(phase)
    assert over
    for channel in phase["channels"]:
        stages = registers * over.get(channel["name"], 0)
        assert channel["crossing_registers"] == stages
        assert channel["name"] not in over or channel["fifo_depth"] == 32 + 2 * stages


def test_the_first_frame_is_later_with_more_registers(folder: Path) -> None:
    first = [
        phase_of(planned(folder, n))["networks"][0]["estimates"]["throughput"]["first_frame_cycles"] for n in COUNTS
    ]
    assert first == sorted(set(first))


def test_depths_for_two_registers_are_refused_on_a_board_with_eight(folder: Path) -> None:
    out = planned(folder, 8)
    plan = json.loads((out / "plan.json").read_text())
    over = crossed(plan["phases"][0])
    for channel in plan["phases"][0]["channels"]:
        if channel["name"] in over:
            channel["fifo_depth"], channel["fifo_needed"] = 32 + 2 * 2 * over[channel["name"]], 0
    spoilt = _copy(out, folder / "shallow", plan)
    assert {violation.name for violation in check(spoilt)} == {"wrong-fifo-depth", "finn-fifo-differs"}


def test_a_first_frame_too_soon_for_the_registers_is_refused(folder: Path) -> None:
    out = planned(folder, 16)
    plan = json.loads((out / "plan.json").read_text())
    plan["phases"][0]["networks"][0]["estimates"]["throughput"]["first_frame_cycles"] = 15
    assert {violation.name for violation in check(_copy(out, folder / "early", plan))} == {"wrong-estimate"}


def test_registers_in_the_plan_do_not_stand_for_those_of_the_board(folder: Path) -> None:
    out = planned(folder, 8)
    plan = json.loads((out / "plan.json").read_text())
    for fpga in plan["platform"]["fpgas"]:
        fpga["crossing"]["registers"] = 2
    assert {violation.name for violation in check(_copy(out, folder / "stated", plan))} == {"platform-mismatch"}


def _copy(out: Path, to: Path, plan: dict[str, Any]) -> Path:
    for path in sorted(out.rglob("*")):
        if path.is_file():
            target = to / path.relative_to(out)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (to / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    return to
