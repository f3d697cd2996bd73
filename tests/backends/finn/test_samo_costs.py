"""``--costs samo``: FINN's engines at the cycles and resources of SAMO's tables, in plans that are legal."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.finn.folding.legal_foldings import legal_options
from floorflow.backends.finn.kinds.kind import Choice
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.technology import technology_of
from tests.command_line import floorflow
from tests.papers.samo.samo_cases import tables
from tests.plans import ROOT

TODAY = {
    "StreamingFCLayer_Batch": "MVAU_hls",
    "ConvolutionInputGenerator": "ConvolutionInputGenerator_rtl",
    "Vector_Vector_Activate_Batch": "VVAU_hls",
    "StreamingMaxPool_Batch": "StreamingMaxPool_hls",
}
MEMORIES = {"internal_embedded": "const", "internal_decoupled": "decoupled"}


def engine_attributes(told: dict[str, Any]) -> dict[str, Any]:
    """Return a node's attributes of the fork as today's engines have them."""
    kept = {key: tuple(v) if isinstance(v, list) else v for key, v in told.items()}
    for name in ("mem_mode", "ram_style", "PE", "SIMD", "BatchSize"):
        kept.pop(name, None)
    defaults = {"Dilation": (1, 1), "Stride": (1, 1), "depthwise": 0, "is1D": 0, "M": 1}
    return {**defaults, **kept}


def style_of(op: str, told: Mapping[str, Any]) -> tuple[str, str]:
    """Return what of a memory and of products the fork's estimator of a type tells apart."""
    mode, ram, products = (str(told.get(name)) for name in ("mem_mode", "ram_style", "resType"))
    mode = MEMORIES.get(mode, mode)
    if op == "StreamingFCLayer_Batch":
        ram = "distributed" if (mode, ram) == ("decoupled", "distributed") else mode
    return {"StreamingMaxPool_Batch": "", "Vector_Vector_Activate_Batch": ""}.get(op, ram), (
        "dsp" if products == "dsp" else "lut"
    )


def key(row: Any) -> tuple[int, ...]:
    """Return input and output folding of a row of a table."""
    return int(row[0]), int(row[1])


@pytest.mark.parametrize(
    ("table", "op", "least"),
    [
        ("finn_cnv_w1a1_b1", "StreamingFCLayer_Batch", 300),
        ("finn_cnv_w1a1_b1", "ConvolutionInputGenerator", 30),
        ("finn_mpcnn_w4a4_b1", "StreamingFCLayer_Batch", 50),
        ("finn_mpcnn_w4a4_b1", "StreamingMaxPool_Batch", 2),
        ("finn_mobilenetv1_w4a4_b1", "Vector_Vector_Activate_Batch", 50),
    ],
)
def test_engines_cost_what_samos_tables_say(table: str, op: str, least: int) -> None:
    choice, compared = Choice(technology_of("xcu250-figd2104-2L-e"), "samo"), 0
    for node in (node for node in tables()[table]["nodes"] if node["op"] == op):
        listed = {key(row): row[3:] for row in node["options"]}
        attributes = engine_attributes(node["attributes"])
        for option in legal_options(kind_of(TODAY[op]), attributes, choice):
            if style_of(op, option.folding) != style_of(op, node["attributes"]):
                continue
            simd, pe = (int(option.folding.get(name, 0)) for name in ("SIMD", "PE"))
            both = (simd, pe) if "MW" in attributes else (max(simd, pe, 1),) * 2
            if both not in listed:
                continue
            cycles, lut, dsp, bram, _ = listed[both]
            use = option.resources
            assert (use.lut, use.dsp, use.bram18, use.ff, use.uram) == (lut, dsp, bram, 0, 0), (node["name"], both)
            assert option.cycles == pytest.approx(cycles, abs=1), (node["name"], both)
            compared += 1
    assert compared >= least


@pytest.mark.parametrize("model", ["tfc_1w1a", pytest.param("cnv_2w2a", marks=pytest.mark.slow)])
def test_plans_are_legal(model: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("plan", ROOT / "examples" / f"{model}.onnx", "--costs", "samo", "-p", "zcu104", "--granularity", "slot")
    ended = floorflow(*words, "--effort", "fast", "--no-plots", "-o", out)
    assert ended.returncode == 0, ended.stderr
    told = floorflow("check", out)
    assert (told.returncode, "legal" in told.stdout) == (0, True), told.stdout


def test_styles_are_not_free_at_costs_that_know_none(tmp_path: Path) -> None:
    words = ("plan", ROOT / "examples" / "tfc_1w1a.onnx", "--costs", "samo", "--impl-style", "free", "-p", "zcu104")
    ended = floorflow(*words, "-o", tmp_path / "out")
    assert (ended.returncode, "--costs samo prices" in ended.stderr) == (2, True), ended.stderr


def test_a_single_engine_and_a_given_folding_cost_the_same(tmp_path: Path) -> None:
    node = next(n for n in tables()["finn_mpcnn_w4a4_b1"]["nodes"] if n["op"] == "StreamingFCLayer_Batch")
    attributes = {**engine_attributes(node["attributes"]), "SIMD": 5, "PE": 4, "mem_mode": "internal_embedded"}
    lines = tmp_path / "lines.json"
    lines.write_text(json.dumps({"op_type": "MVAU_hls", "attrs": attributes}) + "\n")
    told = json.loads(floorflow("cost", lines, "--costs", "samo").stdout)
    listed = next(row for row in node["options"] if key(row) == (5, 4))
    assert [told[name] for name in ("cycles", "LUT", "DSP", "BRAM_18K", "FF")] == listed[3:]


def test_what_the_fork_has_no_estimator_for_is_refused(tmp_path: Path) -> None:
    lines = tmp_path / "lines.json"
    node = {"op_type": "UpsampleNearestNeighbour_hls", "attrs": {}}
    lines.write_text(json.dumps(node) + "\n")
    ended = floorflow("cost", lines, "--costs", "samo")
    assert (ended.returncode, "error" in ended.stdout) == (2, True)


def test_resnet_50_has_the_interval_of_table_6(tmp_path: Path) -> None:
    # 3081.3 us at 200 MHz: the window of its first layer, whatever the folding of the others.
    choice = Choice(technology_of("xcu250-figd2104-2L-e"), "samo")
    source = read_source(ROOT / "examples" / "resnet50_w1a2.onnx")
    windows = [e for e in source.lower(choice.technology).engines if e.kind.startswith("ConvolutionInputGenerator")]
    fastest = [min(o.cycles for o in legal_options(kind_of(e.kind), dict(e.attributes), choice)) for e in windows]
    assert max(fastest) / 200 == pytest.approx(3081.3, abs=0.05)
