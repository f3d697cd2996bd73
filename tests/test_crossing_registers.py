"""Boards with more or fewer registers at an SLR boundary: FIFOs and latency follow, and check derives both itself."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from floorflow import api
from floorflow.assets import asset_folder
from floorflow.errors import InputError
from floorflow.facts.plan import read_plan
from floorflow.request import DEFAULT_CAP, Request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import CNV, TFC
from tests.verify.tiny import Files, Plan, found_after, read_folder

COUNTS = (0, 1, 2, 16)
PLANNED = {1: 2}
"""Registers that a plan has where the board has another number: one FIFO would stand on one side alone."""


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
        stages = PLANNED.get(registers, registers) * over.get(channel["name"], 0)
        assert channel["crossing_registers"] == stages
        assert channel["name"] not in over or channel["fifo_depth"] == 32 + 2 * stages


def test_the_first_frame_is_later_with_more_registers(folder: Path) -> None:
    first = [
        phase_of(planned(folder, n))["networks"][0]["estimates"]["throughput"]["first_frame_cycles"] for n in COUNTS
    ]
    assert first == sorted(first)
    assert len({*first}) == len({PLANNED.get(n, n) for n in COUNTS})


def test_depths_for_two_registers_are_refused_on_a_board_with_eight(folder: Path) -> None:
    def shallow(plan: Plan, _: Files) -> None:
        over = crossed(plan["phases"][0])
        for channel in plan["phases"][0]["channels"]:
            if channel["name"] in over:
                channel["fifo_depth"], channel["fifo_needed"] = 32 + 2 * 2 * over[channel["name"]], 0

    found = found_after(shallow, *read_folder(planned(folder, 8)), folder / "shallow")
    assert found == {"wrong-fifo-depth", "finn-fifo-differs"}


def test_a_first_frame_too_soon_for_the_registers_is_refused(folder: Path) -> None:
    def early(plan: Plan, _: Files) -> None:
        plan["phases"][0]["networks"][0]["estimates"]["throughput"]["first_frame_cycles"] = 15

    found = found_after(early, *read_folder(planned(folder, 16)), folder / "early")
    assert found == {"wrong-estimate", "summary-differs"}


def test_registers_in_the_plan_do_not_stand_for_those_of_the_board(folder: Path) -> None:
    def stated(plan: Plan, _: Files) -> None:
        for fpga in plan["platform"]["fpgas"]:
            fpga["crossing"]["registers"] = 2

    assert found_after(stated, *read_folder(planned(folder, 8)), folder / "stated") == {"platform-mismatch"}


def over(channels: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the first stream over SLR boundaries."""
    return next(channel for channel in channels if channel["crossing_slots"])


def told(steps: dict[str, Any]) -> list[list[int]]:
    """Return FPGA and SLR of each FIFO of the first stream that has any, as FINN's steps are told."""
    return next(stream["slices"] for stream in steps["streams"] if stream["slices"])


def bare(plan: dict[str, Any]) -> None:
    channel = over(plan["phases"][0]["channels"])
    for price in channel["crossing_resources"].values():
        price.update(LUT=0, FF=price["FF"] // 2)


def elsewhere(plan: dict[str, Any]) -> None:
    channel = over(plan["phases"][0]["channels"])
    slots = [slot["name"] for slot in plan["platform"]["fpgas"][0]["slots"]]
    prices = channel["crossing_resources"]
    other = next(slot for slot in slots if slot not in prices)
    prices[other] = prices.pop(channel["crossing_slots"][0])


PLANTED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "a side missing": ("wrong-crossing-registers", lambda p: over(p["phases"][0]["channels"])["crossing_slots"].pop()),
    "both on one side": (
        "wrong-crossing-registers",
        lambda p: over(p["phases"][0]["channels"]).update(
            crossing_slots=over(p["phases"][0]["channels"])["crossing_slots"][:1] * 2
        ),
    ),
    "sides the other way about": (
        "wrong-crossing-registers",
        lambda p: over(p["phases"][0]["channels"])["crossing_slots"].reverse(),
    ),
    "one FIFO counted": (
        "wrong-crossing-registers",
        lambda p: over(p["phases"][0]["channels"]).update(crossing_registers=1),
    ),
    "priced as flip-flops": ("wrong-crossing-registers", bare),
    "priced in another slot": ("wrong-crossing-registers", elsewhere),
    "denied": ("wrong-slices-built", lambda p: p["platform"]["fpgas"][0]["crossing"].update(fifos=False)),
    "against the option": ("wrong-slices-built", lambda p: p["options"]["backend_options"].update(crossings="none")),
}
TOLD: dict[str, Callable[[list[list[int]]], object]] = {
    "a side missing": lambda places: places.pop(),
    "wrong SLR": lambda places: places[-1].__setitem__(1, 3 - places[-1][1]),
    "a boundary twice": lambda places: places.extend([places[-2], places[-1]]),
    "sides the other way about": lambda places: places.reverse(),
    "none": lambda places: places.clear(),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_in_what_is_planned_at_a_boundary_is_found(fault: str, folder: Path) -> None:
    expected, plant = PLANTED[fault]
    found = found_after(lambda plan, _: plant(plan), *read_folder(planned(folder, 2)), folder / "planted" / fault)
    assert expected in found


@pytest.mark.parametrize("fault", TOLD)
def test_a_fault_in_what_finn_is_told_of_a_boundary_is_found(fault: str, folder: Path) -> None:
    def spoil(_: Plan, files: Files) -> None:
        steps = json.loads(files["finn/floorflow_plan.json"])
        TOLD[fault](told(steps))
        files["finn/floorflow_plan.json"] = json.dumps(steps)

    found = found_after(spoil, *read_folder(planned(folder, 2)), folder / "told" / fault)
    assert "finn-slices-differ" in found


@pytest.mark.parametrize(
    ("crossings", "built", "word"),
    [
        ("fifo", True, "FIFOs of two words on each side"),
        ("vendor", False, "the script has never run in Vivado"),
        ("none", False, "not built"),
    ],
)
def test_summary_and_report_tell_registers_that_are_built_from_planned_ones(
    crossings: str, built: bool, word: str, folder: Path
) -> None:
    cap = {**DEFAULT_CAP, "LUT": 0.035}
    options = {"crossings": crossings}
    request = Request(TFC, "alveo-u250", fps=16_000_000, cap=cap, effort="fast", plots=False, backend_options=options)
    out = make_plan(folder / crossings, request)
    assert check(out) == []
    plan, report = read_plan(out / "plan.json"), (out / "report.txt").read_text()
    assert plan.crossings_built(plan.phases[0]) is built
    assert [row.built for row in plan.registers_at_boundaries(plan.phases[0])] == [built]
    assert word in report.replace("\n  ", " ")
    closing = [line for line in report.splitlines() if line.startswith(("SLR boundaries  ", "most hops"))]
    assert [line.endswith("comfortable") for line in closing] == ([True, True] if built else [False])
    streams = json.loads((out / "finn" / "floorflow_plan.json").read_text())["streams"]
    assert any(stream["slices"] for stream in streams) is built
    script = out / "vitis" / "crossings.tcl"
    assert script.exists() is (crossings == "vendor")
    if script.exists():
        told = sorted(
            row.split("{")[1].split()[:2] for row in script.read_text().splitlines() if row.startswith("    {")
        )
        ends = [[c.source, c.target] for c in plan.phases[0].partition.crossings if c.kind == "sll"]
        assert told == sorted([slot.removeprefix("fpga0.") for slot in pair] for pair in ends)
        over = [channel for channel in plan.phases[0].channels if channel.crossing_slots]
        assert {channel.crossing_registers for channel in over} == {4}


@pytest.mark.parametrize(
    ("platform", "more", "told"),
    [
        ("zcu104", {}, "zcu104 is not built by it"),
        ("xcvu9p", {}, "xcvu9p is not built by it"),
        ("alveo-u250", {"fpgas": 2}, "this is 2 FPGAs"),
        ("alveo-u250", {"reconfigure": "full"}, "this is --reconfigure full"),
    ],
)
def test_slices_are_refused_where_v_plus_plus_links_no_one_design(
    platform: str, more: dict[str, Any], told: str, tmp_path: Path
) -> None:
    request = Request(TFC, platform, plots=False, backend_options={"crossings": "vendor"}, **more)
    with pytest.raises(InputError, match=told) as refusal:
        make_plan(tmp_path / "out", request)
    assert refusal.value.hint == "use --crossings fifo"


def test_a_plan_without_a_crossing_has_a_script_without_rows(tmp_path: Path) -> None:
    options = {"crossings": "vendor"}
    out = make_plan(
        tmp_path / "out", Request(TFC, "alveo-u250", fps=100_000, effort="fast", plots=False, backend_options=options)
    )
    assert check(out) == []
    assert (out / "vitis" / "crossings.tcl").read_text().endswith("floorflow::crossings {\n}\n")


def test_slices_are_refused_for_several_networks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is 2 networks"):
        api.plan([TFC, CNV], "alveo-u250", crossings="vendor")


def test_summary_and_report_say_where_there_are_neither_registers_nor_plans_for_any(folder: Path) -> None:
    plan, report = read_plan(planned(folder, 0) / "plan.json"), (planned(folder, 0) / "report.txt").read_text()
    rows = plan.registers_at_boundaries(plan.phases[0])
    assert [(row.stages, row.built) for row in rows] == [(0, False)] * len(rows)
    assert rows
    assert report.count("registers neither planned nor built") == 3  # the summary's, its figures' and the section's
