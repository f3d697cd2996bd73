"""FINN+ itself makes the products, splits and concats that floorflow plans, as wide and as fast."""

from pathlib import Path

import onnx
import pytest

from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.facts import Plan
from tests.gated_models import MODELS
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_styles import PREFERENCE, layers_of, plan_of

pytestmark = pytest.mark.tools
JOINS = {
    "squeeze_and_excite": {"ElementwiseMul_hls_0", "DuplicateStreams_hls_0"},
    "gated_vector": {"ElementwiseMul_hls_0", "DuplicateStreams_hls_0"},
    "split_and_joined": {"StreamingSplit_hls_0", "StreamingConcat_hls_0"},
}


def widths(plan: Plan, name: str) -> list[list[int]]:
    """Return the stream widths of an engine's inputs and outputs, un-padded."""
    engine = next(engine for engine in plan.networks[0].engines if engine.name == name)
    folding = plan.phases[0].engines[name].attributes
    unit = kind_of(engine.kind).unit({**engine.attributes, **folding}, "plus")
    return [list(unit.input_widths_bits), list(unit.output_widths_bits)]


@pytest.mark.parametrize("fps", [None, pytest.param(100_000.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_finn_plus_agrees_on_names_attributes_cycles_and_widths(
    model: onnx.ModelProto, fps: float | None, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    plan, styles, folding = plan_of(model, "zcu104", tmp_path, fps=fps)
    engines = plan.networks[0].engines
    streams = {engine.name: widths(plan, engine.name) for engine in engines}
    ports = [(len(streams[engine.name][0]), len(streams[engine.name][1])) for engine in engines]
    nodes = finn_plus.specialise(layers_of(plan), styles, folding, plan.platform.fpgas[0].part, ports)
    assert [(name, node["op_type"]) for name, node in nodes.items()] == [(e.name, e.kind) for e in engines]
    assert set(nodes) >= JOINS[model.graph.name]
    for engine in engines:
        node = nodes[engine.name]
        assert node["cycles"] == plan.phases[0].engines[engine.name].cycles, engine.name
        assert node["widths"] == streams[engine.name], engine.name
        for name, value in engine.attributes.items():
            if name == PREFERENCE:
                continue
            assert node["attributes"].get(name, value) in (value, list(value) if isinstance(value, tuple) else value)


def test_finn_plus_derives_the_type_of_products_as_floorflow_does(tmp_path: Path, finn_plus: FinnPlus) -> None:
    """FINN+ itself turns the network's Mul into ElementwiseMul_hls and minimises its output."""
    plan, styles, _ = plan_of(MODELS["gated_vector"], "zcu104", tmp_path)
    names = finn_plus.convert(tmp_path / "model.onnx", tmp_path / "graph.onnx", image=False, styles=styles)
    assert "ElementwiseMul_hls_0" in names
    made = {node.name: node for node in onnx.load(tmp_path / "graph.onnx").graph.node}["ElementwiseMul_hls_0"]
    told = {a.name: onnx.helper.get_attribute_value(a) for a in made.attribute}
    ours = next(e for e in plan.networks[0].engines if e.name == "ElementwiseMul_hls_0").attributes
    for name in ("lhs_dtype", "rhs_dtype", "out_dtype"):
        assert told[name].decode() == ours[name]
    assert {tuple(told[f"{side}_shape"]) for side in ("lhs", "rhs", "out")} == {tuple(ours["out_shape"])}
