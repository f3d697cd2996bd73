"""The networks of SAMO's Table III: their layers and parameters, and its tables made from the model files."""

from __future__ import annotations

from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from examples.make_zoo import ZOO
from floorflow.backends.fpgaconvnet import layers as fpgaconvnet
from floorflow.backends.fpgaconvnet import lower as of_fpgaconvnet
from floorflow.errors import InputError
from floorflow.network import read
from tests.backends import samo_hls4ml as hls4ml
from tests.conftest import ROOT
from tests.schedule.samo_cases import tables

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
    assert [each.layer.op for each in found] == [node["op"] for node in nodes]
    for each, node in zip(found, nodes, strict=True):
        if table == "fcn_mobilenetv1" and each.name in OTHERWISE:
            continue
        assert (each.words_in, each.words_out) == (node["size_in"], node["size_out"]), each.name
        made, listed = model.options(each.layer), np.array(node["options"])
        assert made.shape == listed.shape, each.name
        assert np.abs(made - listed).max() <= 2e-6, each.name


@pytest.mark.parametrize("reader", [hls4ml, of_fpgaconvnet])
def test_operations_without_a_layer_are_all_named(reader: Any, tmp_path: Path) -> None:
    model = onnx.load(FOLDER / "cnv.onnx")
    for node in model.graph.node:
        if node.name in {"conv2_relu", "ip1_relu"}:
            node.op_type = "Sigmoid"
    onnx.save(model, tmp_path / "other.onnx")
    with pytest.raises(InputError, match=r"'conv2_relu' \(\w+\), 'ip1_relu'"):
        reader.layers_of(read(tmp_path / "other.onnx"))
