"""Planted mistakes in the files of the plan of two networks and two phases."""

from __future__ import annotations

import json

from tests.verify.mutants_phases import PHASES
from tests.verify.planting import Files, Plan

mutant = PHASES.mutant


@mutant("file-missing")
def phase_without_its_constraints(plan: Plan, files: Files) -> None:
    del files["phases/p1/fpga0/pblocks.xdc"]


@mutant("file-missing")
def network_without_its_files_in_a_phase(plan: Plan, files: Files) -> None:
    del files["phases/p1/finn/radar/folding_config.json"]


@mutant("file-missing")
def files_of_a_phase_in_the_folder_of_all(plan: Plan, files: Files) -> None:
    for name in [name for name in files if name.startswith("phases/p0/")]:
        files[name.removeprefix("phases/p0/")] = files.pop(name)


@mutant("constraints-unplanned")
def constraints_of_a_phase_that_is_gone(plan: Plan, files: Files) -> None:
    files["phases/p2/fpga0/pblocks.xdc"] = files["phases/p1/fpga0/pblocks.xdc"]


@mutant("constraints-unplanned")
def constraints_of_no_phase(plan: Plan, files: Files) -> None:
    files["fpga0/pblocks.xdc"] = files["phases/p1/fpga0/pblocks.xdc"]


@mutant("library-missing")
def library_sought_a_folder_too_low(plan: Plan, files: Files) -> None:
    name = "phases/p1/fpga0/pblocks.tcl"
    files[name] = files[name].replace(".. .. .. vivado", ".. vivado")


@mutant("cell-misplaced")
def cells_of_the_other_phase(plan: Plan, files: Files) -> None:
    name = "phases/p1/fpga0/pblocks.xdc"
    lines = files[name].split("\n")
    cells = [number for number, line in enumerate(lines) if line.startswith("add_cells")]
    one, other = lines[cells[0]], lines[cells[-1]]
    get = [line.partition("[get_cells ")[2] for line in (one, other)]
    lines[cells[0]], lines[cells[-1]] = one.replace(get[0], get[1]), other.replace(get[1], get[0])
    files[name] = "\n".join(lines)


@mutant("finn-slr-differs")
def slr_of_the_other_phase(plan: Plan, files: Files) -> None:
    files["phases/p0/finn/radar/floorplan.json"] = files["phases/p0/finn/radar/floorplan.json"].replace(
        '"slr": 1', '"slr": 0'
    )


@mutant("finn-folding-differs")
def folding_of_the_other_phase(plan: Plan, files: Files) -> None:
    name = "phases/p1/finn/radar/folding_config.json"
    content = json.loads(files[name])
    content["Thresholding_rtl_0"]["PE"] = 2
    files[name] = json.dumps(content)


@mutant("finn-node-unknown")
def node_by_its_id(plan: Plan, files: Files) -> None:
    name = "phases/p1/finn/radar/folding_config.json"
    files[name] = files[name].replace("AddStreams_hls_0", "radar/AddStreams_hls_0")


@mutant("cell-shared")
def units_of_two_networks_as_one_cell(plan: Plan, files: Files) -> None:
    content = json.loads(files["phases/p0/bound.json"])
    one, other = list(content["cells"])[:2]
    content["cells"][other] = content["cells"][one]
    files["phases/p0/bound.json"] = json.dumps(content)


@mutant("network-files-unplanned")
def files_of_a_network_that_is_gone(plan: Plan, files: Files) -> None:
    files["phases/p1/finn/lidar/folding_config.json"] = files["phases/p1/finn/radar/folding_config.json"]
