"""The calibrated model: what is shipped is what the fit gives, and no network is predicted by a fit that saw it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from statistics import median
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.calibrated_values import CALIBRATED, MEASURED_BANDS
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients
from floorflow.backends.finn.cost.memory import BLOCK_SHAPES, block_ram18
from floorflow.backends.finn.folding.legal_foldings import legal_options
from floorflow.backends.finn.kinds.kind import Choice, priced
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.technology import technology_of
from tests.backends.finn.engines import BARE, ENGINES

ALVEO = technology_of("xcu250-figd2104-2L-e")
BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


@pytest.fixture(scope="module")
def program() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import calibration
        import calibration_report

        calibration.report = calibration_report
        yield calibration
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def builds(program: ModuleType) -> tuple:
    return program.read_builds()


@pytest.fixture(scope="module")
def fits(program: ModuleType, builds: tuple) -> dict:
    return program.cross_validated(builds)


def errors(builds: tuple, fits: dict, resource: str) -> float:
    by_network: dict[str, list[float]] = {}
    for build in builds:
        if build.measured[resource]:
            off = abs(fits[build.network].design(build, resource) / build.measured[resource] - 1)
            by_network.setdefault(build.network, []).append(off)
    return median(median(each) for each in by_network.values())


def test_shipped_coefficients_are_those_of_the_fit(program: ModuleType, builds: tuple) -> None:
    full = program.fit(builds)
    for index, name in enumerate(program.NAMES):
        fitted = full.prices["FF" if "_ff" in name else "LUT"][index]
        assert getattr(CALIBRATED, name) == pytest.approx(fitted, rel=0.006), name
    assert CALIBRATED.auto_block_depth == full.auto_block_depth


def test_shipped_bands_are_those_of_the_cross_validation(program: ModuleType, builds: tuple, fits: dict) -> None:
    found = program.report.bands(program.report.samples(builds, fits))
    assert set(found) == set(MEASURED_BANDS)
    for kind, each in found.items():
        for resource, span in each.items():
            assert MEASURED_BANDS[kind][resource] == pytest.approx(span, abs=0.011)


def test_whole_designs_are_met_as_well_as_the_docs_say(program: ModuleType, builds: tuple, fits: dict) -> None:
    assert errors(builds, fits, "LUT") <= 0.15
    assert errors(builds, fits, "BRAM18") <= 0.10
    cycles = [abs(program.interval(b) / b.measured["interval"] - 1) for b in builds if b.measured["interval"]]
    assert median(cycles) <= 0.03
    for build in builds:
        if any(part.kind == "MVAU_rtl" for part in build.parts):
            assert fits[build.network].design(build, "DSP") == build.measured["DSP"]


def test_the_docs_hold_the_tables_that_the_program_prints(program: ModuleType, builds: tuple, fits: dict) -> None:
    text = (BENCHMARKS.parent / "docs" / "calibration.md").read_text(encoding="utf-8")
    for page in program.report.pages(builds, fits, program.fit(builds)):
        assert page in text


def test_a_network_has_no_part_in_its_own_prediction(program: ModuleType, builds: tuple, fits: dict) -> None:
    def swollen(build: object) -> object:
        return replace(build, measured={name: amount and 3 * amount for name, amount in build.measured.items()})

    other = tuple(swollen(build) if build.network == "kws" else build for build in builds)
    again = program.cross_validated(other)
    for build in builds:
        same = again[build.network].design(build, "LUT") == pytest.approx(fits[build.network].design(build, "LUT"))
        assert same == (build.network == "kws")


def test_reconstructed_foldings_give_the_estimate_that_the_builds_recorded(builds: tuple) -> None:
    for build in builds:
        assert max(pace.cycles for pace in build.paces) == build.told["cycles"]


@pytest.mark.parametrize("unit", ENGINES, ids=lambda unit: unit.kind)
def test_every_folding_costs_logic(unit) -> None:
    for option in legal_options(kind_of(unit.kind), unit.attributes, Choice(ALVEO, "calibrated")):
        assert option.resources.lut > 0
        assert option.resources.ff > 0
        built = kind_of(unit.kind).unit({**unit.attributes, **option.folding})
        assert priced(built, ALVEO, "calibrated") == option.resources


@given(st.sampled_from([1, 2, 3, 4, 6, 12]), st.sampled_from([1, 2, 3, 4, 6, 8, 12, 24]), st.booleans())
def test_more_lanes_never_need_less_logic(pe: int, simd: int, one_bit: bool) -> None:
    types = {"inputDataType": "BINARY", "weightDataType": "BINARY"} if one_bit else {}
    base = {**ENGINES[0].attributes, **types, "resType": "lut", "ram_style": "block"}

    def lut(lanes: int, width: int) -> int:
        unit = kind_of("MVAU_hls").unit({**base, "PE": lanes, "SIMD": width, "ram_style_thresholds": "block"})
        return priced(unit, ALVEO, "calibrated").lut

    assert lut(12, simd) >= lut(pe, simd)
    assert lut(pe, 24) >= lut(pe, simd) - 1.6 * (24 // simd)  # the input buffer's multiplexer shrinks


def test_one_bit_products_are_gates() -> None:
    base = {**ENGINES[0].attributes, "resType": "lut", "ram_style": "block", "PE": 12, "SIMD": 24}
    gates = kind_of("MVAU_hls").unit({**base, "inputDataType": "BINARY", "weightDataType": "BINARY"})
    assert priced(gates, ALVEO, "calibrated").lut < priced(gates, ALVEO, "estimated").lut


@pytest.mark.parametrize(
    ("finn", "weights", "blocks"), [("main", "INT4", 96), ("plus", "INT4", 66), ("plus", "INT8", 96)]
)
def test_rtl_units_with_wide_inputs_use_the_dsp_of_their_finn(finn, weights: str, blocks: int) -> None:
    wide = {**BARE, "inputDataType": "INT8", "weightDataType": weights, "MW": 6, "MH": 32, "PE": 32, "SIMD": 6}
    assert priced(kind_of("MVAU_rtl").unit(wide, finn), ALVEO, "calibrated").dsp == blocks


@pytest.mark.parametrize(("words", "blocks"), [(16, 0), (32, 2)])
def test_weights_without_a_style_lie_in_block_ram_from_32_words_on(words: int, blocks: int) -> None:
    shape = {"MW": 4, "MH": 6 * words, "PE": 6, "SIMD": 4, "numInputVectors": (1, 1, 1), "ram_style": "auto"}
    unit = kind_of("MVAU_hls").unit({**ENGINES[0].attributes, **shape})
    assert priced(unit, ALVEO, "calibrated").bram18 == blocks
    assert priced(unit, ALVEO, "estimated").bram18 == 0


@given(st.integers(1, 300), st.integers(1, 20_000))
def test_block_ram_is_the_least_over_uniform_shapes(width: int, depth: int) -> None:
    whole_bytes = -(-width // 8) * 8
    plans = []
    for wide, rows in BLOCK_SHAPES:
        tiles = {(column // wide, row // rows) for column in (0, whole_bytes - 1) for row in (0, depth - 1)}
        plans.append((max(c for c, _ in tiles) + 1) * (max(r for _, r in tiles) + 1))
    assert block_ram18(width, depth) == min(plans)
    assert block_ram18(width, depth) * 18432 >= width * depth


def test_names_of_models_choose_their_coefficients() -> None:
    assert coefficients("estimated") is ESTIMATED
    assert coefficients("calibrated") is CALIBRATED
    assert all(getattr(CALIBRATED, field.name) > 0 for field in fields(Coefficients))
