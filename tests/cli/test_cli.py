"""The command line: exit codes, one clear message for each kind of bad input, nothing half-written."""

import json
import re
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner, Result

from floorflow import verify
from floorflow.assets import asset_folder
from floorflow.cli.main import app
from floorflow.hardware import known_platforms
from tests.plans import CNV, TFC


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def plan(model: Path, out: Path, *more: str) -> Result:
    return run("plan", model, "-p", "pynq-z1", "-o", out, "--no-plots", "--effort", "fast", *more)


def float_model(path: Path) -> Path:
    node = helper.make_node("Relu", ["x"], ["y"], name="the_node")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 3, 8, 8)) for name in ("x", "y")]
    onnx.save(helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:])), path)
    return path


def dynamic_model(path: Path) -> Path:
    model = onnx.load(CNV)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
    onnx.save(model, path)
    return path


def unsupported_model(path: Path) -> Path:
    model = onnx.load(CNV)
    pool = next(node for node in model.graph.node if node.op_type == "MaxPool")
    behind = helper.make_node("Erf", ["pooled"], pool.output, name="the_node")
    pool.output[0] = "pooled"
    model.graph.node.insert(list(model.graph.node).index(pool) + 1, behind)
    onnx.save(model, path)
    return path


def bad_models(folder: Path) -> dict[str, tuple[Path, str]]:
    garbage, truncated = folder / "garbage.onnx", folder / "truncated.onnx"
    garbage.write_text("this is a letter to my aunt, not a network")
    truncated.write_bytes(CNV.read_bytes()[: CNV.stat().st_size // 2])
    return {
        "garbage": (garbage, "garbage.onnx"),
        "truncated": (truncated, "truncated.onnx"),
        "float": (float_model(folder / "float.onnx"), "quantis"),
        "dynamic": (dynamic_model(folder / "dynamic.onnx"), "height"),
        "unsupported": (unsupported_model(folder / "op.onnx"), "the_node"),
    }


def test_a_plan_that_check_refuses_exits_70_with_what_is_wrong_and_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "check", lambda _: [verify.Violation("module-cycle", "phases[0]", "[a] needs [b]")])
    result = plan(TFC, tmp_path / "out")
    assert result.exit_code == 70, result.stderr
    assert "module-cycle: phases[0]: [a] needs [b]" in result.stderr
    assert str(tmp_path / "out.refused1") in result.stderr
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["out.refused1"]


def test_output_folder_that_is_not_empty_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = plan(tmp_path / "not-even-there.onnx", tmp_path)
    assert result.exit_code == 2
    assert "not empty" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--fill", "DSP=1", "--fill", "DSP=1"], "--fill DSP=1: DSP is given twice"),
        (["--fps", "inf"], "fps"),
        (["--objective", "beauty"], "objective"),
        (["--fpgas", "-1"], "--fpgas -1: expected auto or a number"),
        (["--fpgas", "1.5"], "--fpgas 1.5: expected auto or a number"),
        (["--fpgas", "\u0663"], "expected auto or a number"),
        (["--fpgas", "9" * 30], "FPGAs were asked for, but its boards have no link"),
        (["--max-fpgas", "0"], "max-fpgas"),
        (["--vivado", "2022"], "--vivado 2022: expected a year and a release, such as 2022.2"),
        (["--vivado", "2022.2.1"], "--vivado 2022.2.1: expected a year and a release"),
        (["--impl-style", "vhdl"], "impl-style"),
        (["--weight-bits", "99"], "weight-bits"),
        (["--fsp", "3"], "--fsp"),
    ],
)
def test_bad_options_exit_2(arguments: list[str], word: str, tmp_path: Path) -> None:
    result = plan(TFC, tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert word in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("  gbps: 100\n", "  gbps: '100'\n", "link.gbps: Input should be a valid number; found '100'"),
        ("  gbps: 100\n", "  gbps: 100\n  gbps: 10\n", "the field 'gbps' stands twice"),
        ("max_fpgas: 16\n", "max_fpgas: 1\n", "2 FPGAs were asked for, at most 1 can be linked"),
        ("clock_mhz: 250\n", "clock_mhz: 2024-13-45\n", "not valid YAML"),
    ],
)
def test_bad_boards_exit_2_with_file_and_field_and_leave_nothing(old: str, new: str, word: str, tmp_path: Path) -> None:
    text = (asset_folder("platforms") / "boards" / "alveo-u250.yaml").read_text(encoding="utf-8")
    assert old in text
    board = tmp_path / "mine.yaml"
    board.write_text(text.replace("name: alveo-u250", "name: mine", 1).replace(old, new, 1), encoding="utf-8")
    result = run("plan", TFC, "-p", board, "--fpgas", "2", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "mine.yaml" in result.stderr
    assert word in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_json_is_the_plan_alone_quiet_says_nothing_and_force_plans_over_an_earlier_plan(tmp_path: Path) -> None:
    result = plan(TFC, tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (tmp_path / "out" / "plan.json").read_text()
    assert plan(TFC, tmp_path / "out").exit_code == 2
    result = plan(TFC, tmp_path / "out", "--force", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_check_exits_0_on_a_plan_1_on_a_spoilt_one_and_2_on_anything_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert plan(TFC, out, "--constraint-style", "soft").exit_code == 0
    legal = run("check", out)
    assert legal.exit_code == 0
    held = len(json.loads((out / "plan.json").read_text())["phases"][0]["modules"])
    counted = f"5 engines, 5 foldings, 6 channels, {held} modules, {held} pblocks, 1 constraint file, 5 unbound"
    assert held > 1
    assert counted in legal.stdout
    text = (out / "plan.json").read_text()
    (out / "plan.json").write_text(text.replace('"latency_us": ', '"latency_us": 9'))
    spoilt = run("check", out, "--json")
    assert spoilt.exit_code == 1
    told = json.loads(spoilt.stdout)
    assert (told["verdict"], told["checked"]["engines"]) == ("violations", 5)
    assert told["violations"][0].keys() == {"name", "where", "message"}
    assert run("check", tmp_path / "nothing").exit_code == 2


def test_platforms_lists_every_board_and_shows_one() -> None:
    listing = run("platforms", "--json")
    assert [p["name"] for p in json.loads(listing.stdout)] == list(known_platforms())
    one = run("platforms", "alveo-u250")
    assert one.exit_code == 0
    assert "fpga0.SLR3" in one.stdout
    assert "11,520 SLL wires" in one.stdout
    links = "links: aurora-100g in SLR2, 100 Gb/s each way, 98.43 of them for streams, 1 us (assumed), at most 2 in one"
    assert links in one.stdout
    assert "links: none, one FPGA only" in run("platforms", "pynq-z1").stdout
    assert json.loads(run("platforms", "xcku5p", "--json").stdout)["link"]["kind"] == "pcie"
    assert run("platforms", "alveo-u999").exit_code == 2


def test_inspect_shows_engines_and_what_was_assumed() -> None:
    shown = run("inspect", CNV)
    assert shown.exit_code == 0
    assert "MVAU_hls_8" in shown.stdout
    assert "8-bit" in shown.stdout
    assert json.loads(run("inspect", CNV, "--json").stdout)["engines"][0]["name"] == "Thresholding_rtl_0"


def test_inspect_lowers_for_the_platform_that_is_named() -> None:
    small = json.loads(run("inspect", TFC, "-p", "pynq-z1", "--json").stdout)
    assert small["part"] == "xc7z020clg400-1"
    assert json.loads(run("inspect", TFC, "--json").stdout)["part"] == "xcu250-figd2104-2L-e"
    for arguments in (["-p", "pinq"], ["-p", "pynq-z1", "--part", "xczu7ev-ffvc1156-2-e"], ["--part", "toaster"]):
        result = run("inspect", TFC, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")


def test_version() -> None:
    assert re.fullmatch(r"floorflow \d+\.\d+\.\d+\n", run("--version").stdout)
