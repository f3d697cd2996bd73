"""fpgaConvNet as a back end: from a float model to a legal plan with its configuration, and what its judge refuses."""

import copy
import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow.backends.fpgaconvnet.backend import FpgaConvNetCosts
from floorflow.backends.fpgaconvnet.lower import lowered
from floorflow.backends.fpgaconvnet.options import FpgaConvNetOptions
from floorflow.backends.layered.graph import read_layers
from floorflow.errors import InputError
from floorflow.network import FloatBits
from floorflow.verify.layered.fpgaconvnet import judge
from tests.backends.fpgaconvnet_reader import FormatError
from tests.backends.fpgaconvnet_reader import read as read_config
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


def test_a_card_has_a_legal_plan_and_no_names_of_cells(folder: Path) -> None:
    out = plan(folder, "three_layer", "fpgaconvnet", platform="alveo-u50")
    assert_legal(out)
    assert (out / "fpga0" / "pblocks.unbound.tcl").exists()
    assert not list(out.rglob("*.xdc"))
    cells = json.loads((out / "fpgaconvnet" / "cells.json").read_text())
    assert set(cells) == set(foldings(read(out)))


def test_foldings_match_inside_layers_and_between_them(folder: Path) -> None:
    out = plan(folder, "mpcnn", "fpgaconvnet")
    assert_legal(out)
    made = read(out)
    folded = foldings(made)
    pools = [folded[name]["attributes"] for name in ("pool1", "pool2")]
    assert all(pool["coarse_in"] == pool["coarse_out"] for pool in pools)
    chain = [folded[engine["name"]]["attributes"] for engine in made["networks"][0]["engines"]]
    assert all(a["coarse_out"] == b["coarse_in"] for a, b in itertools.pairwise(chain))
    assert not any(channel["converter"] for channel in made["phases"][0]["channels"])
    assert min(sum(entry["resources"].values()) for entry in folded.values()) > 0


def test_without_inter_matching_squeeze_layers_stand_between(folder: Path) -> None:
    out = plan(folder, "mpcnn", "fpgaconvnet", "matching=none")
    assert_legal(out)
    made = read(out)
    assert {c["converter"] for c in made["phases"][0]["channels"]} == {None, "SqueezeLayer"}
    matched = read(plan(folder, "mpcnn", "fpgaconvnet"))
    intervals = [each["summary"]["networks"][0]["interval_cycles"] for each in (made, matched)]
    assert intervals[0] <= intervals[1]


def test_methods_carry_changes_on_to_neighbours_that_must_match() -> None:
    words = ("compare", ZOO / "mpcnn.onnx", "--backend", "fpgaconvnet", "-p", "zcu104", "--methods")
    ended = floorflow(*words, "exact,rule,annealing,brute", "--json")
    assert ended.returncode == 0, ended.stderr
    exact, rule, annealing, brute = json.loads(ended.stdout)["methods"]
    # A neighbour that must match keeps its other streams and its pace: else annealing ends at 7.8 times the optimum.
    assert exact["interval_cycles"] <= rule["interval_cycles"] <= 1.25 * exact["interval_cycles"]
    assert exact["interval_cycles"] <= annealing["interval_cycles"] <= 1.25 * exact["interval_cycles"]
    assert (brute["interval_cycles"], brute["verdict"][:9]) == (None, "not tried")
    for method in (rule, annealing):
        chain = [method["folding"][name] for name in ("conv1", "pool1", "conv2", "pool2", "conv3", "ip1", "ip2")]
        assert all(a["coarse_out"] == b["coarse_in"] for a, b in itertools.pairwise(chain))


@pytest.mark.parametrize("matching", ["inter", "none"])
def test_a_strict_reader_takes_the_configuration(matching: str, folder: Path) -> None:
    words = () if matching == "inter" else ("matching=none",)
    out = plan(folder, "mpcnn", "fpgaconvnet", *words)
    config = json.loads((out / "fpgaconvnet" / "config.json").read_text())
    told = read_config(config, matching=matching == "inter")
    planned = {name: entry["attributes"] for name, entry in foldings(read(out)).items()}
    assert {name: (f.coarse_in, f.coarse_out, f.fine) for name, f in told.items()} == {
        name: (a["coarse_in"], a["coarse_out"], a.get("fine", 1)) for name, a in planned.items()
    }


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda layer: layer.update(colour="red"), "has a field colour"),
        (lambda layer: layer.pop("onnx_node"), "lacks onnx_node"),
        (lambda layer: layer["parameters"].update(fine=2), "2 does not divide 25"),
        (lambda layer: layer["parameters"].update(groups="1"), "is '1', no int"),
        (lambda layer: layer["parameters"].pop("pad_left"), "is made from ['pad_left']"),
        (lambda layer: layer["streams_out"][0].update(coarse=7), "stream conv1_pool1"),
    ],
)
def test_the_strict_reader_is_strict(spoil: Callable[[dict[str, Any]], None], message: str, folder: Path) -> None:
    out = plan(folder, "mpcnn", "fpgaconvnet")
    config = json.loads((out / "fpgaconvnet" / "config.json").read_text())
    broken = copy.deepcopy(config)
    spoil(next(layer for layer in broken["partition"][0]["layers"] if layer["name"] == "conv1"))
    with pytest.raises(FormatError) as refused:
        read_config(broken, matching=True)
    assert message in str(refused.value)


@pytest.mark.parametrize("model", ["mpcnn", "mobilenet_v1", "three_layer"])
def test_the_judge_derives_the_cycles_of_every_option(model: str) -> None:
    # Written apart: the back end in floating point, the judge in fractions.
    dataflow = lowered(read_layers(ZOO / f"{model}.onnx", FloatBits(16, 16)))
    costs = FpgaConvNetCosts(FpgaConvNetOptions())
    for engine in dataflow.engines:
        has = {key: list(v) if isinstance(v, tuple) else v for key, v in engine.attributes.items()}
        entry = {"kind": engine.kind, "attributes": has, "input_bits": 16, "output_bits": 16}
        entry["weight_bits"] = engine.weight_bits
        for option in costs.options_of(engine):
            row = {"entry": entry, "folding": {"attributes": dict(option.folding)}}
            told = judge.engine(row, {})
            assert told is not None
            assert (told["objections"], told["cycles"]) == ([], option.cycles), engine.name
            assert told["window_fill"] == engine.window_fill
            assert all(getattr(option.resources, n.lower()) >= v for n, v in told["least_resources"].items())


def test_branches_are_split_and_joined(tmp_path: Path) -> None:
    source = read_layers(_residual(tmp_path), FloatBits(16, 16))
    dataflow = lowered(source)
    kinds = [engine.kind for engine in dataflow.engines]
    assert kinds == ["ConvolutionLayer", "SplitLayer", "ConvolutionLayer", "EltWiseLayer", "ReLULayer"]
    out = tmp_path / "out"
    words = ("plan", tmp_path / "residual.onnx", "--backend", "fpgaconvnet", "-p", "zcu104", "--no-plots", "-o", out)
    assert floorflow(*words).returncode == 0
    assert_legal(out)
    config = json.loads((out / "fpgaconvnet" / "config.json").read_text())
    assert len(read_config(config, matching=True)) == len(kinds)
    short = next(c for c in read(out)["phases"][0]["channels"] if c["name"].endswith("copy.1->join.1"))
    fill = Fraction(9, 64)  # of the window of the long branch: a row and two pixels of 8 x 8, padded
    assert short["fifo_depth"] >= fill * short["words_per_frame"]


@pytest.mark.parametrize("backend", ["fpgaconvnet", "hls4ml"])
def test_an_input_of_three_axes_is_flattened_whole(backend: str, tmp_path: Path) -> None:
    """One channel of six values, which a fully connected layer takes as six words."""
    builder = ModelBuilder("sequence", (1, 1, 6))
    builder.quantise(8, narrow=False)
    builder.flatten()
    builder.fully_connected(4, 6)
    onnx.save(builder.model(), tmp_path / "sequence.onnx")
    plan = ff.plan(tmp_path / "sequence.onnx", "zcu104", backend=backend, effort="fast", plots=False)
    assert ff.check(plan)
    assert plan.channels[0]["words_per_frame"] * plan.channels[0]["width_bits"] >= 6 * 8


@pytest.mark.parametrize("backend", ["fpgaconvnet", "hls4ml"])
def test_a_layer_on_every_pixel_and_a_network_without_layers_are_refused(backend: str, tmp_path: Path) -> None:
    builder = ModelBuilder("pixels", (1, 2, 6))
    builder.quantise(8, narrow=False)
    onnx.save(builder.model(), tmp_path / "nothing.onnx")
    weights = builder.quantised(builder.parameter((6, 3), 0.5), 4)
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, weights]), (1, 2, 3)
    onnx.save(builder.model(), tmp_path / "pixels.onnx")
    for name, told in (("nothing", "no operation of it is a layer"), ("pixels", "no layer of .* for 'MatMul_0'")):
        with pytest.raises(ff.InputError, match=told):
            ff.plan(tmp_path / f"{name}.onnx", "zcu104", backend=backend, effort="fast", plots=False)


def test_an_output_that_is_an_input_stays_with_the_host(tmp_path: Path) -> None:
    builder = ModelBuilder("through", (1, 3, 4, 4))
    builder.conv(2, (1, 1), 6)
    model = builder.model()
    beside = onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [1, 3])
    model.graph.input.append(beside)
    model.graph.node.append(onnx.helper.make_node("Identity", ["z"], ["z_out"]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("z_out", onnx.TensorProto.FLOAT, [1, 3]))
    onnx.save(model, tmp_path / "through.onnx")
    streams = lowered(read_layers(tmp_path / "through.onnx", FloatBits(16, 16))).streams
    assert [stream.channel for stream in streams] == ["host:in0.0->Conv_0.0", "Conv_0.0->host:out0.0"]


def _residual(folder: Path) -> Path:
    """Return a model of two convolutions, the second with a branch beside it."""
    from onnx import TensorProto, helper

    sizes = helper.make_tensor("sizes", TensorProto.INT64, [4], [4, 4, 3, 3])
    window = {"kernel_shape": [3, 3], "pads": [1] * 4}
    nodes = [
        helper.make_node("ConstantOfShape", ["sizes"], ["w"], "filling"),
        helper.make_node("Conv", ["x", "w"], ["a"], "first", **window),
        helper.make_node("Conv", ["a", "w"], ["b"], "second", **window),
        helper.make_node("Add", ["b", "a"], ["c"], "join"),
        helper.make_node("Relu", ["c"], ["y"], "last"),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 8, 8]) for name in "xy"]
    graph = helper.make_graph(nodes, "residual", ends[:1], ends[1:], [sizes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    onnx.save(model, folder / "residual.onnx")
    return folder / "residual.onnx"


def layer(number: int, **values: object) -> Change:
    return lambda made, files: files["config.json"]["partition"][0]["layers"][number]["parameters"].update(values)


def no_layer(made: dict[str, Any], files: dict[str, Any]) -> None:
    files["config.json"]["partition"][0]["layers"].pop()


def shallow(made: dict[str, Any], files: dict[str, Any]) -> None:
    files["config.json"]["partition"][0]["layers"][1]["streams_in"][0]["buffer_depth"] = 999


MISTAKES: dict[str, tuple[Change, str]] = {
    "a folding that divides no channels": (folding("conv2", coarse_in=3), "illegal-folding"),
    "a kernel that is folded unevenly": (folding("conv2", fine=2), "illegal-folding"),
    "a pool with two foldings": (folding("pool1", coarse_in=1, coarse_out=2), "illegal-folding"),
    "streams of two foldings meet": (folding("ip2", coarse_in=300), "illegal-folding"),
    "another folding than that of the cycles": (folding("ip2", coarse_out=6), "wrong-cycles"),
    "an attribute of another tool": (folding("conv1", lanes=2), "illegal-folding"),
    "a map without rows": (attribute("conv1", rows_in=0), "engine-malformed"),
    "windows that do not fit": (attribute("conv1", cols_out=3), "engine-malformed"),
    "multiplies in nothing": (no_dsp, "resources-too-few"),
    "fpgaConvNet gets another folding": (layer(0, fine=3), "fpgaconvnet-config-differs"),
    "fpgaConvNet gets another map": (layer(0, rows_in=3), "fpgaconvnet-config-differs"),
    "fpgaConvNet gets another FIFO": (shallow, "fpgaconvnet-config-differs"),
    "fpgaConvNet lacks a layer": (no_layer, "fpgaconvnet-layer-missing"),
    "an option of no value": (
        lambda made, files: made["options"]["backend_options"].update(matching="some"),
        "plan-malformed",
    ),
}


@pytest.mark.parametrize("title", MISTAKES)
def test_the_judge_finds_planted_mistakes(title: str, folder: Path, tmp_path: Path) -> None:
    spoil, finding = MISTAKES[title]
    assert finding in findings(plan(folder, "mpcnn", "fpgaconvnet"), tmp_path / "out", spoil)


def classified(*ends: str) -> onnx.ModelProto:
    """Return two dense layers with operators behind the last."""
    builder = ModelBuilder("classes", (1, 6))
    for neurons in (5, 4):
        builder.tensor = builder.node("Gemm", [builder.tensor, builder.parameter((neurons, 6), 0.5)], transB=1)
        builder.tensor, builder.shape = builder.node("Relu", [builder.tensor]), (1, 6)
        builder.tensor = builder.node("Gemm", [builder.tensor, builder.parameter((6, neurons), 0.5)], transB=1)
    for op_type in ends:
        axis = {} if op_type == "Sigmoid" else {"axis": 1}
        builder.tensor = builder.node(op_type, [builder.tensor], **axis)
    builder.shape = (1, 1 if "ArgMax" in ends else 6)
    return builder.model()


@pytest.mark.parametrize("ends", [("Softmax",), ("Sigmoid",), ("LogSoftmax",), ("ArgMax",), ("Softmax", "ArgMax")])
def test_what_follows_the_last_layer_is_the_hosts(ends: tuple[str, ...], tmp_path: Path) -> None:
    made = []
    for each in ((), ends):
        onnx.save(classified(*each), tmp_path / "model.onnx")
        made.append(lowered(read_layers(tmp_path / "model.onnx", FloatBits())))
    assert (made[1].engines, made[1].streams) == (made[0].engines, made[0].streams)
    assert any(all(f"'{op_type}_0'" in note for op_type in ends) and "on the host" in note for note in made[1].notes)


def test_an_activation_between_layers_has_no_layer(tmp_path: Path) -> None:
    model = classified()
    model.graph.node[2].op_type = "Sigmoid"
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(InputError, match="no layer of fpgaConvNet for 'Relu_0'"):
        lowered(read_layers(tmp_path / "model.onnx", FloatBits()))
