"""The tops of planned cards: read by pyosys, under lint, and run by Verilator with modules that pass words on."""

import json
import re
from pathlib import Path

import pytest

from floorflow.facts import read_plan
from tests.conftest import Planned
from tests.plans import PLANS
from tests.stitch.circuits import bench_of, lint, passing
from tests.tools import need_module

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def cnv(planned: Planned) -> Path:
    return planned(PLANS["CNV stitched over several SLRs"])


def written(out: Path, fpga: str = "fpga0") -> dict[str, str]:
    """Return the Verilog of a card's top, and of the wrappers of its modules."""
    paths = [*(out / fpga / "top").glob("*.v"), *(out / "rtl").glob("*.v")]
    return {path.name: path.read_text() for path in paths}


def test_the_top_is_whole(cnv: Path, tmp_path: Path) -> None:
    need_module("pyosys", "pyosys reads what is written")
    from pyosys import libyosys

    texts = written(cnv)
    assert lint(tmp_path, texts, "top_fpga0") == ""
    design = libyosys.Design()
    files = " ".join(str(tmp_path / name) for name in texts if name != "stubs.v")
    for command in (
        f"read_verilog -lib {tmp_path / 'stubs.v'}",
        f"read_verilog {files}",
        "hierarchy -check -top top_fpga0",
        "proc",
        "opt_clean",
        "check -assert",
    ):
        libyosys.run_pass(f"tee -q -o {tmp_path / 'log'} {command}", design)


def test_the_top_has_what_the_plan_has(cnv: Path) -> None:
    plan, text = read_plan(cnv / "plan.json"), (cnv / "fpga0/top/top.v").read_text()
    phase, table = plan.only_phase, json.loads((cnv / "cells.json").read_text())["cards"]["fpga0"]
    assert {*table["modules"]} == {module.name for module in phase.modules}
    found = {kind: re.findall(rf"floorflow_stitch_{kind} #\(.*\) (\w+) \(", text) for kind in ("slice", "stage")}
    assert len(found["stage"]) == sum(len(channel.crossing_slots) for channel in phase.channels) > 0
    assert len(found["slice"]) == sum(channel.slices for channel in phase.channels) > 0
    widths = {name: 1 + int(most) for most, name in re.findall(r"wire \[(\d+):0\] (stream_\d+)_0_tdata;", text)}
    bits = {table["streams"][c.name]["wires"]: c.width_bits for c in phase.channels if c.name in table["streams"]}
    assert widths == {n: -(-b // 8) * 8 for n, b in bits.items()}


@pytest.mark.slow
def test_words_pass_the_planned_top_in_order_and_at_the_full_rate(cnv: Path, tmp_path: Path) -> None:
    texts = {name: text for name, text in written(cnv).items() if name != "stubs.v"}
    for folder in (cnv / "ooc").iterdir():
        text = (folder / f"{folder.name}.v").read_text()
        texts |= {f"{folder.name}.v": text, f"{folder.name}_core.v": passing(text, folder.name)}
    bench = bench_of(tmp_path, texts, "top_fpga0")
    found = bench.run(until=20_000, most=2500)
    assert (found["sent_one"], found["got_one_out"], found["wrong_one_out"]) == (2500, 2500, 0)
    assert found["last_one_out"] - found["first_one_out"] == 2499
    found = bench.run(until=40_000, most=1500, odds_in=200, odds_out=130, again_from=4_000, again_for=400)
    assert (found["sent_one"], found["got_one_out"], found["wrong_one_out"]) == (1500, 1500, 0)
