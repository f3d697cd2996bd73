"""vivado/zynq_impl.tcl of a bound plan runs to its end in the strict model; what is wrong stops it, with a sentence."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow.facts import read_plan
from floorflow.hardware import load_platform
from tests import built_kernels
from tests.test_plans import streams_of
from tests.tools import need_module, need_tcl

need_tcl()

from tests.vivado_model import VivadoError, VivadoModel  # noqa: E402  (needs tkinter)

PART = "xc7z020clg400-1"


@pytest.fixture(scope="module")
def bound(cnv_on_pynq: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zynq")
    built_kernels.bound(cnv_on_pynq, folder)
    return folder


class Bench:
    """A copy of the bound plan, FINN's project, and a Vivado to run the plan's script in."""

    def __init__(self, bound: Path, folder: Path) -> None:
        self.out, self.folder = folder / "out", folder
        shutil.copytree(bound / "bound", self.out)
        self.project = folder / "finn_zynq_link.xpr"
        self.project.write_text("<Project/>\n")
        handoff = folder / "finn_zynq_link.gen" / "sources_1" / "bd" / "top" / "hw_handoff"
        handoff.mkdir(parents=True)
        (handoff / "top.hwh").write_text("hand-off\n")
        plan = read_plan(self.out / "plan.json")
        pattern = load_platform(plan.platform.name, 1).fpgas[0].board.cell_pattern
        places = bound / "build" / "intermediate_models" / "kernel_partitions"
        names = [node.name for path in sorted(places.glob("*.onnx")) for node in onnx.load(path).graph.node]
        self.cells = [built_kernels.cell(pattern, name) for name in names]
        self.streams = streams_of(plan, bound)
        self.states: dict[str, Any] = {}
        self.design_part = self.project_part = PART
        self.arguments = [str(self.project), str(folder / "made")]

    @property
    def script(self) -> Path:
        return self.out / "vivado" / "zynq_impl.tcl"

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.out / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    def run(self) -> VivadoModel:
        device = self.out / "platform" / "devices" / "xc7z020.yaml"
        model = VivadoModel(device, self.cells, {}, self.design_part, self.streams)
        self.ran = model.add_project(self.project, self.project_part, **self.states)
        model.run_tcl(self.script, self.arguments)
        return model


@pytest.fixture
def bench(bound: Path, tmp_path: Path) -> Bench:
    return Bench(bound, tmp_path)


def test_the_script_implements_reports_and_copies(bench: Bench) -> None:
    model = bench.run()
    made = bench.folder / "made"
    assert sorted(path.name for path in made.iterdir()) == [
        *("failing_paths.rpt", "finn-accel.bit", "finn-accel.hwh"),
        *("pblocks.rpt", "timing_summary.rpt", "utilization.rpt"),
    ]
    assert model.pblocks, "the hook has made the plan's pblocks before opt_design"
    assert "new implementation" in (made / "finn-accel.bit").read_text()
    assert bench.ran.runs["synth_1"].is_finished, "synthesis is used as it is"
    assert not bench.ran.is_open


def test_it_runs_again(bench: Bench) -> None:
    bench.run()
    assert bench.run().pblocks


REPORT = "vivado/floorflow_report.tcl"
ZYNQ = "vivado/floorflow_zynq.tcl"


def too_many_arguments(bench: Bench) -> None:
    bench.arguments = [*bench.arguments, "more"]


def wrong_engine_in_the_design(bench: Bench) -> None:
    cell = next(cell for cell, (into, _) in bench.streams.items() if into)
    into, out = bench.streams[cell]
    bench.streams[cell] = [*into, 512], out


def cell_that_the_design_lacks(bench: Bench) -> None:
    bench.cells = [cell for cell in bench.cells if "MVAU" not in cell]


EDITS: dict[str, tuple[str, ...]] = {
    "run_that_is_not_reset": (ZYNQ, "    reset_run impl_1\n", ""),
    "synthesis_reset": (ZYNQ, "reset_run impl_1", "reset_run synth_1"),
    "run_that_is_not_waited_for": (ZYNQ, "    wait_on_run impl_1\n", ""),
    "step_that_does_not_exist": (ZYNQ, "-to_step write_bitstream", "-to_step bitstream"),
    "run_that_does_not_exist": (ZYNQ, "get_runs impl_1", "get_runs impl_2"),
    "hook_of_a_step_that_does_not_exist": (ZYNQ, "STEPS.OPT_DESIGN.TCL.PRE", "STEPS.OPTIMISE.TCL.PRE"),
    "reports_before_the_design_is_open": (ZYNQ, "    open_run impl_1\n", ""),
    "depth_without_hierarchy": (REPORT, "report_utilization -hierarchical -hier", "report_utilization -hier"),
    "report_without_a_file": (
        REPORT,
        "report_timing_summary -file [file join $folder timing_summary.rpt]",
        "report_timing_summary",
    ),
    "option_that_vivado_does_not_have": (REPORT, "-max_paths 200", "-paths 200"),
    "project_that_is_not_closed": (
        ZYNQ,
        "    open_project $project\n",
        "    open_project $project\n    open_project $project\n",
    ),
}
"""What is written otherwise in a script, by file, old and new text."""
STATES: dict[str, tuple[str, object]] = {
    "other_vivado": ("states", {"version": "2023.1"}),
    "project_of_another_part": ("project_part", "xc7z010clg400-1"),
    "design_of_another_part": ("design_part", "xc7z010clg400-1"),
    "implementation_that_fails": ("states", {"fails": True}),
    "no_arguments": ("arguments", []),
    "project_that_is_not_there": ("arguments", ["nowhere.xpr"]),
}
"""What is otherwise around the scripts."""
OTHERS: dict[str, Callable[[Bench], object]] = {
    "plan_that_is_not_bound": lambda bench: (bench.out / "fpga0" / "pblocks.tcl").unlink(),
    "no_hand_off": lambda bench: shutil.rmtree(bench.folder / "finn_zynq_link.gen"),
    "too_many_arguments": too_many_arguments,
    "wrong_engine_in_the_design": wrong_engine_in_the_design,
    "cell_that_the_design_lacks": cell_that_the_design_lacks,
}
MISTAKES = {
    "other_vivado": "this is Vivado 2023.1, FINN's project is of 2022.2",
    "project_of_another_part": "is for part 'xc7z010clg400-1', the plan for 'xc7z020clg400-1'",
    "design_of_another_part": "the plan is for part 'xc7z020clg400-1', but the open design has",
    "implementation_that_fails": r"impl_1 stopped at 75% \(route_design ERROR\); runme.log in",
    "no_arguments": r"expected -tclargs PROJECT.xpr",
    "too_many_arguments": r"expected -tclargs PROJECT.xpr",
    "project_that_is_not_there": "there is no project nowhere.xpr",
    "plan_that_is_not_bound": "run 'floorflow bind'",
    "wrong_engine_in_the_design": "it is another engine",
    "cell_that_the_design_lacks": "matches 0 cells",
    "no_hand_off": "there is no top.hwh",
    "run_that_is_not_reset": "needs to be reset",
    "synthesis_reset": "synthesis would be done again",
    "run_that_is_not_waited_for": "wait_on_run first",
    "step_that_does_not_exist": "'bitstream' is no step",
    "run_that_does_not_exist": "no run matches",
    "hook_of_a_step_that_does_not_exist": "no step of a run",
    "reports_before_the_design_is_open": "no implemented design is open",
    "depth_without_hierarchy": "needs -hierarchical",
    "report_without_a_file": "lost in batch mode",
    "option_that_vivado_does_not_have": "unknown option '-paths'",
    "project_that_is_not_closed": "a project is open already",
}
"""All, with what stops the run."""


def plant(bench: Bench, mistake: str) -> None:
    if mistake in EDITS:
        bench.edit(*EDITS[mistake])
    elif mistake in STATES:
        setattr(bench, *STATES[mistake])
    else:
        OTHERS[mistake](bench)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_stops_the_run(mistake: str, bench: Bench) -> None:
    plant(bench, mistake)
    with pytest.raises(VivadoError, match=MISTAKES[mistake]):
        bench.run()
    assert not (bench.folder / "made" / "finn-accel.hwh").exists()


def test_all_that_is_emitted_passes_the_linter(bound: Path) -> None:
    need_module("tclint", "tclint is not installed")
    scripts = sorted(str(path) for path in (bound / "bound").rglob("*.tcl"))
    assert len(scripts) == 5
    command = [sys.executable, "-m", "tclint.cli.tclint", *scripts]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
