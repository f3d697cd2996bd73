"""Products of two streams, and channels that are split: lowered, priced, timed and planned for FINN dev and FINN+."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import onnx
import pytest
from _pytest.mark import ParameterSet

from examples.make_models import ModelBuilder
from floorflow.backends.finn.folding.legal_foldings import options
from floorflow.backends.finn.names import FinnVersion
from floorflow.backends.finn.rates.patterns import actor_of
from floorflow.backends.finn.rates.start_up import HLS_RESTART_CYCLES
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.errors import InputError
from floorflow.facts import read_plan
from floorflow.request import Request
from floorflow.verify import check
from tests.backends.finn.test_lower import ZCU104
from tests.backends.finn.test_lower_graphs import assert_connected_in_order, assert_every_port_is_joined_once
from tests.conftest import make_plan
from tests.gated_models import MODELS, gated_vector, split, split_and_joined, squeeze_and_excite

NEWER: tuple[FinnVersion, ...] = ("dev", "plus")


def lowered(model: onnx.ModelProto, folder: Path, finn: FinnVersion = "plus") -> Dataflow:
    onnx.save(model, folder / "model.onnx")
    return read_source(folder / "model.onnx").lower(ZCU104, finn=finn)


def refusal(model: onnx.ModelProto, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        lowered(model, folder)
    return str(caught.value)


def image(channels: int = 4) -> ModelBuilder:
    builder = ModelBuilder("gated", (1, channels, 6, 6))
    builder.quantise(4, signed=False, narrow=False)
    return builder


def finished(builder: ModelBuilder) -> onnx.ModelProto:
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(3, (1, 1), 4)
    return builder.model()


@pytest.mark.parametrize("finn", NEWER)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_port_is_joined_once_and_in_order(model: onnx.ModelProto, finn: FinnVersion, tmp_path: Path) -> None:
    dataflow = lowered(model, tmp_path, finn)
    assert_every_port_is_joined_once(dataflow)
    assert_connected_in_order(dataflow, 1, 1)


def test_a_gate_of_one_pixel_is_an_operand_of_its_own_shape(tmp_path: Path) -> None:
    product = lowered(squeeze_and_excite(8, 6), tmp_path).engine("ElementwiseMul_hls_0")
    shapes = [product.attributes[f"{side}_shape"] for side in ("lhs", "rhs", "out")]
    assert shapes == [(1, 6, 6, 8), (1, 1, 1, 8), (1, 6, 6, 8)]
    assert [product.attributes[f"{side}_dtype"] for side in ("lhs", "rhs", "out")] == ["UINT4", "UINT3", "UINT7"]
    assert product.output_bits == 7


def test_parts_of_a_split_leave_by_ports_in_their_order(tmp_path: Path) -> None:
    dataflow = lowered(split_and_joined((4, 8), 6), tmp_path)
    outgoing = {s.source_port: s for s in dataflow.streams if s.source == "StreamingSplit_hls_0"}
    assert {port: (s.target, s.elements, s.last_dimension) for port, s in outgoing.items()} == {
        0: ("StreamingConcat_hls_0", 4 * 36, 4),
        1: ("FMPadding_rtl_1", 8 * 36, 8),
    }


def test_a_scale_of_an_operand_waits_behind_the_product_and_a_bias_is_quantised(tmp_path: Path) -> None:
    for operator, thresholds in (("Mul", 2), ("Add", 3)):
        builder = image()
        scaled = builder.node(operator, [builder.tensor, builder.constant(0.5)])
        builder.tensor = builder.node("Mul", [scaled, builder.tensor])
        dataflow = lowered(finished(builder), tmp_path)
        assert [engine.kind for engine in dataflow.engines].count("Thresholding_rtl") == thresholds
        assert any("nearest quantiser" in note for note in dataflow.notes) == (operator == "Add")


def test_a_split_of_accumulators_leaves_the_thresholds_to_each_part(tmp_path: Path) -> None:
    builder = image()
    builder.conv(6, (1, 1), 4)
    ends = []
    for part, channels in zip(split(builder, (2, 4)), (2, 4), strict=True):
        builder.tensor, builder.shape = part, (1, channels, 6, 6)
        builder.quantise(4, signed=False, narrow=False)
        ends.append(builder.tensor)
    builder.tensor, builder.shape = builder.node("Concat", ends, axis=1), (1, 6, 6, 6)
    builder.conv(3, (1, 1), 4)
    kinds = [engine.kind for engine in lowered(builder.model(), tmp_path).engines]
    assert kinds[2:] == [
        *("StreamingSplit_hls", "Thresholding_rtl", "Thresholding_rtl", "StreamingConcat_hls"),
        "MVAU_rtl",
    ]


def other_channels() -> onnx.ModelProto:
    builder = image()
    data = builder.tensor
    builder.conv(1, (1, 1), 4)
    builder.activation(4)
    builder.tensor, builder.shape = builder.node("Mul", [data, builder.tensor]), (1, 4, 6, 6)
    return finished(builder)


def of_signs() -> onnx.ModelProto:
    builder = ModelBuilder("signs", (1, 4, 6, 6))
    builder.quantise(1)
    builder.tensor = builder.node("Mul", [builder.tensor, builder.tensor])
    return finished(builder)


def half_read() -> onnx.ModelProto:
    builder = image()
    builder.tensor, builder.shape = split(builder, (1, 3))[1], (1, 3, 6, 6)
    return finished(builder)


def rows_split() -> onnx.ModelProto:
    builder = image()
    builder.tensor = builder.node("Split", [builder.tensor], axis=2)
    builder.nodes[-1].output.append("rest")
    builder.tensor = builder.node("Add", [builder.tensor, "rest"])
    builder.shape = (1, 4, 3, 6)
    return finished(builder)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (other_channels(), "'Mul_0' (multiply): it multiplies (1, 6, 6, 4) by (1, 6, 6, 1)"),
        (of_signs(), "'Mul_0' (multiply): it multiplies values of -1 and 1"),
        (half_read(), "'Split_0' (split): of its 2 parts only 1 are read"),
        (rows_split(), "'Split_0' (Split): only channels can be split"),
    ],
)
def test_what_no_engine_multiplies_or_splits_says_why(model: onnx.ModelProto, words: str, tmp_path: Path) -> None:
    assert words in refusal(model, tmp_path)


def gate_of(gate: tuple[int, ...]) -> Engine:
    shape = (1, 6, 6, 8)
    shapes = {"lhs_shape": shape, "out_shape": shape, "rhs_shape": gate}
    types = {"lhs_dtype": "UINT4", "rhs_dtype": "UINT3", "out_dtype": "UINT7"}
    return Engine("product", "ElementwiseMul_hls", "Mul_0", {**shapes, **types}, 0, 4, 7)


def test_the_pixel_that_is_repeated_is_kept_in_a_buffer_that_is_priced() -> None:
    for whole, kept in zip(
        options(gate_of((1, 6, 6, 8)), ZCU104, "estimated", finn="plus"),
        options(gate_of((1, 1, 1, 8)), ZCU104, "estimated", finn="plus"),
        strict=True,
    ):
        assert (whole.folding, whole.cycles) == (kept.folding, kept.cycles)
        assert kept.resources.lut > whole.resources.lut > 0


def test_the_pixel_that_is_repeated_is_read_with_the_first_alone() -> None:
    option = next(o for o in options(gate_of((1, 1, 1, 8)), ZCU104, "estimated", finn="plus") if o.folding["PE"] == 2)
    actor = actor_of(gate_of((1, 1, 1, 8)), option, (144, 4), (144,))
    assert actor.cycles - HLS_RESTART_CYCLES == option.cycles == 144
    assert [moves.counts.tolist() for moves in actor.reads] == [[4, 140], [4, 0]]
    assert actor.writes[0].words == 144


def test_data_waits_a_frame_for_the_gate_that_its_average_makes(tmp_path: Path) -> None:
    dataflow = lowered(squeeze_and_excite(8, 6), tmp_path)
    assert dataflow.engine("GlobalAccPool_hls_0").window_fill == 1
    path = tmp_path / "model.onnx"
    plan = read_plan(
        make_plan(tmp_path / "out", Request(path, "zcu104", finn="plus", effort="fast", plots=False)) / "plan.json"
    )
    waiting = next(c for c in plan.phases[0].channels if c.target == "ElementwiseMul_hls_0" and c.target_port == 0)
    assert waiting.fifo_depth >= waiting.words_per_frame


GATED = dict(zip(MODELS, (squeeze_and_excite(16, 8), gated_vector(), split_and_joined()), strict=True))
TARGETS = (("zcu104", "calibrated"), ("alveo-u250", "finn"), ("pynq-z1", "estimated"))


def every_plan() -> Iterator[ParameterSet]:
    """Yield all plans; in the gate each model with each FINN, on boards that take turns."""
    for (row, model), (turn, finn), (column, target) in product(enumerate(GATED), enumerate(NEWER), enumerate(TARGETS)):
        marks = () if (row + turn) % len(TARGETS) == column else (pytest.mark.slow,)
        yield pytest.param(model, finn, *target, marks=marks)


@pytest.mark.parametrize(("model", "finn", "board", "costs"), [*every_plan()])
def test_whole_plans_are_legal(model: str, finn: FinnVersion, board: str, costs: str, tmp_path: Path) -> None:
    onnx.save(GATED[model], tmp_path / "model.onnx")
    options = {"finn": finn, "costs": costs, "effort": "fast", "plots": False}
    options["granularity"] = "stage" if board == "zcu104" else "slot"  # floorplans of modules are looked at there
    out = make_plan(tmp_path / "out", Request(tmp_path / "model.onnx", board, **options))  # type: ignore[arg-type]
    assert check(out) == []
    engines = read_plan(out / "plan.json").phases[0].engines
    joins = {name: e for name, e in engines.items() if name.startswith(("ElementwiseMul", "StreamingSplit"))}
    assert joins
    assert costs == "finn" or all(entry.resources.LUT > 0 and entry.resources.FF > 0 for entry in joins.values())
