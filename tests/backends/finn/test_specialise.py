"""hls or rtl as a choice: what is offered, and FINN's names for what is chosen."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.make_models import ModelBuilder
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.legal_foldings import options, ports_of
from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.backends.finn.specialise import PREFERENCE, other_kind, respecialised, specialised
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream, renamings
from floorflow.dataflow.options import OptionGroup
from floorflow.resources import Resources
from floorflow.technology import Technology
from tests.backends.finn.engines import BARE, WEIGHTED, engine
from tests.scarce_dsp import mixed_bits

ZYNQ = Technology("7series", "DSP48E1", has_uram=False)
ALVEO = Technology("ultrascale+", "DSP48E2", has_uram=True)
VERSAL = Technology("versal", "DSP58", has_uram=True)
KINDS = ("MVAU_hls", "MVAU_rtl", "Thresholding_rtl", "FMPadding_rtl", "VVAU_hls")
THRESHOLDS = {"inputDataType": "INT12", "weightDataType": "INT12", "outputDataType": "UINT4", "numSteps": 15}
TWO_BITS = {**BARE, "weightDataType": "INT2"}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Dataflow:
    path = tmp_path_factory.mktemp("mixed") / "mixed_bits.onnx"
    onnx.save(mixed_bits(), path)
    return read_source(path).lower(ALVEO)


def groups(dataflow: Dataflow, model: CostModel = "calibrated", *, free: bool) -> dict[str, OptionGroup]:
    found = CostTable(ALVEO, model, free_kinds=free).groups(dataflow)
    return {group.engines[0]: group for group in found}


def chain(kinds: list[str]) -> Dataflow:
    """Return lowered engines in a row."""
    counts: Counter[str] = Counter()
    engines = []
    for kind in kinds:
        engines.append(Engine(f"{kind}_{counts[kind]}", kind, "op", {"MW": 4}, 0, 8, 8))
        counts[kind] += 1
    ends = ["host:in0", *(e.name for e in engines), "host:out0"]
    streams = tuple(Stream(a, 0, b, 0, 64, 8, 4) for a, b in pairwise(ends))
    return Dataflow("chain", tuple(engines), streams, unspecialised=True)


def flipped(kind: str) -> str:
    stem, _, style = kind.rpartition("_")
    return f"{stem}_{'hls' if style == 'rtl' else 'rtl'}"


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.booleans()), min_size=1, max_size=12))
def test_engines_are_numbered_by_their_final_kinds_in_topological_order(chosen: list[tuple[str, bool]]) -> None:
    before = chain([kind for kind, _ in chosen])
    other = {e.name: flipped(e.kind) if flip else "" for e, (_, flip) in zip(before.engines, chosen, strict=True)}
    given_options = {name: Option({"PE": 1}, 64, Resources(lut=1), (8,), (8,), kind) for name, kind in other.items()}
    after = specialised(FoldedDataflow(before, given_options))
    names = renamings(before, after.dataflow)
    assert sorted(names) == sorted(given_options)
    assert len(set(names.values())) == len(names)
    for position, new in enumerate(after.dataflow.engines):
        same = sum(e.kind == new.kind for e in after.dataflow.engines[:position])
        assert new.name == f"{new.kind}_{same}"
        old = before.engines[position]
        assert new.kind == (other[old.name] or old.kind)
        assert new.attributes.get(PREFERENCE) == (new.kind.rpartition("_")[2] if other[old.name] else None)
        assert after.options[new.name] is given_options[old.name]
    ends = [names.get(end, end) for stream in before.streams for end in (stream.source, stream.target)]
    assert ends == [end for stream in after.dataflow.streams for end in (stream.source, stream.target)]


def test_finns_own_choice_stays_as_it_is() -> None:
    folded = FoldedDataflow(chain(["MVAU_rtl"]), {"MVAU_rtl_0": Option({}, 1, Resources(), (8,), (8,))})
    assert specialised(folded) is folded
    assert respecialised(folded.dataflow, {}) == folded.dataflow


@pytest.mark.parametrize(
    ("unit", "part", "expected"),
    [
        (engine("MVAU_rtl", MW=24, MH=12, **BARE), ALVEO, "MVAU_hls"),
        (engine("MVAU_hls", MW=24, MH=12, **TWO_BITS), ALVEO, "MVAU_rtl"),
        (engine("MVAU_hls", MW=24, MH=12, **TWO_BITS), ZYNQ, None),
        (engine("MVAU_hls", MW=24, MH=12, **WEIGHTED), ALVEO, None),
        (engine("MVAU_hls", MW=24, MH=12, **{**BARE, "weightDataType": "BINARY", "binaryXnorMode": 1}), ALVEO, None),
        (engine("MVAU_hls", MW=24, MH=12, **{**TWO_BITS, "inputDataType": "UINT9"}), ALVEO, None),
        (engine("MVAU_hls", MW=24, MH=12, **{**TWO_BITS, "inputDataType": "BIPOLAR"}), ALVEO, None),
        (engine("VVAU_hls", Channels=12, Kernel=(3, 3), Dim=(6, 6), **BARE), ALVEO, None),
        (engine("VVAU_hls", Channels=12, Kernel=(3, 3), Dim=(6, 6), **TWO_BITS), VERSAL, "VVAU_rtl"),
        (engine("Thresholding_rtl", NumChannels=24, **THRESHOLDS), ALVEO, "Thresholding_hls"),
        (engine("FMPadding_rtl", NumChannels=24), ALVEO, None),
        (engine("ConvolutionInputGenerator_rtl", IFMChannels=6), ALVEO, None),
        (engine("AddStreams_hls", NumChannels=24), ALVEO, None),
    ],
)
def test_the_other_style_is_offered_where_finn_makes_it_if_told_to(
    unit: Engine, part: Technology, expected: str | None
) -> None:
    assert other_kind(unit, part) == expected


def test_foldings_of_the_other_style_stand_behind_all_of_finns_own(network: Dataflow) -> None:
    own, both = groups(network, free=False), groups(network, free=True)
    for name, group in own.items():
        assert both[name].rows[: len(group.rows)] == group.rows
        assert all(row[-1].kind for row in both[name].rows[len(group.rows) :])
    without_dsp = [row[0] for row in both["MVAU_rtl_0"].rows if row[0].kind == "MVAU_hls" and not row[0].resources.dsp]
    assert {option.folding["resType"] for option in without_dsp} == {"lut"}
    assert {row[0].kind for row in both["MVAU_hls_0"].rows} == {""}


def test_no_folding_of_the_other_style_is_beaten_and_none_is_left_out(network: Dataflow) -> None:
    def costs(option: Option) -> tuple[int, ...]:
        return (option.cycles, *option.resources.as_tuple(), *option.input_widths_bits, *option.output_widths_bits)

    def beats(one: Option, other: Option) -> bool:
        ports = one.input_widths_bits == other.input_widths_bits and one.output_widths_bits == other.output_widths_bits
        return ports and all(a <= b for a, b in zip(costs(one), costs(other), strict=True))

    unit = network.engine("MVAU_rtl_0")
    rows = [row[0] for row in groups(network, free=True)["MVAU_rtl_0"].rows]
    hls = options(replace(unit, kind="MVAU_hls"), ALVEO, "calibrated", ports=ports_of(unit, network.streams))
    offered = [costs(option) for option in rows if option.kind]
    kept = [o for o in hls if not any(beats(own, o) for own in rows if not own.kind)]
    assert sorted(offered) == sorted({costs(option) for option in kept})


def test_a_depthwise_unit_of_the_other_style_stays_tied_to_its_window(tmp_path: Path) -> None:
    builder = ModelBuilder("depthwise", (1, 6, 8, 8))
    builder.conv(6, (3, 3), 4, group=6)
    onnx.save(builder.model(), tmp_path / "depthwise.onnx")
    dataflow = read_source(tmp_path / "depthwise.onnx").lower(VERSAL)
    own, both = (CostTable(VERSAL, free_kinds=free).groups(dataflow)[0] for free in (False, True))
    assert own.engines == ("ConvolutionInputGenerator_rtl_0", "VVAU_rtl_0")
    others = both.rows[len(own.rows) :]
    assert both.rows[: len(own.rows)] == own.rows
    assert {(window.kind, unit.kind) for window, unit in others} == {("", "VVAU_hls")}
    assert all(window.folding["SIMD"] == unit.folding["PE"] for window, unit in others)


def test_thresholds_are_hls_in_block_ram_only(network: Dataflow) -> None:
    rows = [row[0] for group in groups(network, free=True).values() for row in group.rows]
    styles = {option.folding["ram_style"] for option in rows if option.kind == "Thresholding_hls"}
    assert styles <= {"block"}


def test_there_is_no_choice_by_finns_own_costs_nor_in_a_graph_of_finns(network: Dataflow) -> None:
    assert groups(network, "finn", free=True) == groups(network, "finn", free=False)
    graph = replace(network, unspecialised=False)
    assert groups(graph, free=True) == groups(network, free=False)


@pytest.mark.parametrize("model", ["estimated", "calibrated"])
@pytest.mark.parametrize("kind", ["FMPadding_rtl", "ConvolutionInputGenerator_rtl"])
def test_hls_windows_and_paddings_are_never_cheaper(kind: str, model: CostModel) -> None:
    shapes = {
        "FMPadding_rtl": {"ImgDim": (14, 14), "Padding": (1, 1, 1, 1), "NumChannels": 12},
        "ConvolutionInputGenerator_rtl": {
            "IFMChannels": 12,
            "IFMDim": (16, 16),
            "OFMDim": (14, 14),
            "ConvKernelDim": (3, 3),
            "Stride": (1, 1),
            "Dilation": (1, 1),
        },
    }
    unit = engine(kind, **shapes[kind], inputDataType="UINT4")
    rtl = options(unit, ALVEO, model)
    for option in options(replace(unit, kind=flipped(kind)), ALVEO, model):
        assert any(
            own.input_widths_bits == option.input_widths_bits
            and own.cycles <= option.cycles
            and own.resources.lut <= option.resources.lut
            and own.resources.bram18 <= option.resources.bram18
            for own in rtl
        )
