"""Thresholds that are the same in all channels, and units of 255 steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from examples.make_models import ModelBuilder
from floorflow.backends.finn.cost.calibrated_values import CALIBRATED
from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.kinds.thresholding import EQUAL_THRESHOLDS
from floorflow.resources import Resources
from tests.backends.finn.read.test_graph import GraphBuilder
from tests.backends.finn.read.test_graph import dataflow_of as read_graph
from tests.backends.finn.test_lower import PYNQ, dataflow_of

UNIT = {"NumChannels": 64, "PE": 4, "numSteps": 15, "inputDataType": "INT12", "weightDataType": "INT12"}
UNIT |= {"outputDataType": "UINT4", "numInputVectors": [1, 8, 8], "depth_trigger_bram": 0, "depth_trigger_uram": 0}


def cost(**changed: object) -> Resources:
    return KINDS["Thresholding_rtl"].unit({**UNIT, **changed}).own_resources(PYNQ, CALIBRATED)


def marks(model: onnx.ModelProto, folder: Path) -> list[int]:
    engines = dataflow_of(model, folder).engines
    return [e.attributes.get(EQUAL_THRESHOLDS, 0) for e in engines if e.kind == "Thresholding_rtl"]  # type: ignore[misc]


def test_equal_thresholds_cost_one_set_a_lane_however_many_channels_there_are() -> None:
    assert cost(equalThresholds=1).lut < cost().lut
    assert cost(equalThresholds=1) == cost(equalThresholds=1, NumChannels=4096)
    assert cost(equalThresholds=1, PE=64) == cost(PE=64)


def test_three_lanes_of_255_steps_cost_what_was_built() -> None:
    """PYNQ-Z2, 5,435 LUT: docs/calibration.md."""
    image = {"NumChannels": 3, "PE": 3, "numSteps": 255, "outputDataType": "UINT8"}
    assert cost(**image, inputDataType="UINT8", weightDataType="UINT9").lut == pytest.approx(5435, rel=0.01)
    assert cost(**image, inputDataType="FLOAT32", weightDataType="FLOAT32").lut < 3000


def test_quantisers_behind_one_scale_have_equal_thresholds(tmp_path: Path) -> None:
    builder = ModelBuilder("image", (1, 3, 8, 8))
    builder.scale("Mul", 2.0)
    builder.quantise(8)
    assert marks(builder.model(), tmp_path) == [1]


def test_quantisers_behind_a_layer_may_differ_by_channel(tmp_path: Path) -> None:
    builder = ModelBuilder("layer", (1, 3, 8, 8))
    builder.quantise(8)
    builder.conv(8, (3, 3), 8)
    builder.quantise(8)
    assert 1 not in marks(builder.model(), tmp_path)[1:]


def test_quantisers_behind_a_norm_may_differ_by_channel(tmp_path: Path) -> None:
    builder = ModelBuilder("norm", (1, 3, 8, 8))
    builder.tensor = builder.node("Mul", [builder.tensor, builder.parameter((1, 3, 1, 1), 0.5)])
    builder.quantise(8)
    assert marks(builder.model(), tmp_path) == [0]


@pytest.mark.parametrize(
    ("values", "mark"),
    [(np.ones((1, 15)), 1), (np.ones((64, 15)), 1), (np.arange(960.0).reshape(64, 15), 0)],
    ids=["one set", "equal sets", "different sets"],
)
def test_a_graph_says_by_its_thresholds_whether_they_are_equal(tmp_path: Path, values: np.ndarray, mark: int) -> None:
    builder = GraphBuilder((1, 8, 8, 64))
    builder.add("Thresholding_rtl", UNIT, name="steps", parameters=(12, 6))
    builder.initialisers[-1] = numpy_helper.from_array(values.astype(np.float32), "steps_param0")
    (engine,) = read_graph(builder, tmp_path).engines
    assert engine.attributes.get(EQUAL_THRESHOLDS, 0) == mark
