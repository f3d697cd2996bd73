"""The scripts that implement modules alone and stitch them, run by the model of Vivado, and what stops them."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from floorflow.hardware.reach import reach_tiles
from floorflow.verify import check
from tests.conftest import Planned
from tests.plans import PLANS
from tests.stitch.twins import twins
from tests.stitch.vivado import DEVICES, Vivado
from tests.tools import need_module, need_tcl
from tests.vivado_model import VivadoError
from tests.vivado_model.arguments import COMMANDS
from tests.vivado_model.stitching import Stitching

pytestmark = pytest.mark.tools
need_tcl()


@pytest.fixture(scope="module")
def cnv(planned: Planned) -> Path:
    return planned(PLANS["CNV stitched over several SLRs"])


@pytest.fixture(scope="module")
def library(cnv: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Vivado, dict[str, Stitching]]:
    """All modules, implemented, and what each run recorded."""
    vivado = Vivado(cnv, tmp_path_factory.mktemp("library"))
    return vivado, {name: vivado.implement(name) for name in vivado.names}


def test_every_module_is_implemented_where_the_plan_has_it(library: tuple[Vivado, dict[str, Stitching]]) -> None:
    vivado, runs = library
    phase = vivado.plan.only_phase
    written = {name: held for run in runs.values() for name, held in run.written.items() if name != "synthesised.dcp"}
    assert {*written} == {f"{module.name}.dcp" for module in phase.modules}
    sources = set()
    for module in phase.modules:
        held, pblock = written[f"{module.name}.dcp"], phase.pblocks[module.name]
        assert held["pblock"]["ranges"] == pblock.ranges
        assert held["pblock"]["properties"] == {"IS_SOFT": "FALSE", "CONTAIN_ROUTING": "TRUE"}
        assert held["clocks"] == {"ap_clk": pytest.approx(1000 / vivado.plan.options.clock_mhz)}
        assert held["top"] == f"impl_{module.implementation}"
        assert held["locked"]
        sources.add(held["clock_source"])
        streams = {name.rsplit("_", 1)[0] for name in held["part_pins"]}
        assert len(streams) == len(pblock.ports)
        for name, value in held["delays"].items():
            assert 0.49 <= value / held["clocks"]["ap_clk"] <= 0.91, name
        told = json.loads((vivado.made / f"{module.name}_timing.json").read_text())
        assert told == {"name": module.name, "wns_ns": 0.1, "cells": len(held["leaves"]) - 2}
        assert (vivado.made / f"{module.name}_utilization.xml").exists()
    assert len(sources) == 1


def test_pins_lie_on_the_planned_side_and_delays_follow_from_the_way(
    library: tuple[Vivado, dict[str, Stitching]],
) -> None:
    """Both derived again from the plan: columns of SLICEs from the die's file, distance by hand."""
    vivado, runs = library
    phase, platform = vivado.plan.only_phase, vivado.plan.platform
    device = yaml.safe_load((DEVICES / "xcu250.yaml").read_text())
    columns, period = device["site_columns"]["SLICE"], 1000 / vivado.plan.options.clock_mhz
    of = {name: held for run in runs.values() for name, held in run.written.items()}
    table = json.loads((vivado.out / "cells.json").read_text())["cards"]["fpga0"]["modules"]
    ends: dict[str, list[tuple[float, float]]] = {}
    for name, pblock in phase.pblocks.items():
        for port in pblock.ports:
            flat, middle = getattr(pblock.box, port.side), (port.first + port.last) / 2
            ends.setdefault(port.channel, []).append(
                (flat, middle) if port.side in ("left", "right") else (middle, flat)
            )
            stream = next(
                key
                for key, channel in table[name]["ports"].items()
                if channel == port.channel and key[0] == ("s" if port.direction == "in" else "m")
            )
            for text in of[f"{name}.dcp"]["part_pins"][f"{stream}_tvalid"].split():
                x0, y0, x1, y1 = map(int, re.findall(r"\d+", text))
                near = [columns[x0], columns[x1]] if port.side in ("left", "right") else [y0, y1]
                far = [y0, y1] if port.side in ("left", "right") else [columns[x0], columns[x1]]
                assert all(abs(at - flat) <= 12 for at in near)
                assert port.first - 8 <= min(far) <= max(far) <= port.last + 8
    host = platform.fpgas[0].host_port
    for channel in phase.channels:
        points = ends.get(channel.name, [])
        if len(points) == 1:
            points.append(((host.left + host.right) / 2, (host.bottom + host.top) / 2))
        if len(points) == 2:
            tiles = sum(abs(a - b) for a, b in zip(*points, strict=True))
            share = tiles / (1 + channel.slices + len(channel.crossing_slots)) / reach_tiles(1000 / period)
            expected = period * (1 + min(share, 0.8)) / 2
            found = [
                held["delays"][f"{stream}_tvalid"]
                for name, row in table.items()
                for stream, other in row["ports"].items()
                if other == channel.name
                for held in [of[f"{name}.dcp"]]
            ]
            assert found == [pytest.approx(expected, abs=0.001)] * len(found)
            assert found


def test_the_card_is_stitched_of_them(library: tuple[Vivado, dict[str, Stitching]], tmp_path: Path) -> None:
    vivado = library[0]
    made = vivado.assemble()
    phase, table = vivado.plan.only_phase, json.loads((vivado.out / "cells.json").read_text())["cards"]["fpga0"]
    held = made.written["top_fpga0.dcp"]["held"]
    assert {cell: one["file"] for cell, one in held.items()} == {
        row["cell"]: f"{name}.dcp" for name, row in table["modules"].items()
    }
    slr_of = {slot.name: slot.slr for slot in vivado.plan.platform.slots}
    slrs = made.written["top_fpga0.dcp"]["slrs"]
    for channel in phase.channels:
        cells = table["streams"].get(channel.name, {"registers": []})["registers"]
        stages = [slrs[cell] for cell in cells if "_stage_" in cell]
        assert stages == [slr_of[slot] for slot in channel.crossing_slots]
        assert [slrs[cell] for cell in cells if "_slice_" in cell] == [slr_of[slot] for slot in channel.slice_slots]
    assert {slrs[table["resets"][slr]] for slr in table["resets"] if slr} == {*table["resets"]} - {""}
    assert (vivado.made / "top_fpga0/top_fpga0_funcsim.v").exists()
    assert not (vivado.made / "top_fpga0/top_fpga0.bit").exists()
    assert made.log.count("lock_design") == len(table["modules"])
    pins = tmp_path / "pins.xdc"
    ports = re.findall(r"(?:in|out)put\s+wire (?:\[\d+:0\] )?(\w+)", (vivado.out / "fpga0/top/top.v").read_text())
    pins.write_text("".join(f"set_property PACKAGE_PIN A{n} [get_ports {{{port}}}]\n" for n, port in enumerate(ports)))
    vivado.assemble(pins)
    assert (vivado.made / "top_fpga0/top_fpga0.bit").exists()


def test_every_card_of_several_is_stitched(planned: Planned, tmp_path: Path) -> None:
    """One that holds no module too, where a stream passes."""
    vivado = Vivado(planned(PLANS["TFC stitched on three cards"]), tmp_path)
    for name in vivado.names:
        vivado.implement(name)
    tops = sorted(path.parent.name for path in vivado.out.glob("fpga*/top"))
    assert tops == ["fpga0", "fpga1", "fpga2"]
    cards = json.loads((vivado.out / "cells.json").read_text())["cards"]
    for fpga in tops:
        made = vivado.run(f"{fpga}/top/assemble.tcl", vivado.made).written[f"top_{fpga}.dcp"]
        assert {*made["held"]} == {row["cell"] for row in cards[fpga]["modules"].values()}
    assert check(vivado.out) == []


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "cells without a place": ({"unplaced": ["core/lut[0]"]}, "1 cells of MVAU_hls_0 have no LOC"),
    "cells outside the pblock": ({"outside": True}, "cells of MVAU_hls_0 lie outside pblock_MVAU_hls_0"),
    "nets without a route": ({"unrouted": 3}, "3 nets of MVAU_hls_0 are not routed"),
    "a report without the count": ({"unrouted": None}, "does not tell how many nets"),
    "a slack below zero": ({"wns": -0.25}, "misses its clock by 0.25 ns"),
    "hold": ({"whs": -0.05}, "holds by -0.05 ns"),
    "no clock": ({"no_paths": True}, "has no timing path"),
    "a slice that synthesis took": ({"trimmed": ["slice_s_axis_0"]}, "synthesis left no cell 'slice_s_axis_0'"),
    "a clock buffer inside": ({"buffers": ["core/BUFG_inst"]}, "has clock buffers (core/BUFG_inst)"),
    "no checkpoint": ({"silent": ["write_checkpoint"]}, "synth_design made no"),
}


@pytest.mark.parametrize(("fault", "told"), FAULTS.values(), ids=FAULTS)
def test_what_goes_wrong_in_a_module_stops_its_run(cnv: Path, tmp_path: Path, fault: dict[str, Any], told: str) -> None:
    with pytest.raises(VivadoError, match=re.escape(told)):
        Vivado(cnv, tmp_path).implement("impl_MVAU_hls_0", **fault)


STITCHED: dict[str, tuple[dict[str, Any], str]] = {
    "an empty cell": ({"still_empty": True}, "a black box"),
    "lost route-through LUTs": ({"lost": 1}, "route-through LUTs were lost"),
    "lost places": ({"loses_places": True}, "have no LOC"),
    "nets without a route": ({"unrouted": 11}, "11 nets of top_fpga0 are not routed"),
    "a slack below zero": ({"wns": -1.5}, "misses its clock by 1.5 ns"),
    "several clock buffers": ({"buffers": ["a_BUFG", "b_BUFG"]}, "has 2 clock buffers"),
    "no netlist": ({"silent": ["write_verilog"]}, "write_verilog made no"),
}


@pytest.mark.parametrize(("fault", "told"), STITCHED.values(), ids=STITCHED)
def test_what_goes_wrong_in_assembly_stops_it(
    library: tuple[Vivado, dict[str, Stitching]], fault: dict[str, Any], told: str
) -> None:
    with pytest.raises(VivadoError, match=re.escape(told)):
        library[0].assemble(**fault)


def test_modules_share_a_session_and_one_that_fails_leaves_the_others(cnv: Path, tmp_path: Path) -> None:
    """Only the places that are named are made, and what was begun is closed."""
    vivado = Vivado(cnv, tmp_path)
    shutil.rmtree(vivado.modules / vivado.names[1])
    rows = [f"{{{{{cnv / 'ooc' / name / 'run.tcl'}}} {name.removeprefix('impl_')}}}" for name in vivado.names[:3]]
    rows.append(rows[2].replace(vivado.names[2].removeprefix("impl_") + "}", "no_place_of_it}"))
    session = tmp_path / "session.tcl"
    library = cnv / "vivado/floorflow_stitch.tcl"
    session.write_text(f"source {{{library}}}\nset_param general.maxThreads 2\nfloorflow::session $argv {{\n")
    with session.open("a") as script:
        script.write("\n".join(rows) + "\n}\n")
    with pytest.raises(VivadoError, match=f"1 modules were not made: {vivado.names[1].removeprefix('impl_')}"):
        vivado.run(str(session), vivado.modules, vivado.made)
    made = {path.stem for path in vivado.made.glob("*.dcp")}
    assert made == {vivado.names[at].removeprefix("impl_") for at in (0, 2)}


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(out: Path) -> None:
        path = out / name
        text = path.read_text()
        assert old in text, f"{name} lacks {old}"
        path.write_text(text.replace(old, new, 1))

    return edit


RUN, LIBRARY = "ooc/impl_MVAU_hls_0/run.tcl", "vivado/floorflow_stitch.tcl"
PLANTED: dict[str, tuple[Callable[[Path], None], str]] = {
    "no clock": (edited(LIBRARY, "create_clock -name ap_clk -period $period [get_ports ap_clk]", ""), "HD.CLK_SRC"),
    "clock source before the clock": (
        edited(
            LIBRARY,
            "    create_clock -name",
            "    set_property HD.CLK_SRC BUFGCE_X0Y0 [get_ports ap_clk]\n    create_clock -name",
        ),
        "the port must have a clock before",
    ),
    "routes may leave": (edited(LIBRARY, "set_property CONTAIN_ROUTING TRUE $pblock", ""), "CONTAIN_ROUTING"),
    "cells may leave": (edited(LIBRARY, "set_property IS_SOFT FALSE $pblock", ""), "IS_SOFT"),
    "nothing in the pblock": (edited(LIBRARY, "add_cells_to_pblock $pblock -top", ""), "does not hold the module"),
    "unconstrained inputs": (
        edited(LIBRARY, "set_input_delay -clock ap_clk $outside [StitchPins $stream IN]", ""),
        "have no delay",
    ),
    "pins anywhere": (edited(LIBRARY, "set_property HD.PARTPIN_RANGE $sites $pins", ""), "have no HD.PARTPIN_RANGE"),
    "not placed": (edited(LIBRARY, "        place_design\n", ""), "behind opt_design"),
    "not routed": (edited(LIBRARY, "        route_design\n        StitchPlaced", "        StitchPlaced"), "not routed"),
    "not locked": (edited(LIBRARY, "        lock_design -level routing\n", ""), "the module is not locked"),
    "IP not synthesised": (edited(LIBRARY, "    synth_ip [get_ips $name]\n", ""), "is not synthesised"),
    "IP without its files": (edited(LIBRARY, "    generate_target all [get_ips $name]\n", ""), "expected generated"),
    "catalogue not read": (edited(LIBRARY, "    update_ip_catalog\n", ""), "holds 0 IPs"),
    "another part": (edited(RUN, "-part {xcu250-figd2104-2L-e}", "-part {xczu7ev}"), "is unknown"),
    "a pblock that cuts a pair": (edited(RUN, "", ""), "cuts the INT pair"),
    "pins outside": (edited(RUN, "{s_axis_0 {", "{s_axis_0 {SLICE_X0Y0:SLICE_X0Y1 "), "leaves the pblock"),
    "a stream that is not there": (edited(RUN, "{m_axis_0 {", "{m_axis_7 {"), "no pins of the stream 'm_axis_7'"),
    "a delay of a whole cycle": (edited(RUN, "", ""), "leave nothing of a cycle"),
    "the wrapper of another": (
        edited("ooc/impl_MVAU_hls_0/impl_MVAU_hls_0.v", "module impl_MVAU_hls_0 (", "module impl_other ("),
        "was not read",
    ),
    "no shipped Verilog": (lambda out: shutil.rmtree(out / "rtl"), "take the plan's folder whole"),
}


def _cut(out: Path) -> None:
    text = (out / RUN).read_text()
    x = int(re.search(r"ranges \{SLICE_X(\d+)Y", text)[1])  # type: ignore[index]
    (out / RUN).write_text(text.replace(f"{{SLICE_X{x}Y", f"{{SLICE_X{x + 1}Y", 1))


def _whole_cycle(out: Path) -> None:
    text = (out / RUN).read_text()
    (out / RUN).write_text(re.sub(r"\} \d\.\d{3}\}", "} 5.000}", text, count=1))


PLANTED["a pblock that cuts a pair"] = (_cut, "cuts the INT pair")
PLANTED["a delay of a whole cycle"] = (_whole_cycle, "leave nothing of a cycle")


@pytest.mark.parametrize(("plant", "told"), PLANTED.values(), ids=PLANTED)
def test_a_planted_mistake_is_refused(cnv: Path, tmp_path: Path, plant: Callable[[Path], None], told: str) -> None:
    out = tmp_path / "out"
    for name in ("ooc", "vivado", "rtl", "fpga0"):
        shutil.copytree(cnv / name, out / name)
    shutil.copy(cnv / "plan.json", out)
    plant(out)
    with pytest.raises(VivadoError, match=re.escape(told)):
        Vivado(out, tmp_path).implement("impl_MVAU_hls_0")


ASSEMBLY = "fpga0/top/assemble.tcl"


def _widened(out: Path) -> None:
    path = out / "fpga0/top/stubs.v"
    path.write_text(re.sub(r"\[\d+:0\] m_axis_0", "[1023:0] m_axis_0", path.read_text(), count=1))


MISPLACED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a module left out": (edited(ASSEMBLY, "lappend cells {MVAU_hls_0 MVAU_hls_0}\n", ""), "a file of another plan"),
    "two modules exchanged": (
        edited(ASSEMBLY, "{MVAU_hls_0 MVAU_hls_0}", "{MVAU_hls_0 MVAU_hls_1}"),
        "is 'impl_MVAU_hls_1'",
    ),
    "not strict": (edited(LIBRARY, "-cell $cell -strict $file", "-cell $cell $file"), "is read with -strict"),
    "modules not locked": (edited(LIBRARY, "    lock_design -level routing [get_cells $cell]\n", ""), "is not locked"),
    "another clock": (edited("fpga0/top/clock.xdc", "-period 2.500", "-period 4.000"), "made for another clock"),
    "a wider port": (_widened, "has not the ports"),
    "a register that is not there": (edited(ASSEMBLY, "reset_SLR0", "reset_SLR9"), "matches 0 cells"),
    "an SLR that is not there": (edited(ASSEMBLY, "lappend slrs {SLR1", "lappend slrs {SLR7"), "no SLR"),
    "no clock source": (
        edited(LIBRARY, "set_property HD.CLK_SRC [StitchClockSource] [get_ports ap_clk]\n    } else", "} else"),
        "has its clock from",
    ),
    "a checkpoint that is missing": (edited(ASSEMBLY, " MVAU_hls_0}", " MVAU_hls_9}"), "lacks MVAU_hls_9.dcp"),
}


@pytest.mark.parametrize(("plant", "told"), MISPLACED.values(), ids=MISPLACED)
def test_a_planted_mistake_is_refused_in_assembly(
    library: tuple[Vivado, dict[str, Stitching]], tmp_path: Path, plant: Callable[[Path], None], told: str
) -> None:
    vivado, out = library[0], tmp_path / "out"
    for name in ("vivado", "rtl", "fpga0", "ooc"):
        shutil.copytree(vivado.out / name, out / name)
    shutil.copy(vivado.out / "plan.json", out)
    plant(out)
    other = Vivado(out, tmp_path)
    with pytest.raises(VivadoError, match=re.escape(told)):
        other.run(ASSEMBLY, vivado.made)


def test_every_script_passes_tclint(cnv: Path, planned: Planned, tmp_path: Path) -> None:
    """Of one card, of several, and of modules that share checkpoints."""
    need_module("tclint", "tclint is not installed")
    plans = (cnv, planned(PLANS["TFC stitched on three cards"]), twins(tmp_path))
    scripts = [path for out in plans for path in sorted(out.rglob("*.tcl"))]
    assert len(scripts) > 30
    for command in (["tclint.cli.tclint", *scripts], ["tclint.cli.tclfmt", "--check", cnv / LIBRARY]):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_cites_its_guide() -> None:
    new = {name for name, form in COMMANDS.items() if hasattr(Stitching, f"_{name}") and "guide" in form}
    assert new >= {"synth_design", "create_clock", "get_ports", "report_route_status", "write_verilog", "synth_ip"}
    assert all(re.match(r"UG\d{3} ", COMMANDS[name].get("guide", "")) for name in new)
