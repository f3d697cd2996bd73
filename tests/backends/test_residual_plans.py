"""Residual networks with hls4ml and fpgaConvNet: copies, joins, and a short branch that holds what waits."""

import json
from pathlib import Path

import onnx
import pytest

import floorflow as ff
from examples.make_models import ModelBuilder
from tests.backends.fpgaconvnet_reader import read as read_config
from tests.backends.layered_plans import assert_legal, foldings, plan, read

KINDS = {"hls4ml": ("Clone", "Merge"), "fpgaconvnet": ("SplitLayer", "EltWiseLayer")}


@pytest.mark.parametrize("backend", KINDS)
def test_both_blocks_are_copied_and_joined_in_a_legal_plan(backend: str, folder: Path) -> None:
    out = plan(folder, "residual", backend)
    assert_legal(out)
    made = read(out)
    kinds = {engine["name"]: engine["kind"] for engine in made["networks"][0]["engines"]}
    copies, joins = KINDS[backend]
    assert [*kinds.values()].count(copies) == [*kinds.values()].count(joins) == 2
    folded, channels = foldings(made), made["phases"][0]["channels"]
    for name in (name for name, kind in kinds.items() if kind in (copies, joins)):
        assert sum(folded[name]["resources"].values()) > 0
        ends = [sum(channel[side] == name for channel in channels) for side in ("target", "source")]
        assert ends == ([1, 2] if kinds[name] == copies else [2, 1])


def test_the_shortcut_without_a_layer_holds_what_waits_for_the_windows_of_the_other_branch(folder: Path) -> None:
    made = read(plan(folder, "residual", "hls4ml"))
    kinds = {engine["name"]: engine["kind"] for engine in made["networks"][0]["engines"]}
    channels = made["phases"][0]["channels"]
    (shortcut,) = (c for c in channels if (kinds.get(c["source"]), kinds.get(c["target"])) == ("Clone", "Merge"))
    # Two windows of 3 x 3 over 8 x 8 pixels, padded: a row and two pixels each.
    assert shortcut["fifo_depth"] >= 2 * (8 + 2)


def test_hls4ml_is_told_of_joins_and_not_of_copies_which_it_makes_itself(folder: Path) -> None:
    layers = json.loads((plan(folder, "residual", "hls4ml") / "hls4ml" / "hls_config.json").read_text())["LayerName"]
    assert {name for name in layers if name.startswith("Add")} == {"Add_0", "Add_1"}
    assert not any("copy" in name or "clone" in name.lower() for name in layers)


def test_a_strict_reader_takes_copies_and_joins(folder: Path) -> None:
    out = plan(folder, "residual", "fpgaconvnet")
    config = json.loads((out / "fpgaconvnet" / "config.json").read_text())
    told = read_config(config, matching=True)
    planned = {name: entry["attributes"] for name, entry in foldings(read(out)).items()}
    assert {name: (f.coarse_in, f.coarse_out) for name, f in told.items()} == {
        name: (a["coarse_in"], a["coarse_out"]) for name, a in planned.items()
    }


def test_branches_of_different_bits_are_added_by_hls4ml_each_as_it_comes(tmp_path: Path) -> None:
    builder = ModelBuilder("unequal", (1, 3, 4, 4))
    builder.quantise(8, signed=False, narrow=False)
    start = builder.tensor
    builder.conv(3, (3, 3), 4, pads=(1, 1, 1, 1))
    builder.quantise(2, narrow=False)
    builder.add(start)
    onnx.save(builder.model(), tmp_path / "unequal.onnx")
    made = ff.plan(tmp_path / "unequal.onnx", "zcu104", backend="hls4ml", effort="fast", plots=False)
    made.save(tmp_path / "out")
    assert ff.check(tmp_path / "out").violations == ()
    (join,) = (engine for engine in made.engines if engine["kind"] == "Merge")
    widths = [channel["width_bits"] for channel in made.channels if channel["target"] == join["engine"]]
    assert sorted(widths) == [3 * 2, 3 * 8]
