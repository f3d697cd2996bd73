"""Kinds in the form of FINN's development version, which fold: rows of its own answers (Xilinx/finn 73ba5ed)."""

from __future__ import annotations

import pytest

from floorflow.backends.finn.folding.legal_foldings import options
from floorflow.dataflow.model import Engine
from floorflow.technology import Technology
from tests.backends.finn.estimates import estimate

ALVEO = Technology("ultrascale+", "DSP48E2", has_uram=True)


def concat(channels: tuple[int, ...], vectors: tuple[int, ...]) -> dict[str, object]:
    return {"ChannelsPerStream": channels, "inputDataType": "UINT4", "numInputVectors": vectors}


def upsampling(height: int, width: int, out_height: int, out_width: int, channels: int) -> dict[str, object]:
    sizes = {"HI": height, "WI": width, "HO": out_height, "WO": out_width}
    return {**sizes, "NumChannels": channels, "inputDataType": "UINT4", "batchSize": 1}


@pytest.mark.parametrize(
    ("kind", "attributes", "simd", "cycles", "width"),
    [
        ("StreamingConcat_hls", concat((4, 4), (1,)), 4, 2, 16),
        ("StreamingConcat_hls", concat((48, 48, 16), (1,)), 2, 56, 8),
        ("StreamingConcat_hls", concat((4, 48), (1, 14, 28)), 1, 20384, 4),
        ("UpsampleNearestNeighbour_hls", upsampling(14, 14, 42, 42, 8), 2, 7056, 8),
        ("UpsampleNearestNeighbour_hls", upsampling(7, 7, 21, 21, 48), 16, 1323, 64),
    ],
)
def test_cycles_and_widths_are_finns(
    kind: str, attributes: dict[str, object], simd: int, cycles: int, width: int
) -> None:
    found = estimate(kind, {**attributes, "SIMD": simd}, ALVEO)  # type: ignore[dict-item]
    assert (found.cycles, found.in_width_bits, found.out_width_bits) == (cycles, width, width)


@pytest.mark.parametrize(
    ("kind", "attributes", "foldings"),
    [
        ("StreamingConcat_hls", concat((12, 18), (1, 4, 4)), {1, 2, 3, 6}),
        ("UpsampleNearestNeighbour_hls", upsampling(4, 3, 8, 9, 4), {1, 2, 4}),
    ],
)
def test_words_divide_the_channels_of_every_stream(
    kind: str, attributes: dict[str, object], foldings: set[int]
) -> None:
    engine = Engine("unit", kind, "operation", attributes, 0, 4, 4)  # type: ignore[arg-type]
    found = options(engine, ALVEO, "estimated")
    assert {option.folding["SIMD"] for option in found} == foldings
    assert all(option.resources.lut > 0 for option in found)
