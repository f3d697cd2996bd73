"""dfx/dfx.tcl of a plan with regions runs to its end in the strict model; what is wrong stops it, with a sentence."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from floorflow.emit.dfx import configurations, dfx_files
from floorflow.facts import Plan
from floorflow.facts.region import ReconfigurableEntry
from tests.tools import need_module, need_tcl
from tests.verify.region_cases import case

need_tcl()

from tests.vivado_model import VivadoError, VivadoModel  # noqa: E402  (needs tkinter)
from tests.vivado_model.checkpoints import Cell, Checkpoint, Dfx  # noqa: E402

DEVICES = Path(__file__).parents[2] / "platforms" / "devices"
BOARDS = {"pynq-z1": ("xc7z020clg400-1", "xc7z020"), "zcu104": ("xczu7ev-ffvc1156-2-e", "xczu7ev")}
PORTS = ("ap_clk", "ap_rst_n", "s_axis", "m_axis")


def plan_of(name: str) -> Plan:
    """Return as much of a plan as the emitter reads."""
    content = case(name)
    phases = [SimpleNamespace(name=phase["name"], region=phase["region"]) for phase in content["phases"]]
    fpgas = [SimpleNamespace(name="fpga0", part=BOARDS[name.split(",", maxsplit=1)[0]][0])]
    held = ReconfigurableEntry.model_validate(content["reconfigurable"])
    return cast(Plan, SimpleNamespace(reconfigurable=held, phases=phases, platform=SimpleNamespace(fpgas=fpgas)))


class Bench:
    """The emitted scripts, checkpoints as a synthesis leaves them, and a Vivado to run them in."""

    def __init__(self, name: str, folder: Path) -> None:
        self.part, self.device = BOARDS[name.split(",", maxsplit=1)[0]]
        self.plan, self.folder, self.made = plan_of(name), folder, folder / "made"
        for file, text in dfx_files(self.plan, "Generated for a test").items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        self.static, self.modules = folder / "static.dcp", folder / "modules"
        self.modules.mkdir()
        assert self.plan.reconfigurable is not None
        self.design = Checkpoint(self.part, cells={r.cell: Cell(PORTS) for r in self.plan.reconfigurable.regions})
        self.design.write(self.static)
        for phase in self.plan.phases:
            self.module(phase.name).write(self.modules / f"{phase.name}.dcp")
        self.arguments = [str(self.static), str(self.modules), str(self.made)]
        self.silent: list[str] = []
        self.broken_rules: dict[str, str] = {}

    def module(self, name: str, part: str = "", ports: tuple[str, ...] = PORTS) -> Checkpoint:
        return Checkpoint(part or self.part, is_module=True, ports=ports, name=name)

    def edit(self, old: str, new: str, file: str = "dfx/floorflow_dfx.tcl") -> None:
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, old
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def run(self) -> Dfx:
        model = VivadoModel(DEVICES / f"{self.device}.yaml", [])
        dfx = model.add_checkpoints(self.silent)
        dfx.broken_rules |= self.broken_rules
        model.run_tcl(self.folder / "dfx" / "dfx.tcl", self.arguments)
        self.output = model.output
        return dfx


CASES = ("pynq-z1, one over the clock column", "pynq-z1, most of the die", "pynq-z1, two", "zcu104, two")


@pytest.mark.parametrize("name", [*CASES, "pynq-z1, one small", "zcu104, one with a gap"])
def test_every_phase_gets_a_bitstream_beside_one_static_part(name: str, tmp_path: Path) -> None:
    bench = Bench(name, tmp_path)
    dfx = bench.run()
    assert dfx.design is None
    assert "pr_verify" in dfx.log
    assert (bench.made / "full.bit").read_text() == "all of run 1"
    cells = {region.name: region.cell for region in bench.plan.reconfigurable.regions}  # type: ignore[union-attr]
    for phase in bench.plan.phases:
        told = f"{phase.name} in {cells[str(phase.region)]} beside run 1"
        assert (bench.made / f"{phase.name}.bit").read_text() == told
        assert (bench.made / f"{phase.name}.bin").read_text() == f"bin of {told}"
    log = json.dumps(dfx.log)
    assert log.index("pr_verify") < log.index("write_bitstream")
    assert "pr_verify" in (bench.made / "pr_verify.log").read_text().lower()


def test_a_region_with_fewer_phases_has_its_first_again(tmp_path: Path) -> None:
    bench = Bench("pynq-z1, two", tmp_path)
    held = [phase for phase in bench.plan.phases if phase.name != "p3"]
    bench.plan = cast(Plan, SimpleNamespace(**{**vars(bench.plan), "phases": held}))
    assert list(configurations(bench.plan).values()) == [{"r0": "p0", "r1": "p1"}, {"r0": "p2", "r1": "p1"}]
    (tmp_path / "dfx" / "dfx.tcl").write_text(dfx_files(bench.plan, "again")["dfx/dfx.tcl"])
    dfx = bench.run()
    assert sorted(path.stem for path in bench.made.glob("*.bin")) == ["p0", "p1", "p2"]
    assert dfx.log.count("lock_design") == 2


def test_a_warning_of_vivados_rules_stops_nothing(tmp_path: Path) -> None:
    bench = Bench(CASES[0], tmp_path)
    bench.broken_rules = {"NSTD-1#1": "Critical Warning"}
    bench.run()
    assert list(bench.made.glob("*_drc.rpt"))


def test_it_runs_again(tmp_path: Path) -> None:
    bench = Bench(CASES[0], tmp_path)
    bench.run()
    bench.run()


LIBRARY, SCRIPT = "dfx/floorflow_dfx.tcl", "dfx/dfx.tcl"


def design_of_another_part(bench: Bench) -> None:
    bench.design.part = "xc7z010clg400-1"
    bench.design.write(bench.static)


def no_cell_of_that_name(bench: Bench) -> None:
    bench.design.cells = {"top_i/other": Cell(PORTS)}
    bench.design.write(bench.static)


def cell_that_is_not_empty(bench: Bench) -> None:
    bench.design.cells = {"top_i/r0": Cell(PORTS, "something")}
    bench.design.write(bench.static)


def edge_between_two_interconnects(bench: Bench) -> None:
    path = bench.folder / SCRIPT
    found = path.read_text().partition("SLICE_X")[2].partition("Y")[0]
    path.write_text(path.read_text().replace(f"SLICE_X{found}Y", f"SLICE_X{int(found) + 2}Y"))


def every_run_from_the_start(bench: Bench) -> None:
    bench.edit("            set static [DfxStatic $folder $given(-regions)]\n", "")
    bench.edit("        if {[llength $routed] == 0} {", "        if 1 {")


def two_regions_in_one_place(bench: Bench) -> None:
    path = bench.folder / SCRIPT
    lines = path.read_text().splitlines()
    places = [number for number, line in enumerate(lines) if line.strip().startswith("ranges ")]
    lines[places[-1]] = lines[places[0]]
    path.write_text("\n".join(lines).replace("snapping ON", "snapping ROUTING") + "\n")


EDITS: dict[str, tuple[str, ...]] = {
    "no_look_at_rules": ("        DfxRules $folder $name\n", ""),
    "rules_that_are_not_the_bitstreams": ("{default bitstream_checks}", "default"),
    "cell_that_is_not_reconfigurable": ("    set_property HD.RECONFIGURABLE TRUE $cell\n", ""),
    "no_pblock": ("    add_cells_to_pblock $pblock $cell\n", ""),
    "snapping_left_off": ("    set_property SNAPPING_MODE [dict get $region snapping] $pblock\n", ""),
    "snapping_on_over_the_clock_column": ("snapping ROUTING", "snapping ON", SCRIPT),
    "half_a_clock_region": ("Y0:SLICE_X", "Y5:SLICE_X", SCRIPT),
    "static_part_that_is_not_locked": ("    lock_design -level routing\n", ""),
    "locked_to_placement_alone": ("    lock_design -level routing\n", "    lock_design -level placement\n"),
    "locked_with_its_modules": ("        update_design -cell [DfxCell [dict get $region cell]] -black_box\n", ""),
    "no_verification": ("    DfxVerify $folder $routed\n", ""),
    "bitstream_of_what_stays": ("write_bitstream -force -cell [DfxCell $name] $bit", "write_bitstream -force $bit"),
    "bin_for_another_port": (" -disablebitswap", ""),
    "placed_twice": ("        place_design\n", "        place_design\n        place_design\n"),
    "not_routed": ("        route_design\n", ""),
    "design_left_open": ("        close_design\n", ""),
}
"""What is written otherwise in a script, by old and new text."""
STATES: dict[str, tuple[str, object]] = {
    "no_arguments": ("arguments", []),
    "module_that_leaves_the_cell_empty": ("silent", ["read_checkpoint"]),
    "routing_that_leaves_nothing": ("silent", ["write_checkpoint"]),
    "verification_that_leaves_nothing": ("silent", ["pr_verify"]),
    "rule_that_is_broken": ("broken_rules", {"NSTD-1#1": "Critical Warning", "HDPR-41#1": "Error"}),
    "report_of_rules_that_is_not_made": ("silent", ["report_drc"]),
    "bitstream_that_is_not_made": ("silent", ["write_bitstream"]),
    "bin_that_is_not_made": ("silent", ["write_cfgmem"]),
}
"""What is otherwise around the scripts."""
OTHERS: dict[str, Callable[[Bench], object]] = {
    "no_static_checkpoint": lambda bench: bench.static.unlink(),
    "no_checkpoint_of_a_phase": lambda bench: (bench.modules / "p1.dcp").unlink(),
    "module_with_other_ports": lambda bench: bench.module("p0", ports=("ap_clk",)).write(bench.modules / "p0.dcp"),
    "module_of_another_part": lambda bench: bench.module("p0", part="xc7z010clg400-1").write(bench.modules / "p0.dcp"),
    "a_whole_design_as_a_module": lambda bench: bench.design.write(bench.modules / "p0.dcp"),
    "design_of_another_part": design_of_another_part,
    "no_cell_of_that_name": no_cell_of_that_name,
    "cell_that_is_not_empty": cell_that_is_not_empty,
    "edge_between_two_interconnects": edge_between_two_interconnects,
    "every_run_from_the_start": every_run_from_the_start,
}
MISTAKES = {
    "design_of_another_part": "is for part 'xc7z010clg400-1', the plan for 'xc7z020clg400-1'",
    "no_static_checkpoint": "there is no checkpoint",
    "no_arguments": r"expected -tclargs STATIC.dcp MODULES",
    "no_checkpoint_of_a_phase": r"has no checkpoint of p1; synthesise each phase",
    "no_cell_of_that_name": "cell 'top_i/r0' of a region matches 0 cells",
    "cell_that_is_not_empty": "is no black box",
    "module_with_other_ports": "ports of 'p0' are not those of cell",
    "module_of_another_part": "the checkpoint is for part xc7z010clg400-1",
    "a_whole_design_as_a_module": "is a whole design",
    "module_that_leaves_the_cell_empty": "left cell 'top_i/r0' a black box",
    "routing_that_leaves_nothing": "route_design made no",
    "verification_that_leaves_nothing": "pr_verify made no",
    "rule_that_is_broken": r"configuration0 breaks 1 of Vivado's design rules \(HDPR-41#1\); no bitstream is written",
    "report_of_rules_that_is_not_made": "report_drc made no",
    "no_look_at_rules": "report_drc has not looked at this configuration",
    "rules_that_are_not_the_bitstreams": "report_drc has not looked at this configuration",
    "bitstream_that_is_not_made": "write_bitstream made no",
    "bin_that_is_not_made": "write_cfgmem made no",
    "cell_that_is_not_reconfigurable": "no cell is reconfigurable",
    "no_pblock": "is reconfigurable and has no pblock",
    "snapping_left_off": "SNAPPING_MODE is '', and off by default",
    "snapping_on_over_the_clock_column": "SNAPPING_MODE must be ROUTING",
    "half_a_clock_region": "RESET_AFTER_RECONFIG needs whole clock regions",
    "edge_between_two_interconnects": "splits the interconnect of column",
    "static_part_that_is_not_locked": "was routed before and is not locked",
    "locked_to_placement_alone": "only routing is",
    "locked_with_its_modules": "would be locked too",
    "every_run_from_the_start": "differ in what stays",
    "no_verification": "pr_verify has not compared this configuration",
    "bitstream_of_what_stays": "names partial files itself",
    "bin_for_another_port": "PCAP needs",
    "placed_twice": "the design is placed, expected optimised",
    "not_routed": "the design is not routed",
    "design_left_open": "a design is open",
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
def test_a_mistake_stops_the_run(mistake: str, tmp_path: Path) -> None:
    bench = Bench(CASES[0], tmp_path)
    plant(bench, mistake)
    with pytest.raises(VivadoError, match=MISTAKES[mistake]):
        bench.run()
    assert not list(bench.made.glob("*.bin"))


def test_a_region_without_one_type_of_site_is_refused(tmp_path: Path) -> None:
    bench = Bench(CASES[0], tmp_path)
    path = bench.folder / SCRIPT
    text = path.read_text()
    kept = [line if "ranges {" not in line else _without(line, "RAMB") for line in text.splitlines()]
    path.write_text("\n".join(kept) + "\n")
    with pytest.raises(VivadoError, match="leaves out the sites of column"):
        bench.run()


def _without(line: str, kind: str) -> str:
    head, _, rest = line.partition("{")
    words, _, tail = rest.partition("}")
    return f"{head}{{{' '.join(word for word in words.split() if not word.startswith(kind))}}}{tail}"


def test_two_regions_in_one_place_are_refused(tmp_path: Path) -> None:
    bench = Bench("pynq-z1, two", tmp_path)
    two_regions_in_one_place(bench)
    with pytest.raises(VivadoError, match="share frames of column"):
        bench.run()


def test_reset_after_reconfiguration_is_refused_on_ultrascale_plus(tmp_path: Path) -> None:
    bench = Bench("zcu104, two", tmp_path)
    bench.edit("reset FALSE", "reset TRUE", SCRIPT)
    with pytest.raises(VivadoError, match="UltraScale\\+ has no RESET_AFTER_RECONFIG"):
        bench.run()


def test_the_scripts_pass_the_linter(tmp_path: Path) -> None:
    need_module("tclint", "tclint is not installed")
    Bench("pynq-z1, two", tmp_path)
    scripts = sorted(str(path) for path in (tmp_path / "dfx").glob("*.tcl"))
    command: list[Any] = [sys.executable, "-m", "tclint.cli.tclint", *scripts]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
