"""What a plan warns of that another tool does not build."""

from __future__ import annotations

from typing import Any

import pytest

from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.report_words import PACKED_SUM_BITS, warnings_of
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.resources import Resources

SUM_WORD_BITS = 48
LAST_LANE_BITS = (21, 22, 23)
"""Where ``sliceLanes`` of mvu_4sx4u.sv (FINN main 39f0c9a) lays the last lane: DSP48E1; DSP48E2; narrow weights.

Elaborated by slang 12, the core has ranges beyond ``[47:0]`` with sums of 28, 27 and 26 bits and more, and none with
fewer, at PE x SIMD of 1 x 1, 2 x 1, 3 x 1, 4 x 1, 2 x 2 and 4 x 4 alike.
"""


def told(
    kind: str = "MVAU_rtl", bits: tuple[int, int, int] = (4, 4, 32), pe: int = 2, simd: int = 1, **options: Any
) -> str:
    """Return the warnings of a matrix unit with such weights, data and sums, folded so."""
    unit = Engine("unit", kind, "operation", {}, *bits)
    option = Option({"PE": pe, "SIMD": simd}, 64, Resources(), (bits[1] * simd,), (bits[2] * pe,))
    folded = FoldedDataflow(Dataflow("net", (unit,), ()), {"unit": option})
    return " ".join(warnings_of(folded, 100, FinnOptions(costs="calibrated", **options)))


@pytest.mark.parametrize(("pe", "simd"), [(2, 1), (1, 1), (4, 1), (16, 16)])
def test_wide_sums_of_few_bits_do_not_synthesise_whatever_the_folding(pe: int, simd: int) -> None:
    found = told(pe=pe, simd=simd)
    for words in ("unit (32 bits)", "FINN issue 1681", "step_minimize_bit_width", "MVAU_hls"):
        assert words in found


@pytest.mark.parametrize(
    "built",
    [
        {"bits": (4, 4, PACKED_SUM_BITS)},
        {"bits": (8, 4, 32)},
        {"kind": "MVAU_hls"},
        {"finn": "dev"},
        {"finn": "plus"},
    ],
)
def test_what_synthesises_is_not_warned_of(built: dict[str, Any]) -> None:
    assert told(**built) == ""


def test_the_widest_sum_is_that_of_the_last_lane() -> None:
    assert min(SUM_WORD_BITS - offset for offset in LAST_LANE_BITS) == PACKED_SUM_BITS


def test_of_an_input_wider_than_dma_engines_the_rate_that_each_board_feeds_is_told() -> None:
    unit = Engine("unit", "MVAU_hls", "operation", {}, 1, 8, 16)
    option = Option({"PE": 1, "SIMD": 112}, 14, Resources(), (896,), (16,))
    stream = Stream("host:in0", 0, "unit", 0, 784, 112, 8)
    folded = FoldedDataflow(Dataflow("net", (unit,), (stream,)), {"unit": option})
    found = " ".join(warnings_of(folded, 100, FinnOptions(costs="calibrated")))
    # A frame of 6,272 bits is 13 words of 512 bits, 49 of 128 and 98 of 64.
    for words in ("512 bits a cycle (7,692,307 frames/s) on Alveo", "(2,040,816 frames/s)", "(1,020,408 frames/s)"):
        assert words in found
