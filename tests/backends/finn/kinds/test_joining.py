"""FIFOs and width converters: prices without holes, cliffs where FINN+ has them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.kinds.fifo import XPM_CONTROL, fifo_estimate, fifo_resources, fifo_style
from floorflow.backends.finn.kinds.joining import converter_kind, converter_resources
from floorflow.backends.finn.names import FinnVersion
from floorflow.resources import ZERO
from floorflow.technology import Technology

ZYNQ = Technology("7series", "DSP48E1", has_uram=False)
ALVEO = Technology("ultrascale+", "DSP48E2", has_uram=True)
VERSAL = Technology("versal", "DSP58", has_uram=True)

PARTS = st.sampled_from([ZYNQ, ALVEO, VERSAL])
WIDTHS = st.integers(1, 2048)


FINNS = st.sampled_from(["main", "plus"])


@settings(max_examples=200, deadline=None)
@given(WIDTHS, st.integers(0, 100_000), PARTS, FINNS)
def test_no_fifo_is_free_nor_takes_what_the_part_lacks(
    width: int, depth: int, part: Technology, finn: FinnVersion
) -> None:
    found = fifo_resources(width, depth, part, "estimated", finn)
    assert found.lut > 0
    if finn == "main" and (found.bram18 or found.uram):  # AMD's FIFO: a word leaves by the block's own register
        assert 28 <= found.lut <= 47
        assert 53 <= found.ff <= 65
    else:
        assert found.ff >= width
    assert part.has_uram or found.uram == 0
    bits = 18432 * found.bram18 + 294912 * found.uram + 64 * found.lut
    assert bits >= width * (depth - 2)


@settings(max_examples=100, deadline=None)
@given(WIDTHS, WIDTHS, PARTS)
def test_no_converter_is_free_and_equal_widths_need_none(inside: int, outside: int, part: Technology) -> None:
    for model in ("estimated", "finn"):
        found = converter_resources(inside, outside, part, model)
        assert (found == ZERO) == (inside == outside)
    if inside != outside:
        assert converter_resources(inside, outside, part, "estimated").ff >= max(inside, outside)


@pytest.mark.parametrize("finn", ["main", "plus"])
def test_ultra_ram_becomes_block_ram_at_the_same_depth(finn: FinnVersion) -> None:
    assert fifo_resources(8, 4000, ALVEO, "estimated", finn).uram == 1
    found = fifo_resources(8, 4000, ZYNQ, "estimated", finn)
    block = fifo_estimate(8, 4000, "block")
    lut = block.lut if finn == "plus" else XPM_CONTROL[0]
    assert (found.lut, found.bram18, found.uram) == (lut, block.bram18, 0)


@pytest.mark.parametrize(
    ("depth", "style"),
    [(33, "srl"), (34, "distributed"), (257, "distributed"), (258, "block"), (2028, "block"), (2029, "ultra")],
)
def test_styles_change_at_the_published_depths(depth: int, style: str) -> None:
    assert fifo_style(16, depth) == style


def test_widths_count_in_whole_bytes_but_for_shift_registers() -> None:
    assert fifo_resources(9, 64, ALVEO, "estimated") == fifo_resources(16, 64, ALVEO, "estimated")
    assert fifo_resources(9, 32, ALVEO, "estimated").lut < fifo_resources(16, 32, ALVEO, "estimated").lut


def test_shift_registers_cost_what_was_built() -> None:
    """LUT and FF of pynq-labs' FIFOs by width and depth: benchmarks/data/builds.jsonl.gz."""
    for width, depth, lut, ff in ((224, 2, 232, 457), (32, 2, 36, 68), (112, 32, 246, 122), (28, 32, 76, 38)):
        found = fifo_resources(width, depth, ZYNQ, "calibrated")
        assert found.lut == pytest.approx(lut, abs=max(2, 0.03 * lut))
        assert found.ff == pytest.approx(ff, abs=max(2, 0.03 * ff))


def test_finn_model_is_finn_mains_shift_register_fifo() -> None:
    assert fifo_resources(24, 32, ALVEO, "finn").as_tuple() == (10 + 12, 0, 0, 0, 0)


@pytest.mark.parametrize(("inside", "outside", "kind"), [(8, 32, "rtl"), (32, 8, "rtl"), (24, 16, "hls")])
def test_only_integer_ratios_are_rtl(inside: int, outside: int, kind: str) -> None:
    assert converter_kind(inside, outside) == f"StreamingDataWidthConverter_{kind}"


def test_the_table_answers_as_the_functions_do() -> None:
    table = CostTable(ZYNQ, "finn")
    assert table.fifo_resources(8, 40) == fifo_resources(8, 40, ZYNQ, "finn")
    assert table.converter_resources(8, 12) == converter_resources(8, 12, ZYNQ, "finn")
    assert table.converter_kind(8, 12) == converter_kind(8, 12)
