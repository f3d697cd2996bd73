"""hls4ml's costs: constants as circuits, products of LUTs or DSPs, and the published builds that they are held to."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from benchmarks import hls4ml_costs
from floorflow.backends.hls4ml.backend import BACKEND
from floorflow.backends.hls4ml.costs import MEASURED, UNMEASURED, Hls4mlCosts, dsp_blocks
from floorflow.backends.hls4ml.lower import Hls4mlSource
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.weights import Constants
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.technology import technology_of
from tests.backends.layered_plans import jet, write_float_model
from tests.plans import ROOT

BUILDS = hls4ml_costs.rows()


def lowered(path: Path, **options: object) -> Dataflow:
    chosen = Hls4mlOptions.model_validate(options)
    source: Hls4mlSource = BACKEND.read(path, chosen)
    return BACKEND.lower(source, technology_of("xc7z020clg400-1"), chosen)


def priced(engine: Engine, reuse: int, strategy: str) -> tuple[int, int]:
    """Return LUT and DSP."""
    use = Hls4mlCosts(Hls4mlOptions()).option(engine, (reuse, strategy)).resources
    return use.lut, use.dsp


@pytest.mark.parametrize("row", BUILDS, ids=lambda row: row["name"])
def test_published_builds_are_told_within_half_of_their_luts_and_a_quarter_of_their_dsps(
    row: dict[str, object],
) -> None:
    assert hls4ml_costs.holds(row) == (row["name"] not in hls4ml_costs.OUTSIDE)


def test_the_document_has_the_tables_that_the_program_makes() -> None:
    text = (ROOT / "docs" / "hls4ml.md").read_text(encoding="utf-8")
    for made in (hls4ml_costs.table(BUILDS), hls4ml_costs.left_out(BUILDS), hls4ml_costs.sources(BUILDS)):
        assert "\n".join(made) in text


def test_every_build_has_its_source_beside_it_and_most_bit_widths_and_both_strategies_are_there() -> None:
    assert all("github.com/" in row["source"] and row["weights"] for row in BUILDS)
    layers = [layer for row in BUILDS for layer in row["layers"]]
    assert {4, 6, 7, 10, 13, 16} <= {layer["weight_bits"] for layer in layers if "strategy" in layer}
    assert {layer["strategy"] for layer in layers if "strategy" in layer} == {"Latency", "Resource"}


def test_digits_are_the_fewest_powers_of_two_that_a_number_is_a_sum_or_difference_of() -> None:
    fewest = {0: 0}
    for count in (1, 2, 3, 4):
        for powers in combinations(range(9), count):
            for signs in product((1, -1), repeat=count):
                total = sum(sign << power for sign, power in zip(signs, powers, strict=True))
                fewest.setdefault(total, count)
    for number in range(-127, 128):
        found = Constants.of(np.array([number]))
        count = fewest[number]
        assert (found.digits, found.nonzero) == (count, int(count > 0))
        assert (found.two, found.many) == (int(count == 2), int(count > 2))


def test_products_are_luts_up_to_ten_bits_and_dsps_of_as_many_parts_as_an_operand_has_beyond() -> None:
    assert [dsp_blocks(bits, bits) for bits in (4, 6, 7, 8, 10, 12, 16, 18)] == [0, 0, 0, 0, 0, 1, 1, 1]
    assert [dsp_blocks(16, 7), dsp_blocks(7, 16), dsp_blocks(24, 19), dsp_blocks(32, 20)] == [1, 1, 2, 4]


def test_a_layer_of_seven_bits_has_no_dsp_and_the_first_whose_data_have_sixteen_has_one_a_multiplier(
    tmp_path: Path,
) -> None:
    dense = [e for e in lowered(jet(tmp_path / "jet.onnx"), weight_bits=7).engines if e.kind == "Dense"]
    assert [(e.input_bits, e.weight_bits) for e in dense] == [(16, 7), (7, 7), (7, 7), (7, 7)]
    assert [priced(e, 32, "Resource")[1] for e in dense] == [32, 0, 0, 0]
    assert all(priced(e, 32, "Resource")[0] > 32 * e.attributes["n_out"] for e in dense)


def model_of_weights(path: Path, weights: np.ndarray) -> Path:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    return write_float_model(path, nodes, ([1, weights.shape[0]], [1, weights.shape[1]]), {"w": weights})


def test_weights_of_zero_cost_nothing_and_such_of_many_digits_a_dsp_where_they_are_constants(tmp_path: Path) -> None:
    weights = np.zeros((4, 4))
    weights[0] = (1, 0.75, 11 / 1024, 0.1)  # one digit, two, three (11 = 8 + 4 - 1), many
    (engine,) = lowered(model_of_weights(tmp_path / "few.onnx", weights)).engines
    assert (engine.attributes["nonzero_weights"], engine.attributes["many_digit_weights"]) == (4, 2)
    assert priced(engine, 1, "Latency")[1] == 2
    assert priced(engine, 2, "Latency")[1] == 8
    (pruned,) = lowered(model_of_weights(tmp_path / "none.onnx", np.zeros((4, 4)))).engines
    assert priced(pruned, 1, "Latency")[0] < priced(engine, 1, "Latency")[0]


def test_weights_behind_a_quantiser_are_its_integers(tmp_path: Path) -> None:
    quant = helper.make_node("Quant", ["w", "s", "z", "b"], ["q"], domain="qonnx.custom_op.general", signed=1, narrow=0)
    data = helper.make_node("Quant", ["x", "s", "z", "b"], ["d"], domain="qonnx.custom_op.general", signed=1, narrow=0)
    quant.attribute.append(helper.make_attribute("rounding_mode", "ROUND"))
    data.attribute.append(helper.make_attribute("rounding_mode", "ROUND"))
    nodes = [data, quant, helper.make_node("MatMul", ["d", "q"], ["y"])]
    weights = {"w": np.array([[0.5, 0.75], [0.0, 2.75]]), "s": np.array(0.25), "z": np.array(0.0), "b": np.array(5.0)}
    path = write_float_model(tmp_path / "quantised.onnx", nodes, ([1, 2], [1, 2]), weights)
    (engine,) = lowered(path).engines
    assert (engine.weight_bits, engine.attributes["weight_digits"]) == (5, 1 + 2 + 3)  # 2, 3 and 11


def test_weights_that_are_not_in_the_file_are_told(tmp_path: Path) -> None:
    path = jet(tmp_path / "jet.onnx")
    onnx.save(onnx.load(path), path, save_as_external_data=True, location="weights.bin", size_threshold=2048)
    dataflow = lowered(path)
    assert [e.attributes["weights_read"] for e in dataflow.engines if e.kind == "Dense"] == [0, 0, 0, 1]
    assert any("weights not read" in note and "fc0, fc1, fc2" in note for note in dataflow.notes)


def test_biases_and_scales_behind_a_layer_are_part_of_it_without_quantisers(tmp_path: Path) -> None:
    kinds = [engine.kind for engine in lowered(jet(tmp_path / "jet.onnx")).engines]
    assert kinds == ["Dense", "Activation"] * 3 + ["Dense"]


def test_kinds_that_no_build_shows_have_half_to_twice() -> None:
    costs = Hls4mlCosts(Hls4mlOptions())
    assert costs.has_bands
    assert costs.band("Pooling2D", "LUT") == costs.band("Dense", "BRAM18") == UNMEASURED == (0.5, 2.0)
    assert costs.band("Dense", "LUT") == MEASURED["Dense"]["LUT"]
    assert not Hls4mlCosts(Hls4mlOptions(costs="samo")).has_bands


def test_the_bands_of_dense_layers_hold_eight_of_ten_published_figures() -> None:
    inside = [
        low * row["told"].as_dict()[name] <= row["built"][name] <= high * row["told"].as_dict()[name]
        for row in BUILDS
        for name, (low, high) in MEASURED["Dense"].items()
        if name in row["built"] and not row["name"].startswith("CNN")
    ]
    assert sum(inside) >= 0.8 * len(inside)
