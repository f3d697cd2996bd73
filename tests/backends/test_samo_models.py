"""SAMO's models of three back ends: every option of its 32 tables, also from the model files of its Table III."""

from collections import Counter
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from examples.make_zoo import ZOO
from floorflow.backends.finn import samo
from floorflow.backends.fpgaconvnet import layers as fpgaconvnet
from floorflow.backends.fpgaconvnet import lower as of_fpgaconvnet
from floorflow.backends.layered.areas import divisors
from floorflow.errors import InputError
from floorflow.network import read
from tests.backends import samo_hls4ml as hls4ml
from tests.papers.samo.samo_cases import tables
from tests.plans import ROOT

ROUNDED = 1e-6
"""To which the tables round cycles."""
OPTIONS = {"finn": 16_444, "fpgaconvnet": 11_606, "hls4ml": 820}


def table_of_finn(node: dict[str, Any], _: str) -> NDArray[np.float64]:
    into, out = divisors(node["channels_in"]), divisors(node["channels_out"])
    pairs = [*product(into, out)] if node["op"] == "StreamingFCLayer_Batch" else [(n, n) for n in into if n in out]
    simd, pe = np.array(pairs, dtype=np.float64).T
    cycles, *use = samo.ESTIMATORS[node["op"]](node["attributes"], simd, pe)
    return np.stack(np.broadcast_arrays(simd, pe, 1, cycles, *use, 0), axis=1)


def table_of_fpgaconvnet(node: dict[str, Any], network: str) -> NDArray[np.float64]:
    a = node["attributes"]
    top, left, bottom, right = a.get("pad", [0] * 4)
    layer = fpgaconvnet.Layer(
        *(node["op"], node["channels_in"], node["channels_out"]),
        *(a["rows_in"], a["cols_in"], a["rows_out"], a["cols_out"]),
        kernel=a.get("kernel_size", [1])[0],
        groups=a.get("groups", 1),
        padding=(top + bottom, left + right),
        # The tables do not say it: batch normalisation stands in for it in MobileNet's convolutions.
        has_bias=network != "MobileNetV1" or node["op"] != "ConvolutionLayer",
    )
    return fpgaconvnet.options(layer)


def table_of_hls4ml(node: dict[str, Any], _: str) -> NDArray[np.float64]:
    size = node["attributes"]["spatial_size"]
    kernel = node["kernel_size"]
    return hls4ml.options(hls4ml.Layer(node["op"], node["channels_in"], node["channels_out"], kernel, size))


MODELS = {"finn": table_of_finn, "fpgaconvnet": table_of_fpgaconvnet, "hls4ml": table_of_hls4ml}


@pytest.mark.parametrize("backend", MODELS)
def test_every_option_of_every_table_is_reproduced(backend: str) -> None:
    count = 0
    for table in (table for table in tables().values() if table["backend"] == backend):
        for node in table["nodes"]:
            found, listed = MODELS[backend](node, table["network"]), np.array(node["options"], dtype=np.float64)
            place = f"{table['name']}: {node['name']}"
            assert found.shape == listed.shape, place
            assert np.abs(found[:, 3] - listed[:, 3]).max() <= 2 * ROUNDED, place
            assert (np.delete(found, 3, axis=1) == np.delete(listed, 3, axis=1)).all(), place
            count += len(listed)
    assert count == OPTIONS[backend]


def test_a_block_is_as_deep_as_its_words_are_narrow() -> None:
    widths = np.array([1, 2, 4, 9, 18, 36, 36, 37], dtype=np.float64)
    depths = np.array([16384, 8192, 4096, 2048, 1024, 512, 513, 512], dtype=np.float64)
    assert samo.blocks(widths, depths).tolist() == [1, 1, 1, 1, 1, 1, 2, 2]
    assert samo.blocks(widths, depths + 1).tolist() == [2, 2, 2, 2, 2, 2, 2, 3]


def test_hls4ml_takes_numbers_of_multipliers_that_fill_inputs_or_outputs() -> None:
    layer = hls4ml.Layer("Dense", 4, 3, 1, 1)
    # 3 multipliers would take 4 inputs for 3 outputs unevenly.
    assert hls4ml.multipliers(layer).tolist() == [1, 2, 4, 12]
    assert hls4ml.options(layer)[0].tolist() == [1, 1, 1, 12, 0, 1, 0, 0]


def test_what_fpgaconvnet_has_no_bias_for_costs_an_adder() -> None:
    layer = fpgaconvnet.Layer("ConvolutionLayer", 8, 8, 8, 8, 8, 8, kernel=3, padding=(2, 2))
    without = fpgaconvnet.Layer("ConvolutionLayer", 8, 8, 8, 8, 8, 8, kernel=3, padding=(2, 2), has_bias=False)
    more = fpgaconvnet.options(without) - fpgaconvnet.options(layer)
    assert (more[:, 5] == fpgaconvnet.options(layer)[:, 1]).all()


FOLDER = ROOT / "examples" / "zoo"
TABLE_3 = {
    "three_layer": (0, 4, 4_256),
    "mpcnn": (3, 2, 69_900),
    "tfc": (0, 4, 59_008),
    "lenet": (2, 2, 430_500),
    "cnv": (6, 3, 1_542_848),
    "vgg11": (8, 3, 132_851_392),
    "mobilenet_v1": (27, 1, 4_209_088),
}
"""Convolutions, dense layers and weights without biases; the paper rounds to 4K, 70K, 59K, 430K, 1.543M, 132.854M (with
biases of convolutions) and 4.209M."""


def test_resnet_50_has_a_projection_more_than_table_3() -> None:
    # 52 convolutions and 25.371M weights there: that is all but the projection of 256 to 512 channels.
    network = read(ROOT / "examples" / "resnet50_w1a2.onnx")
    kinds = Counter(layer.type for layer in network.layers)
    weights = sum(prod(network.weights(layer).shape) for layer in network.layers)
    assert (kinds["conv"], kinds["fully_connected"]) == (52 + 1, 1)
    assert weights == 25_371_840 + 256 * 512


@pytest.mark.parametrize("make", ZOO)
def test_files_are_what_the_script_makes(make: Any) -> None:
    assert (FOLDER / f"{make.__name__}.onnx").read_bytes() == make().SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", TABLE_3)
def test_layers_and_parameters_are_those_of_table_3(name: str) -> None:
    network = read(FOLDER / f"{name}.onnx")
    kinds = Counter(layer.type for layer in network.layers)
    weights = sum(prod(network.weights(layer).shape) for layer in network.layers)
    assert (kinds["conv"], kinds["fully_connected"], weights) == TABLE_3[name]


OTHERWISE = {"pool1"}
"""MobileNet's average over 7x7 pixels: SAMO's parser makes a 2x2 pool of it, with 3x3 pixels that nobody reads."""
CASES = {
    "fcn_simple": "three_layer",
    "fcn_mpcnn": "mpcnn",
    "fcn_lenet": "lenet",
    "fcn_cnv": "cnv",
    "fcn_vgg11": "vgg11",
    "fcn_mobilenetv1": "mobilenet_v1",
    "hls_simple": "three_layer",
    "hls_mpcnn": "mpcnn",
    "hls_lenet": "lenet",
    "hls_cnv": "cnv",
}


@pytest.mark.parametrize("table", CASES)
def test_tables_are_made_from_the_model_file(table: str) -> None:
    network, nodes = read(FOLDER / f"{CASES[table]}.onnx"), tables()[table]["nodes"]
    reader, model = (hls4ml, hls4ml) if table.startswith("hls") else (of_fpgaconvnet, fpgaconvnet)
    found = reader.layers_of(network)
    assert [layer.op for layer in found.values()] == [node["op"] for node in nodes]
    for (name, layer), node in zip(found.items(), nodes, strict=True):
        if table == "fcn_mobilenetv1" and name in OTHERWISE:
            continue
        made, listed = model.options(layer), np.array(node["options"])
        assert made.shape == listed.shape, name
        assert np.abs(made - listed).max() <= 2e-6, name


@pytest.mark.parametrize("reader", [hls4ml, of_fpgaconvnet])
def test_operations_without_a_layer_are_all_named(reader: Any, tmp_path: Path) -> None:
    model = onnx.load(FOLDER / "cnv.onnx")
    for node in model.graph.node:
        if node.name in {"conv2_relu", "ip1_relu"}:
            node.op_type = "Sigmoid"
    onnx.save(model, tmp_path / "other.onnx")
    with pytest.raises(InputError, match=r"'conv2_relu' \(\w+\), 'ip1_relu'"):
        reader.layers_of(read(tmp_path / "other.onnx"))
