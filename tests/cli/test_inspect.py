"""``inspect``: what FINN is chosen, what the foldings range over, and every reason why a model cannot be planned."""

import json
import re
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import onnx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from examples.make_models import ModelBuilder
from floorflow import api
from floorflow.backends.finn.names import VERSION_NAMES
from floorflow.cli.inspect import print_inspection
from floorflow.cli.main import app
from tests.gated_models import squeeze_and_excite
from tests.plans import CNV, EXAMPLES, TFC


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


def test_json_holds_every_legal_value_and_what_the_foldings_range_over() -> None:
    engines = {e["name"]: e["legal"] for e in json.loads(run("inspect", CNV, "--json").stdout)["engines"]}
    matrix = engines["MVAU_hls_8"]
    assert matrix["PE"] == [1, 2, 5, 10]
    assert matrix["SIMD"] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert (matrix["fastest_cycles"], matrix["slowest_cycles"]) == (1, 5120)
    assert matrix["least_resources"]["LUT"] > 0
    assert set(matrix["least_resources"]) == {"LUT", "FF", "BRAM18", "URAM", "DSP"}
    assert "PE" not in engines["ConvolutionInputGenerator_rtl_0"]
    assert not {"PE", "SIMD"} & set(engines["StreamingMaxPool_hls_0"])


def test_the_network_as_a_whole_is_told_below_its_engines() -> None:
    engines = [e["legal"] for e in json.loads(run("inspect", TFC, "-p", "pynq-z1", "--json").stdout)["engines"]]
    lines = [line.split() for line in run("inspect", TFC, "-p", "pynq-z1").stdout.splitlines()]
    told = next(line for line in lines if line[:2] == ["the", "network"])
    least = [sum(e["least_resources"][name] for e in engines) for name in ("LUT", "BRAM18", "URAM", "DSP")]
    cycles = [max(e[name] for e in engines) for name in ("fastest_cycles", "slowest_cycles")]
    assert told[2:] == [f"{value:,}" for value in [*cycles, *least]]


def test_densenet_becomes_engines_with_a_concat_for_every_dense_layer() -> None:
    """Features are read again and again: each concat is duplicated, but for the last of a block."""
    told = json.loads(run("inspect", EXAMPLES / "densenet121_w4a4.onnx", "--json").stdout)
    kinds = Counter(engine["kind"] for engine in told["engines"])
    assert (told["refusal"], told["totals"]["layers"]) == ("", 121)
    assert (kinds["StreamingConcat_hls"], kinds["DuplicateStreams_hls"]) == (58, 58)
    assert sum(kinds[kind] for kind in kinds if kind.startswith("MVAU")) == 121


def test_the_finn_that_is_named_builds_the_engines(tmp_path: Path) -> None:
    model = saved(squeeze_and_excite(), tmp_path)
    refused = json.loads(run("inspect", model, "--json").stdout)
    assert (refused["tool"], refused["engines"]) == ("FINN main", [])
    assert "--finn dev or plus" in refused["refusal"]
    for finn in ("dev", "plus"):
        made = json.loads(run("inspect", model, "--finn", finn, "--json").stdout)
        assert (made["tool"], made["refusal"]) == (VERSION_NAMES[finn], "")
        legal = next(e["legal"] for e in made["engines"] if e["name"] == "ElementwiseMul_hls_0")
        assert (legal["PE"], legal["fastest_cycles"], legal["slowest_cycles"]) == ([1, 2, 4, 8], 36, 288)
    assert run("inspect", model, "--finn", "elder").exit_code == 2


@pytest.mark.parametrize("columns", [40, 60, 80, 110, 200])
def test_no_number_is_cut_or_broken_whatever_the_width(columns: int) -> None:
    inspection = api.inspect(CNV).as_dict()
    console = Console(width=columns, record=True, file=StringIO())
    print_inspection(console, inspection)
    text = " ".join(console.export_text().split())
    assert "…" not in text
    for engine in inspection["engines"]:
        assert re.search(rf"(?<![\d,]){engine['legal']['slowest_cycles']:,}(?!,?\d)", text)
    for layer in inspection["layers"]:
        assert f"{layer['macs']:,}" in text
    assert "PE 1,2,5,10" in text
    assert "SIMD 1,2,4..512" in text


def test_a_model_that_cannot_be_planned_is_shown_with_all_reasons(tmp_path: Path) -> None:
    builder = ModelBuilder("refused", (1, 6))
    builder.quantise(4)
    for op_type in ("Erf", "Sigmoid", "Tanh"):
        builder.fully_connected(6, 4)
        builder.tensor = builder.node(op_type, [builder.tensor])
        builder.quantise(4)
    builder.fully_connected(3, 4)
    result = run("inspect", saved(builder.model(), tmp_path))
    assert result.exit_code == 0
    assert "Gemm_3" in result.stdout
    assert "3 obstacles" in result.stdout
    for name in ("Erf_0", "Sigmoid_0", "Tanh_0", "Supported with FINN main"):
        assert name in result.stdout
    planned = run("plan", tmp_path / "model.onnx", "-p", "zcu104", "-o", tmp_path / "out")
    assert planned.exit_code == 2
    assert "3 obstacles" in planned.stderr
    assert not (tmp_path / "out").exists()


def test_it_says_for_which_part_it_answers_where_none_was_asked_for() -> None:
    told = f"no platform was given: engines and foldings are for {api.INSPECTED_PART}"
    assert [told in " ".join(run("inspect", CNV, *asked).stdout.split()) for asked in ((), ("-p", "zcu104"))] == [
        True,
        False,
    ]
    assert json.loads(run("inspect", CNV, "--json").stdout)["notes"][0].startswith(told)
    assert not any("no platform" in note for note in api.inspect(CNV, part="xczu7ev-ffvc1156-2-e").notes)
