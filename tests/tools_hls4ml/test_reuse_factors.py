"""The real hls4ml takes floorflow's configuration as it is, and its legal reuse factors are floorflow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from floorflow.backends.hls4ml.foldings import taken
from floorflow.backends.hls4ml.layers import Layer, divisors, multipliers
from tests.tools_hls4ml.conftest import MATRICES, MODELS

pytestmark = pytest.mark.tools
PREFIXES = ("", "Conv2D_", "Dense_")
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
