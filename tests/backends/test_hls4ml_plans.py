"""hls4ml as a back end: from a float model to a legal plan with its configuration, and what its judge refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml

import floorflow as ff
from tests.backends.layered_plans import (
    ZOO,
    Change,
    assert_legal,
    attribute,
    findings,
    folding,
    foldings,
    no_dsp,
    plan,
    read,
)
from tests.command_line import floorflow


def test_a_card_has_a_legal_plan_with_pictures_and_no_names_of_cells(folder: Path) -> None:
    out = plan(folder, "three_layer", "hls4ml", platform="alveo-u250")
    assert_legal(out)
    assert any(name.startswith("floorplan") for name in ff.load(out).pictures)
    assert (out / "fpga0" / "pblocks.unbound.tcl").exists()
    assert not list(out.rglob("*.xdc"))
    cells = json.loads((out / "hls4ml" / "cells.json").read_text())
    assert set(cells) == {engine["name"] for engine in read(out)["networks"][0]["engines"]}
    assert {row["cell"] for row in cells.values()} == {""}


def test_convolutions_are_as_fast_as_their_multipliers_allow(folder: Path) -> None:
    out = plan(folder, "mpcnn", "hls4ml")
    assert_legal(out)
    made = read(out)
    engines, folded = {e["name"]: e for e in made["networks"][0]["engines"]}, foldings(made)
    # 14 x 14 pixels, 20 channels, 5 x 5 taps, 20 filters.
    reuse = folded["conv2"]["attributes"]["ReuseFactor"]
    assert (folded["conv2"]["cycles"], folded["conv2"]["resources"]["DSP"]) == (196 * reuse, 10_000 // reuse)
    assert engines["conv2"]["attributes"]["layer"] == "Conv_1"
    costs = [sum(entry["resources"].values()) for entry in folded.values()]
    assert min(costs) > 0  # nothing that exists costs nothing
    assert any("not calibrated" in warning for warning in made["warnings"])


def test_both_files_hold_reuse_factor_and_strategy_of_each_layer(folder: Path) -> None:
    out = plan(folder, "mpcnn", "hls4ml")
    config = json.loads((out / "hls4ml" / "hls_config.json").read_text())
    project = yaml.safe_load((out / "hls4ml" / "config.yml").read_text())
    assert project["HLSConfig"] == config
    assert project["IOType"] == "io_stream"
    folded = foldings(read(out))
    names = {"conv1": "Conv_0", "conv2": "Conv_1", "conv3": "Conv_2", "ip1": "MatMul_0", "ip2": "MatMul_1"}
    names |= {"pool1": "MaxPool_0", "pool2": "MaxPool_1"}
    assert config["LayerName"] == {theirs: folded[ours]["attributes"] for ours, theirs in names.items()}


@pytest.mark.parametrize(
    "option", ["strategy=latency", "strategy=resource", "legal_set=samo", "costs=samo", "weight_bits=8"]
)
def test_every_option_has_legal_plans(option: str, folder: Path) -> None:
    out = plan(folder, "three_layer", "hls4ml", option)
    assert_legal(out)
    name, _, value = option.partition("=")
    if name == "strategy":
        strategies = {e["attributes"].get("Strategy", value.title()) for e in foldings(read(out)).values()}
        assert strategies == {value.title()}


def test_a_quantised_network_is_planned_with_its_own_bits(folder: Path) -> None:
    out = plan(folder, "../tfc_1w1a", "hls4ml")
    assert_legal(out)
    engines = read(out)["networks"][0]["engines"]
    assert {e["weight_bits"] for e in engines if e["kind"] == "Dense"} == {1}
    assert "BatchNormalization" in {e["kind"] for e in engines}


KINDS = {
    "sequence": ["Conv1D", "Activation", "GlobalPooling1D", "Dense", "Softmax"],
    "oblong": [
        "Clone",
        "Conv2D",
        "Activation",
        "Conv2D",
        "Activation",
        "Concatenate",
        "Pooling2D",
        "Conv2D",
        "Activation",
    ],
}


@pytest.mark.parametrize("name", KINDS)
def test_sequences_oblong_windows_joins_and_softmax_have_legal_plans(name: str, folder: Path) -> None:
    out = plan(folder, name, "hls4ml")
    assert_legal(out)
    made = read(out)
    assert [engine["kind"] for engine in made["networks"][0]["engines"]] == KINDS[name]
    assert all(sum(entry["resources"].values()) > 0 for entry in foldings(made).values())
    unmeasured = ", ".join(sorted({*KINDS[name]} - {"Dense"})[:2])
    assert any(f"areas of {unmeasured}" in each and "0.5 to 2 times" in each for each in made["warnings"])


def test_a_softmax_has_a_dsp_a_class_and_four_blocks_of_tables(folder: Path) -> None:
    use = foldings(read(plan(folder, "sequence", "hls4ml")))["Softmax_5"]["resources"]
    assert (use["DSP"], use["BRAM18"]) == (5, 4)  # as built: docs/hls4ml.md


def test_the_judge_finds_joins_and_windows_that_cannot_be(folder: Path, tmp_path: Path) -> None:
    for number, (key, value) in enumerate((("operand_channels", [6, 5]), ("filt_width", 7), ("stride_height", 0))):

        def spoil(made: dict[str, Any], files: dict[str, Any], key: str = key, value: object = value) -> None:
            next(e for e in made["networks"][0]["engines"] if key in e["attributes"])["attributes"][key] = value

        assert "engine-malformed" in findings(plan(folder, "oblong", "hls4ml"), tmp_path / str(number), spoil)


def test_what_hls4ml_has_no_layer_for_is_named(tmp_path: Path) -> None:
    model = onnx.load(ZOO / "mpcnn.onnx")
    pool = next(node for node in model.graph.node if node.name == "pool1")
    behind = onnx.helper.make_node("HardSigmoid", ["pooled"], pool.output, name="gate1")
    pool.output[0] = "pooled"
    model.graph.node.insert(list(model.graph.node).index(pool) + 1, behind)
    onnx.save(model, tmp_path / "other.onnx")
    ended = floorflow("plan", tmp_path / "other.onnx", "--backend", "hls4ml", "-p", "zcu104", "-o", tmp_path / "out")
    assert (ended.returncode, "gate1" in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "out").exists()


def test_what_no_chip_holds_is_infeasible_and_says_of_what(tmp_path: Path) -> None:
    ended = floorflow("plan", ZOO / "vgg11.onnx", "--backend", "hls4ml", "-p", "alveo-u250", "-o", tmp_path / "out")
    assert (ended.returncode, "BRAM18" in ended.stderr) == (3, True), ended.stderr


def bound(out: Path, cells: dict[str, Any], target: Path) -> Any:
    file = target.with_suffix(".json")
    file.write_text(json.dumps(cells))
    return floorflow("bind", out, "--build", file, "-o", target)


def test_cells_that_the_user_fills_in_become_constraints(folder: Path, tmp_path: Path) -> None:
    out = plan(folder, "three_layer", "hls4ml", platform="alveo-u250")
    cells = json.loads((out / "hls4ml" / "cells.json").read_text())
    filled = {name: {**row, "cell": f"top/{name}_U0"} for name, row in cells.items()}
    assert bound(out, filled, tmp_path / "bound").returncode == 0
    assert_legal(tmp_path / "bound")
    text = (tmp_path / "bound" / "fpga0" / "pblocks.xdc").read_text()
    assert all(text.count(f"{{{row['cell']}}}") == 1 for row in filled.values())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda cells: cells["ip1"].update(cell=""), "no cell is told for ip1"),
        (lambda cells: cells["ip1"].update(cell=cells["ip2"]["cell"]), "top/ip2 is the cell of several"),
        (lambda cells: cells["ip1"].update(cell="a b"), "the cell of ip1 is 'a b'"),
        (lambda cells: cells.pop("ip1"), "ip1 is in one of plan and file only"),
        (lambda cells: cells.update(ip1=3), "is no table of engines"),
    ],
)
def test_cells_that_are_not_all_told_are_refused(
    spoil: Callable[[dict[str, Any]], None], message: str, folder: Path, tmp_path: Path
) -> None:
    out = plan(folder, "three_layer", "hls4ml", platform="alveo-u250")
    cells = json.loads((out / "hls4ml" / "cells.json").read_text())
    filled = {name: {**row, "cell": f"top/{name}"} for name, row in cells.items()}
    spoil(filled)
    ended = bound(out, filled, tmp_path / "bound")
    assert (ended.returncode, message in ended.stderr) == (2, True), ended.stderr


def option(**values: object) -> Change:
    return lambda made, files: made["options"]["backend_options"].update(values)


def config(name: str, **values: object) -> Change:
    return lambda made, files: files["hls_config.json"]["LayerName"][name].update(values)


def no_layer(made: dict[str, Any], files: dict[str, Any]) -> None:
    del files["hls_config.json"]["LayerName"]["Conv_0"]


def other_module(made: dict[str, Any], files: dict[str, Any]) -> None:
    files["cells.json"]["conv1"]["module"] = "ip1"


MISTAKES: dict[str, tuple[Change, str]] = {
    "a factor that divides nothing": (folding("conv2", ReuseFactor=7), "illegal-folding"),
    "a factor that hls4ml does not take": (folding("conv2", ReuseFactor=1250, Strategy="Resource"), "illegal-folding"),
    "a strategy that there is not": (folding("conv2", Strategy="Guess"), "illegal-folding"),
    "unrolled beyond what is built": (folding("conv2", ReuseFactor=10, Strategy="Latency"), "illegal-folding"),
    "a pool that is folded": (folding("pool1", ReuseFactor=2), "illegal-folding"),
    "another factor than that of the cycles": (folding("conv1", ReuseFactor=500, Strategy="Resource"), "wrong-cycles"),
    "an attribute of another tool": (folding("conv1", lanes=2), "illegal-folding"),
    "a map without rows": (attribute("conv1", in_height=0), "engine-malformed"),
    "windows that do not fit": (attribute("conv1", out_height=3), "engine-malformed"),
    "multiplies in nothing": (no_dsp, "resources-too-few"),
    "an option of no value": (option(strategy="fast"), "plan-malformed"),
    "SAMO's factors alone": (option(legal_set="none"), "plan-malformed"),
    "hls4ml gets another factor": (config("Conv_0", ReuseFactor=3), "hls4ml-config-differs"),
    "hls4ml's files differ": (config("Conv_0", Precision="auto"), "hls4ml-config-malformed"),
    "hls4ml lacks a layer": (no_layer, "hls4ml-layer-missing"),
    "a cell of another module": (other_module, "cells-file-differs"),
}


@pytest.mark.parametrize("title", MISTAKES)
def test_the_judge_finds_planted_mistakes(title: str, folder: Path, tmp_path: Path) -> None:
    spoil, finding = MISTAKES[title]
    assert finding in findings(plan(folder, "mpcnn", "hls4ml"), tmp_path / "out", spoil)
