"""Cycles and widths are FINN's own; illegal foldings are refused for the right reason."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from floorflow.verify.finn.engines import ELEMENTWISE, FoldedEngine, bits_of
from floorflow.verify.finn.foldings import LEGALITY, objections, window_objections
from floorflow.verify.finn.kinds import KINDS
from floorflow.verify.graphs import critical_path

CHOSEN = (
    *("PE", "SIMD", "resType", "mem_mode", "ram_style", "ram_style_thresholds", "parallel_window"),
    "runtime_writeable_weights",
)
INPUT_TYPES = ("inputDataType", "dataType", "InputDataType", "InputType", "lhs_dtype", "inputDataType0", "dtype")


def engine(kind: str, attributes: dict[str, Any], bits: tuple[int, int] = (4, 4), **options: Any) -> FoldedEngine:
    """Split FINN's attributes into those of the engine and those of its folding."""
    folding = {key: value for key, value in attributes.items() if key in CHOSEN}
    fixed = {key: value for key, value in attributes.items() if key not in CHOSEN}
    entry = {"kind": kind, "attributes": fixed, "weight_bits": 2, "input_bits": bits[0], "output_bits": bits[1]}
    return FoldedEngine("e", entry, folding, **options)


VECTORS = json.loads((Path(__file__).parent / "finn_vectors.json").read_text(encoding="utf-8"))
"""Kind, FINN's flavour, attributes, then FINN's cycles, widths and folded shapes of the first input and output."""


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector[0]}-{vector[3]}")
def test_cycles_and_widths_are_finns(vector: list[Any]) -> None:
    kind, flavour, attributes, cycles, in_width, out_width, fold_in, fold_out = vector
    stated = [attributes[name] for name in INPUT_TYPES if name in attributes] or attributes["inputDataTypes"]
    if attributes.get("lhs_style") == "const":
        stated = [attributes["rhs_dtype"]]
    bits = bits_of(stated[0]) or 0
    folded = engine(kind, attributes, (bits, out_width // fold_out[-1]), flavour=flavour)
    ports = KINDS[kind].ports(folded)
    assert KINDS[kind].cycles(folded) == cycles
    assert (ports.inputs[0].width_bits, ports.outputs[0].width_bits) == (in_width, out_width)
    assert (ports.inputs[0].elements, ports.outputs[0].elements) == (math.prod(fold_in), math.prod(fold_out))


def test_every_kind_has_cycles_ports_and_legality() -> None:
    assert set(KINDS) == set(LEGALITY) == {vector[0] for vector in VECTORS} | set(ELEMENTWISE)


MVAU = {"MW": 4096, "MH": 8, "PE": 4, "SIMD": 16, "noActivation": 1, "mem_mode": "internal_decoupled"}
WINDOW = {
    "IFMChannels": 6,
    "IFMDim": [8, 8],
    "OFMDim": [6, 6],
    "ConvKernelDim": [3, 3],
    "Stride": [1, 1],
    "SIMD": 3,
    "depthwise": 0,
    "parallel_window": 0,
}
ILLEGAL = [
    ("MVAU_hls", MVAU | {"PE": 3}, "PE = 3 does not divide MH = 8"),
    ("MVAU_hls", MVAU | {"PE": 0}, "positive integer"),
    ("MVAU_hls", MVAU | {"SIMD": 3}, "SIMD = 3 does not divide"),
    ("MVAU_hls", MVAU | {"SIMD": 2}, "below MW / 1024"),
    ("MVAU_hls", MVAU | {"SIMD": 4096}, "wider than 8191"),
    ("MVAU_hls", MVAU | {"ram_style": "ultra"}, "no initial contents"),
    ("MVAU_hls", MVAU | {"resType": "fabric"}, "resType = 'fabric'"),
    ("MVAU_rtl", MVAU | {"noActivation": 0}, "cannot hold thresholds"),
    ("MVAU_rtl", MVAU | {"resType": "lut"}, "DSP blocks only"),
    ("VVAU_hls", {"Channels": 6, "Kernel": [3, 3], "Dim": [4, 4], "PE": 2, "SIMD": 2}, "does not divide kernel size"),
    ("VVAU_rtl", {"Channels": 6, "Kernel": [3, 3], "Dim": [4, 4], "PE": 2, "SIMD": 3, "noActivation": 1}, "Versal"),
    ("ConvolutionInputGenerator_rtl", WINDOW | {"SIMD": 4}, "does not divide IFMChannels"),
    ("ConvolutionInputGenerator_rtl", WINDOW | {"parallel_window": 1}, "needs SIMD = 6"),
    ("ConvolutionInputGenerator_rtl", WINDOW | {"OFMDim": [5, 6]}, "OFMDim is 5"),
    ("ConvolutionInputGenerator_rtl", WINDOW | {"IFMDim": [2, 8]}, "does not fit"),
    ("ConvolutionInputGenerator_hls", WINDOW | {"IFMDim": [9, 8], "OFMDim": [7, 6]}, "square maps"),
    ("Thresholding_rtl", {"NumChannels": 6, "PE": 4}, "does not divide NumChannels"),
    ("Thresholding_rtl", {"NumChannels": 6, "PE": 2, "SIMD": 2}, "the kind has no SIMD"),
    ("FMPadding_rtl", {"NumChannels": 6, "SIMD": 4}, "does not divide NumChannels"),
    ("StreamingMaxPool_hls", {"ImgDim": [6, 5], "PoolDim": [2, 2], "NumChannels": 4}, "does not divide the feature"),
    ("LabelSelect_hls", {"Labels": 10, "PE": 4}, "does not divide Labels"),
    ("Pool_hls", {"Channels": 10, "PE": 4}, "does not divide Channels"),
]


@pytest.mark.parametrize(("kind", "attributes", "reason"), ILLEGAL)
def test_illegal_foldings_are_refused(kind: str, attributes: dict[str, Any], reason: str) -> None:
    assert any(reason in objection for objection in objections(engine(kind, attributes)))


@pytest.mark.parametrize(("kind", "attributes"), [("MVAU_hls", MVAU), ("ConvolutionInputGenerator_rtl", WINDOW)])
def test_legal_foldings_pass(kind: str, attributes: dict[str, Any]) -> None:
    assert objections(engine(kind, attributes)) == []


def test_ultra_ram_needs_a_part_that_has_it() -> None:
    writeable = MVAU | {"ram_style": "ultra", "runtime_writeable_weights": 1}
    assert objections(engine("MVAU_hls", writeable)) == []
    assert objections(engine("MVAU_hls", writeable, has_uram=False)) == ["ram_style = ultra on a part without UltraRAM"]


def test_a_depthwise_window_must_be_as_wide_as_its_unit() -> None:
    window = engine("ConvolutionInputGenerator_rtl", WINDOW | {"depthwise": 1})
    units = [
        engine("VVAU_hls", {"Channels": 6, "Kernel": [3, 3], "Dim": [6, 6], "PE": pe, "SIMD": simd})
        for pe, simd in ((3, 1), (2, 1), (3, 9))
    ]
    assert [len(list(window_objections(window, unit))) for unit in units] == [0, 1, 1]


def test_the_critical_path_is_the_longest_with_its_edges() -> None:
    edges = [("host:in0", "a", 3), ("a", "b", 0), ("a", "c", 0), ("b", "d", 0), ("c", "d", 0)]
    cycles = {"a": 1, "b": 10, "c": 20, "d": 5}
    assert critical_path(edges, cycles) == 3 + 26
    assert critical_path([*edges, ("a", "b", 11), ("d", "host:out0", 2)], cycles) == 3 + 1 + 11 + 10 + 5 + 2
