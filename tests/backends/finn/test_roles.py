"""What other parts ask of FINN's kinds: types, roles, window fill, constants in logic, warnings."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import pytest

from floorflow.backends.finn.attributes import bits_of, bits_to_hold, extreme_value, is_signed
from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.backends.finn.report_words import IN_URAM, PACKED_SUM_BITS, steps, warnings_of
from floorflow.backends.finn.roles import constants_in_logic, described
from floorflow.dataflow.model import Attributes, Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.errors import InputError
from floorflow.facts.memory import MemoryChoiceEntry, MemoryEntry
from floorflow.facts.values import Amounts
from floorflow.resources import Resources
from floorflow.technology import technology_of
from floorflow.verify.finn.engines import FoldedEngine
from floorflow.verify.finn.styles import constants_in_logic as judged
from tests.plans import CNV
from tests.residual_models import residual_network


@pytest.mark.parametrize(
    ("name", "bits", "signed", "extreme"),
    [
        ("BIPOLAR", 1, True, -1),
        ("BINARY", 1, False, 1),
        ("TERNARY", 2, True, -1),
        ("INT8", 8, True, -128),
        ("UINT4", 4, False, 15),
        ("UINT32", 32, False, 2**32 - 1),
    ],
)
def test_types_tell_bits_sign_and_extreme(name: str, bits: int, signed: bool, extreme: int) -> None:
    assert (bits_of(name), is_signed(name), extreme_value(name)) == (bits, signed, extreme)


@pytest.mark.parametrize(("value", "bits"), [(0, 1), (1, 1), (2, 2), (255, 8), (256, 9), (-1, 1), (-2, 2), (-129, 9)])
def test_smallest_type_holds_the_value(value: int, bits: int) -> None:
    assert bits_to_hold(value) == bits


@pytest.mark.parametrize("name", ["FLOAT33", "INT0", "INT", "uint8", "FIXED<8>", "INT8 "])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown; expected INT"):
        bits_of(name)


def of_kind(kind: str, **attributes: int | tuple[int, ...]) -> Engine:
    return described(Engine("e", kind, "", attributes, 0, 4, 4))


@pytest.mark.parametrize(
    ("kind", "role", "label"),
    [
        ("MVAU_hls", "core", "MVAU"),
        ("StreamingMaxPool_hls", "core", "max pool"),
        ("FMPadding_rtl", "front", "pad"),
        ("AddStreams_hls", "front", "add"),
        ("Thresholding_rtl", "behind", "threshold"),
        ("ElementwiseSub_hls", "behind", "ElementwiseSub"),
    ],
)
def test_kinds_have_a_role_and_a_short_word(kind: str, role: str, label: str) -> None:
    engine = of_kind(kind)
    assert (engine.role, engine.label, engine.window_fill) == (role, label, 0)


def test_fill_is_the_share_of_the_frame_before_the_first_window() -> None:
    def fill(kernel: int, dilation: int = 1) -> Fraction:
        sizes = {"IFMDim": (10, 10), "ConvKernelDim": (kernel, kernel), "Dilation": (dilation, dilation)}
        return of_kind("ConvolutionInputGenerator_rtl", **sizes).window_fill

    assert fill(3) == Fraction(23, 100)  # 2 rows of 10 and 3 pixels of 100
    assert fill(1) == Fraction(1, 100)
    assert fill(3, 2) == Fraction(45, 100)
    assert fill(3, 5) == 1
    assert of_kind("GlobalAccPool_hls").window_fill == 1


def test_every_lowered_engine_has_them() -> None:
    engines = read_source(CNV).lower(technology_of("xcu250-figd2104-2L-e")).engines
    assert all(engine.label for engine in engines)
    assert [engine.role for engine in engines[:4]] == ["behind", "front", "core", "front"]


PART = "xcu250-figd2104-2L-e"
MVAU = {
    "MW": 64,
    "MH": 64,
    "numInputVectors": (1,),
    "inputDataType": "UINT4",
    "weightDataType": "INT4",
    "outputDataType": "UINT4",
    "noActivation": 1,
}
STEPS = {"NumChannels": 256, "numInputVectors": (1,), "inputDataType": "INT16", "weightDataType": "INT16"}
STEPS |= {"outputDataType": "UINT4", "numSteps": 15}


def told(kind: str, attributes: Attributes, folding: Attributes) -> str:
    return constants_in_logic(Engine(kind, kind, "", attributes, 4, 4, 4), option_of(folding))


def option_of(folding: Attributes) -> Option:
    return Option(folding, 1, Resources(lut=1), (), ())


@pytest.mark.parametrize(
    ("folding", "expected"),
    [
        ({"mem_mode": "internal_embedded"}, "weights"),
        ({"mem_mode": "internal_decoupled", "ram_style": "distributed"}, "weights"),
        ({"mem_mode": "internal_decoupled", "ram_style": "block"}, ""),
        ({"mem_mode": "internal_decoupled", "ram_style": "distributed", "runtime_writeable_weights": 1}, ""),
        ({"mem_mode": "external"}, ""),
    ],
)
def test_weights_in_luts_are_logic_and_in_block_ram_contents(folding: Attributes, expected: str) -> None:
    assert told("MVAU_hls", MVAU, {"PE": 2, "SIMD": 2, **folding}) == expected


def test_thresholds_in_a_matrix_unit_are_logic_wherever_its_weights_lie() -> None:
    folding = {"PE": 2, "SIMD": 2, "mem_mode": "internal_decoupled", "ram_style": "block"}
    assert told("MVAU_hls", {**MVAU, "noActivation": 0}, folding) == "thresholds"


@pytest.mark.parametrize(
    ("kind", "folding", "expected"),
    [
        ("Thresholding_rtl", {"depth_trigger_bram": 0}, "thresholds"),
        ("Thresholding_rtl", {"depth_trigger_bram": 128}, ""),
        ("Thresholding_rtl", {"depth_trigger_bram": 129}, "thresholds"),
        ("Thresholding_hls", {"mem_mode": "internal_decoupled", "ram_style": "block"}, ""),
        ("Thresholding_hls", {"mem_mode": "internal_decoupled", "ram_style": "distributed"}, "thresholds"),
    ],
)
def test_thresholds_are_contents_where_every_stage_is_in_blocks(kind: str, folding: Attributes, expected: str) -> None:
    assert told(kind, STEPS, {"PE": 2, **folding}) == expected


@pytest.mark.parametrize(
    ("kind", "folding", "left"),
    [
        ("MVAU_hls", {"mem_mode": "internal_decoupled", "ram_style": "distributed"}, ""),
        ("MVAU_hls", {"mem_mode": "internal_embedded"}, "weights"),
        ("Thresholding_rtl", {"PE": 2, "depth_trigger_bram": 0}, ""),
        ("Thresholding_rtl", {"PE": 256, "depth_trigger_bram": 0}, "thresholds"),
        ("Thresholding_hls", {"mem_mode": "internal_embedded"}, "thresholds"),
        ("ChannelwiseOp_hls", {"PE": 2}, ""),
        ("ChannelwiseOp_hls", {"PE": 256}, "parameters"),
    ],
)
def test_a_memory_of_several_words_is_no_logic_where_it_is_written_later(
    kind: str, folding: Attributes, left: str
) -> None:
    attributes = MVAU if kind.startswith("MVAU") else STEPS
    option = option_of({"PE": 2, "SIMD": 2, **folding})
    assert constants_in_logic(Engine(kind, kind, "", attributes, 4, 4, 4), option, written_later=True) == left


@pytest.mark.parametrize("later", [False, True])
def test_the_judge_has_it_alike_of_all_foldings_of_a_network(tmp_path: Path, later: bool) -> None:
    onnx.save(residual_network(), tmp_path / "net.onnx")
    options, technology = FinnOptions(), technology_of(PART)
    dataflow = BACKEND.lower(BACKEND.read(tmp_path / "net.onnx", options), technology, options)
    seen = set()
    for group in BACKEND.costs(technology, options).groups(dataflow):
        for name in group.engines:
            engine, table = dataflow.engine(name), group.options_of(name)
            entry = {"kind": "", "attributes": _plain(engine.attributes), "output_bits": engine.output_bits}
            for row in range(0, len(table), max(1, len(table) // 40)):
                option = table[row]
                entry |= {"kind": option.kind or engine.kind}
                made = Engine(name, entry["kind"], "", engine.attributes, 1, 1, 1)
                found = bool(constants_in_logic(made, option, written_later=later))
                folded = FoldedEngine(name, entry, _plain(option.folding))
                assert judged(folded, written_later=later) is found, (name, option.folding)
                seen.add((entry["kind"].split("_")[0], found))
    assert {("MVAU", True), ("MVAU", False)} <= seen


def _plain(attributes: Attributes) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attributes.items()}


SUM_WORD_BITS = 48
LAST_LANE_BITS = (21, 22, 23)
"""Where ``sliceLanes`` of mvu_4sx4u.sv (FINN main 39f0c9a) lays the last lane: DSP48E1; DSP48E2; narrow weights.

Elaborated by slang 12, the core has ranges beyond ``[47:0]`` with sums of 28, 27 and 26 bits and more, and none with
fewer, at PE x SIMD of 1 x 1, 2 x 1, 3 x 1, 4 x 1, 2 x 2 and 4 x 4 alike.
"""


def warned(
    kind: str = "MVAU_rtl", bits: tuple[int, int, int] = (4, 4, 32), pe: int = 2, simd: int = 1, **options: Any
) -> str:
    """Return the warnings of a matrix unit with such weights, data and sums, folded so."""
    unit = Engine("unit", kind, "operation", {}, *bits)
    option = Option({"PE": pe, "SIMD": simd}, 64, Resources(), (bits[1] * simd,), (bits[2] * pe,))
    folded = FoldedDataflow(Dataflow("net", (unit,), ()), {"unit": option})
    return " ".join(warnings_of(folded, 100, FinnOptions(costs="calibrated", **options)))


@pytest.mark.parametrize(("pe", "simd"), [(2, 1), (1, 1), (4, 1), (16, 16)])
def test_wide_sums_of_few_bits_do_not_synthesise_whatever_the_folding(pe: int, simd: int) -> None:
    found = warned(pe=pe, simd=simd)
    for words in ("unit (32 bits)", "FINN issue 1681", "step_minimize_bit_width", "MVAU_hls"):
        assert words in found


@pytest.mark.parametrize(
    "built",
    [{"bits": (4, 4, PACKED_SUM_BITS)}, {"bits": (8, 4, 32)}, {"kind": "MVAU_hls"}, {"finn": "dev"}, {"finn": "plus"}],
)
def test_what_synthesises_is_not_warned_of(built: dict[str, Any]) -> None:
    assert warned(**built) == ""


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


def weights(name: str, blocks: int, ultra: int, style: str = IN_URAM) -> MemoryEntry:
    other = MemoryChoiceEntry(style=style, resources=Amounts(URAM=ultra))
    return MemoryEntry(
        name=name, kind="weights", bits=10**6, style="block", resources=Amounts(BRAM18=blocks), others=[other]
    )


def test_a_slot_that_bram_fills_is_told_what_weights_in_uram_would_save() -> None:
    memories = [
        weights("small", 10, 5),
        weights("large", 400, 40),
        weights("vast", 90, 900),
        weights("lut", 50, 0, "x"),
    ]
    slot = SimpleNamespace(name="s", available=SimpleNamespace(resources=Resources(lut=1000, bram18=1000, uram=400)))
    used = {"LUT": 0.2, "FF": 0.0, "BRAM18": 0.72, "URAM": 0.0, "DSP": 0.0}
    phase = SimpleNamespace(
        engines={},
        memories=memories,
        modules=[SimpleNamespace(name="m", engines=[memory.name for memory in memories])],
        partition=SimpleNamespace(assignment={"m": "s"}, utilisation={"s": used}),
    )
    cap = SimpleNamespace(as_dict=lambda: {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9})
    options = SimpleNamespace(cap=cap, backend_options=FinnOptions())
    plan: Any = SimpleNamespace(options=options, phases=[phase], slots_in=lambda _: [slot])
    (told,) = steps(plan, 0, Resources())
    assert "410 BRAM18 of s (80% to 34% of its limit) for 45 of 360 URAM (large, small)" in told
    used["URAM"] = 0.5
    assert not list(steps(plan, 0, Resources())), "URAM is in use"
    used["URAM"], used["LUT"] = 0.0, 0.69
    assert not list(steps(plan, 0, Resources())), "LUT is scarcer"
    options.backend_options, used["LUT"] = FinnOptions(runtime_weights="always"), 0.2
    assert not list(steps(plan, 0, Resources())), "asked for already"
