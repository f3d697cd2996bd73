"""Networks as Keras exports them, channels last, read as those that were given channels first."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from examples.make_models import ModelBuilder
from floorflow.backends.finn.lower.lowering import lower
from floorflow.errors import InputError
from floorflow.network import Network, read
from floorflow.technology import technology_of

PART = technology_of("xczu7ev-ffvc1156-2-e")
TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]


class Keras(ModelBuilder):
    """A network that grows channels last; ``shape`` is (1, channels, height, width) all the same, as in its base."""

    def __init__(self, *shape: int | str) -> None:
        super().__init__("keras", (1, 1))
        self.opset = 13
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]

    def integers(self, *values: int) -> str:
        name = "integers_" + "_".join(str(value) for value in values)
        self.initialisers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def apply(self, op_type: str, *inputs: str, **attributes: Any) -> None:
        self.tensor = self.node(op_type, [self.tensor, *inputs], **attributes)

    def transpose(self, order: list[int]) -> None:
        self.apply("Transpose", perm=order)

    def layer(self, *shape: int, **attributes: Any) -> None:
        """Append a convolution between Transposes, and the addition of its bias to the channels, which are last."""
        self.transpose(TO_FIRST)
        self.apply("Conv", self.quantised(self.parameter(shape, 0.5), 4), kernel_shape=list(shape[2:]), **attributes)
        self.transpose(TO_LAST)
        self.bias(shape[0])

    def bias(self, channels: int) -> None:
        self.apply("Add", self.parameter((channels,), 1.0))

    def activation(self, bits: int) -> None:
        self.relu()
        self.quantise(bits, signed=False, narrow=False)

    def dense(self, inputs: int, neurons: int) -> None:
        self.apply("MatMul", self.quantised(self.parameter((inputs, neurons), 0.5), 4))

    def model(self) -> onnx.ModelProto:
        model = super().model()
        model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name=self.tensor))
        model.opset_import[0].version = self.opset
        return model


def network_of(builder: ModelBuilder, folder: Path) -> Network:
    onnx.save(builder.model(), folder / "model.onnx")
    return read(folder / "model.onnx")


def engines_of(builder: ModelBuilder, folder: Path) -> list[tuple[Any, ...]]:
    dataflow = lower(network_of(builder, folder), PART, finn="dev")
    return [*((e.name, e.kind, dict(e.attributes), e.weight_bits) for e in dataflow.engines), dataflow.streams]


def first(*shape: int) -> Keras:
    """Return a network of the same operations that is given channels first."""
    builder = Keras(*shape)
    builder.layer = lambda *s, **a: conv_first(builder, *s, **a)  # type: ignore[method-assign]
    return builder


def conv_first(builder: Keras, *shape: int, **attributes: Any) -> None:
    weights = builder.quantised(builder.parameter(shape, 0.5), 4)
    builder.apply("Conv", weights, kernel_shape=list(shape[2:]), **attributes)
    builder.apply("Add", builder.parameter((1, shape[0], *(1 for _ in shape[2:])), 1.0))


def body(builder: Keras) -> Keras:
    builder.quantise(8, signed=False, narrow=False)
    builder.layer(6, 3, 3, 3, pads=[1, 1, 1, 1], strides=[2, 2])
    builder.activation(4)
    return builder


def test_transposes_around_layers_and_at_both_ends_are_free(tmp_path: Path) -> None:
    keras = body(Keras("unk__0", 8, 8, 3))
    keras.layer(4, 6, 1, 1)
    keras.transpose(TO_FIRST)
    plain = body(first(1, 3, 8, 8))
    plain.layer(4, 6, 1, 1)
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


def by_shape(builder: Keras) -> None:
    """Flatten as Keras does with a batch that it does not know."""
    size = builder.node("Shape", [builder.tensor])
    batch = builder.node("Slice", [size, builder.integers(0), builder.integers(1), builder.integers(0)])
    builder.apply("Reshape", builder.node("Concat", [batch, builder.integers(-1)], axis=0))


def by_gather(builder: Keras) -> None:
    size = builder.node("Cast", [builder.node("Shape", [builder.tensor])], to=TensorProto.INT64)
    batch = builder.node("Gather", [size, builder.integers(0)], axis=0)
    builder.apply("Reshape", builder.node("Concat", [batch, builder.integers(96)], axis=0))


@pytest.mark.parametrize(
    "flatten",
    [
        by_shape,
        by_gather,
        lambda b: b.apply("Flatten"),
        lambda b: b.apply("Reshape", b.integers(-1, 96)),
        lambda b: (b.transpose(TO_FIRST), b.apply("Flatten")),
    ],
)
def test_flattening_channels_last_is_flattening(tmp_path: Path, flatten: Callable[[Keras], Any]) -> None:
    keras, plain = body(Keras("unk__0", 8, 8, 3)), body(first(1, 3, 8, 8))
    flatten(keras)
    plain.apply("Flatten")
    for builder in (keras, plain):
        builder.dense(96, 5)
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_means_over_rows_and_columns_are_global_averages(tmp_path: Path, keepdims: int) -> None:
    keras, plain = body(Keras(1, 8, 8, 3)), body(first(1, 3, 8, 8))
    keras.apply("ReduceMean", axes=[1, 2], keepdims=keepdims)
    if keepdims:
        keras.apply("Squeeze", keras.integers(1, 2))
    plain.apply("GlobalAveragePool")
    plain.apply("Flatten")
    for builder in (keras, plain):
        builder.quantise(4, signed=False, narrow=False)
        builder.dense(6, 5)
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


def test_one_channel_moves_by_reshape(tmp_path: Path) -> None:
    keras, plain = Keras("N", 8, 8, 1), first(1, 1, 8, 8)
    keras.apply("Reshape", keras.integers(-1, 1, 8, 8))
    for builder in (keras, plain):
        builder.quantise(8, signed=False, narrow=False)
        conv_first(builder, 4, 1, 3, 3)
        builder.activation(4)
        conv_first(builder, 1, 4, 3, 3)
    keras.apply("Reshape", keras.integers(-1, 4, 4, 1))
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


def test_an_input_that_becomes_an_image_is_one(tmp_path: Path) -> None:
    keras, plain = Keras("N", 192), first(1, 3, 8, 8)
    keras.apply("Reshape", keras.integers(-1, 8, 8, 3))
    assert engines_of(body(keras), tmp_path) == engines_of(body(plain), tmp_path)
    assert "input 'x' has batch N: planned for batch 1" in network_of(keras, tmp_path).notes


def in_one_dimension(builder: Keras, unsqueeze: int) -> None:
    """Append Keras' Conv1D: a convolution of two dimensions, one of them 1."""
    builder.apply("Unsqueeze", builder.integers(unsqueeze))
    builder.layer(5, 3, *((1, 3) if unsqueeze == 1 else (3, 1)))
    builder.apply("Squeeze", builder.integers(unsqueeze))
    builder.activation(4)


@pytest.mark.parametrize("unsqueeze", [1, 2])
@pytest.mark.parametrize("pooled", [True, False])
def test_a_sequence_is_an_image_of_one_row(tmp_path: Path, unsqueeze: int, pooled: bool) -> None:
    kernel, image = ((1, 3), (1, 16)) if unsqueeze == 1 else ((3, 1), (16, 1))
    keras, plain = Keras("unk__0", 16, 3), first(1, 3, *image)
    for builder in (keras, plain):
        builder.quantise(8, signed=False, narrow=False)
    in_one_dimension(keras, unsqueeze)
    plain.layer(5, 3, *kernel)
    plain.activation(4)
    if pooled:
        keras.apply("ReduceMean", axes=[1], keepdims=0)
        plain.apply("ReduceMean", axes=[2, 3], keepdims=0)
        for builder in (keras, plain):
            builder.quantise(4, signed=False, narrow=False)
            builder.dense(5, 2)
    else:
        for builder in (keras, plain):
            builder.apply("Flatten")
            builder.dense(70, 2)
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


def test_an_image_without_an_axis_for_its_channel_gets_one(tmp_path: Path) -> None:
    spectrum, plain = Keras(1, 12, 10), Keras(1, 1, 12, 10)
    spectrum.apply("Unsqueeze", spectrum.integers(1))
    for builder in (spectrum, plain):
        builder.quantise(8, signed=False, narrow=False)
        conv_first(builder, 4, 1, 3, 3)
    assert engines_of(spectrum, tmp_path) == engines_of(plain, tmp_path)


def test_gates_of_squeeze_and_excite_are_read(tmp_path: Path) -> None:
    def gated(builder: Keras, axes: list[int], layer: Callable[[], None]) -> Keras:
        image = builder.tensor
        builder.apply("ReduceMean", axes=axes, keepdims=1)
        builder.quantise(4, signed=False, narrow=False)
        layer()
        builder.activation(4)
        builder.tensor = builder.node("Mul", [image, builder.tensor])
        builder.quantise(4, signed=False, narrow=False)
        builder.layer(4, 6, 1, 1)
        return builder

    keras, plain = body(Keras(1, 8, 8, 3)), body(first(1, 3, 8, 8))
    gated(keras, [1, 2], lambda: keras.dense(6, 6))
    gated(plain, [2, 3], lambda: plain.apply("Conv", plain.quantised(plain.parameter((6, 6, 1, 1), 0.5), 4)))
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


def of_everything(builder: Keras, opset: int, last: bool) -> Keras:
    """Append operators that name axes or have a value for each, as that version of ONNX writes them."""
    order = TO_LAST if last else [0, 1, 2, 3]
    rows = [1, 2] if last else [2, 3]
    amounts, sizes = [0, 0, 1, 2, 0, 0, 3, 4], [1, 6, 16, 20]
    body(builder)
    builder.apply("Pad", builder.integers(*(part[axis] for part in (amounts[:4], amounts[4:]) for axis in order)))
    absent = ""
    if opset < 13:
        absent = "absent"
        builder.initialisers[absent] = helper.make_tensor(absent, TensorProto.FLOAT, [0], [])
    modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    builder.apply("Resize", absent, absent, builder.integers(*(sizes[axis] for axis in order)), **modes)
    parts = {"num_outputs": 2} if opset >= 18 else {}
    first_half = builder.node("Split", [builder.tensor], axis=-1 if last else 1, **parts)
    builder.nodes[-1].output.append("second half")
    builder.tensor = builder.node("Concat", ["second half", first_half], axis=3 if last else 1)
    builder.layer(4, 6, 3, 3)
    builder.activation(4)
    axes = [] if opset < 18 else [builder.integers(*rows)]
    builder.apply("ReduceMax", *axes, keepdims=0, **({} if axes else {"axes": rows}))
    builder.dense(4, 3)
    builder.apply("Softmax", axis=-1)
    builder.opset = opset
    return builder


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_pads_pools_splits_and_upsampling_follow_the_channels(tmp_path: Path, opset: int) -> None:
    keras, plain = (
        of_everything(Keras(1, 8, 8, 3), opset, last=True),
        of_everything(first(1, 3, 8, 8), opset, last=False),
    )
    assert engines_of(keras, tmp_path) == engines_of(plain, tmp_path)


def test_without_any_layer_that_says_so_the_pixels_reduced_tell_the_layout(tmp_path: Path) -> None:
    keras = Keras(1, 8, 8, 3)
    keras.quantise(8, signed=False, narrow=False)
    keras.dense(3, 6)
    keras.activation(4)
    keras.apply("ReduceMean", axes=[1, 2], keepdims=0)
    assert [o.type for o in network_of(keras, tmp_path).operations if o.macs or o.type.endswith("pool")] == [
        "conv",
        "average_pool",
    ]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda b: (b.transpose([0, 2, 1, 3]), b.layer(2, 6, 1, 1)), ("'Transpose_2'", "(1, 4, 5, 6) to (1, 5, 4, 6)")),
        (lambda b: b.apply("Reshape", b.integers(1, 8, 5, 3)), ("'Reshape_0'", "(1, 4, 5, 6) to (1, 8, 5, 3)")),
        (  # as a Transpose would, had it not kept the elements in order
            lambda b: (b.apply("Reshape", b.integers(1, 6, 4, 5)), conv_first(b, 2, 6, 1, 1)),
            ("'Reshape_0'", "(1, 4, 5, 6) to (1, 6, 4, 5)"),
        ),
        (lambda b: b.apply("Reshape", b.integers(1, 4, 5, 2, 3)), ("'Reshape_0'", "(1, 4, 5, 2, 3)", "shuffle")),
        (lambda b: (b.transpose([0, 2, 3, 1]), b.dense(4, 3)), ("'MatMul_0'", "(1, 5, 6, 4) by (4, 3)", "channels")),
        (lambda b: b.apply("Concat", b.tensor, axis=2), ("'Concat_0'", "only channels")),
        (lambda b: b.apply("Mul", b.parameter((5, 1), 1.0)), ("'Mul_0'", "(5, 1)", "between pixels")),
    ],
)
def test_what_moves_pixels_is_refused_by_the_shapes_of_the_file(
    tmp_path: Path, make: Callable[[Keras], Any], words: tuple[str, ...]
) -> None:
    builder = Keras(1, 8, 10, 3)
    body(builder)
    make(builder)
    with pytest.raises(InputError) as caught:
        network_of(builder, tmp_path)
    assert all(word in str(caught.value) for word in words), str(caught.value)
