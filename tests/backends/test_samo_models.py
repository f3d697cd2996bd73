"""SAMO's models of three back ends: every option of its 32 tables, from the attributes of the nodes alone."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from floorflow.backends.finn import samo
from floorflow.backends.fpgaconvnet import layers as fpgaconvnet
from floorflow.backends.layered.areas import divisors
from tests.backends import samo_hls4ml as hls4ml
from tests.schedule.samo_cases import tables

ROUNDED = 1e-6
"""To which the tables round cycles."""
OPTIONS = {"finn": 16_444, "fpgaconvnet": 11_606, "hls4ml": 820}


def of_finn(node: dict[str, Any], _: str) -> NDArray[np.float64]:
    into, out = divisors(node["channels_in"]), divisors(node["channels_out"])
    pairs = [*product(into, out)] if node["op"] == "StreamingFCLayer_Batch" else [(n, n) for n in into if n in out]
    simd, pe = np.array(pairs, dtype=np.float64).T
    cycles, *use = samo.ESTIMATORS[node["op"]](node["attributes"], simd, pe)
    return np.stack(np.broadcast_arrays(simd, pe, 1, cycles, *use, 0), axis=1)


def of_fpgaconvnet(node: dict[str, Any], network: str) -> NDArray[np.float64]:
    a = node["attributes"]
    top, left, bottom, right = a.get("pad", [0] * 4)
    layer = fpgaconvnet.Layer(
        *(node["op"], node["channels_in"], node["channels_out"]),
        *(a["rows_in"], a["cols_in"], a["rows_out"], a["cols_out"]),
        kernel=a.get("kernel_size", [1])[0],
        groups=a.get("groups", 1),
        padding=(top + bottom, left + right),
        # The tables do not say it: batch normalisation stands in for it in MobileNet's convolutions.
        has_bias=network != "MobileNetV1" or node["op"] != "ConvolutionLayer",
    )
    return fpgaconvnet.options(layer)


def of_hls4ml(node: dict[str, Any], _: str) -> NDArray[np.float64]:
    size = node["attributes"]["spatial_size"]
    kernel = node["kernel_size"]
    return hls4ml.options(hls4ml.Layer(node["op"], node["channels_in"], node["channels_out"], kernel, size))


MODELS = {"finn": of_finn, "fpgaconvnet": of_fpgaconvnet, "hls4ml": of_hls4ml}


@pytest.mark.parametrize("backend", MODELS)
def test_every_option_of_every_table_is_reproduced(backend: str) -> None:
    count = 0
    for table in (table for table in tables().values() if table["backend"] == backend):
        for node in table["nodes"]:
            found, listed = MODELS[backend](node, table["network"]), np.array(node["options"], dtype=np.float64)
            place = f"{table['name']}: {node['name']}"
            assert found.shape == listed.shape, place
            assert np.abs(found[:, 3] - listed[:, 3]).max() <= 2 * ROUNDED, place
            assert (np.delete(found, 3, axis=1) == np.delete(listed, 3, axis=1)).all(), place
            count += len(listed)
    assert count == OPTIONS[backend]


def test_a_block_is_as_deep_as_its_words_are_narrow() -> None:
    widths = np.array([1, 2, 4, 9, 18, 36, 36, 37], dtype=np.float64)
    depths = np.array([16384, 8192, 4096, 2048, 1024, 512, 513, 512], dtype=np.float64)
    assert samo.blocks(widths, depths).tolist() == [1, 1, 1, 1, 1, 1, 2, 2]
    assert samo.blocks(widths, depths + 1).tolist() == [2, 2, 2, 2, 2, 2, 2, 3]


def test_hls4ml_takes_numbers_of_multipliers_that_fill_inputs_or_outputs() -> None:
    layer = hls4ml.Layer("Dense", 4, 3, 1, 1)
    # 3 multipliers would take 4 inputs for 3 outputs unevenly.
    assert hls4ml.multipliers(layer).tolist() == [1, 2, 4, 12]
    assert hls4ml.options(layer)[0].tolist() == [1, 1, 1, 12, 0, 1, 0, 0]


def test_what_fpgaconvnet_has_no_bias_for_costs_an_adder() -> None:
    layer = fpgaconvnet.Layer("ConvolutionLayer", 8, 8, 8, 8, 8, 8, kernel=3, padding=(2, 2))
    without = fpgaconvnet.Layer("ConvolutionLayer", 8, 8, 8, 8, 8, 8, kernel=3, padding=(2, 2), has_bias=False)
    more = fpgaconvnet.options(without) - fpgaconvnet.options(layer)
    assert (more[:, 5] == fpgaconvnet.options(layer)[:, 1]).all()
