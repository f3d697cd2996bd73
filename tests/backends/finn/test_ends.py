"""A reshape and what treats all values alike change places: the engines are those of the network that has it first."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow.backends.finn.lower.lowering import lower
from floorflow.backends.finn.step.early import reshape_early
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.network import read
from floorflow.technology import technology_of
from tests.backends.finn.test_lower_windows import standard

ZCU104 = technology_of("xczu7ev-ffvc1156-2-e")
Step = Callable[[ModelBuilder], None]


def quantiser(builder: ModelBuilder) -> None:
    builder.quantise(8, narrow=False)


def scaled(builder: ModelBuilder) -> None:
    builder.scale("Mul", 2.0)
    builder.scale("Sub", 1.0)
    builder.quantise(8, narrow=False)


def rectified_twice(builder: ModelBuilder) -> None:
    builder.quantise(8, narrow=False)
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)


def reshaped(*shape: int) -> Step:
    def step(builder: ModelBuilder) -> None:
        name = "to_" + "x".join(map(str, shape))
        builder.initialisers[name] = helper.make_tensor(name, TensorProto.INT64, [len(shape)], list(shape))
        builder.tensor, builder.shape = builder.node("Reshape", [builder.tensor, name]), shape

    return step


def transposed(builder: ModelBuilder) -> None:
    builder.tensor, builder.shape = builder.node("Transpose", [builder.tensor], perm=[0, 2, 3, 1]), (1, 10, 49, 1)


def vector(builder: ModelBuilder) -> None:
    builder.flatten()


def network(*steps: Step, shape: tuple[int, ...] = (1, 1, 10, 49)) -> onnx.ModelProto:
    """Return the steps on the input, and two layers behind them."""
    builder = ModelBuilder("keywords", shape)
    for step in steps:
        step(builder)
    builder.fully_connected(64, 4)
    builder.relu()
    builder.quantise(3, signed=False, narrow=False)
    builder.fully_connected(12, 4)
    return builder.model()


def lowered(model: onnx.ModelProto, folder: Path) -> Dataflow:
    onnx.save(model, folder / "model.onnx")
    return lower(read(folder / "model.onnx"), ZCU104)


ORDERS = {
    "quantiser": ((quantiser, vector), (vector, quantiser)),
    "scale": ((scaled, vector), (vector, scaled)),
    "quantised twice": ((rectified_twice, vector), (vector, rectified_twice)),
    "in the middle of it": ((quantiser, vector, rectified_twice), (vector, quantiser, rectified_twice)),
    "two reshapes": ((quantiser, reshaped(1, 490, 1), vector), (vector, quantiser)),
    "turned": ((quantiser, transposed, vector), (vector, quantiser)),
    "squeezed in between": ((quantiser, reshaped(1, 10, 49), vector), (vector, quantiser)),
    "around the quantiser": ((reshaped(1, 10, 49), quantiser, vector), (vector, quantiser)),
}


@pytest.mark.parametrize(("late", "early"), ORDERS.values(), ids=ORDERS)
def test_a_reshape_behind_the_inputs_quantiser_is_planned_ahead_of_it(
    late: tuple[Step, ...], early: tuple[Step, ...], tmp_path: Path
) -> None:
    made, wanted = lowered(network(*late), tmp_path), lowered(network(*early), tmp_path)
    told = [(e.name, e.kind, e.attributes) for e in made.engines]
    assert told == [(e.name, e.kind, e.attributes) for e in wanted.engines]
    assert [(s.elements, s.last_dimension) for s in made.streams] == [
        (s.elements, s.last_dimension) for s in wanted.streams
    ]
    assert any("floorflow_flatten" in note for note in made.notes)
    assert not any("floorflow_flatten" in note for note in wanted.notes)


@pytest.mark.parametrize("late", [late for late, _ in ORDERS.values()], ids=ORDERS)
def test_finns_build_moves_the_same_reshapes(late: tuple[Step, ...], tmp_path: Path) -> None:
    model = network(*late)
    assert reshape_early(model.graph)
    onnx.checker.check_model(onnx.shape_inference.infer_shapes(standard(model)))
    assert not any("floorflow_flatten" in note for note in lowered(model, tmp_path).notes)
    assert not reshape_early(model.graph)


def by_channel(builder: ModelBuilder) -> None:
    builder.batch_norm()
    builder.quantise(4)


def test_a_scale_for_each_channel_stays_with_its_channels(tmp_path: Path) -> None:
    """Its values would be those of other features; two rows a channel are one word of two channels."""
    found = lowered(network(by_channel, vector, shape=(1, 2, 5, 7)), tmp_path)
    assert found.engines[0].attributes["NumChannels"] == 2
    assert [s.last_dimension for s in found.streams][:2] == [2, 2]
    assert any("innermost" in note for note in found.notes)
    assert not any("floorflow_flatten" in note for note in found.notes)


def test_a_scale_for_each_channel_follows_a_reshape_that_keeps_them(tmp_path: Path) -> None:
    late = network(by_channel, reshaped(1, 6, 4, 5), shape=(1, 6, 20))
    assert reshape_early(late.graph) == []  # FINN has the channels of both ahead
    late = lowered(network(quantiser, reshaped(1, 30), shape=(1, 30, 1, 1)), tmp_path)
    assert late.engines[0].attributes["NumChannels"] == 30


def test_reshapes_between_layers_that_undo_each_other_are_none(tmp_path: Path) -> None:
    """Thresholds between them fuse into the layer before, as if nothing stood there."""

    def layers(*between: Step) -> onnx.ModelProto:
        builder = ModelBuilder("twice", (1, 16))
        quantiser(builder)
        builder.fully_connected(24, 2)
        for step in between:
            step(builder)
        builder.fully_connected(4, 2)
        return builder.model()

    def activated(builder: ModelBuilder) -> None:
        builder.relu()
        builder.quantise(2, signed=False, narrow=False)

    made = lowered(layers(reshaped(1, 1, 24), activated, reshaped(1, 24)), tmp_path)
    wanted = lowered(layers(activated), tmp_path)
    assert [(e.kind, e.attributes) for e in made.engines] == [(e.kind, e.attributes) for e in wanted.engines]
    assert made.streams == wanted.streams


def test_both_readers_of_a_quantiser_may_flatten(tmp_path: Path) -> None:
    builder = ModelBuilder("heads", (1, 1, 6, 7))
    quantiser(builder)
    trunk, shape = builder.tensor, builder.shape
    ends = []
    for _ in range(2):
        builder.tensor, builder.shape = trunk, shape
        vector(builder)
        builder.fully_connected(10, 4)
        ends.append(builder.tensor)
    builder.add(ends[0])
    found = lowered(builder.model(), tmp_path)
    assert [e.attributes["NumChannels"] for e in found.engines if e.kind == "Thresholding_rtl"] == [42]
    assert {s.last_dimension for s in found.streams if s.elements == 42} == {42}


def test_a_folding_of_the_vector_is_taken(tmp_path: Path) -> None:
    onnx.save(network(quantiser, vector), tmp_path / "late.onnx")
    (tmp_path / "folding.json").write_text(
        '{"Defaults": {}, "Thresholding_rtl_0": {"PE": 10}, "MVAU_rtl_0": {"PE": 32, "SIMD": 10}}'
    )
    plan = ff.plan(tmp_path / "late.onnx", "zcu104", folding=tmp_path / "folding.json", effort="fast", plots=False)
    assert {engine["engine"]: engine["cycles"] for engine in plan.engines}["MVAU_rtl_0"] == 98


def image_network(quantise: Step, end: Step = lambda _: None) -> onnx.ModelProto:
    builder = ModelBuilder("image", (1, 2, 6, 6))
    quantise(builder)
    builder.conv(4, (3, 3), 4)
    builder.relu()
    builder.quantise(4, signed=False, narrow=False)
    builder.conv(3, (3, 3), 4)
    end(builder)
    return builder.model()


def quantised(bits: int, **how: bool) -> Step:
    return lambda builder: builder.quantise(bits, **{"narrow": False, **how})


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (quantised(9), "INT9"),
        (quantised(16, signed=False), "UINT16"),
        (quantised(12, narrow=True), "INT12"),
        (lambda builder: (builder.scale("Mul", 2.0), builder.quantise(16)), "INT16"),
    ],
)
def test_an_input_of_more_bits_than_thresholds_have_is_quantised_on_the_host(
    step: Step, name: str, tmp_path: Path
) -> None:
    found = lowered(image_network(step), tmp_path)
    assert [e.kind.split("_")[0] for e in found.engines][:2] == ["ConvolutionInputGenerator", "MVAU"]
    assert found.engines[0].attributes["inputDataType"] == name
    assert found.streams[0].element_bits == found.engines[0].input_bits == int(name.strip("UINT"))
    assert any(f"sent as {name}" in note and "'Quant_0'" in note for note in found.notes)
    assert not any("planned as" in note for note in found.notes)


def test_a_wide_input_may_be_flattened_and_read_twice(tmp_path: Path) -> None:
    builder = ModelBuilder("twice", (1, 1, 2, 8))
    builder.quantise(16)
    builder.flatten()
    first = builder.tensor
    builder.fully_connected(16, 4)
    builder.add(first)
    found = lowered(builder.model(), tmp_path)
    assert {s.last_dimension for s in found.streams} == {16}
    assert found.engines[0].attributes["inputDataType"] == "INT16"


def test_a_last_quantiser_of_many_bits_stays_on_the_host(tmp_path: Path) -> None:
    found = lowered(image_network(quantised(4), quantised(16)), tmp_path)
    assert any("behind the last engine: 'Quant_4'" in note for note in found.notes)


def test_many_bits_in_the_middle_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'Quant_4'.* 16 bits need"):
        lowered(image_network(quantised(4), lambda b: (b.quantise(16), b.conv(2, (1, 1), 4))), tmp_path)
