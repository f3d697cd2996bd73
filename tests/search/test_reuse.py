"""With --reuse layers that are alike become one circuit in windows alike; where none are, require says so."""

import json
from pathlib import Path

import onnx
import pytest

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow.errors import InfeasibleError, InputError, LimitError
from tests.plans import EXAMPLES


def equal_layers(folder: Path, layers: int = 4, channels: int = 32) -> Path:
    """Save a network of a first convolution and equal ones behind it."""
    builder = ModelBuilder("layers", (1, 3, 16, 16))
    builder.quantise(8, narrow=False)
    for _ in range(layers + 1):
        builder.conv(channels, (3, 3), 4, pads=(1, 1, 1, 1))
        builder.relu()
        builder.quantise(4, signed=False, narrow=False)
    path = folder / "layers.onnx"
    onnx.save(builder.model(), path)
    return path


def test_equal_layers_are_made_once(tmp_path: Path) -> None:
    made = ff.plan(
        equal_layers(tmp_path), "xcku5p", reuse="prefer", runtime_weights="never", effort="fast", plots=False
    )
    rows = made.modules
    lut = {row["module"]: row["LUT"] for row in rows}
    assert sum(lut[row["module"]] for row in rows if row["reused"]) >= 0.5 * sum(lut.values())
    price, share = [sentence for sentence in made.plan.warnings if sentence.startswith("--reuse prefer: ")]
    assert "LUT against foldings that are free" in price
    assert share.endswith("of the LUTs lie in modules whose implementation serves two or more")
    assert json.loads(made.plan.to_json())["options"]["reuse"] == "prefer"


@pytest.mark.parametrize("has_twins", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_reuse_is_proven_impossible_only_where_no_engine_has_a_twin(has_twins: bool, tmp_path: Path) -> None:
    network = EXAMPLES / "tfc_1w1a.onnx" if has_twins else equal_layers(tmp_path, layers=0)
    with pytest.raises(LimitError if has_twins else InfeasibleError, match="no two modules are alike"):
        ff.plan(network, "xcku5p", reuse="require", effort="fast", plots=False)


def test_what_contradicts_equal_foldings_is_refused() -> None:
    with pytest.raises(InputError, match="not with --objective latency"):
        ff.plan(EXAMPLES / "tfc_1w1a.onnx", "xcku5p", reuse="prefer", objective="latency", plots=False)


def test_a_plan_that_reuses_nothing_does_not_name_the_options() -> None:
    made = ff.plan(EXAMPLES / "tfc_1w1a.onnx", "xcku5p", effort="fast", plots=False)
    options = json.loads(made.plan.to_json())["options"]
    assert "reuse" not in options
    assert "thresholds" not in options["backend_options"]
