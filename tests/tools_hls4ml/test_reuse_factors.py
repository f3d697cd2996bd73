"""The real hls4ml takes floorflow's configuration as it is, and its legal reuse factors are floorflow's."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorflow.backends.hls4ml.backend import BACKEND
from floorflow.backends.hls4ml.foldings import taken
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.layered.areas import divisors
from floorflow.errors import InputError
from floorflow.technology import technology_of
from tests.backends.layered_plans import ACTIVATIONS, activation_model, assert_legal, foldings, model_of, read
from tests.backends.samo_hls4ml import Layer, multipliers
from tests.command_line import floorflow
from tests.tools_hls4ml.conftest import MATRICES, MODELS, OWN

pytestmark = pytest.mark.tools
PREFIXES = ("", "Conv1D_", "Conv2D_", "Dense_")
"""What hls4ml puts before the name of a node whose layer it makes of two."""


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_hls4ml_builds_its_model_with_our_reuse_factors_and_changes_none(
    number: int, hls4ml_says: dict[str, Any]
) -> None:
    made, config = hls4ml_says["models"][number], hls4ml_says["configs"][number]
    assert "Invalid" not in made["printed"]
    assert "WARNING" not in made["printed"]
    for name, wanted in config["LayerName"].items():
        layer = next(made["layers"][prefix + name] for prefix in PREFIXES if prefix + name in made["layers"])
        assert layer["reuse_factor"] == wanted["ReuseFactor"], name
        if "Strategy" in wanted:
            assert layer["strategy"] == wanted["Strategy"].lower(), name


def test_hls4ml_copies_streams_where_the_plan_has_clones_and_joins_them_where_it_has_merges(
    hls4ml_says: dict[str, Any],
) -> None:
    number = [name for name, _ in MODELS].index("residual")
    layers, kinds = hls4ml_says["models"][number]["layers"], hls4ml_says["kinds"][number]
    assert sum(name.startswith("clone_") for name in layers) == kinds.count("Clone") == 2
    assert sum(name.startswith("Add_") for name in layers) == kinds.count("Merge") == 2


def test_strategies_are_both_tried(hls4ml_says: dict[str, Any]) -> None:
    layers = [layer for config in hls4ml_says["configs"] for layer in config["LayerName"].values()]
    assert {layer["Strategy"] for layer in layers if "Strategy" in layer} == {"Resource", "Latency"}


@pytest.mark.parametrize("number", range(len(MATRICES)), ids=lambda n: "x".join(map(str, MATRICES[n])))
def test_legal_reuse_factors_are_those_that_hls4ml_takes(number: int, hls4ml_says: dict[str, Any]) -> None:
    inputs, outputs = MATRICES[number]
    factors = np.array(divisors(inputs * outputs))
    assert factors[taken(inputs, outputs, factors)].tolist() == hls4ml_says["matrices"][number]


def test_samo_searches_reuse_factors_that_hls4ml_does_not_take(hls4ml_says: dict[str, Any]) -> None:
    # That is why the option legal_set has two values.
    inputs, outputs = 75, 20
    searched = {inputs * outputs // n for n in multipliers(Layer("Dense", inputs, outputs, 1, 1)).tolist()}
    assert searched - set(hls4ml_says["matrices"][MATRICES.index((inputs, outputs))])


@pytest.mark.parametrize("name", ["sequence", "oblong", "residual"])
def test_layers_of_weights_pools_joins_and_softmax_are_of_the_classes_that_hls4ml_makes(
    name: str, hls4ml_says: dict[str, Any]
) -> None:
    number = [model for model, _ in MODELS].index(name)
    classes = [layer["class"] for layer in hls4ml_says["models"][number]["layers"].values()]
    own = [kind for kind in hls4ml_says["kinds"][number] if kind != "Activation"]
    for kind in sorted({*own}):
        spelled = ("Conv2D", "PointwiseConv2D") if kind == "Conv2D" else (kind,)
        assert sum(classes.count(each) for each in spelled) == own.count(kind), kind


@pytest.mark.parametrize("operator", ACTIVATIONS)
def test_activations_are_layers_where_hls4ml_reads_them_and_no_others(
    operator: str, hls4ml_says: dict[str, Any], tmp_path: Path
) -> None:
    options = Hls4mlOptions()
    try:
        lowered = BACKEND.lower(
            BACKEND.read(activation_model(tmp_path, operator), options), technology_of("xc7z020clg400-1"), options
        )
        engines = len(lowered.engines)
    except InputError as error:
        engines = 0
        assert "no layer of hls4ml" in str(error)  # noqa: PT017 - refused for that, or not at all
    layers = [name for name in hls4ml_says["activations"][operator] if name != "global_in"]
    assert engines == len(layers)


@pytest.mark.parametrize("number", range(len(OWN)), ids=lambda number: "-".join(map(str, OWN[number])))
def test_a_configuration_that_hls4ml_made_is_planned_as_hls4ml_builds_it(
    number: int, hls4ml_says: dict[str, Any], tmp_path: Path
) -> None:
    told, name = hls4ml_says["own"][number], OWN[number][0]
    (tmp_path / "hls_config.json").write_text(json.dumps(told["config"]))
    named = (model_of(hls4ml_says["folder"], name), "--backend", "hls4ml", "-p", "alveo-u250", "-o", tmp_path / "out")
    ended = floorflow(
        "plan",
        *named,
        "--folding",
        tmp_path / "hls_config.json",
        "--effort",
        "fast",
        "--granularity",
        "slot",
        "--no-plots",
    )
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")
    made = read(tmp_path / "out")
    folded, engines = foldings(made), {e["name"]: e for e in made["networks"][0]["engines"]}
    for engine in engines.values():
        spelled = [prefix + engine["attributes"]["layer"] for prefix in PREFIXES]
        layer = next(told["layers"][each] for each in spelled if each in told["layers"])
        if engine["weight_bits"]:
            chosen = folded[engine["name"]]["attributes"]
            assert (chosen["ReuseFactor"], chosen["Strategy"].lower()) == (layer["reuse_factor"], layer["strategy"])
        assert engine["output_bits"] == layer["bits"], engine["name"]
