"""Kinds beside those that compute layers: joining, thresholding, and those of newer FINNs."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from examples.make_models import ModelBuilder
from floorflow.backends.finn.cost.calibrated import CALIBRATED
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.legal_foldings import options
from floorflow.backends.finn.kinds.fifo import XPM_CONTROL, fifo_estimate, fifo_resources, fifo_style
from floorflow.backends.finn.kinds.joining import converter_kind, converter_resources
from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.kinds.thresholding import EQUAL_THRESHOLDS
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import Engine
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology
from tests.backends.finn.estimates import estimate
from tests.backends.finn.read.test_graph import GraphBuilder
from tests.backends.finn.read.test_graph import dataflow_of as read_graph
from tests.backends.finn.test_lower import PYNQ, dataflow_of

ZYNQ = Technology("7series", "DSP48E1", has_uram=False)
ALVEO = Technology("ultrascale+", "DSP48E2", has_uram=True)
VERSAL = Technology("versal", "DSP58", has_uram=True)

PARTS = st.sampled_from([ZYNQ, ALVEO, VERSAL])
WIDTHS = st.integers(1, 2048)


FINNS = st.sampled_from(["main", "plus"])


@given(WIDTHS, st.integers(0, 100_000), PARTS, FINNS)
def test_no_fifo_is_free_nor_takes_what_the_part_lacks(
    width: int, depth: int, part: Technology, finn: FinnVersion
) -> None:
    found = fifo_resources(width, depth, part, "estimated", finn)
    assert found.lut > 0
    if finn == "main" and (found.bram18 or found.uram):  # AMD's FIFO: a word leaves by the block's own register
        assert 28 <= found.lut <= 47
        assert 53 <= found.ff <= 65
    else:
        assert found.ff >= width
    assert part.has_uram or found.uram == 0
    bits = 18432 * found.bram18 + 294912 * found.uram + 64 * found.lut
    assert bits >= width * (depth - 2)


@given(WIDTHS, WIDTHS, PARTS)
def test_no_converter_is_free_and_equal_widths_need_none(inside: int, outside: int, part: Technology) -> None:
    for model in ("estimated", "finn"):
        found = converter_resources(inside, outside, part, model)
        assert (found == ZERO) == (inside == outside)
    if inside != outside:
        assert converter_resources(inside, outside, part, "estimated").ff >= max(inside, outside)


@pytest.mark.parametrize("finn", ["main", "plus"])
def test_ultra_ram_becomes_block_ram_at_the_same_depth(finn: FinnVersion) -> None:
    assert fifo_resources(8, 4000, ALVEO, "estimated", finn).uram == 1
    found = fifo_resources(8, 4000, ZYNQ, "estimated", finn)
    block = fifo_estimate(8, 4000, "block")
    lut = block.lut if finn == "plus" else XPM_CONTROL[0]
    assert (found.lut, found.bram18, found.uram) == (lut, block.bram18, 0)


@pytest.mark.parametrize(
    ("depth", "style"),
    [(33, "srl"), (34, "distributed"), (257, "distributed"), (258, "block"), (2028, "block"), (2029, "ultra")],
)
def test_styles_change_at_the_published_depths(depth: int, style: str) -> None:
    assert fifo_style(16, depth) == style


def test_widths_count_in_whole_bytes_but_for_shift_registers() -> None:
    assert fifo_resources(9, 64, ALVEO, "estimated") == fifo_resources(16, 64, ALVEO, "estimated")
    assert fifo_resources(9, 32, ALVEO, "estimated").lut < fifo_resources(16, 32, ALVEO, "estimated").lut


def test_shift_registers_cost_what_was_built() -> None:
    """LUT and FF of pynq-labs' FIFOs by width and depth: benchmarks/data/builds.jsonl.gz."""
    for width, depth, lut, ff in ((224, 2, 232, 457), (32, 2, 36, 68), (112, 32, 246, 122), (28, 32, 76, 38)):
        found = fifo_resources(width, depth, ZYNQ, "calibrated")
        assert found.lut == pytest.approx(lut, abs=max(2, 0.03 * lut))
        assert found.ff == pytest.approx(ff, abs=max(2, 0.03 * ff))


def test_finn_model_is_finn_mains_shift_register_fifo() -> None:
    assert fifo_resources(24, 32, ALVEO, "finn").as_tuple() == (10 + 12, 0, 0, 0, 0)


@pytest.mark.parametrize(("inside", "outside", "kind"), [(8, 32, "rtl"), (32, 8, "rtl"), (24, 16, "hls")])
def test_only_integer_ratios_are_rtl(inside: int, outside: int, kind: str) -> None:
    assert converter_kind(inside, outside) == f"StreamingDataWidthConverter_{kind}"


def test_the_table_answers_as_the_functions_do() -> None:
    table = CostTable(ZYNQ, "finn")
    assert table.fifo_resources(8, 40) == fifo_resources(8, 40, ZYNQ, "finn")
    assert table.converter_resources(8, 12) == converter_resources(8, 12, ZYNQ, "finn")
    assert table.converter_kind(8, 12) == converter_kind(8, 12)


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


U250 = Technology("ultrascale+", "DSP48E2", has_uram=True)


def concat(channels: tuple[int, ...], vectors: tuple[int, ...]) -> dict[str, object]:
    return {"ChannelsPerStream": channels, "inputDataType": "UINT4", "numInputVectors": vectors}


def upsampling(height: int, width: int, out_height: int, out_width: int, channels: int) -> dict[str, object]:
    sizes = {"HI": height, "WI": width, "HO": out_height, "WO": out_width}
    return {**sizes, "NumChannels": channels, "inputDataType": "UINT4", "batchSize": 1}


@pytest.mark.parametrize(
    ("kind", "attributes", "simd", "cycles", "width"),
    [
        ("StreamingConcat_hls", concat((4, 4), (1,)), 4, 2, 16),
        ("StreamingConcat_hls", concat((48, 48, 16), (1,)), 2, 56, 8),
        ("StreamingConcat_hls", concat((4, 48), (1, 14, 28)), 1, 20384, 4),
        ("UpsampleNearestNeighbour_hls", upsampling(14, 14, 42, 42, 8), 2, 7056, 8),
        ("UpsampleNearestNeighbour_hls", upsampling(7, 7, 21, 21, 48), 16, 1323, 64),
    ],
)
def test_cycles_and_widths_are_finns(
    kind: str, attributes: dict[str, object], simd: int, cycles: int, width: int
) -> None:
    found = estimate(kind, {**attributes, "SIMD": simd}, U250)  # type: ignore[dict-item]
    assert (found.cycles, found.in_width_bits, found.out_width_bits) == (cycles, width, width)


@pytest.mark.parametrize(
    ("kind", "attributes", "foldings"),
    [
        ("StreamingConcat_hls", concat((12, 18), (1, 4, 4)), {1, 2, 3, 6}),
        ("UpsampleNearestNeighbour_hls", upsampling(4, 3, 8, 9, 4), {1, 2, 4}),
    ],
)
def test_words_divide_the_channels_of_every_stream(
    kind: str, attributes: dict[str, object], foldings: set[int]
) -> None:
    engine = Engine("unit", kind, "operation", attributes, 0, 4, 4)  # type: ignore[arg-type]
    found = options(engine, U250, "estimated")
    assert {option.folding["SIMD"] for option in found} == foldings
    assert all(option.resources.lut > 0 for option in found)
