"""FINN+ builds small networks of each structure by their plans' own files, or stops where the plan says first."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import floorflow as ff
from examples.make_models import ModelBuilder
from tests.gated_models import split_and_joined, squeeze_and_excite
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_steps import assert_built_as_planned

pytestmark = pytest.mark.tools


def begun(name: str) -> ModelBuilder:
    builder = ModelBuilder(name, (1, 3, 8, 8))
    builder.quantise(8, signed=False, narrow=False)
    active(builder, 4)
    return builder


def active(builder: ModelBuilder, channels: int, kernel: int = 1, bits: int = 4) -> None:
    builder.conv(channels, (kernel, kernel), 4, pads=(kernel // 2,) * 4)
    builder.activation(bits)


def classified(builder: ModelBuilder) -> onnx.ModelProto:
    builder.flatten()
    builder.fully_connected(3, 4)
    return trained(builder.model())


def trained(model: onnx.ModelProto) -> onnx.ModelProto:
    """Give all quantisers one scale that is not 1, as Brevitas asks of those whose values are joined."""
    scale = next(tensor for tensor in model.graph.initializer if tensor.name == "value_1")
    scale.CopyFrom(numpy_helper.from_array(np.float32(0.3), "value_1"))
    return model


def fire() -> onnx.ModelProto:
    builder = begun("fire")
    start, shape = builder.tensor, builder.shape
    active(builder, 4)
    one, builder.tensor, builder.shape = builder.tensor, start, shape
    active(builder, 4, 3)
    builder.concat(one, 4)
    active(builder, 2)
    return classified(builder)


def joined() -> onnx.ModelProto:
    builder = begun("joined")
    start = builder.tensor
    active(builder, 2)
    builder.concat(start, 4)
    return classified(builder)


def dense() -> onnx.ModelProto:
    """As published: batch norm and ReLU stand ahead of the convolutions, so that each reads what it is joined to."""
    builder = begun("dense")
    for _ in range(2):
        start, shape = builder.tensor, builder.shape
        builder.activation(4)
        builder.conv(4, (3, 3), 4, pads=(1, 1, 1, 1))
        builder.quantise(4, signed=False, narrow=False)
        builder.concat(start, shape[1])
    active(builder, 4)
    return classified(builder)


def globally_averaged() -> onnx.ModelProto:
    """The first pool has a quantiser behind it, the second a layer."""
    builder = begun("globally_averaged")
    builder.tensor, builder.shape = builder.node("GlobalAveragePool", [builder.tensor]), (1, 4, 1, 1)
    builder.quantise(4, signed=False, narrow=False)
    return classified(builder)


def averaged_by_one_window() -> onnx.ModelProto:
    builder = begun("averaged_by_one_window")
    builder.average_pool((8, 8), (1, 1))
    return classified(builder)


def u_net() -> onnx.ModelProto:
    builder = begun("u_net")
    start = builder.tensor
    builder.max_pool((2, 2), (2, 2))
    active(builder, 4, 3)
    builder.initialisers |= {
        "roi": helper.make_tensor("roi", onnx.TensorProto.FLOAT, [0], []),
        "twice": helper.make_tensor("twice", onnx.TensorProto.FLOAT, [4], [1, 1, 2, 2]),
    }
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    builder.tensor, builder.shape = builder.node("Resize", [builder.tensor, "roi", "twice"], **how), (1, 4, 8, 8)
    builder.concat(start, 4)
    active(builder, 4)
    builder.conv(2, (1, 1), 4)
    return trained(builder.model())


def gated() -> onnx.ModelProto:
    builder = begun("gated")
    data, shape = builder.tensor, builder.shape
    builder.tensor, builder.shape = builder.node("GlobalAveragePool", [data]), (1, 4, 1, 1)
    builder.quantise(4, signed=False, narrow=False)
    active(builder, 2)
    active(builder, 4, bits=3)
    builder.tensor, builder.shape = builder.node("Mul", [data, builder.tensor]), shape
    builder.quantise(4, signed=False, narrow=False)
    return classified(builder)


def an_image_out() -> onnx.ModelProto:
    builder = begun("an_image_out")
    builder.conv(2, (3, 3), 4)
    return trained(builder.model())


def equally_split() -> onnx.ModelProto:
    return trained(split_and_joined((4, 4)))


slow = pytest.mark.slow
BUILT = [
    pytest.param(joined, True, id="concat"),
    pytest.param(globally_averaged, True, id="global average"),
    pytest.param(an_image_out, False, id="image out"),
    pytest.param(averaged_by_one_window, True, marks=slow, id="average of one window"),
    pytest.param(fire, True, marks=slow, id="fire"),
    pytest.param(dense, True, marks=slow, id="dense"),
    pytest.param(u_net, False, marks=slow, id="U-net"),
    pytest.param(gated, True, marks=slow, id="gate"),
    pytest.param(equally_split, False, marks=slow, id="equal split"),
]


@pytest.mark.parametrize(("make", "label_select"), BUILT)
def test_finn_plus_builds_the_structure_as_planned(
    make: Callable[[], onnx.ModelProto], label_select: bool, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    assert_built_as_planned(make(), tmp_path, finn_plus, label_select=label_select)
    assert not ff.load(tmp_path / "out").plan.unbuilt


def averaged_in_part() -> onnx.ModelProto:
    builder = begun("averaged_in_part")
    builder.average_pool((2, 2), (2, 2))
    builder.quantise(4, signed=False, narrow=False)
    return classified(builder)


def clipped() -> onnx.ModelProto:
    builder = begun("clipped")
    builder.conv(4, (1, 1), 4)
    builder.tensor = builder.node("Clip", [builder.tensor, builder.constant(0.0), builder.constant(6.0)])
    builder.quantise(4, signed=False, narrow=False)
    return classified(builder)


STOPPED = [
    pytest.param(averaged_in_part, "no Trunc behind them: 'AveragePool_0'", "AveragePool_0", id="average of a part"),
    pytest.param(clipped, "Clip ahead of a quantiser", "Clip_0", marks=slow, id="Clip"),
    pytest.param(split_and_joined, "parts of unequal channels", "StreamingSplit", marks=slow, id="unequal split"),
    pytest.param(squeeze_and_excite, "Clip ahead of a quantiser", "Clip_0", marks=slow, id="hard sigmoid"),
]


@pytest.mark.parametrize(("make", "told", "node"), STOPPED)
def test_what_finn_plus_stops_at_is_said_first(
    make: Callable[[], onnx.ModelProto], told: str, node: str, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    onnx.save(make(), tmp_path / "model.onnx")
    made = ff.plan(tmp_path / "model.onnx", "pynq-z1", finn="plus", effort="fast", plots=False)
    made.save(tmp_path / "out")
    assert str(made).startswith("cannot be built yet: FINN+ 1.6.1's steps stop at ")
    assert told in made.plan.warnings[0]
    asked = {"output": tmp_path / "build", "stop": "floorflow_constrain", "label": False, "verify": False}
    answer = finn_plus.ask(
        do="build", graph=tmp_path / "model.onnx", steps=tmp_path / "out" / "finn", network=True, mistake="", **asked
    )
    assert node in answer["error"].splitlines()[-1]


def test_finn_main_is_not_said_to_stop_there(tmp_path: Path) -> None:
    onnx.save(averaged_in_part(), tmp_path / "model.onnx")
    assert not ff.plan(tmp_path / "model.onnx", "pynq-z1", finn="main", effort="fast", plots=False).plan.unbuilt
