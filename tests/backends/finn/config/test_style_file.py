"""A specialize_layers_config.json beside a folding_config.json makes engines hls or rtl, or is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow import flow
from floorflow.backends.finn.config import STYLE_FILE, with_given_folding
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.output import write
from floorflow.record import Outcome
from floorflow.request import Request
from floorflow.technology import technology_of
from floorflow.verify import check
from tests.scarce_dsp import FEW_DSP, mixed_bits

PART = technology_of("xcku5p-ffvd900-2-i")
FOLDING = "folding_config.json"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mixed_bits.onnx"
    onnx.save(mixed_bits(), path)
    return path


def styled(model: Path, styles: object, folding: dict[str, Any] | None = None) -> Dataflow:
    """Lower the network and give it both files."""
    (model.parent / STYLE_FILE).write_text(json.dumps(styles), encoding="utf-8")
    (model.parent / FOLDING).write_text(json.dumps(folding or {"Defaults": {}}), encoding="utf-8")
    return with_given_folding(read_source(model).lower(PART), model.parent / FOLDING, PART)


def units(dataflow: Dataflow) -> list[str]:
    return [e.name for e in dataflow.engines if e.name.startswith(("MVAU", "Thresholding"))]


def test_layers_take_their_styles_and_engines_are_numbered_anew(model: Path) -> None:
    entries = {"MVAU_1": {PREFERENCE: "hls"}, "MVAU_3": {PREFERENCE: "rtl"}, "Thresholding_0": {PREFERENCE: "hls"}}
    found = styled(model, {"Defaults": {}, **entries}, {"MVAU_hls_1": {"PE": 2}, "MVAU_rtl_1": {"PE": 5}})
    names = ["MVAU_hls_0", "MVAU_hls_1", "Thresholding_hls_0", "MVAU_rtl_0", "Thresholding_rtl_0", "MVAU_rtl_1"]
    assert units(found) == names
    assert found.engine("MVAU_hls_1").folding == {"PE": 2}
    assert found.engine("MVAU_hls_1").attributes["noActivation"] == 1
    assert [e.name for e in found.engines if PREFERENCE in e.attributes] == [
        *("MVAU_hls_1", "Thresholding_hls_0", "MVAU_rtl_1"),
    ]


def test_defaults_hold_for_op_types_unless_an_entry_says_otherwise(model: Path) -> None:
    config = {"Defaults": {PREFERENCE: ["hls", ["MVAU"], "rtl", ["Thresholding"]]}, "MVAU_2": {PREFERENCE: "rtl"}}
    names = ["MVAU_hls_0", "MVAU_hls_1", "Thresholding_rtl_0", "MVAU_rtl_0", "Thresholding_rtl_1", "MVAU_hls_2"]
    assert units(styled(model, config)) == names


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"MVAU_4": {PREFERENCE: "hls"}}, "no layer 'MVAU_4'"),
        ({"MVAU_rtl_0": {PREFERENCE: "hls"}}, "no layer 'MVAU_rtl_0'"),
        ({"MVAU_0": {PREFERENCE: "rtl"}}, "MVAU_0 is to be rtl, but floorflow plans this layer as MVAU_hls only"),
        ({"ConvolutionInputGenerator_0": {PREFERENCE: "hls"}}, "as ConvolutionInputGenerator_rtl only"),
        ({"MVAU_1": {PREFERENCE: "vhdl"}}, "MVAU_1 is .* expected preferred_impl_style of hls or rtl"),
        ({"MVAU_1": {PREFERENCE: 1}}, "MVAU_1 is"),
        ({"MVAU_1": {"PE": 2}}, "MVAU_1 is .*and nothing else"),
        ({"MVAU_1": "hls"}, "MVAU_1 is 'hls'"),
        ({"Defaults": {"PE": [2, "all"]}}, "Defaults is"),
        ({"Defaults": {PREFERENCE: ["hls"]}}, "Defaults is"),
        ({"Defaults": {PREFERENCE: ["verilog", "all"]}}, "Defaults is"),
        ([], "expected an object of layers"),
    ],
)
def test_what_finn_would_pass_over_or_fail_on_is_refused(model: Path, config: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        styled(model, config)


def test_names_of_other_styles_need_the_file_and_one_that_fits(model: Path) -> None:
    folding = {"MVAU_hls_2": {"PE": 2}}
    with pytest.raises(InputError, match="no node 'MVAU_hls_2'") as refused:
        styled(model, {}, folding)
    assert f"{STYLE_FILE} beside the file makes other engines hls or rtl" in refused.value.hint
    (model.parent / STYLE_FILE).unlink()
    with pytest.raises(InputError, match="no node 'MVAU_hls_2'") as refused:
        with_given_folding(read_source(model).lower(PART), model.parent / FOLDING, PART)
    assert f"need its {STYLE_FILE} beside the file" in refused.value.hint


def planned(model: Path, **options: Any) -> Outcome:
    return flow.plan(Request(model, "xcku5p", cap=FEW_DSP, effort="fast", plots=False, **options))


def engines(outcome: Outcome) -> list[tuple[Any, ...]]:
    folded = outcome.plan.phases[0].engines
    return [(e.name, e.kind, folded[e.name].cycles, folded[e.name].resources) for e in outcome.plan.networks[0].engines]


def test_the_files_of_a_plan_give_the_same_engines_again(model: Path, tmp_path: Path) -> None:
    first = planned(model)
    write(tmp_path / "out", first.files, {})
    again = planned(model, keep_folding=True, folding=tmp_path / "out" / "finn" / FOLDING)
    assert engines(again) == engines(first)
    assert [entry.path for entry in again.plan.inputs] == [model.name, FOLDING, STYLE_FILE]
    assert again.files[f"finn/{STYLE_FILE}"] == first.files[f"finn/{STYLE_FILE}"]
    write(tmp_path / "again", again.files, {})
    assert check(tmp_path / "again") == []
