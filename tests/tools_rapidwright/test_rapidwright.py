"""RapidWright itself says which methods it has, and does to netlists what the scripts ask of it; without devices."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.stitch.twins import twins
from tests.tools import its_own_bytecode, need_module, need_rapidwright

pytestmark = pytest.mark.tools
HERE = Path(__file__).parent
MODULES = ("impl_FMPadding_rtl_0", "impl_MVAU_rtl_0")


def ran(script: str, *arguments: str) -> Any:
    """Run a script by the Python that has JPype, and return the JSON that it prints."""
    command = [str(need_rapidwright()), str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=its_own_bytecode())
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_every_method_that_scripts_call_has_the_recorded_forms() -> None:
    """The model refuses what is not in this record (tests/rapidwright_model/calls.py)."""
    recorded = json.loads((HERE.parent / "rapidwright_model/api.json").read_text())
    assert ran("asked.py") == recorded
    assert all(forms for methods in recorded["classes"].values() for forms in methods.values())


def as_edif(folder: Path, top: str, sources: Sequence[Path], stubs: Sequence[Path]) -> Path:
    """Return the netlist of a module, as pyosys elaborates it."""
    from pyosys import libyosys

    design, made = libyosys.Design(), folder / f"{top}.edf"
    commands = [*(f"read_verilog -lib {path}" for path in stubs), *(f"read_verilog {path}" for path in sources)]
    commands += [f"hierarchy -check -top {top}", "proc", "memory", "opt", "simplemap", "techmap", "opt_clean"]
    for command in (*commands, f"write_edif -pvector bra {made}"):
        libyosys.run_pass(f"tee -q -o {folder / 'log'} {command}", design)
    made.write_text(as_vivado_has_it(made.read_text()))
    return made


def as_vivado_has_it(text: str) -> str:
    """Return a netlist whose instances are of the modules in it; pyosys points at declarations that it puts ahead."""
    for name in re.findall(r"^    \(cell (?:\(rename )?(\w+)", text.partition("(library DESIGN")[2], re.M):
        text = text.replace(f"(cellRef {name} (libraryRef LIB)", f"(cellRef {name} (libraryRef DESIGN)")
    return text


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need_module("pyosys", "pyosys makes the netlists")
    need_rapidwright()
    folder = tmp_path_factory.mktemp("netlists")
    out = twins(folder)
    rtl = sorted((out / "rtl").glob("*.v"))
    made = [as_edif(folder, "top_fpga0", [out / "fpga0/top/top.v", *rtl], [out / "fpga0/top/stubs.v"])]
    for name in MODULES:
        text = (out / f"ooc/{name}/{name}.v").read_text()
        head = text[text.index(f"module {name} (") : text.index(");") + 2].replace(
            f"module {name} ", f"module {name}_core "
        )
        (folder / "core.v").write_text(f"{head}\nendmodule\n")
        made.append(as_edif(folder, name, [out / f"ooc/{name}/{name}.v", *rtl], [folder / "core.v"]))
        # Vivado calls the library of primitives so, by which RapidWright knows it.
        made[-1].write_text(made[-1].read_text().replace("LIB", "hdi_primitives"))
    result: dict[str, Any] = ran("netlists.py", str(out / "rapidwright"), *map(str, made))
    return result


def test_wires_of_the_planned_top_join_the_modules_bit_by_bit(done: dict[str, Any]) -> None:
    """And none of a bus joins a bit with the next."""
    bits = {"stream_2": 16, "stream_3": 144, "stream_6": 16, "stream_7": 144}
    assert done["joined"] == {name: [count + 2, 0] for name, count in bits.items()}


TOLD = {
    "bit": "has no wire at pin 's_axis_0_tdata[16]'",
    "cell": "has no cell 'nobody'",
    "implementation": "the plan's is a 'impl_other'",
    "contents": "is no black box",
    "equal names": "Destination netlist already contains EDIFCell named",
}


@pytest.mark.parametrize(("name", "told"), TOLD.items(), ids=TOLD)
def test_what_is_not_as_planned_is_told(done: dict[str, Any], name: str, told: str) -> None:
    assert told in done["told"][name]


def test_modules_with_equal_names_inside_come_into_one_netlist(done: dict[str, Any]) -> None:
    """What is in a module has its name ahead; primitives, in a library of Vivado's, keep theirs."""
    for top, names in zip(MODULES, done["names"], strict=True):
        own = [name for name in names if name.startswith(f"{top}_")]
        assert top in names
        assert any("floorflow_stitch_slice" in name for name in own)
        assert {name for name in names if not name.startswith(top)} >= {"$_DFF_P_"}
    assert done["added"] > len(MODULES)
