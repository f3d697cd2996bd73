"""The operators that a refusal lists as supported: each is lowered by the FINN that it is listed for."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from examples.make_models import DOMAIN, ModelBuilder
from floorflow.backends.finn.lower.lowering import supported_operators
from floorflow.backends.finn.names import FINN_VERSIONS, VERSION_NAMES, FinnVersion
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.errors import InputError
from floorflow.network.operations import operators
from tests.backends.finn.test_lower import ZCU104
from tests.gated_models import MODELS, split

Grow = Callable[[ModelBuilder], None]


def of_node(op_type: str, *constants: float, domain: str = "", **attributes: object) -> Grow:
    """Append a node that keeps the shape, with scalar constants behind the data."""

    def grow(builder: ModelBuilder) -> None:
        inputs = [builder.tensor, *(builder.constant(value) for value in constants)]
        builder.tensor = builder.node(op_type, inputs, domain, **attributes)

    return grow


def of_integers(op_type: str, values: list[int], shape: tuple[int, ...]) -> Grow:
    """Append a node whose second input holds integers, and which makes a shape."""

    def grow(builder: ModelBuilder) -> None:
        name = f"{op_type}_values"
        builder.initialisers[name] = onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [len(values)], values)
        builder.tensor, builder.shape = builder.node(op_type, [builder.tensor, name]), shape

    return grow


def pool(op_type: str, shape: tuple[int, ...], **attributes: object) -> Grow:
    def grow(builder: ModelBuilder) -> None:
        builder.tensor, builder.shape = builder.node(op_type, [builder.tensor], **attributes), shape

    return grow


def twice(op_type: str, **attributes: object) -> Grow:
    def grow(builder: ModelBuilder) -> None:
        builder.tensor = builder.node(op_type, [builder.tensor, builder.tensor], **attributes)
        builder.shape = (1, 8, 8, 8) if op_type == "Concat" else builder.shape

    return grow


def grown(op_type: str) -> Grow:
    def grow(builder: ModelBuilder) -> None:
        factors = onnx.helper.make_tensor("factors", onnx.TensorProto.FLOAT, [4], [1, 1, 2, 2])
        builder.initialisers["factors"] = factors
        modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if op_type == "Resize" else {}
        inputs = [builder.tensor, *([""] if op_type == "Resize" else []), "factors"]
        builder.tensor, builder.shape = builder.node(op_type, inputs, **modes), (1, 4, 16, 16)

    return grow


def parts(builder: ModelBuilder) -> None:
    builder.tensor = builder.node("Concat", split(builder, (1, 3)), axis=1)


def matmul(builder: ModelBuilder) -> None:
    builder.flatten()
    weights = builder.quantised(builder.parameter((256, 4), 0.5), 4)
    builder.tensor, builder.shape = builder.node("MatMul", [builder.tensor, weights]), (1, 4)


def transposed(builder: ModelBuilder) -> None:
    weights = builder.quantised(builder.parameter((4, 3, 2, 2), 0.5), 4)
    builder.tensor = builder.node("ConvTranspose", [builder.tensor, weights], strides=[2, 2])
    builder.shape = (1, 3, 16, 16)


def gemm(builder: ModelBuilder) -> None:
    builder.flatten()
    builder.fully_connected(4, 4)


def best(op_type: str) -> Grow:
    def grow(builder: ModelBuilder) -> None:
        gemm(builder)
        if op_type == "ArgMax":
            builder.tensor = builder.node("ArgMax", [builder.tensor], axis=1)
        else:
            one = onnx.helper.make_tensor("one", onnx.TensorProto.INT64, [1], [1])
            builder.initialisers["one"] = one
            builder.tensor = builder.node("TopK", [builder.tensor, "one"])
            builder.nodes[-1].output.append("labels")
        builder.shape = (1, 1)

    return grow


GLOBAL = (1, 4, 1, 1)
MINIMAL: dict[str, Grow] = {
    "Add": twice("Add"),
    "ArgMax": best("ArgMax"),
    "AveragePool": pool("AveragePool", (1, 4, 4, 4), kernel_shape=[2, 2], strides=[2, 2]),
    "BatchNormalization": ModelBuilder.batch_norm,
    "BipolarQuant": of_node("BipolarQuant", 1.0, domain=DOMAIN),
    "Cast": of_node("Cast", to=onnx.TensorProto.FLOAT),
    "Clip": of_node("Clip", 0.0, 6.0),
    "Concat": twice("Concat", axis=1),
    "Conv": lambda builder: builder.conv(4, (3, 3), 4),
    "ConvTranspose": transposed,
    "Div": of_node("Div", 2.0),
    "Dropout": of_node("Dropout"),
    "Flatten": ModelBuilder.flatten,
    "Gemm": gemm,
    "GlobalAveragePool": pool("GlobalAveragePool", GLOBAL),
    "GlobalMaxPool": pool("GlobalMaxPool", GLOBAL),
    "Identity": of_node("Identity"),
    "IntQuant": of_node("IntQuant", 1.0, 0.0, 3.0, domain=DOMAIN),
    "MatMul": matmul,
    "MaxPool": pool("MaxPool", (1, 4, 4, 4), kernel_shape=[2, 2], strides=[2, 2]),
    "Mul": of_node("Mul", 2.0),
    "Pad": of_integers("Pad", [0, 0, 1, 1, 0, 0, 1, 1], (1, 4, 10, 10)),
    "Quant": of_node("Quant", 1.0, 0.0, 3.0, domain=DOMAIN),
    "ReduceMax": pool("ReduceMax", GLOBAL, axes=[2, 3]),
    "ReduceMean": pool("ReduceMean", GLOBAL, axes=[2, 3]),
    "Relu": ModelBuilder.relu,
    "Reshape": of_integers("Reshape", [1, 256], (1, 256)),
    "Resize": grown("Resize"),
    "Selu": lambda builder: (of_node("Selu")(builder), builder.quantise(4, narrow=False)),  # type: ignore[dict-item, return-value]
    "Split": parts,
    "Squeeze": lambda builder: (
        pool("GlobalMaxPool", GLOBAL)(builder),
        of_integers("Squeeze", [2, 3], (1, 4))(builder),
    ),  # type: ignore[dict-item, return-value]
    "Sub": of_node("Sub", 2.0),
    "Sum": twice("Sum"),
    "TopK": best("TopK"),
    "Transpose": lambda builder: (
        pool("GlobalMaxPool", GLOBAL)(builder),
        pool("Transpose", (1, 1, 1, 4), perm=[0, 2, 3, 1])(builder),
        ModelBuilder.flatten(builder),
    ),  # type: ignore[dict-item, return-value]
    "Trunc": lambda builder: builder.average_pool((2, 2), (1, 1), truncated_bits=3),
    "Unsqueeze": lambda builder: (builder.flatten(), of_integers("Unsqueeze", [2, 3], (1, 256, 1, 1))(builder)),  # type: ignore[dict-item, return-value]
    "Upsample": grown("Upsample"),
}
"""A piece of network around one node of each operator, behind unsigned 4-bit data of (1, 4, 8, 8)."""


def minimal(op_type: str) -> onnx.ModelProto:
    builder = ModelBuilder("minimal", (1, 4, 8, 8))
    builder.quantise(4, signed=False, narrow=False)
    MINIMAL[op_type](builder)
    if op_type not in ("ArgMax", "TopK"):
        builder.quantise(4, signed=False, narrow=False)
        if op_type == "Upsample":
            builder.conv(3, (1, 1), 4)
        else:
            builder.flatten()
            builder.fully_connected(3, 4)
    model = builder.model()
    if op_type == "TopK":
        model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("labels", onnx.TensorProto.INT64, [1, 1]))
    if op_type == "Upsample":  # the operator of opset 9
        model.opset_import[0].version = 9
    return model


@pytest.mark.parametrize("finn", FINN_VERSIONS)
@pytest.mark.parametrize("op_type", operators())
def test_exactly_the_listed_operators_are_lowered(op_type: str, finn: FinnVersion, tmp_path: Path) -> None:
    listed = op_type in supported_operators(finn)
    assert listed == (op_type in MINIMAL and (op_type != "Split" or finn != "main"))
    if op_type in MINIMAL:
        onnx.save(minimal(op_type), tmp_path / "minimal.onnx")
        source = read_source(tmp_path / "minimal.onnx")
        if listed:
            assert source.lower(ZCU104, finn=finn).engines
        else:
            with pytest.raises(InputError, match=rf"{VERSION_NAMES[finn]} has no engine"):
                source.lower(ZCU104, finn=finn)


@pytest.mark.parametrize("finn", FINN_VERSIONS)
def test_a_refusal_lists_what_the_chosen_finn_supports(finn: FinnVersion, tmp_path: Path) -> None:
    builder = ModelBuilder("refused", (1, 6))
    builder.quantise(4)
    builder.tensor = builder.node("Erf", [builder.tensor])
    builder.tensor = builder.node("Sigmoid", [builder.tensor])
    builder.quantise(4)
    builder.fully_connected(3, 4)
    onnx.save(builder.model(), tmp_path / "refused.onnx")
    source = read_source(tmp_path / "refused.onnx")
    with pytest.raises(InputError) as caught:
        source.lower(ZCU104, finn=finn)
    assert "2 obstacles" in str(caught.value)
    assert "node 'Erf_0' (Erf)" in str(caught.value)
    assert "operation 'Sigmoid_0' (Sigmoid): no engine computes Sigmoid" in str(caught.value)
    assert caught.value.hint == f"Supported with {VERSION_NAMES[finn]}: {', '.join(supported_operators(finn))}."


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_finn_main_refuses_products_and_splits_and_says_who_has_them(model: onnx.ModelProto, tmp_path: Path) -> None:
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(
        InputError, match=r"FINN main has no engine for it \((ElementwiseMul|StreamingSplit)_hls\)"
    ) as e:
        read_source(tmp_path / "model.onnx").lower(ZCU104)
    assert e.value.hint.startswith("Use --finn dev or plus, which have one.")
