"""FINN's configuration files of a folding: read as FINN reads them, refused where it would only warn."""

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from typer.testing import CliRunner

from examples.make_models import ModelBuilder
from floorflow import flow
from floorflow.backends.finn.config import STYLE_FILE, with_given_folding
from floorflow.backends.finn.folding.cost_table import CostTable, given_folding_groups
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.cli.main import app
from floorflow.dataflow.model import Dataflow, Option
from floorflow.errors import InputError
from floorflow.output import write
from floorflow.record.run import PlanWithFiles
from floorflow.request import Request
from floorflow.technology import technology_of
from floorflow.verify import check
from tests.plans import CNV, TFC
from tests.scarce_dsp import FEW_DSP, mixed_bits

STYLED_PART = technology_of("xcku5p-ffvd900-2-i")
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
    return with_given_folding(read_source(model).lower(STYLED_PART), model.parent / FOLDING, STYLED_PART)


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
        *("MVAU_hls_1", "Thresholding_hls_0", "MVAU_rtl_1")
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
        with_given_folding(read_source(model).lower(STYLED_PART), model.parent / FOLDING, STYLED_PART)
    assert f"need its {STYLE_FILE} beside the file" in refused.value.hint


def planned(model: Path, **options: Any) -> PlanWithFiles:
    return flow.plan(Request(model, "xcku5p", cap=FEW_DSP, effort="fast", granularity="slot", plots=False, **options))


def engines(outcome: PlanWithFiles) -> list[tuple[Any, ...]]:
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


PART = technology_of("xcu250-figd2104-2L-e")
VERSAL = technology_of("xcvc1902-vsva2197-2MP-e-S")


def written(folder: Path, config: object) -> Path:
    path = folder / "folding.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def kept(folder: Path, config: dict[str, Any], network: Path = TFC, **choice: Any) -> dict[str, Option]:
    dataflow = with_given_folding(read_source(network).lower(PART, finn="plus"), written(folder, config), PART)
    groups = given_folding_groups(dataflow, CostTable(PART, "finn", finn="plus", **choice), carried=False)
    return {name: option for group in groups for name, option in zip(group.engines, group.rows[0], strict=True)}


def test_entries_stand_over_defaults_and_the_rest_is_not_folded(tmp_path: Path) -> None:
    defaults = {"PE": [2, ["MVAU_hls"]], "ram_style": ["block", "all"], "SIMD": [1, ["MVAU_rtl"], 4, ["MVAU_hls"]]}
    options = kept(tmp_path, {"Defaults": defaults, "MVAU_hls_1": {"PE": 16, "SIMD": 8, "resType": "lut"}})
    folding = {
        name: (o.folding.get("PE"), o.folding.get("SIMD"), o.folding.get("ram_style")) for name, o in options.items()
    }
    assert folding["MVAU_hls_0"] == (2, 4, "block")
    assert folding["MVAU_hls_1"] == (16, 8, "block")
    assert folding["Thresholding_rtl_0"] == (1, None, None)
    assert options["MVAU_hls_1"].folding["resType"] == "lut"
    assert options["MVAU_hls_1"].cycles == (64 // 16) * (64 // 8)


def test_what_the_file_leaves_open_and_what_is_not_used_is_said(tmp_path: Path) -> None:
    config = {
        "Defaults": {},
        "MVAU_hls_0": {"PE": 2, "slr": 1, "outFIFODepths": [8]},
        "StreamingFIFO_rtl_0": {"depth": 8},
    }
    dataflow = with_given_folding(read_source(TFC).lower(PART), written(tmp_path, config), PART)
    assert dataflow.engine("MVAU_hls_0").folding == {"PE": 2}
    assert "depth" not in dataflow.engine("MVAU_hls_0").attributes
    assert any("no entry for" in note and "'Thresholding_rtl_0'" in note for note in dataflow.notes)
    assert any("instead of 'StreamingFIFO_rtl_0'" in note for note in dataflow.notes)


WIDE = {name: {"SIMD": 9} for name in ("MVAU_hls_3", "MVAU_hls_4", "MVAU_hls_5")}
REFUSED = [
    (
        TFC,
        {"MVAU_hls_1": {"PE": 3}},
        r"engine MVAU_hls_1: attribute PE of MVAU_hls is 3, expected a divisor of MH.* 64",
    ),
    (TFC, {"MVAU_hls_1": {"SIMD": 5}}, r"engine MVAU_hls_1: attribute SIMD .* divisor of MW, which is 64"),
    (TFC, {"MVAU_hls_1": {"PE": 128}}, r"engine MVAU_hls_1: attribute PE .* is 128"),
    (TFC, {"MVAU_hls_1": {"PE": 0}}, r"engine MVAU_hls_1: attribute PE .* is 0"),
    (TFC, {"MVAU_hls_1": {"ram_style": "ultra"}}, r"engine MVAU_hls_1 .*runtime_writeable_weights must be 1"),
    (TFC, {"MVAU_hls_9": {"PE": 2}}, r"folding.json: the graph has no node 'MVAU_hls_9'"),
    (TFC, {"Thresholding_rtl_0": {"PE": 5}}, r"engine Thresholding_rtl_0: attribute PE"),
    (TFC, {"MVAU_hls_1": {"PE": "2"}}, r"MVAU_hls_1: PE is '2', expected an integer"),
    (TFC, {"MVAU_hls_1": {"PE": 2.0}}, r"MVAU_hls_1: PE is 2.0, expected an integer"),
    (TFC, {"MVAU_hls_1": {"PE": True}}, r"MVAU_hls_1: PE is True, expected an integer"),
    (TFC, {"MVAU_hls_1": {"pe": 2}}, r"no attribute pe"),
    (TFC, {"MVAU_hls_1": {"ram_style": "brick"}}, r"ram_style .*'brick', expected one of auto"),
    (TFC, {"Defaults": {"PE": [2, ["all"]]}}, r"Defaults: PE is for \['all'\]"),
    (TFC, {"Defaults": {"PE": 2}}, r"Defaults: PE is 2, expected a value and a list"),
    (TFC, {"MVAU_hls_1": 2}, r"MVAU_hls_1 is 2, expected an object"),
    (CNV, {"ConvolutionInputGenerator_rtl_1": {"SIMD": 7}}, r"ConvolutionInputGenerator_rtl_1: attribute SIMD"),
    (
        CNV,
        {"ConvolutionInputGenerator_rtl_1": {"SIMD": 8, "parallel_window": 1}},
        r"attribute SIMD .*parallel_window is 1",
    ),
    (CNV, WIDE | {"ConvolutionInputGenerator_rtl_2": {"SIMD": 4}}, r"Pool_hls_0 .*PE is 1, but the depthwise window"),
    (CNV, {"MVAU_hls_2": {"PE": 64, "SIMD": 576}}, r"engine MVAU_hls_2 .*PE = 64, SIMD = 576"),
]


@pytest.mark.parametrize(("network", "config", "reason"), REFUSED, ids=[json.dumps(c)[:60] for _, c, _ in REFUSED])
def test_a_folding_that_finn_would_fail_on_is_refused(
    network: Path, config: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=reason):
        kept(tmp_path, config, network)


def test_weights_in_ultraram_need_to_be_written_at_run_time_unless_the_part_fills_it(tmp_path: Path) -> None:
    ultra = {"MVAU_hls_1": {"ram_style": "ultra", "runtime_writeable_weights": 1}}
    assert kept(tmp_path, ultra)["MVAU_hls_1"].resources.uram == 1
    with pytest.raises(InputError, match="--runtime-weights never"):
        kept(tmp_path, ultra, allow_runtime_weights=False)
    embedded = {"MVAU_hls_1": {"ram_style": "ultra", "mem_mode": "internal_embedded"}}
    assert kept(tmp_path, embedded)["MVAU_hls_1"].folding["mem_mode"] == "internal_embedded"


def test_constants_of_an_addition_cannot_lie_in_ultraram(tmp_path: Path) -> None:
    from tests.backends.finn.read.test_graph import layer, source_of

    builder = layer()
    shape = [1, 3, 3, 6]
    sides = {
        "lhs_dtype": "INT11",
        "rhs_dtype": "INT8",
        "out_dtype": "INT12",
        "lhs_style": "input",
        "rhs_style": "const",
    }
    shapes = {"lhs_shape": shape, "rhs_shape": [6], "out_shape": shape, "PE": 2, "ram_style": "ultra"}
    builder.add("ElementwiseAdd_hls", {**sides, **shapes}, name="bias")
    dataflow: Dataflow = source_of(builder.model(), tmp_path).lower(PART, finn="plus")
    with pytest.raises(InputError, match=r"engine bias .*UltraRAM .* has no initial contents"):
        given_folding_groups(dataflow, CostTable(PART, "finn", finn="plus"))
    groups = given_folding_groups(dataflow, CostTable(VERSAL, "finn", finn="plus"))
    assert [group.engines[0] for group in groups] == ["window", "matrix", "bias"]


@pytest.mark.parametrize("content", ["", "[]", "{", None])
def test_a_file_that_is_none_is_refused(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "folding.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"folding\.json"):
        with_given_folding(read_source(TFC).lower(PART), path, PART)


def test_the_command_line_refuses_with_exit_code_2_and_keeps_what_is_legal(tmp_path: Path) -> None:
    def run(config: dict[str, Any], *options: str) -> tuple[int, str]:
        path = written(tmp_path, config)
        command = ["plan", str(TFC), "-p", "pynq-z1", "--finn", "plus", "--costs", "finn", "--no-plots", "--json"]
        result = CliRunner().invoke(app, [*command, "--folding", str(path), "-o", str(tmp_path / "out"), *options])
        return result.exit_code, result.output

    code, output = run({"MVAU_hls_2": {"PE": 7}})
    assert (code, "MVAU_hls_2" in output) == (2, True)
    code, output = run({name: {"PE": 2, "SIMD": 4} for name in ("MVAU_hls_0", "MVAU_hls_1", "MVAU_hls_2")}, "-q")
    assert code == 0
    plan = json.loads((tmp_path / "out" / "plan.json").read_text(encoding="utf-8"))
    assert plan["phases"][0]["networks"][0]["folding"]["engines"]["MVAU_hls_1"]["attributes"]["PE"] == 2
    assert (plan["options"]["keep_folding"], plan["options"]["backend_options"]["finn"]) == (True, "plus")
    assert [file["path"] for file in plan["inputs"]] == ["tfc_1w1a.onnx", "folding.json"]


def given(config: dict[str, Any], folder: Path, network: Path = CNV) -> Dataflow:
    return with_given_folding(read_source(network).lower(PART), written(folder, config), PART)


OLD = {
    "MatrixVectorActivation": "MVAU_hls",
    "StreamingFCLayer_Batch": "MVAU_hls",
    "MVAU": "MVAU_hls",
    "ConvolutionInputGenerator": "ConvolutionInputGenerator_rtl",
    "ConvolutionInputGenerator_Batch": "ConvolutionInputGenerator_rtl",
    "StreamingMaxPool_Batch": "StreamingMaxPool_hls",
    "Thresholding_Batch": "Thresholding_rtl",
}


@pytest.mark.parametrize("old", OLD)
def test_names_of_every_finn_are_taken_with_a_note(old: str, tmp_path: Path) -> None:
    attribute = "SIMD" if "Generator" in old else "PE"
    index = 0 if "Thresholding" in old else 1
    entry = {attribute: 1, "mem_mode": "decoupled", "inFIFODepth": 2, "impl_style": "rtl"}
    found = given({"Defaults": {}, f"{old}_{index}": entry}, tmp_path)
    engine = found.engine(f"{OLD[old]}_{index}")
    assert engine.folding == {attribute: 1}
    assert engine.attributes["mem_mode"] == "internal_decoupled"
    assert any(f"'{old}_{index}' is '{engine.name}'" in note for note in found.notes)


def test_vector_units_and_windows_of_one_dimension_are_counted_by_themselves(tmp_path: Path) -> None:
    builder = ModelBuilder("lines", (1, 4, 12, 1))
    builder.quantise(4, signed=False)
    for group in (1, 4):
        builder.conv(4, (3, 1), 4, group=group)
        builder.quantise(4, signed=False)
    onnx.save(builder.model(), tmp_path / "lines.onnx")
    config = {"ConvolutionInputGenerator1D_1": {"SIMD": 2}, "Vector_Vector_Activate_Batch_0": {"PE": 2}}
    found = given(config, tmp_path, tmp_path / "lines.onnx")
    assert {e.name: dict(e.folding) for e in found.engines if e.folding} == {
        "ConvolutionInputGenerator_rtl_1": {"SIMD": 2},
        next(e.name for e in found.engines if e.kind.startswith("VVAU")): {"PE": 2},
    }


def test_a_file_with_all_engines_in_one_style_says_it_by_its_names(tmp_path: Path) -> None:
    builder = ModelBuilder("wide", (1, 16))
    for bits in (8, 8):
        builder.quantise(bits, narrow=False)
        builder.fully_connected(16, 4)
    onnx.save(builder.model(), tmp_path / "wide.onnx")
    assert {e.kind for e in read_source(tmp_path / "wide.onnx").lower(PART).engines} >= {"MVAU_rtl"}
    config = {f"MVAU_hls_{index}": {"PE": 4, "SIMD": 8} for index in range(2)}
    found = given(config, tmp_path, tmp_path / "wide.onnx")
    assert [dict(e.folding) for e in found.engines if e.kind == "MVAU_hls"] == [{"PE": 4, "SIMD": 8}] * 2


def test_a_file_of_another_network_is_called_so(tmp_path: Path) -> None:
    config = {f"MVAU_hls_{index}": {"PE": 1} for index in range(9)}
    with pytest.raises(InputError, match="no node 'MVAU_hls_4'") as caught:
        given(config, tmp_path, TFC)
    assert "it has 9 MVAU, the model 4" in caught.value.hint


def test_two_names_of_one_engine_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'MatrixVectorActivation_0' is a name of 'MVAU_hls_0'"):
        given({"MVAU_hls_0": {"PE": 2}, "MatrixVectorActivation_0": {"PE": 1}}, tmp_path)
