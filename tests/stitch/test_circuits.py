"""What is written around modules, in Verilator, under lint and read by pyosys."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.stitch.circuits import SHIPPED, bench_of, lint, row, sources_of
from tests.tools import need_module

pytestmark = pytest.mark.tools


def test_words_are_complete_in_order_and_at_the_full_rate(tmp_path: Path) -> None:
    """Over six boundaries: with two stages, as boards have, with one, and with more than room is easily made for."""
    card = row(40, 3, (2, 1, 4, 2, 3, 6))
    bench = bench_of(tmp_path, sources_of(card), card.top)
    found = bench.run(until=30_000, most=4000)
    assert (found["sent_one"], found["got_one_out"], found["wrong_one_out"]) == (4000, 4000, 0)
    assert found["last_one_out"] - found["first_one_out"] == 3999
    for odds_in, odds_out in ((60, 256), (256, 60), (130, 120), (250, 250)):
        found = bench.run(until=60_000, most=2000, odds_in=odds_in, odds_out=odds_out)
        assert (found["sent_one"], found["got_one_out"], found["wrong_one_out"]) == (2000, 2000, 0)
    again = bench.run(until=60_000, most=2000, odds_in=200, odds_out=150, again_from=3_000, again_for=400)
    assert (again["sent_one"], again["got_one_out"], again["wrong_one_out"]) == (2000, 2000, 0)
    stalled = bench.run(until=20_000, most=2000, odds_out=0)
    assert stalled["got_one_out"] == 0


def test_lint_has_nothing_to_say(tmp_path: Path) -> None:
    card = row(24, 1, (2, 2))
    assert lint(tmp_path, sources_of(card), card.top) == ""


@pytest.mark.parametrize("bits", [8, 64, 512])
def test_no_path_leads_through_and_registers_are_as_charged(tmp_path: Path, bits: int) -> None:
    flops = {}
    for kind in ("slice", "stage", "landing"):
        module = netlist(tmp_path, SHIPPED[f"floorflow_stitch_{kind}.v"], bits)
        registers = [cell for cell in module["cells"].values() if "dff" in cell["type"]]
        held = {bit for cell in registers for bit in cell["connections"]["Q"]}
        outputs = [bit for p in module["ports"].values() if p["direction"] == "output" for bit in p["bits"]]
        assert outputs
        assert {*outputs} <= held, kind
        flops[kind] = len(held)
    charged = 2 * (bits + 2)  # a FIFO of two words: two flip-flops a wire
    assert abs(flops["slice"] - charged) <= 0.15 * charged
    # Two stages and a landing stand where two FIFOs are charged, and take less but for the narrowest.
    assert 2 * flops["stage"] + flops["landing"] <= 1.15 * 2 * charged


def netlist(folder: Path, path: Path, bits: int) -> dict[str, Any]:
    """Return a module of this width as pyosys elaborates it."""
    need_module("pyosys", "pyosys reads what is written")
    from pyosys import libyosys

    design, name = libyosys.Design(), path.stem
    commands = [f"read_verilog -sv {path}", f"chparam -set BITS {bits} {name}", f"hierarchy -check -top {name}"]
    for command in (*commands, "proc", "opt", "check -assert", f"write_json {folder / 'made.json'}"):
        libyosys.run_pass(f"tee -q -o {folder / 'log'} {command}", design)
    (module,) = json.loads((folder / "made.json").read_text())["modules"].values()
    return dict(module)
