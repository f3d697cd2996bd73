"""Options are legal, undominated, complete, and priced without holes."""

from dataclasses import replace
from itertools import product
from math import lcm, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.folding.legal_foldings import legal_options, options
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Choice, CostModel, priced
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.dataflow.model import Engine, Option
from floorflow.errors import InfeasibleError, InputError
from floorflow.technology import Technology
from tests.backends.finn.engines import BARE, ENGINES, WEIGHTED, engine
from tests.backends.finn.estimates import estimate

ZYNQ = Technology("7series", "DSP48E1", has_uram=False)
ALVEO = Technology("ultrascale+", "DSP48E2", has_uram=True)
VERSAL = Technology("versal", "DSP58", has_uram=True)
PARTS = (ZYNQ, ALVEO, VERSAL)
WHOLE = {
    "MVAU_hls": {"PE": "MH", "SIMD": "MW"},
    "MVAU_rtl": {"PE": "MH", "SIMD": "MW"},
    "VVAU_hls": {"PE": "Channels"},
    "Pool_hls": {"PE": "Channels"},
    "LabelSelect_hls": {"PE": "Labels"},
    "ConvolutionInputGenerator_rtl": {"SIMD": "IFMChannels"},
}
BY_NAME = pytest.mark.parametrize("unit", ENGINES, ids=lambda unit: unit.kind)
BOTH_MODELS = pytest.mark.parametrize("model", ["finn", "estimated"])


def cost(option: Option) -> tuple[int, ...]:
    return (option.cycles, *option.resources.as_tuple())


def widths(option: Option) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return option.input_widths_bits, option.output_widths_bits


def no_worse(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


@BY_NAME
@BOTH_MODELS
def test_parallelism_divides_and_streams_fit(unit: Engine, model: CostModel) -> None:
    for option in options(unit, ALVEO, model):
        for name in {"PE", "SIMD"} & set(option.folding):
            whole = WHOLE.get(unit.kind, {}).get(name, "NumChannels")
            if name == "SIMD" and unit.kind == "VVAU_hls":
                assert prod(unit.attributes["Kernel"]) % option.folding[name] == 0
            else:
                assert unit.attributes[whole] % option.folding[name] == 0
        assert max(*option.input_widths_bits, *option.output_widths_bits) <= MAX_STREAM_BITS
        if option.folding.get("parallel_window"):
            assert option.folding["SIMD"] == unit.attributes["IFMChannels"]


@BY_NAME
@BOTH_MODELS
def test_no_option_dominates_another_and_they_are_sorted(unit: Engine, model: CostModel) -> None:
    found = options(unit, ALVEO, model)
    assert [cost(option) for option in found] == sorted(cost(option) for option in found)
    for one, other in product(found, repeat=2):
        assert one is other or widths(one) != widths(other) or not no_worse(cost(one), cost(other))


@BY_NAME
@pytest.mark.parametrize("technology", PARTS, ids=lambda part: part.architecture)
def test_cycles_and_widths_are_those_of_finn(unit: Engine, technology: Technology) -> None:
    for option in options(unit, technology, "estimated"):
        found = estimate(unit.kind, {**unit.attributes, **option.folding}, technology)
        assert (option.cycles, option.input_widths_bits[0], option.output_widths_bits[0]) == (
            *(found.cycles, found.in_width_bits),
            found.out_width_bits,
        )


@BY_NAME
@pytest.mark.parametrize("technology", PARTS, ids=lambda part: part.architecture)
def test_nothing_that_exists_is_free(unit: Engine, technology: Technology) -> None:
    for option in options(unit, technology, "estimated"):
        assert option.resources.lut > 0
        assert option.resources.ff > 0


STYLES = {
    "MVAU_hls": [
        {"mem_mode": mode, "ram_style": ram, "resType": multiplier, "ram_style_thresholds": threshold, **runtime}
        for mode, ram, runtime in (
            ("internal_embedded", "auto", {}),
            ("internal_decoupled", "block", {}),
            ("internal_decoupled", "distributed", {}),
            ("internal_decoupled", "ultra", {"runtime_writeable_weights": 1}),
        )
        for multiplier in ("lut", "dsp")
        for threshold in ("distributed", "block")
    ],
    "ConvolutionInputGenerator_rtl": [
        {"ram_style": ram, "parallel_window": window} for ram in ("distributed", "block", "ultra") for window in (0, 1)
    ],
    "Thresholding_hls": [
        {"mem_mode": mode, "ram_style": ram}
        for mode in ("internal_embedded", "internal_decoupled")
        for ram in ("distributed", "block")
    ],
}


def every_folding(unit: Engine) -> list[dict[str, int | str]]:
    names = WHOLE.get(unit.kind, {"PE": "NumChannels"})
    numbers = [
        [n for n in range(1, unit.attributes[whole] + 1) if unit.attributes[whole] % n == 0] for whole in names.values()
    ]
    sizes = [dict(zip(names, values, strict=True)) for values in product(*numbers)]
    return [{**size, **style} for size in sizes for style in STYLES[unit.kind]]


def is_offered(unit: Engine, folding: dict[str, int | str]) -> bool:
    if folding.get("parallel_window") and folding["SIMD"] != unit.attributes["IFMChannels"]:
        return False
    if "MW" not in unit.attributes:
        return True
    if unit.attributes["weightDataType"] == "BIPOLAR" and folding["resType"] == "dsp":
        return False
    depth = unit.attributes["MW"] * unit.attributes["MH"] // (folding["PE"] * folding["SIMD"])
    if folding["ram_style_thresholds"] == "block" and folding["PE"] == unit.attributes["MH"]:
        return False
    return folding["mem_mode"] != "internal_embedded" or depth <= 128


@pytest.mark.parametrize("unit", [unit for unit in ENGINES if unit.kind in STYLES], ids=lambda unit: unit.kind)
def test_brute_force_finds_nothing_better(unit: Engine) -> None:
    costs = {(widths(option), cost(option)) for option in options(unit, ALVEO, "estimated")}
    brute = set()
    for folding in every_folding(unit):
        if is_offered(unit, folding):
            built = kind_of(unit.kind).unit({**unit.attributes, **folding})
            ports = built.input_widths_bits, built.output_widths_bits
            brute.add((ports, (built.cycles, *built.own_resources(ALVEO).as_tuple())))
    front = {
        one
        for one in brute
        if not any(other[0] == one[0] and other != one and no_worse(other[1], one[1]) for other in brute)
    }
    assert costs == front


def test_finn_model_keeps_memories_as_given() -> None:
    given_style = replace(ENGINES[0], attributes={**ENGINES[0].attributes, "mem_mode": "internal_embedded"})
    assert {option.folding["mem_mode"] for option in options(given_style, ALVEO, "finn")} == {"internal_embedded"}
    default = {
        tuple(option.folding[name] for name in ("mem_mode", "ram_style", "resType"))
        for option in options(ENGINES[0], ALVEO, "finn")
    }
    assert default == {("internal_decoupled", "auto", "auto")}


def ultra(found: tuple[Option, ...]) -> list[Option]:
    return [option for option in found if option.folding["ram_style"] == "ultra"]


def test_ultra_ram_weights_need_run_time_writing_and_a_part_with_ultra_ram() -> None:
    deep = engine("MVAU_hls", MW=512, MH=512, **WEIGHTED)
    found = ultra(options(deep, ALVEO, "estimated"))
    assert found
    assert all(option.folding["runtime_writeable_weights"] == 1 for option in found)
    assert all(option.resources.uram > 0 for option in found)
    assert not ultra(options(deep, ALVEO, "estimated", allow_runtime_weights=False))
    assert not ultra(options(deep, ZYNQ, "estimated"))


def test_given_ultra_ram_weights_are_legal_only_if_they_can_be_written() -> None:
    given = {**ENGINES[0].attributes, "ram_style": "ultra"}
    fixed, writeable = (replace(ENGINES[0], attributes={**given, "runtime_writeable_weights": n}) for n in (0, 1))
    with pytest.raises(InfeasibleError, match="no legal folding"):
        options(fixed, ALVEO, "finn")
    with pytest.raises(InfeasibleError, match="no legal folding"):
        options(writeable, ALVEO, "finn", allow_runtime_weights=False)
    assert all(option.resources.uram for option in options(writeable, ALVEO, "finn"))


STEEP = {"IFMChannels": 4, "inputDataType": "INT4", "Dilation": (1, 1), "depthwise": 0}


@pytest.mark.parametrize(
    ("shape", "serial"),
    [
        ({"IFMDim": (9, 9), "OFMDim": (3, 3), "ConvKernelDim": (3, 3), "Stride": (3, 3)}, True),
        ({"IFMDim": (7, 14), "OFMDim": (2, 4), "ConvKernelDim": (1, 5), "Stride": (6, 3)}, False),
        ({"IFMDim": (30, 5), "OFMDim": (5, 1), "ConvKernelDim": (1, 4), "Stride": (6, 3)}, False),
    ],
)
def test_windows_whose_steps_leave_finns_buffer_are_parallel_only(shape: dict[str, object], serial: bool) -> None:
    found = options(engine("ConvolutionInputGenerator_rtl", **STEEP, **shape), ALVEO, "estimated")
    assert {option.folding["parallel_window"] for option in found} == ({0, 1} if serial else {1})
    assert all(option.folding["SIMD"] == 4 for option in found if option.folding["parallel_window"])


def test_run_time_weights_cost_logic() -> None:
    kind, attributes = kind_of("MVAU_hls"), {**ENGINES[0].attributes, "PE": 1, "SIMD": 1, "ram_style": "block"}
    fixed = kind.unit(attributes).own_resources(ALVEO)
    writeable = kind.unit({**attributes, "runtime_writeable_weights": 1}).own_resources(ALVEO)
    assert writeable.lut > fixed.lut + 100


def test_rtl_units_never_multiply_or_embed_in_luts() -> None:
    for option in options(ENGINES[2], ALVEO, "estimated"):
        assert option.folding["resType"] == "dsp"
        assert option.folding["mem_mode"] == "internal_decoupled"
        assert option.resources.dsp >= option.folding["SIMD"] * -(-option.folding["PE"] // 2)


def test_four_bit_products_share_a_dsp_by_four() -> None:
    narrow = {**BARE, "weightDataType": "INT4", "MW": 8, "MH": 8, "PE": 8, "SIMD": 2}
    unit = kind_of("MVAU_rtl").unit
    assert unit(narrow).own_resources(ALVEO).dsp == 4
    assert unit({**narrow, "weightDataType": "INT5"}).own_resources(ALVEO).dsp == 8
    assert unit(narrow).own_resources(VERSAL).dsp == 8


def test_embedded_deep_weights_count_once() -> None:
    attributes = {**ENGINES[0].attributes, "MH": 144, "PE": 1, "SIMD": 1, "mem_mode": "internal_embedded"}
    found = kind_of("MVAU_hls").unit(attributes).own_resources(ALVEO)
    assert found.bram18 > 0
    assert found.uram == 0


def test_hls_input_fold_has_a_limit() -> None:
    wide = engine("MVAU_hls", MW=4608, MH=2, **WEIGHTED)
    assert min(option.folding["SIMD"] for option in options(wide, ALVEO, "estimated")) >= 5


def test_two_inputs_and_two_outputs_have_two_widths() -> None:
    by_kind = {unit.kind: options(unit, ALVEO, "estimated")[0] for unit in ENGINES}
    assert by_kind["AddStreams_hls"].input_widths_bits == (48, 48)
    assert by_kind["AddStreams_hls"].output_widths_bits == (60,)
    assert by_kind["DuplicateStreams_hls"].output_widths_bits == (48, 48)
    assert by_kind["StreamingConcat_hls"].input_widths_bits == (16, 32)


def test_a_max_pool_in_two_dimensions_takes_all_channels() -> None:
    (option,) = options(ENGINES[10], ALVEO, "estimated")
    assert option.folding == {}
    assert option.input_widths_bits == (48,)


def test_equal_engines_share_their_options() -> None:
    renamed = replace(ENGINES[0], name="other")
    assert options(renamed, ALVEO, "estimated") is options(ENGINES[0], ALVEO, "estimated")


def test_an_engine_without_legal_folding_is_proven_infeasible() -> None:
    wide = engine("UpsampleNearestNeighbour_hls", IFMDim=4, OFMDim=8, NumChannels=2048, inputDataType="UINT8")
    with pytest.raises(InfeasibleError, match="proven infeasible: engine unit"):
        options(wide, ALVEO, "estimated")


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (engine("MVAU_hls", MW=4), "attribute MH of MVAU_hls is missing"),
        (engine("Quantum_hls"), "op type 'Quantum_hls' is unknown"),
        (engine("MVAU_rtl", MW=4, MH=4, **WEIGHTED), "noActivation is 0"),
        (engine("VVAU_rtl", Channels=4, Kernel=(3, 3), Dim=(3, 3), **BARE), "DSP48E2, expected DSP58"),
        (replace(ENGINES[4], attributes={**ENGINES[4].attributes, "IFMDim": (2, 9)}), "does not fit the feature map"),
        (engine("DuplicateStreams_hls", NumChannels=4, inputDataType="FLOAT33"), "data type 'FLOAT33' is unknown"),
    ],
    ids=["missing", "kind", "thresholds", "family", "kernel", "type"],
)
def test_errors_name_engine_attribute_and_expectation(unit: Engine, message: str) -> None:
    with pytest.raises(InputError, match=f"engine unit: .*{message}"):
        options(unit, ALVEO, "estimated")


@given(
    st.sampled_from([6, 8, 27, 32, 64]),
    st.sampled_from([2, 10, 16]),
    st.sampled_from(["UINT2", "INT4", "UINT8"]),
    st.sampled_from(["BIPOLAR", "INT2", "INT8"]),
    st.sampled_from(["BIPOLAR", "UINT4"]),
)
def test_more_parallel_matrix_units_are_never_cheaper_in_every_way(
    width: int, height: int, inside: str, weight: str, outside: str
) -> None:
    types = {"inputDataType": inside, "weightDataType": weight, "outputDataType": outside}
    found = options(engine("MVAU_hls", MW=width, MH=height, **{**WEIGHTED, **types}), ALVEO, "estimated")
    assert found[0].cycles == 1
    slowest = [option for option in found if option.cycles == found[-1].cycles]
    assert min(option.resources.lut for option in slowest) < min(
        option.resources.lut for option in found if option.cycles == 1
    )
    assert all(width * height % option.cycles == 0 for option in found)
    assert lcm(*(option.cycles for option in found)) <= width * height


@BY_NAME
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("model", ["finn", "estimated", "calibrated"])
def test_every_folding_is_priced_as_its_unit_alone_is(unit: Engine, part: Technology, model: CostModel) -> None:
    choice = Choice(part, model)
    try:
        found = list(legal_options(kind_of(unit.kind), unit.attributes, choice))
    except InputError:
        pytest.skip("an RTL unit that this family has no DSP block for")
    for option in found[:: 1 + len(found) // 200]:
        alone = kind_of(unit.kind).unit({**unit.attributes, **option.folding})
        assert option.resources == priced(alone, part, model)
        assert (option.cycles, *widths(option)) == (alone.cycles, alone.input_widths_bits, alone.output_widths_bits)
