"""Files and report of a plan of two networks and two phases: each phase and each network has its place."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.export import cells
from floorflow.emit import bundle
from floorflow.emit.bundle import platform_facts
from floorflow.emit.bundle import report_text as report
from floorflow.errors import InputError
from floorflow.facts import Plan, figures, read_plan
from floorflow.facts.context import Context
from floorflow.facts.next_steps import next_steps
from floorflow.facts.summary import summarise
from floorflow.hardware import Platform, load_platform
from floorflow.output import write
from floorflow.verify import check
from tests.emit.test_next import commands, faults
from tests.tools import need_tcl
from tests.verify.two_by_two import write_two_by_two


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return read_plan(write_two_by_two(tmp_path_factory.mktemp("by_hand")) / "plan.json")


@pytest.fixture(scope="module")
def platform() -> Platform:
    return load_platform("alveo-u250")


@pytest.fixture(scope="module")
def out(plan: Plan, platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("emitted") / "out"
    write(folder, bundle(plan, platform, BACKEND), {})
    return folder


def test_what_is_emitted_for_each_phase_and_network_passes_check(out: Path) -> None:
    assert check(out) == []


def test_files_of_a_phase_lie_in_its_folder_and_those_of_a_network_below(out: Path) -> None:
    names = {path.relative_to(out).as_posix() for path in out.rglob("*.*") if path.is_file()}
    for phase in ("p0", "p1"):
        assert f"phases/{phase}/fpga0/pblocks.unbound.tcl" in names
        for network in ("camera", "radar"):
            assert f"phases/{phase}/finn/{network}/folding_config.json" in names
    assert not any(name.startswith(("fpga0/", "finn/")) for name in names)


def test_foldings_are_of_the_phase_and_under_the_networks_own_names(out: Path) -> None:
    def folding(phase: str) -> dict[str, dict[str, int]]:
        text = (out / "phases" / phase / "finn" / "radar" / "folding_config.json").read_text()
        return {name: entry for name, entry in json.loads(text).items() if name != "Defaults"}

    assert folding("p0")["Thresholding_rtl_0"] == {"PE": 2}
    assert folding("p1")["Thresholding_rtl_0"] == {"PE": 1}
    assert "MVAU_hls_0" not in folding("p1")


def test_what_comes_next_is_a_build_of_each_network_in_each_phase(plan: Plan, out: Path) -> None:
    told = (out / "NEXT.md").read_text()
    assert faults(out, told) == []
    builds = [at for at, words in commands(told) if words[:2] == ["python", "build.py"]]
    assert builds == [f"phases/{phase.name}/finn/{part.network}" for phase in plan.phases for part in phase.networks]
    assert "each build has a stitched IP" in told


def test_no_build_of_one_network_of_several_goes_on_to_a_bitstream(out: Path) -> None:
    for script in out.rglob("build.*"):
        text = script.read_text()
        assert "step_create_stitched_ip" in text
        assert not re.search("floorflow_place|floorflow_constrain|step_synthesize_bitfile|shell_flow_type", text)


def test_no_two_networks_of_a_phase_share_a_cell_of_one_design(plan: Plan) -> None:
    for number in range(len(plan.phases)):
        found = cells(plan, number, "{engine}")
        assert set(found) == set(plan.phases[number].engines)
        assert len(set(found.values())) == len(found)


def test_its_scripts_find_their_library_and_run_to_the_end(out: Path) -> None:
    need_tcl()
    text = (out / "phases" / "p0" / "fpga0" / "pblocks.unbound.tcl").read_text()
    line = next(line for line in text.splitlines() if line.startswith("source"))
    steps = line.split("]] ")[1].rstrip("]").split()
    assert (out / "phases" / "p0" / "fpga0" / Path(*steps)).resolve() == out / "vivado" / "floorflow.tcl"


def test_the_report_has_every_section_for_each_phase(plan: Plan, platform: Platform) -> None:
    lines = report(plan, platform, BACKEND).splitlines()
    headings = [line for line, rule in pairwise(lines) if rule == "-" * len(line) and line]
    assert headings[:5] == [
        "In figures",
        "What was read and assumed",
        "Power",
        "Networks and phases",
        "What the search tried, and what ended it",
    ]
    for phase in ("p0", "p1"):
        own = [heading.removesuffix(f", in {phase}") for heading in headings if heading.endswith(f", in {phase}")]
        assert own[0] == "Rate"
        assert own[-1] == "Modules"
    assert "camera and radar on alveo-u250" in lines[0]


def test_the_report_tells_of_each_network_what_the_schedule_leaves_of_its_rate(plan: Plan, platform: Platform) -> None:
    lines = report(plan, platform, BACKEND).splitlines()
    camera = next(line for line in lines if line.startswith("camera  "))
    fps = 1000 * 1e6 / plan.schedule.period_us if plan.schedule else 0
    assert camera.split()[1:3] == [f"{int(fps):,}", "864"]
    assert any(line.startswith("reconfigure: 1,000 frames in ") for line in lines)
    start = lines.index("Rate, in p0")
    assert lines[start + 2] == "camera:"
    assert any("bottleneck: camera/MVAU_hls_0" in line for line in lines[start + 3 : start + 7])


def test_the_terminal_tells_of_every_network_and_phase(plan: Plan) -> None:
    text = "\n".join(figures(plan))
    assert [line.split()[0] for line in text.splitlines() if " on alveo-u250: " in line] == ["camera", "radar"]
    assert "  phase p1: camera, radar" in text


def test_the_summary_follows_from_the_rest(plan: Plan) -> None:
    parts = plan.options, plan.platform, plan.networks, plan.phases, plan.schedule
    assert summarise(*parts, warnings=plan.warnings, interrupted=plan.interrupted) == plan.summary


def test_a_network_of_which_a_section_says_nothing_has_no_heading_there(plan: Plan, platform: Platform) -> None:
    assert all(part.estimates.throughput is None for part in plan.phases[0].networks)
    assert "What one frame takes, in p0" not in report(plan, platform, BACKEND)


def next_steps_of(plan: Plan, number: int, platform: Platform) -> str:
    phase = plan.phases[number]
    return "\n".join(next_steps(Context(plan, phase, platform_facts(plan, platform), BACKEND)))


def tried(plan: Plan, *rows: tuple[str, int]) -> Plan:
    """Return the plan with these phases and intervals of the radar tried in vain, the camera's not at all."""
    camera, radar = plan.networks
    refused = [radar.trace[0].model_copy(update={"phase": phase, "interval_cycles": cycles}) for phase, cycles in rows]
    networks = [camera.model_copy(update={"trace": []}), radar.model_copy(update={"trace": refused})]
    return plan.model_copy(update={"networks": networks})


def test_next_steps_come_from_the_rows_of_their_phase_and_name_the_network(plan: Plan, platform: Platform) -> None:
    searched = tried(plan, ("p0", 200), ("p1", 280))
    assert "LUT stops the rate of radar: 200 cycles" in next_steps_of(searched, 0, platform)
    assert "LUT stops the rate of radar: 280 cycles" in next_steps_of(searched, 1, platform)
    assert "stops the rate" not in next_steps_of(tried(plan, ("p0", 200)), 1, platform)


def test_next_steps_compare_with_the_interval_of_their_phase(plan: Plan, platform: Platform) -> None:
    searched = tried(plan, ("p1", 280))
    radar = searched.phases[1].networks[1].model_copy(update={"interval_cycles": 144})
    phases = [searched.phases[0], searched.phases[1].model_copy(update={"networks": [radar]})]
    faster = searched.model_copy(update={"phases": phases})
    assert "stops the rate" not in next_steps_of(faster, 1, platform)


def test_the_report_says_for_which_phase_an_interval_was_tried(plan: Plan, platform: Platform) -> None:
    lines = report(tried(plan, ("p0", 200), ("p1", 280)), platform, BACKEND).splitlines()
    rows = [line.split()[:2] for line in lines if "proven infeasible" in line]
    assert rows == [["p0", "200"], ["p1", "280"]]


def test_what_takes_one_phase_or_network_says_so(plan: Plan) -> None:
    with pytest.raises(InputError, match="2 phases, expected one"):
        _ = plan.only_phase
    with pytest.raises(InputError, match="2 networks, expected one"):
        _ = plan.only_network
