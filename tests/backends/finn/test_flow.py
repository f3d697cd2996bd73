"""The way into Vivado that is asked for has to be one that the board takes; what no way builds is said first."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from floorflow.backends.finn.step_files import unbuilt
from floorflow.request import Request
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.plans import CNV, TFC


@pytest.mark.parametrize(
    ("board", "flow", "told"),
    [
        ("pynq-z1", "vitis", "use --flow zynq"),
        ("zcu104", "vitis", "use --flow zynq"),
        ("alveo-u250", "zynq", "use --flow vitis"),
        ("xcku5p", "vitis", "FINN has no build for xcku5p, a bare part"),
        ("xcku5p", "zynq", "leave --flow out, or use --flow stitch"),
        ("pynq-z1", "stitch", "use --flow zynq"),
        ("alveo-u250", "stitch", "use --flow vitis"),
    ],
)
def test_another_way_exits_2_and_names_the_one_that_fits(board: str, flow: str, told: str, tmp_path: Path) -> None:
    ended = floorflow("plan", TFC, "-p", board, "--flow", flow, "-o", tmp_path / "out")
    assert (ended.returncode, (tmp_path / "out").exists()) == (2, False)
    assert told in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"constraint_style": "soft"}, "each module stays in its pblock"),
        ({"runtime_weights": "always"}, "modules have streams alone, --runtime-weights always needs a port"),
        ({"runtime_weights": "auto"}, "--runtime-weights auto needs a port"),
        ({"reconfigure": "full"}, "this is --reconfigure full"),
        ({"replicas": 2}, "this is --replicas 2"),
        ({"crossings": "vendor"}, "use --crossings fifo"),
    ],
)
def test_what_stitched_modules_cannot_have_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ff.InputError) as refused:
        ff.plan(TFC, "xcku5p", flow="stitch", plots=False, **options)
    assert told in f"{refused.value} {refused.value.hint}"


def test_several_networks_are_not_stitched() -> None:
    with pytest.raises(ff.InputError, match="this is 2 networks"):
        ff.plan([TFC, CNV], "xcku5p", flow="stitch", plots=False)


def begins_with(folder: Path, told: str) -> ff.Plan:
    """Return the plan of a folder of which summary, report and warnings first say what cannot be built."""
    plan = ff.load(folder)
    assert plan.warnings[0].startswith(f"cannot be built yet: {told}")
    first = f"cannot be built yet: {told.partition(':')[0]} (report.txt)"
    assert str(plan).splitlines()[0] == first
    report = (folder / "report.txt").read_text()
    title, _, head = report.splitlines()[:3]
    assert head == first.replace("report.txt", "below")
    assert report.count(plan.warnings[0]) == 1
    assert title.split(",")[0] in repr(plan).replace(f" {len(plan.plan.platform.fpgas)} x", "")
    return plan


EVERY_STEP = """
import floorflow_step as made
told = []
for step in (made.floorflow_specialise, made.floorflow_fold, made.floorflow_place):
    try:
        step(None, None)
    except made.FloorflowStop as stop:
        told.append(str(stop))
raise SystemExit(told)
"""


def stops(folder: Path, script: str, *arguments: str) -> str:
    """Run Python beside FINN's modules, which would begin a build, and return why it ends."""
    stubs = folder / "stubs" / "finn" / "builder"
    stubs.mkdir(parents=True, exist_ok=True)
    (stubs / "build_dataflow.py").write_text("def build_dataflow_cfg(*_):\n    raise SystemExit('FINN began')\n")
    names = (
        "DataflowBuildConfig",
        "DataflowOutputType",
        "ShellFlowType",
        "VerificationStepType",
        "VitisOptStrategyCfg",
    )
    (stubs / "build_dataflow_config.py").write_text(
        "from unittest.mock import MagicMock\n" + "".join(f"{n} = MagicMock()\n" for n in names)
    )
    paths = os.pathsep.join([str(folder / "stubs"), str(folder)])
    command = [sys.executable, *(["-c", script] if arguments == () else [script, *arguments])]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths})
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stderr.strip().splitlines()[-1]


def test_a_plan_over_two_cards_stops_in_the_first_step_with_the_same_sentence(
    branches_on_two_u250: Path, tmp_path: Path
) -> None:
    plan = begins_with(branches_on_two_u250, "FINN builds for one card, this plan has 2")
    for name in ("floorflow_step.py", "floorflow_plan.json", "build.py"):
        (tmp_path / name).write_bytes((branches_on_two_u250 / "finn" / name).read_bytes())
    told = stops(tmp_path, EVERY_STEP)
    assert told == str([f"floorflow: {plan.warnings[0]}"] * 3)
    assert stops(tmp_path, str(tmp_path / "build.py"), "model.onnx") == f"floorflow: {plan.warnings[0]}"
    assert not any(step.startswith("(cd d/finn ") for step in plan.next_steps("d"))


def test_a_plan_over_two_cards_for_finn_plus_has_a_folder_for_each(planned: Planned) -> None:
    folder = planned(Request(TFC, "alveo-u250", fpgas=2, finn="plus", effort="fast", plots=False))
    plan = ff.load(folder)
    assert "cannot be built yet" not in str(plan)
    assert plan.next_steps("d")[0] == f"(cd d/finn && PYTHONPATH=. finn build build.yaml /path/to/{TFC.name})"
    assert "d/finn/build/bitfile has a bitstream for each card" in plan.guide("d")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    assert {f"fpga{card}/vitis/{name}" for card in range(2) for name in ("floorflow.cfg", "relink.sh")} <= names
    assert not names & {"vitis", "finn/build.py"}
    steps = (folder / "finn" / "build.yaml").read_text()
    assert "floorflow_step.floorflow_cards" in steps
    assert "step_prepare_synthesis" not in steps


def test_a_plan_for_one_card_begins_to_build(cnv_on_pynq: Path, tmp_path: Path) -> None:
    plan = ff.load(cnv_on_pynq)
    assert not any("cannot be built yet" in warning for warning in plan.warnings)
    assert "cannot be built yet" not in str(plan) + (cnv_on_pynq / "report.txt").read_text()
    for name in ("floorflow_step.py", "floorflow_plan.json", "build.py"):
        (tmp_path / name).write_bytes((cnv_on_pynq / "finn" / name).read_bytes())
    assert stops(tmp_path, str(tmp_path / "build.py"), "model.onnx") == "FINN began"


def test_a_bare_part_has_a_stitched_ip_and_no_top(planned: Planned) -> None:
    folder = planned(Request(TFC, "xcku5p", effort="fast", plots=False))
    plan = begins_with(folder, "FINN has no shell for xcku5p: the build ends at a stitched IP")
    assert plan.next_steps("d")[0] == f"(cd d/finn && python build.py /path/to/{TFC.name})"
    assert "d/finn/build has a stitched IP" in plan.guide("d")


@pytest.mark.parametrize(
    ("boards", "networks", "in_regions", "told"),
    [
        (["alveo-u250"], 1, False, []),
        (["pynq-z1"], 1, False, []),
        (["alveo-u250"] * 3, 1, False, ["this plan has 3"]),
        (
            ["alveo-u250"],
            2,
            False,
            ["only of one Alveo card does v++ link the kernels of all: each build ends at a stitched IP"],
        ),
        (["alveo-u250"] * 2, 2, False, ["one card", "one network"]),
        (["pynq-z1"], 1, True, ["what stays, with DMA engines and decouplers, is yours"]),
        (["xcku5p"], 1, False, ["no shell for xcku5p"]),
        (["my-board"], 1, False, ["no shell for my-board"]),
        (["xcku5p"], 2, False, ["one network"]),
    ],
)
def test_what_is_missing_is_told_of_cards_networks_regions_and_shells(
    boards: list[str], networks: int, in_regions: bool, told: list[str]
) -> None:
    found = unbuilt(boards, networks, in_regions=in_regions)
    assert [want in clause for want, clause in zip(told, found, strict=True)] == [True] * len(told)
