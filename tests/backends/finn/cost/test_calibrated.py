"""The calibrated model: what is shipped is what the fit gives, and no network is predicted by a fit that saw it."""

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from math import ceil, log2
from pathlib import Path
from statistics import median
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.cost.calibrated import CALIBRATED, MEASURED_BANDS, coefficients
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients, WeightMemory
from floorflow.backends.finn.cost.memory import BLOCK_SHAPES, auto_ram18, block_ram18, finn_weight_bram18
from floorflow.backends.finn.folding.legal_foldings import legal_options
from floorflow.backends.finn.kinds.boundary import dma_resources
from floorflow.backends.finn.kinds.kind import Choice, priced
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.resources import Resources
from floorflow.technology import Technology, technology_of
from tests.backends.finn.engines import BARE, ENGINES

ALVEO = technology_of("xcu250-figd2104-2L-e")
BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


@pytest.fixture(scope="module")
def program() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import calibration
        import calibration_fit

        calibration_fit.report = calibration
        yield calibration_fit
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
            off = abs(fits[build.name].design(build, resource) / build.measured[resource] - 1)
            by_network.setdefault(build.network, []).append(off)
    return median(median(each) for each in by_network.values())


def test_shipped_coefficients_are_those_of_the_fit(program: ModuleType, builds: tuple) -> None:
    full = program.fit(builds)
    for index, name in enumerate(program.NAMES):
        fitted = full.prices["FF" if "_ff" in name else "LUT"][index]
        assert getattr(CALIBRATED, name) == pytest.approx(fitted, rel=0.006), name


@pytest.mark.slow
def test_shipped_bands_are_those_of_the_cross_validation(program: ModuleType, builds: tuple, fits: dict) -> None:
    found = program.report.bands(*program.report.samples(builds, fits))
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
            assert fits[build.name].design(build, "DSP") == build.measured["DSP"]


def test_the_docs_hold_the_tables_that_the_program_prints(program: ModuleType, builds: tuple, fits: dict) -> None:
    text = (BENCHMARKS.parent / "docs" / "calibration.md").read_text(encoding="utf-8")
    for page in program.report.pages(builds, fits, program.with_shells(program.fit(builds), builds)):
        assert page in text


@pytest.mark.slow
@pytest.mark.parametrize("chosen", ["pynq-labs", "metafi", "kws"])
def test_a_build_has_no_part_in_its_own_prediction_nor_have_others_of_its_origin_or_network(
    chosen: str, program: ModuleType, builds: tuple, fits: dict
) -> None:
    """But for the shell of a board, which builds of other networks tell, and reports."""

    def swollen(build: object) -> object:
        parts = tuple(replace(p, measured=p.measured and tuple(3 * m for m in p.measured)) for p in build.parts)
        return replace(
            build, parts=parts, measured={name: 3 * amount for name, amount in build.measured.items() if amount}
        )

    again = program.cross_validated(tuple(swollen(b) if chosen in (b.origin, b.network) else b for b in builds))
    unlike = {b.name for b in builds if again[b.name].parts(b, "LUT") != pytest.approx(fits[b.name].parts(b, "LUT"))}
    # Builds of one origin and of one network tell nothing of each other.
    alike = {"metafi": ("metafi", ""), "pynq-labs": ("pynq-labs", "tfc"), "kws": ("FINN+", "")}[chosen]
    assert unlike == {b.name for b in builds if b.origin != alike[0] and b.network != alike[1]}


def test_builds_by_strangers_are_met_as_the_docs_say(builds: tuple, fits: dict) -> None:
    strangers = [build for build in builds if build.origin == "pynq-labs"]
    assert len(strangers) == 4
    for build in strangers:
        for resource, share in (("LUT", 0.09), ("FF", 0.06)):
            assert fits[build.name].design(build, resource) == pytest.approx(build.measured[resource], rel=share)
        assert abs(fits[build.name].design(build, "BRAM18") - build.measured["BRAM18"]) <= 2
        assert fits[build.name].design(build, "DSP") == build.measured["DSP"] == 0


def test_no_kind_is_off_by_more_than_a_quarter_in_the_median(builds: tuple, fits: dict) -> None:
    ratios: dict[tuple[str, str], list[float]] = {}
    for build in builds:
        for part in build.parts:
            if part.measured and part.measured[0] >= 20:
                own = fits[build.name].part(part, "LUT")
                ratios.setdefault((part.kind, build.origin), []).append(own / part.measured[0])
    assert {kind: off for kind, each in ratios.items() if abs(off := median(each) - 1) > 0.25} == {}


def test_reconstructed_foldings_give_the_estimate_that_the_builds_recorded(builds: tuple) -> None:
    for build in builds:
        if build.told:
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
    """As long as weights are no constants."""
    types = {"inputDataType": "BINARY", "weightDataType": "BINARY"} if one_bit else {}
    base = {**ENGINES[0].attributes, **types, "MH": 24, "resType": "lut", "ram_style": "block"}

    def lut(lanes: int, width: int) -> int:
        unit = kind_of("MVAU_hls").unit({**base, "PE": lanes, "SIMD": width, "ram_style_thresholds": "block"})
        return priced(unit, ALVEO, "calibrated").lut

    assert lut(12, simd) >= lut(pe, simd)
    assert lut(pe, 24) >= lut(pe, simd) - 1.6 * (24 // simd)  # the input buffer's multiplexer shrinks


def test_one_bit_products_are_gates() -> None:
    base = {**ENGINES[0].attributes, "resType": "lut", "ram_style": "block", "PE": 12, "SIMD": 24}
    one, two = (
        priced(kind_of("MVAU_hls").unit({**base, "inputDataType": data, "weightDataType": data}), ALVEO, "calibrated")
        for data in ("BINARY", "INT2")
    )
    assert one.lut < 0.5 * two.lut


def test_constant_weights_need_neither_a_streamer_nor_multipliers() -> None:
    """A first layer of one word of weights was built at a third of what streamed ones would take."""
    base = {**ENGINES[0].attributes, "MW": 24, "MH": 24, "SIMD": 24, "resType": "lut", "ram_style": "block"}
    base |= {"inputDataType": "INT8", "weightDataType": "INT2", "noActivation": 1, "accDataType": "INT14"}
    units = [{**base, "MH": 24 * words, "PE": 24} for words in (1, 2)]
    constant, streamed = (priced(kind_of("MVAU_hls").unit(unit), ALVEO, "calibrated") for unit in units)
    assert constant.lut < 0.5 * streamed.lut
    assert constant.bram18 == 0 < streamed.bram18
    writeable = kind_of("MVAU_hls").unit({**units[0], "runtime_writeable_weights": 1})
    assert priced(writeable, ALVEO, "calibrated").lut > 2 * constant.lut


@pytest.mark.parametrize(
    ("finn", "weights", "blocks"), [("main", "INT4", 96), ("plus", "INT4", 66), ("plus", "INT8", 96)]
)
def test_rtl_units_with_wide_inputs_use_the_dsp_of_their_finn(finn, weights: str, blocks: int) -> None:
    wide = {**BARE, "inputDataType": "INT8", "weightDataType": weights, "MW": 6, "MH": 32, "PE": 32, "SIMD": 6}
    assert priced(kind_of("MVAU_rtl").unit(wide, finn), ALVEO, "calibrated").dsp == blocks


ZYNQ = technology_of("xc7z020clg400-1")


@pytest.mark.parametrize(
    ("part", "bits", "words", "blocks"),
    [
        # Builds on PYNQ-Z2.
        (ZYNQ, 3584, 14, 100),
        (ZYNQ, 7168, 7, 200),
        (ZYNQ, 864, 6, 24),
        (ZYNQ, 1024, 4, 30),  # 29: its last column is a RAMB18
        (ZYNQ, 320, 2, 0),
        (ZYNQ, 1280, 60, 36),
        (ZYNQ, 576, 64, 16),
        (ZYNQ, 32, 9216, 32),
        (ZYNQ, 8, 147456, 80),
        (ZYNQ, 4, 65536, 16),
        (ZYNQ, 1, 5120, 2),
        # vgg10 on RFSoC2x2; metafi on xczu7ev.
        (ALVEO, 768, 16, 0),
        (ALVEO, 3072, 4, 0),
        (ALVEO, 256, 512, 8),
        (ALVEO, 3, 300, 0),
        (ALVEO, 3, 900, 1),
    ],
)
def test_weights_without_a_style_lie_where_vivado_put_them(
    part: Technology, bits: int, words: int, blocks: int
) -> None:
    for model in ("calibrated", "estimated"):
        memory = WeightMemory(bits, words, "internal_decoupled", "auto", writeable=False, hls=False, queued=True)
        assert memory.priced(part, coefficients(model)).bram18 == blocks


@pytest.mark.parametrize(
    ("stream", "memory", "reads", "lut", "ff", "bram18"),
    [
        (8, 64, True, 1091, 1738, 2),
        (224, 64, True, 1870, 3814, 2),
        (896, 64, True, 1563, 4305, 2),
        (8, 8, False, 995, 1450, 1),
    ],
)
def test_dma_engines_are_met(stream: int, memory: int, reads: bool, lut: int, ff: int, bram18: int) -> None:
    own = dma_resources(stream, memory, reads=reads)
    assert own.lut == pytest.approx(lut, rel=0.03)
    assert own.ff == pytest.approx(ff, rel=0.03)
    assert own.bram18 == bram18


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


def of_seven_series(**attributes: object) -> Resources:
    unit = kind_of(str(attributes.pop("kind"))).unit(attributes, str(attributes.pop("finn", "main")))
    return priced(unit, technology_of("xc7z020clg400-1"), "calibrated")


@pytest.mark.parametrize(
    ("width", "depth", "blocks"),
    [(3584, 14, 100), (7168, 7, 200), (1280, 60, 36), (576, 64, 16), (288, 512, 8), (8, 147456, 80), (4, 65536, 16)],
)
def test_memories_of_seven_series_are_whole_ramb36_of_the_depths_power_of_two(
    width: int, depth: int, blocks: int
) -> None:
    assert auto_ram18(width, depth) == blocks


@pytest.mark.parametrize(("words", "in_blocks"), [(128, False), (256, True), (512, True)])
def test_fused_thresholds_without_a_style_lie_in_block_ram_from_256_words(words: int, in_blocks: bool) -> None:
    base = {**ENGINES[0].attributes, "MH": words, "PE": 1, "SIMD": 1, "noActivation": 0, "outputDataType": "UINT2"}
    styles = ({}, {"ram_style_thresholds": "distributed"})
    auto, in_luts = (of_seven_series(kind="MVAU_hls", **base, **style) for style in styles)
    assert (auto.bram18 - in_luts.bram18 > 0) == in_blocks
    assert (auto.lut < in_luts.lut) == in_blocks


def test_row_buffers_of_max_pools_are_two_sets_of_blocks() -> None:
    """12 RAMB18 were built of two pools of 64 and 128 one-bit channels."""
    pool = {"ImgDim": (8, 8), "PoolDim": (2, 2), "PE": 1, "CeilMode": 0, "dataType": "BINARY"}
    built = [of_seven_series(kind="StreamingMaxPool_hls", **pool, NumChannels=count).bram18 for count in (64, 128)]
    assert built == [4, 8]


@pytest.mark.parametrize("depth", [64, 256, 512, 5000])
def test_fifos_of_finn_main_are_shift_registers_or_amds_and_never_ultra_ram(depth: int) -> None:
    fifo = {"folded_shape": (1, 8, 8), "dataType": "UINT4", "depth": depth, "ram_style": "auto"}
    rtl, amd = (
        priced(kind_of("StreamingFIFO_rtl").unit({**fifo, "impl_style": style}), ALVEO, "calibrated")
        for style in ("rtl", "vivado")
    )
    assert (rtl.uram, rtl.bram18, amd.uram) == (0, 0, 0)
    assert rtl.lut == pytest.approx(32 * (ceil(depth / 32) + 1) + 5 * log2(depth), rel=0.05)
    assert 53 <= amd.ff <= 65


@pytest.mark.parametrize(
    ("bits", "folding", "lut", "ff", "dsp"),
    [
        (8, (1, 1, 1), 13150, 16025, 2),
        (8, (4, 4, 2), 25256, 23030, 18),
        (4, (1, 4, 1), 8551, 12351, 5),
        (4, (1, 16, 2), 8758, 12730, 20),
    ],
)
def test_small_networks_of_wide_words_are_met(
    bits: int, folding: tuple[int, int, int], lut: int, ff: int, dsp: int
) -> None:
    """Whole designs of strangers, of two dense layers, 64-32-10, on xczu3eg; the shell is ZCU104's."""
    types = {"weightDataType": f"INT{bits}", "numInputVectors": (1,)}
    first = {"inputDataType": f"INT{bits}", "outputDataType": f"UINT{bits}", "noActivation": 0, "MW": 64, "MH": 32}
    last = {"inputDataType": f"UINT{bits}", "outputDataType": "INT21", "noActivation": 1, "MW": 32, "MH": 10}
    lanes, width, width_of_last = folding
    both = (
        kind_of("MVAU_hls").unit({**types, **first, "PE": lanes, "SIMD": width}),
        kind_of("MVAU_rtl").unit({**types, **last, "PE": 1, "SIMD": width_of_last}),
    )
    part = replace(technology_of("xczu3eg-sbva484-1-e"), vivado=(2022, 2))
    told = [priced(unit, part, "calibrated") for unit in both]
    assert sum(one.lut for one in told) + 8205 == pytest.approx(lut, rel=0.1)
    assert sum(one.ff for one in told) + 11171 == pytest.approx(ff, rel=0.1)
    assert abs(sum(one.dsp for one in told) - dsp) <= 2


def test_dma_engines_of_a_graph_cost_what_built_ones_take() -> None:
    transfer = {"streamWidth": 8, "intfWidth": 64, "direction": "in"}
    unit = kind_of("IODMA_hls").unit(transfer)
    assert priced(unit, ALVEO, "calibrated") == dma_resources(8, 64, reads=True)


def test_thresholds_that_hls_knows_cost_less_than_those_that_are_streamed() -> None:
    units = {"NumChannels": 32, "PE": 1, "numSteps": 255, "inputDataType": "INT22", "weightDataType": "INT22"}
    units |= {"outputDataType": "UINT8", "numInputVectors": (1,), "ram_style": "distributed"}
    known, streamed = (
        of_seven_series(kind="Thresholding_hls", **units, mem_mode=mode)
        for mode in ("internal_embedded", "internal_decoupled")
    )
    assert known.lut < 0.6 * streamed.lut
    assert known.ff > 255 * 22 / 4


PART = technology_of("xczu7ev-ffvc1156-2-e")
BUILT_AS = {"MVAU_hls": {"resType": "dsp", "ram_style_thresholds": "distributed"}}
"""What Vivado made of ``auto``."""


def instances() -> list[tuple[str, dict, Resources]]:
    with gzip.open(Path(__file__).parents[1] / "vectors" / "metafi.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return [
        (kind, {**attributes, **BUILT_AS.get(kind, {})}, Resources(lut, ff, bram18, 0, dsp))
        for kind, attributes, lut, ff, bram18, dsp in rows
    ]


FINN = {"MVAU_hls": "plus"}
"""Whose engine was built, where its price depends on that."""
INSTANCES = instances()
KINDS = sorted({kind for kind, *_ in INSTANCES})


def pairs(op_type: str) -> list[tuple[Resources, Resources]]:
    return [
        (measured, kind_of(op_type).unit(attributes, FINN.get(op_type, "main")).own_resources(PART))
        for kind, attributes, measured in INSTANCES
        if kind == op_type
    ]


@pytest.mark.parametrize("op_type", [kind for kind in KINDS if kind != "Thresholding_rtl"])
def test_sums_and_medians_of_logic_are_within_a_tenth(op_type: str) -> None:
    found = pairs(op_type)
    for name in ("lut", "ff"):
        measured = [getattr(real, name) for real, _ in found]
        modelled = [getattr(own, name) for _, own in found]
        assert sum(modelled) == pytest.approx(sum(measured), rel=0.1)
        assert 0.9 <= median(a / b for a, b in zip(measured, modelled, strict=True)) <= 1.1


def test_thresholds_are_an_upper_bound() -> None:
    assert all(own.lut >= real.lut for real, own in pairs("Thresholding_rtl"))


def test_matrix_units_are_close_one_by_one() -> None:
    found = pairs("MVAU_hls")
    assert len(found) == 32
    assert all(0.8 <= real.lut / own.lut <= 1.2 for real, own in found)
    assert sum(own.bram18 for _, own in found) == pytest.approx(sum(real.bram18 for real, _ in found), rel=0.02)
    assert sum(own.dsp for _, own in found) == pytest.approx(sum(real.dsp for real, _ in found), rel=0.06)


def test_block_ram_is_counted_better_than_finn_does() -> None:
    errors = {"own": 0, "finn": 0}
    for kind, attributes, measured in INSTANCES:
        if kind == "MVAU_hls":
            lanes = attributes["PE"] * attributes["SIMD"]
            depth = attributes["MW"] * attributes["MH"] // lanes
            if depth >= 512:
                errors["own"] += abs(block_ram18(3 * lanes, depth) - measured.bram18)
                errors["finn"] += abs(finn_weight_bram18(3 * lanes, depth) - measured.bram18)
    assert errors == {"own": 10, "finn": 27}
