"""FINN+ itself makes the engines that floorflow plans, hls or rtl, from floorflow's two configuration files."""

from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow import flow
from floorflow.facts import Plan
from floorflow.request import DEFAULT_CAP, Request
from tests.random_models import random_chain
from tests.scarce_dsp import FEW_DSP, mixed_bits
from tests.tools_finn.oracle import FinnPlus, planned

pytestmark = pytest.mark.tools
STYLES, FOLDING = "finn/specialize_layers_config.json", "finn/folding_config.json"
PREFERENCE = "preferred_impl_style"


def plan_of(model: onnx.ModelProto, platform: str, folder: Path, **options: Any) -> tuple[Plan, Path | None, Path]:
    """Return a plan and its two files."""
    path = folder / "model.onnx"
    onnx.save(model, path)
    usual = {"finn": "plus", "effort": "fast", "granularity": "slot", "plots": False}  # floorplans are not looked at
    outcome = flow.plan(Request(path, platform, **(usual | options)))
    written = []
    for name in (STYLES, FOLDING):
        content, file = outcome.files.get(name), folder / Path(name).name
        if content is not None:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        written.append(None if content is None else file)
    return outcome.plan, written[0], written[1] or folder


def layers_of(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    """Return the engines as FINN has them before SpecializeLayers."""
    engines = plan.networks[0].engines
    return [
        (e.kind.rpartition("_")[0], {name: value for name, value in e.attributes.items() if name != PREFERENCE})
        for e in engines
    ]


def assert_made_as_planned(plan: Plan, styles: Path | None, folding: Path, finn_plus: FinnPlus) -> None:
    nodes = finn_plus.specialise(layers_of(plan), styles, folding, plan.platform.fpgas[0].part)
    engines = plan.networks[0].engines
    assert [(name, node["op_type"]) for name, node in nodes.items()] == [(e.name, e.kind) for e in engines]
    for engine in engines:
        node, folded = nodes[engine.name], plan.phases[0].engines[engine.name]
        for name, value in node["attributes"].items():
            wanted = folded.attributes.get(name, engine.attributes.get(name, value))
            if name not in ("numInputVectors", PREFERENCE):
                assert wanted == value, (engine.name, name)
        assert node["cycles"] == folded.cycles


def test_finn_plus_makes_the_engines_that_are_planned_where_dsps_run_short(tmp_path: Path, finn_plus: FinnPlus) -> None:
    plan, styles, folding = plan_of(mixed_bits(), "xcku5p", tmp_path, cap=FEW_DSP)
    kinds = [engine.name for engine in plan.networks[0].engines if engine.name.startswith("MVAU")]
    assert kinds == ["MVAU_hls_0", "MVAU_hls_1", "MVAU_hls_2", "MVAU_hls_3"]
    assert styles is not None
    assert_made_as_planned(plan, styles, folding, finn_plus)


def test_without_the_file_finn_plus_makes_other_engines(tmp_path: Path, finn_plus: FinnPlus) -> None:
    plan, _, folding = plan_of(mixed_bits(), "xcku5p", tmp_path, cap=FEW_DSP)
    layers = layers_of(plan)
    asked = {"do": "specialise", "layers": layers, "styles": None, "folding": folding, "ports": [(1, 1)] * len(layers)}
    answer = finn_plus.ask(**asked, part=plan.platform.fpgas[0].part)
    assert "no node takes the entries ['MVAU_hls_2', 'MVAU_hls_3']" in answer["error"]


@pytest.mark.parametrize(
    "seed", [0, 2, 4, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (6, 8, 10, *range(1, 36, 2)))]
)
def test_finn_plus_makes_the_engines_of_random_networks(seed: int, tmp_path: Path, finn_plus: FinnPlus) -> None:
    board = ("xcku5p", "zcu104", "alveo-u250")[seed % 3]
    cap = {**DEFAULT_CAP, "DSP": (0.002, 0.02, 0.9)[seed // 3 % 3]}
    plan, styles, folding = plan_of(random_chain(seed), board, tmp_path, cap=cap, impl_style="free")
    assert_made_as_planned(plan, styles, folding, finn_plus)


def test_finn_plus_names_and_folds_a_network_that_it_converts_live(tmp_path: Path, finn_plus: FinnPlus) -> None:
    options = {"cap": FEW_DSP, "label_select": True}
    plan, styles, folding = plan_of(mixed_bits(first=4), "zcu104", tmp_path, **options)
    graph = tmp_path / "graph.onnx"
    names = finn_plus.convert(tmp_path / "model.onnx", graph, image=True, styles=styles)
    assert names == [engine.name for engine in plan.networks[0].engines]
    assert {"MVAU_hls_2", "MVAU_hls_3"} < set(names)
    told = finn_plus.numbers(graph, folding, plan.platform.fpgas[0].part)
    assert {name: n[0] for name, n in told.items()} == {name: n[0] for name, n in planned(plan).items()}
