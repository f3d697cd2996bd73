"""How many levels of logic stand between two registers, held against paths that Vivado reported."""

import pytest

from floorflow.backends.finn.clock import DELAYS, SHELL, label_select_levels, paths

LABELS = {"Labels": 10, "K": 1, "inputDataType": "INT7"}
MATRIX = {
    "inputDataType": "BINARY",
    "weightDataType": "BINARY",
    "outputDataType": "BINARY",
    "resType": "lut",
    "noActivation": 0,
}


def sum_levels(**attributes: object) -> float:
    path = next(path for path in paths("MVAU_hls", {**MATRIX, **attributes}) if path.what == "sum of products")  # type: ignore[dict-item]
    return path.levels


def test_five_labels_a_cycle_are_fifteen_levels_where_fourteen_and_fifteen_were_built() -> None:
    assert label_select_levels(LABELS, 5) == 15


def test_labels_of_more_bits_or_several_best_ones_take_longer() -> None:
    assert label_select_levels({**LABELS, "inputDataType": "INT16"}, 5) > 15
    assert label_select_levels({**LABELS, "K": 5}, 5) == 20


def test_a_label_a_cycle_is_shorter_than_the_counters_of_every_loop() -> None:
    assert label_select_levels(LABELS, 1) < SHELL.levels


def test_hls_puts_eight_levels_into_a_cycle_of_10_ns_on_7_series_and_thirteen_on_ultrascale() -> None:
    """The worst path of custom_4 and that of an int8 CNN, both in trees of adders that HLS had cut."""
    assert DELAYS.scheduled_levels("xc7z020clg400-1", 10) == pytest.approx(8, rel=0.2)
    assert DELAYS.scheduled_levels("xczu3eg-sbva484-1-e", 10) == pytest.approx(13, rel=0.05)


def test_more_products_a_cycle_are_a_deeper_tree() -> None:
    assert sum_levels(SIMD=64) == sum_levels(SIMD=1) + 6 * 2
    assert sum_levels(SIMD=64, inputDataType="INT4") > sum_levels(SIMD=64)


def test_more_thresholds_are_a_deeper_path_and_none_is_no_path() -> None:
    one, many = (
        max(path.levels for path in paths("MVAU_hls", {**MATRIX, "SIMD": 1, "outputDataType": name}))
        for name in ("UINT2", "UINT8")
    )
    assert one < many
    without = [path.what for path in paths("MVAU_hls", {**MATRIX, "SIMD": 1, "noActivation": 1})]
    assert without == ["loop counters of HLS", "sum of products"]


def test_rtl_engines_have_no_loops_of_hls() -> None:
    assert SHELL not in list(paths("MVAU_rtl", {**MATRIX, "SIMD": 64}))
