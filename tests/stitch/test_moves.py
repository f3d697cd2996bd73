"""The scripts by which RapidWright moves checkpoints, run by a strict model of it; then Vivado's goes on."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from floorflow.facts import Plan
from floorflow.verify import check
from tests.rapidwright_model import API, RapidWright, RapidWrightError
from tests.rapidwright_model.calls import Java
from tests.stitch.planted import swap
from tests.stitch.twins import twins
from tests.stitch.vivado import DEVICES, Vivado
from tests.tools import need_tcl
from tests.vivado_model import VivadoError
from tests.vivado_model.sites import load_sites

pytestmark = pytest.mark.tools
need_tcl()
SCRIPT, LIBRARY, TOP = "rapidwright/stitch_fpga0.py", "rapidwright/floorflow_rapidwright.py", "fpga0/top/assemble.tcl"


@pytest.fixture(scope="module")
def vivado(tmp_path_factory: pytest.TempPathFactory) -> Vivado:
    """A plan, every module implemented once, and the top of its card."""
    folder = tmp_path_factory.mktemp("twins")
    made = Vivado(twins(folder), folder)
    for name in made.names:
        made.run(f"ooc/{name}/run.tcl", made.modules, made.made, "-once")
    made.run(TOP, made.made, "-glue")
    return made


def moved(vivado: Vivado, *fault: str, out: Path | None = None) -> RapidWright:
    """Run the card's script on what is made."""
    made = RapidWright(load_sites(DEVICES / "xcku5p.yaml"), *fault)
    made.run((out or vivado.out) / SCRIPT, vivado.made)
    return made


def differences(plan: Plan, made: RapidWright) -> list[str]:
    """Return where modules and wires are not as the plan has them; what they are called is equal here."""
    phase = plan.only_phase
    shared = {module.name: module.implementation for module in phase.modules if module.reused}
    found = [f"{name} is not filled" for name in shared if name not in made.instances]
    for name, (top, leaves) in made.instances.items():
        (text,) = [text for text in phase.pblocks[name].ranges if text.startswith("SLICE_")]
        left, bottom, right, top_row = map(int, re.findall(r"\d+", text))
        for site in leaves.values():
            x, y = map(int, re.findall(r"\d+", site))
            if not (left <= x <= right and bottom <= y <= top_row):
                found.append(f"{name} has a cell at {site}, outside of {text}")
        if top != f"impl_{shared[name]}":
            found.append(f"{name} is a {top}")
    home = {engine: module.name for module in phase.modules for engine in module.engines}
    wires = dict[tuple[str, str], tuple[str, str]]()
    for channel in phase.channels:
        ends = [home.get(channel.source, ""), home.get(channel.target, "")]
        if {*ends} <= {*shared} and not channel.slices:
            names = [*(f"tdata[{bit}]" for bit in range(-(-channel.width_bits // 8) * 8)), "tvalid"]
            wires |= {(ends[0], f"m_axis_0_{one}"): (ends[1], f"s_axis_0_{one}") for one in names}
            wires[ends[1], "s_axis_0_tready"] = (ends[0], "m_axis_0_tready")
    return found + ([] if wires == made.joined else [f"{len(wires)} wires are planned, {len(made.joined)} joined"])


def test_modules_that_would_compute_with_the_weights_of_another_are_told_first(vivado: Vivado) -> None:
    reused = sum(module.reused for module in vivado.plan.only_phase.modules)
    assert any(f"{reused} modules share implementations" in warning for warning in vivado.plan.unbuilt)


def test_checkpoints_are_moved_to_the_plans_windows_and_joined_bit_by_bit(vivado: Vivado) -> None:
    made = moved(vivado)
    assert differences(vivado.plan, made) == []
    assert len(made.instances) == 6
    assert len(made.joined) == 2 * (16 + 144 + 2 * 2)
    read = [line for line in made.log if line.startswith("read")]
    assert len(read) == 1 + 3, "each checkpoint is read once"


def test_vivado_goes_on_with_what_was_moved(vivado: Vivado) -> None:
    moved(vivado)
    made = vivado.run(TOP, vivado.made, "-stitched").written["top_fpga0.dcp"]
    assert {*made["held"]} == {module.name for module in vivado.plan.only_phase.modules}
    assert all(held["locked_here"] for held in made["held"].values())
    assert made["step"] == "route_design"
    assert (vivado.made / "top_fpga0/top_fpga0_funcsim.v").exists()


def test_a_module_that_is_moved_has_the_least_time_of_all_its_places(vivado: Vivado) -> None:
    """It is implemented once, so that its delays outside are those of the longest way."""
    text = (vivado.out / "ooc/impl_MVAU_rtl_0/run.tcl").read_text()
    ways = [float(ns) for ns in re.findall(r"\{m_axis_0 \{[^}]*\} ([\d.]+)\}", text)]
    made = json.loads((vivado.made / "MVAU_rtl_0.dcp").read_text())
    assert len(ways) == 2
    assert made["delays"]["m_axis_0_tvalid"] == max(ways)
    assert not (vivado.made / "MVAU_rtl_1.dcp").exists()


def test_every_method_of_the_index_is_called(vivado: Vivado) -> None:
    """So that it holds no more than the scripts use, but for names in sentences, which other tests read."""
    moved(vivado)
    called = {(name, method) for name, method, _ in Java.calls}
    assert {method for name in API for method in API[name] if (name, method) not in called} <= {"getName"}


def copied(vivado: Vivado, folder: Path) -> Path:
    out = folder / "out"
    for name in ("rapidwright", "fpga0", "vivado", "rtl"):
        # Old bytecode would pass for that of a script that is edited within a second, to as many bytes.
        shutil.copytree(vivado.out / name, out / name, ignore=shutil.ignore_patterns("__pycache__"))
    return out


FAULTS = {
    "a net without a route": ("unrouted", "1 nets have no route"),
    "an encrypted IP": ("encrypted", "has encrypted cells"),
    "no RapidWright": ("not installed", "pip install rapidwright"),
}


@pytest.mark.parametrize(("fault", "told"), FAULTS.values(), ids=FAULTS)
def test_what_is_wrong_with_a_checkpoint_stops_it(vivado: Vivado, fault: str, told: str) -> None:
    with pytest.raises(SystemExit, match=told):
        moved(vivado, fault)


Edit = Callable[[str], str]
PLANTED: dict[str, tuple[str, Edit, str]] = {
    "a method that is not there": (LIBRARY, swap(r"getCorrespondingNet\(", "getCorrespondingNets("), "has no getCorr"),
    "an argument too few": (LIBRARY, swap(r"setAutoIOBuffers\(False", "setAutoIOBuffers("), r"setAutoIOBuffers\(\)"),
    "an argument too many": (LIBRARY, swap(r"unroute\(\)  #", "unroute(True)  #"), r"has no unroute\(bool\)"),
    "a path that is no text": (LIBRARY, swap(r"readCheckpoint\(str\(glue\)\)", "readCheckpoint(glue)"), "Path"),
    "a name in the place of a site": (LIBRARY, swap(r"place\(site, ", "place(name, "), r"has no place\(str"),
    "a number in the place of a switch": (LIBRARY, swap(r"removePin\(sink, True", "removePin(sink, 1"), "removePin"),
    "a constructor as a method": (LIBRARY, swap(r"Design\.readCheckpoint\(path", "Design(path"), "has no <init>"),
    "modules that may overlap": (LIBRARY, swap(r"place\(site, False, False\)", "place(site)"), "short forms"),
    "cells that may be left out": (LIBRARY, swap(r"place\(site, False, F", "place(site, True, F"), "left out"),
    "power as it was routed": (LIBRARY, swap(r"Module\(made, True\)", "Module(made, False)"), "arrives fixed"),
    "a clock that holds it": (LIBRARY, swap(r"^            net\.unroute\(\)", "            pass"), "was not placed"),
    "equal names of other cells": (LIBRARY, swap(r"^    name_apart\(.*\)\n", ""), "already contains EDIFCell"),
    "primitives renamed": (LIBRARY, swap(r"if library\.isHDIPrimitivesLibrary\(\):", "if False:"), "is a primitive"),
    "a pin in two nets": (
        LIBRARY,
        swap(r"^            before\.removePin.*\n", "            pass\n"),
        "in a net already",
    ),
    "names of nets before cells have contents": (
        LIBRARY,
        swap(r"^    netlist\.resetParentNetMap\(\)\n(.*\n)", r"\1    netlist.resetParentNetMap()\n"),
        "Vivado would find other nets",
    ),
    "netlists not joined": (LIBRARY, swap(r"^    netlist\.consolidateAll.*\n", ""), "Vivado would find other nets"),
    "buffers for a part of a design": (
        LIBRARY,
        swap(r"setAutoIOBuffers\(False", "setAutoIOBuffers(True"),
        "find other",
    ),
    "no checkpoint": (LIBRARY, swap(r"^    design\.writeCheckpoint.*\n", ""), "wrote no"),
    "the wrong bit": (LIBRARY, swap(r"_tdata\[\{bit\}\]", "_tdata[{bit + 1}]"), "has no wire at pin"),
    "bits from the other end": (
        LIBRARY,
        swap(r"zip\(pins_of\(port, bits\), pins", "zip(reversed([*pins_of(port, bits)]), pins"),
        "no wire leads|does not join",
    ),
    "two modules at one anchor": (SCRIPT, swap("X60Y120", "X60Y60"), "have one anchor"),
    "a window on other columns": (SCRIPT, swap('"SLICE_X64Y120"', '"SLICE_X65Y120"'), "cannot be at SLICE_X65Y120"),
    "a window outside of the die": (SCRIPT, swap("X64Y120", "X64Y9000"), "the part has no"),
    "a window that overlaps": (SCRIPT, swap("X60Y120", "X60Y65"), "a site is taken"),
    "a module left out": (SCRIPT, swap(r'^    Place\("MVAU_rtl_1".*\n', ""), "KeyError|MVAU_rtl_1"),
    "a module twice": (SCRIPT, swap(r'^    Place\("MVAU_rtl_1"', '    Place("MVAU_rtl_0"'), "one anchor|no empty cell"),
    "a module of another implementation": (
        SCRIPT,
        swap('1", "impl_MVAU_rtl_0"', '1", "impl_FMPadding_rtl_0"'),
        "plan's",
    ),
    "another checkpoint": (
        SCRIPT,
        swap(r'^(    Place\("FM\w+_0", "\w+", )"FMPadding_rtl_0"', r'\1"MVAU_rtl_0"'),
        "is no 'impl_",
    ),
    "a checkpoint that is missing": (
        SCRIPT,
        swap(r', "MVAU_rtl_0", "SLICE', ', "MVAU_rtl_9", "SLICE'),
        "lacks MVAU_rtl_9",
    ),
    "the top of another card": (SCRIPT, swap('"top_fpga0"', '"top_fpga1"'), "lacks glue.dcp"),
    "a wider port": (SCRIPT, swap('"s_axis_0": 144', '"s_axis_0": 152'), "has no wire at pin"),
    "a stream to another module": (
        SCRIPT,
        swap(
            r'"stream_2", (.*), \("ConvolutionInputGenerator_rtl_0"',
            r'"stream_2", \1, ("ConvolutionInputGenerator_rtl_1"',
        ),
        "does not join",
    ),
    "a stream backwards": (
        SCRIPT,
        swap(r'"stream_2", (\(.*?\)), (\(.*?\))\)', r'"stream_2", \2, \1)'),
        "no wire leads",
    ),
    "a stream left out": (SCRIPT, swap(r'^    Stream\("stream_3".*\n', ""), "wires are planned"),
    "a window one clock region on": (SCRIPT, swap("X60Y120", "X60Y180"), "outside of"),
}


@pytest.mark.parametrize(("file", "edit", "told"), PLANTED.values(), ids=PLANTED)
def test_a_planted_mistake_is_caught(vivado: Vivado, tmp_path: Path, file: str, edit: Edit, told: str) -> None:
    out = copied(vivado, tmp_path)
    (out / file).write_text(edit((out / file).read_text()))
    with pytest.raises((SystemExit, RapidWrightError, LookupError, AssertionError), match=told):
        assert differences(vivado.plan, moved(vivado, out=out)) == []


def test_what_is_missing_before_vivado_goes_on_is_told(vivado: Vivado, tmp_path: Path) -> None:
    made = tmp_path / "made"
    shutil.copytree(vivado.made, made)
    (made / "top_fpga0/stitched.dcp").unlink(missing_ok=True)
    with pytest.raises(VivadoError, match=r"run -glue, then rapidwright/stitch_"):
        vivado.run(TOP, made, "-stitched")
    shutil.copy(made / "top_fpga0/glue.dcp", made / "top_fpga0/stitched.dcp")
    with pytest.raises(VivadoError, match="is empty in"):
        vivado.run(TOP, made, "-stitched")
    with pytest.raises(VivadoError, match="expected one of -glue or -stitched"):
        vivado.run(TOP, made, "-once")


JUDGED: dict[str, tuple[str, Edit, str]] = {
    "another anchor": (SCRIPT, swap("X60Y120", "X60Y121"), "stitch-script-differs"),
    "a module left out": (SCRIPT, swap(r'^    Place\("MVAU_rtl_1".*\n', ""), "stitch-script-differs"),
    "a stream left out": (SCRIPT, swap(r'^    Stream\("stream_3".*\n', ""), "stitch-script-differs"),
    "a script that does more": (SCRIPT, swap("^stitch", "print()\nstitch"), "stitch-script-differs"),
    "a script that is none": (SCRIPT, lambda _: "(", "stitch-names-differ"),
    "another library": (LIBRARY, swap("False, False", "False, True"), "shipped-file-differs"),
    "a first that is another": (TOP, swap("MVAU_rtl_1 MVAU_rtl_0", "MVAU_rtl_1 MVAU_rtl_1"), "stitch-script-differs"),
}


def test_a_plan_that_shares_checkpoints_is_legal(vivado: Vivado) -> None:
    assert check(vivado.out) == []


@pytest.mark.parametrize(("file", "edit", "expected"), JUDGED.values(), ids=JUDGED)
def test_a_planted_mistake_is_judged(vivado: Vivado, tmp_path: Path, file: str, edit: Edit, expected: str) -> None:
    shutil.copytree(vivado.out, tmp_path / "out")
    path = tmp_path / "out" / file
    path.write_text(edit(path.read_text()))
    assert {violation.name for violation in check(tmp_path / "out")} == {expected}
