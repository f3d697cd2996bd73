"""An audit prices a build as plan --keep-folding would, and sets every node beside its row."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import floorflow as ff
from floorflow import flow
from floorflow.cli.main import app
from floorflow.request import Request
from floorflow.resources import Resources, total
from floorflow.study.audit.audit import Audit, audit
from floorflow.study.audit.data import as_dict
from floorflow.study.audit.text import audit_text
from tests.study.audit.layouts import AUTO, CUSTOM, output_dir

PART = "xc7z020clg400-1"
PLUS = {"finn": "plus"}


@pytest.fixture(scope="module")
def custom() -> Audit:
    return audit(CUSTOM, "pynq-z2", options=PLUS)


@pytest.fixture(scope="module")
def data(custom: Audit) -> dict[str, Any]:
    return as_dict(custom)


def test_engines_and_streams_cost_what_a_plan_that_keeps_the_folding_counts(tmp_path: Path) -> None:
    found = audit(AUTO, PART, options=PLUS)
    request = Request(
        AUTO / "graph_with_fifos.onnx", "pynq-z1", keep_folding=True, finn="plus", clock_mhz=100, plots=False
    )
    phase = flow.plan(request).plan.only_phase
    planned = {name: Resources.from_dict(e.resources.model_dump()) for name, e in phase.engines.items()}
    assert {name: option.resources for name, option in found.folded.options.items()} == planned
    if len(phase.modules) == 1:
        entries = [e for c in phase.channels for e in (c.fifo_resources, c.converter_resources)]
        streams = total(Resources.from_dict(entry.model_dump()) for entry in entries)
        assert found.planned == streams + total(planned.values())


def test_dma_engines_of_the_builds_own_widths_stand_for_those_of_the_board(data: dict[str, Any]) -> None:
    around = data["around"]
    dma = [node["name"] for node in data["nodes"] if node["role"] == "DMA"]
    assert sorted(around["infrastructure"]) == sorted([*dma, "processor_interface"])
    assert abs(around["error"]["LUT"]) < 0.02
    assert abs(around["error"]["FF"]) < 0.02


def test_every_node_stands_beside_its_row(data: dict[str, Any]) -> None:
    report = json.loads((CUSTOM / "post_synth_resources.json").read_text())
    for node in data["nodes"]:
        row = report[node["instance"]]
        assert node["built"]["LUT"] == row["LUT"]
        assert node["built"]["BRAM18"] == 2 * row["BRAM_36K"] + row["BRAM_18K"]
        assert node["predicted"] is not None
    assert len(data["nodes"]) == len(report) - 1
    assert data["unmatched"] == {"report": [], "graph": [], "unpriced": [], "in_doubt": []}


def test_the_design_is_its_network_and_what_stands_around_it(data: dict[str, Any]) -> None:
    design, network, around = data["whole"]["design"], data["whole"]["network"], data["around"]
    for side in ("built", "predicted"):
        assert {n: network[side][n] + around[side][n] for n in design[side]} == design[side]
    dma = [entry["built"] for entry in around["dma"]]
    assert {n: around["shell"][n] + sum(d[n] for d in dma) for n in around["shell"]} == around["built"]
    assert {n: sum(k["predicted"][n] for k in data["kinds"].values()) for n in network["predicted"]} == (
        network["predicted"]
    )
    assert design["error"]["LUT"] == round(design["predicted"]["LUT"] / design["built"]["LUT"] - 1, 4)


def test_fifos_are_as_deep_as_built_and_needed_depths_stand_beside_them(data: dict[str, Any]) -> None:
    fifos = {row["channel"]: row for row in data["fifos"]}
    deep = fifos["Thresholding_rtl_0.0->MVAU_hls_0.0"]
    assert (deep["width_bits"], deep["built_words"], deep["planned_words"]) == (112, 32, 32)
    assert deep["needed_words"] < 32
    two = fifos["MVAU_hls_3.0->LabelSelect_hls_0.0"]
    assert [node["depth_words"] for node in two["nodes"]] == [2, 2]
    assert two["built_words"] == 3, "2 words of 70 bits and 2 of 7"


def test_one_simulated_frame_measures_latency_alone(data: dict[str, Any]) -> None:
    assert data["rates"]["tool_cycles"] == data["rates"]["planned_cycles"] == 14
    assert data["rates"]["simulated_cycles"] is None
    assert "one frame" in data["rates"]["note"]
    assert data["latency"]["simulated_cycles"] == 61
    assert abs(data["latency"]["error"]) < 0.15


def test_many_simulated_frames_are_compared_with_every_interval(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    simulated = {"N": 1000, "cycles": 61 + 999 * 20, "latency_cycles": 61, "fclk[mhz]": 100.0}
    (tmp_path / "build" / "rtlsim_performance.json").write_text(json.dumps(simulated))
    rates = as_dict(audit(tmp_path / "build", PART, options=PLUS))["rates"]
    assert rates["simulated_cycles"] == 20
    assert rates["error"]["planned"] == round(rates["planned_cycles"] / 20 - 1, 4)
    assert rates["error"]["expected"] == round(rates["expected_cycles"] / 20 - 1, 4)


def test_a_bare_part_prices_the_network_and_knows_no_shell() -> None:
    found = as_dict(audit(CUSTOM, "xc7z030ffg676-2", options=PLUS))
    assert found["target"]["silicon"] is None
    assert found["whole"]["design"]["predicted"] is None
    assert found["whole"]["network"]["predicted"]["LUT"] > 0


def test_a_board_of_the_same_part_lends_its_shell_and_that_is_said(data: dict[str, Any]) -> None:
    assert data["target"]["part"] == PART
    assert "has the same part" in data["target"]["how"] or data["target"]["name"] == "pynq-z2"


def test_a_build_that_tells_its_part_needs_no_platform(tmp_path: Path, data: dict[str, Any]) -> None:
    found = as_dict(audit(output_dir(CUSTOM, tmp_path / "out"), options=PLUS))
    assert found["target"]["part"] == PART
    assert found["nodes"] == data["nodes"]
    assert found["clock"]["worst_slack_ns"] == -1.729


def test_a_build_that_does_not_tell_its_part_is_priced_with_a_word_on_it(tmp_path: Path) -> None:
    folder = shutil.copytree(CUSTOM, tmp_path / "mine")
    found = as_dict(audit(folder, options=PLUS))
    assert found["target"]["part"] == ""
    assert "--platform" in found["target"]["how"]
    assert found["whole"]["design"]["predicted"] is None, "no board, no shell"


@pytest.mark.parametrize(("name", "board"), [("tfc_pynqz2", "pynq-z2"), ("ZCU104-run3", "zcu104"), ("u50_or_u250", "")])
def test_the_name_of_the_folder_may_tell_the_board(tmp_path: Path, name: str, board: str) -> None:
    found = as_dict(audit(shutil.copytree(CUSTOM, tmp_path / name / "run"), options=PLUS))
    assert found["target"]["name"] == (board or "part not told")


def test_the_text_names_the_worst_node_first_and_what_is_missing(data: dict[str, Any]) -> None:
    text = audit_text(data)
    lines = text.splitlines()
    first = lines[next(place for place, line in enumerate(lines) if line.startswith("node ")) + 1]
    worst = max(
        (n for n in data["nodes"] if n["predicted"]), key=lambda n: abs(n["predicted"]["LUT"] - n["built"]["LUT"])
    )
    assert first.startswith(worst["name"])
    assert "no timing report" in text
    assert "one frame was simulated" in text


def test_the_command_writes_data_words_and_picture_and_no_file_of_the_user_is_lost(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["audit", str(CUSTOM), "-p", "pynq-z2", "-o", str(out)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert {path.name for path in out.iterdir()} == {"audit.json", "audit.txt", "audit.png", "audit.svg", "run.json"}
    held = json.loads((out / "audit.json").read_text())
    assert held["schema"] == "floorflow-audit/1"
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.name != "run.json"}
    assert CliRunner().invoke(app, words).exit_code == 2, "the folder is not empty"
    assert CliRunner().invoke(app, [*words, "--force"]).exit_code == 0
    assert before == {path.name: path.read_bytes() for path in out.iterdir() if path.name != "run.json"}
    assert CliRunner().invoke(app, [*words, "--force", "--no-plots"]).exit_code == 0
    assert not (out / "audit.png").exists()


def test_the_command_prints_one_object_for_machines(data: dict[str, Any]) -> None:
    answer = CliRunner().invoke(app, ["audit", str(CUSTOM), "-p", "pynq-z2", "--json"])
    assert json.loads(answer.stdout) == json.loads(json.dumps(data))


def test_a_folder_that_is_no_build_ends_in_2(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["audit", str(tmp_path), "-p", "pynq-z1"])
    assert answer.exit_code == 2
    assert "looked for" in answer.stderr


def test_from_python_rows_are_flat() -> None:
    found = ff.audit(CUSTOM, "pynq-z2")
    engine = next(row for row in found.rows if row["name"] == "MVAU_hls_0")
    assert engine["LUT_built"] == 10602
    assert engine["LUT_predicted"] > 0
    assert found.picture.png.startswith(b"\x89PNG")


def test_the_picture_names_the_nodes_that_are_furthest_off_and_the_shell(data: dict[str, Any]) -> None:
    text = ff.audit(CUSTOM, "pynq-z2").picture.svg.decode()
    worst = max((n for n in data["nodes"] if n["predicted"]), key=lambda n: n["predicted"]["LUT"] - n["built"]["LUT"])
    assert f">{worst['name']}<" in text
    assert ">shell and DMA engines<" in text
    assert "27,820 built" in text


def test_the_picture_of_a_build_without_synthesis_says_so(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM / "kernel_partitions", tmp_path / "kernel_partitions")
    found = ff.audit(tmp_path, "pynq-z2")
    assert b"nothing to compare resources with" in found.picture.svg
