"""``floorflow cost``: the line's fields and the numbers, in order, bad lines in their places."""

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from floorflow.backends.finn.cost_command import CostOptions, cost_lines
from floorflow.cli.main import app

PART = "xczu7ev-ffvc1156-2-e"
MVAU = {
    "MW": 600,
    "MH": 320,
    "SIMD": 120,
    "PE": 80,
    "resType": "lut",
    "noActivation": 1,
    "ram_style": "block",
    "inputDataType": "BINARY",
    "weightDataType": "TERNARY",
    "outputDataType": "BIPOLAR",
    "accDataType": "INT5",
}
"""A row of FINN's own answers; mem_mode and numInputVectors are left to FINN's defaults."""
WINDOW = {
    "IFMChannels": 8,
    "SIMD": 2,
    "IFMDim": [1, 64],
    "OFMDim": [1, 31],
    "ConvKernelDim": [1, 3],
    "Stride": [1, 2],
    "Dilation": [1, 1],
    "inputDataType": "INT8",
    "outputDataType": "INT8",
    "depthwise": 1,
}
FIFO = {"depth": 2029, "folded_shape": [1, 4, 8], "dataType": "UINT1"}


def run(text: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["cost", "-", *arguments], input=text)


def ask(op_type: str, attributes: dict[str, object], *arguments: str, **fields: object) -> dict[str, object]:
    result = run(json.dumps({"op_type": op_type, "attrs": attributes, **fields}) + "\n", *arguments)
    (answer,) = result.stdout.splitlines()
    found: dict[str, object] = json.loads(answer)
    assert result.exit_code == (2 if "error" in found else 0), result.stderr
    return found


@pytest.mark.parametrize(("vivado", "dsp"), [("2022.2", 8), ("2024.2", 0), ("", 8)])
def test_products_without_a_style_go_where_that_vivado_puts_them(vivado: str, dsp: int) -> None:
    narrow = {"MW": 64, "MH": 32, "PE": 2, "SIMD": 4, "inputDataType": "UINT2", "weightDataType": "INT2"}
    told = narrow | {"outputDataType": "INT16", "accDataType": "INT16", "noActivation": 1, "resType": "auto"}
    given = ("--vivado", vivado) if vivado else ()  # FINN main names 2022.2
    assert ask("MVAU_hls", told, "--costs", "calibrated", *given)["DSP"] == dsp


def test_finns_numbers_follow_the_lines_own_fields() -> None:
    found = ask("MVAU_hls", MVAU, "--costs", "finn", part=PART, note="mine")
    assert list(found)[:4] == ["op_type", "attrs", "part", "note"]
    assert {name: found[name] for name in list(found)[4:]} == {
        "cycles": 20,
        "LUT": 95516,
        "BRAM_18K": 534,
        "URAM": 0,
        "DSP": 0,
        "in_width": 120,
        "out_width": 80,
    }


def test_finns_own_numbers_are_the_default() -> None:
    assert ask("MVAU_hls", MVAU) == ask("MVAU_hls", MVAU, "--costs", "finn")


def test_the_back_end_may_be_named_and_given_its_options() -> None:
    own = ask("MVAU_hls", MVAU, "--costs", "calibrated")
    assert ask("MVAU_hls", MVAU, "--backend", "finn", "--backend-option", "costs=calibrated") == own


def test_the_planners_model_tells_flip_flops_and_a_band() -> None:
    found = ask("MVAU_hls", MVAU, "--costs", "calibrated")
    assert list(found)[2:] == ["cycles", "LUT", "FF", "BRAM_18K", "URAM", "DSP", "in_width", "out_width", "band"]
    assert found["FF"] > 0  # type: ignore[operator]


def test_a_lines_finn_and_part_beat_the_options() -> None:
    by_option = ask("ConvolutionInputGenerator_rtl", WINDOW, "--costs", "finn", "--finn", "plus")
    assert by_option["cycles"] == 383
    by_line = ask("ConvolutionInputGenerator_rtl", WINDOW, "--costs", "finn", "--finn", "plus", finn="main")
    assert by_line["cycles"] == 380
    rtl = {**MVAU, "inputDataType": "INT8", "weightDataType": "INT8", "outputDataType": "INT32"}
    assert ask("MVAU_rtl", rtl, "--costs", "finn", "--part", PART)["DSP"] == 20 * 120
    versal = "xcvc1902-vsva2197-2MP-e-S"
    assert ask("MVAU_rtl", rtl, "--costs", "finn", "--part", PART, part=versal)["DSP"] == 80 * 40


def test_each_finn_has_its_own_fifo() -> None:
    costs = [ask("StreamingFIFO_rtl", FIFO, "--costs", "finn", "--finn", finn) for finn in ("main", "dev", "plus")]
    assert [(c["LUT"], c["BRAM_18K"], c["URAM"]) for c in costs] == [(278, 0, 0), (22, 1, 1), (80, 0, 1)]


def test_widths_that_finn_refuses_to_tell_are_null() -> None:
    pool = {"NumChannels": 8, "PE": 2, "inputDataType": "UINT4", "numInputVectors": [1]}
    found = ask("GlobalAccPool_hls", pool, "--costs", "finn")
    assert (found["cycles"], found["in_width"], found["out_width"]) == (8, 8, None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"PE": 81}, "attribute PE of MVAU_hls is 81, expected a divisor of MH, which is 320"),
        ({"SIMD": 0}, "SIMD of MVAU_hls is 0, expected an integer of 1 or more"),
        ({"MW": None}, "attribute MW of MVAU_hls is None, expected an integer"),
        ({"ram_style": "blck"}, "ram_style of MVAU_hls is 'blck', expected one of auto, block, distributed, ultra"),
        ({"mem_mode": "external_mem"}, "mem_mode of MVAU_hls"),
        ({"binaryXnorMode": 2}, "attribute binaryXnorMode is 2, expected 0 or 1"),
        ({"weightDataType": "INT0"}, "data type 'INT0' is unknown"),
        ({"numInputVectors": [1, -4]}, "numInputVectors of MVAU_hls is (1, -4)"),
    ],
)
def test_illegal_attributes_are_named(change: dict[str, object], words: str) -> None:
    assert words in str(ask("MVAU_hls", {**MVAU, **change})["error"])


def test_a_missing_attribute_is_named() -> None:
    attributes = {name: value for name, value in MVAU.items() if name != "MH"}
    assert ask("MVAU_hls", attributes)["error"] == "attribute MH of MVAU_hls is missing, expected an integer"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"op_type": "MVAU_vhdl", "attrs": {}}, "op type 'MVAU_vhdl' is unknown"),
        ({"op_type": "AddStreams_hls", "attrs": {}, "finn": "plus"}, "FINN+ has no AddStreams_hls"),
        ({"op_type": "MVAU_hls", "attrs": MVAU, "finn": "v0.10"}, "expected one of main, dev, plus"),
        ({"op_type": "MVAU_hls", "attrs": MVAU, "part": "ecp5-85f"}, "7 series"),
        ({"op_type": "MVAU_hls", "attrs": [1]}, "attrs is not an object"),
        ({"attrs": {}}, "op_type is missing"),
        ([1, 2], "not a JSON object"),
    ],
)
def test_bad_lines_say_what_is_wrong(line: object, words: str) -> None:
    result = run(json.dumps(line))
    assert result.exit_code == 2
    assert words in json.loads(result.stdout)["error"]
    assert "Traceback" not in result.stderr


def test_bad_lines_keep_their_places(tmp_path: Path) -> None:
    good = json.dumps({"op_type": "StreamingFIFO_rtl", "attrs": FIFO, "id": 7})
    file = tmp_path / "engines.jsonl"
    file.write_text(f"{good}\n{{nonsense\n\n{good}\n")
    result = CliRunner().invoke(app, ["cost", str(file), "--costs", "finn"])
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 2
    assert [answer.get("id") for answer in answers] == [7, None, 7]
    assert "line 2 is not JSON" in answers[1]["error"]
    assert answers[0]["LUT"] == answers[2]["LUT"] == 278


def test_ten_thousand_lines_take_seconds() -> None:
    lines = [json.dumps({"op_type": "MVAU_hls", "attrs": {**MVAU, "MW": 120 * n}}) for n in range(1, 5001)]
    lines += [json.dumps({"op_type": "StreamingFIFO_rtl", "attrs": {**FIFO, "depth": n}}) for n in range(2, 5002)]
    started = time.perf_counter()
    answers = list(cost_lines(lines, CostOptions("finn", "plus")))
    assert time.perf_counter() - started < 10
    assert len(answers) == 10_000
    assert not any("error" in answer for answer in answers)


def test_the_calibrated_model_adds_a_band_around_each_amount() -> None:
    found = ask("MVAU_hls", MVAU, "--costs", "calibrated")
    assert list(found["band"]) == ["LUT", "FF", "BRAM_18K", "URAM", "DSP"]
    for name, (low, high) in found["band"].items():
        assert low <= found[name] <= high
    assert found["band"]["LUT"][0] < found["LUT"] < found["band"]["LUT"][1]
    assert "band" not in ask("MVAU_hls", MVAU, "--costs", "estimated")


@pytest.mark.parametrize("name", ["examples/tfc_1w1a.onnx", "docs/images/mobilenet_u250.png", "README.md"])
def test_a_file_of_another_kind_gives_one_error(name: str) -> None:
    result = CliRunner().invoke(app, ["cost", str(Path(__file__).resolve().parents[2] / name)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("error: the input holds no JSON lines") == 1
    assert len(result.stderr.splitlines()) == 2


def test_a_line_that_is_not_json_stands_among_those_that_are() -> None:
    good = json.dumps({"op_type": "MVAU_hls", "attrs": MVAU})
    answers = list(cost_lines(["no json", good, *["\ufffd no json"] * 30], CostOptions()))
    assert ["error" in answer for answer in answers] == [True, False, *[True] * 30]
