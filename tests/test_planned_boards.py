"""Plans on every board, topology and kind of link, on a board that says little, and of whole slots are legal."""

import json
import re
from pathlib import Path

import onnx
import pytest
from typer.testing import CliRunner

import floorflow as ff
from floorflow.assets import Topology, asset_folder, shipped
from floorflow.cli.main import app
from floorflow.facts import PhaseEntry, read_plan
from floorflow.hardware import load_platform
from floorflow.request import DEFAULT_CAP, Request
from floorflow.verify import check
from floorflow.view.pictures.floorplan import floorplan
from tests.conftest import make_plan
from tests.plans import CNV, TFC
from tests.random_models import random_graph

CASES = [
    *((TFC, board) for board in ("alveo-u50", "kv260")),
    *(pytest.param(CNV, board, marks=pytest.mark.slow) for board in shipped("boards")),
]
"""One with HBM and one without a shell in each run, on a small network; all others on request."""
DDR, HBM = {"LUT": 33256, "FF": 44889, "BRAM18": 199, "URAM": 0, "DSP": 3}, {"LUT": 15718, "FF": 28293, "BRAM18": 8}
CHANNELS = {
    "alveo-u200": {},
    "alveo-u250": {"DDR[0] controller": DDR},
    "alveo-u280": {"HBM[0] controller": HBM},
    "alveo-u50": {"HBM[0] controller": HBM},
    "alveo-u55c": {"HBM[0] controller": HBM},
    "aws-f1": {},
    "aws-f2": {"HBM[0] controller": HBM},
    "vcu118": {"DDR4_C1 controller": DDR},
}
"""What the first channel takes: nothing where the shell has its controller."""


@pytest.mark.parametrize(("model", "board"), CASES)
def test_examples_are_planned_legally(model: Path, board: str) -> None:
    plan = ff.plan(model, board, effort="fast")
    verdict = ff.check(plan)
    assert verdict.legal, verdict.violations
    controllers = {
        item["name"]: {name: amount for name, amount in item["resources"].items() if amount}
        for item in json.loads(plan.files["plan.json"])["platform"]["infrastructure"]
        if item["name"].endswith("controller")
    }
    expected = CHANNELS.get(board, {})
    assert controllers == {key: {k: n for k, n in amounts.items() if n} for key, amounts in expected.items()}


@pytest.mark.parametrize(
    "topology", ["ring", *(pytest.param(t, marks=pytest.mark.slow) for t in ("full", "chain", "star", "mesh"))]
)
def test_plans_on_every_topology_are_legal_and_use_its_links(topology: Topology, tmp_path: Path) -> None:
    onnx.save(random_graph(27), tmp_path / "branches.onnx")
    cap = {**DEFAULT_CAP, "LUT": 0.06}
    request = Request(
        tmp_path / "branches.onnx", "xcku5p", fpgas=4, topology=topology, cap=cap, effort="fast", plots=False
    )
    out = make_plan(tmp_path / "out", request)
    assert check(out) == []
    plan = read_plan(out / "plan.json")
    assert plan.options.topology == topology
    assert len(plan.platform.links) == {"chain": 3, "ring": 4, "star": 3, "mesh": 4, "full": 6}[topology]
    assert any(crossing.kind == "link" for crossing in plan.phases[0].partition.crossings)


def test_another_kind_of_link_is_planned_listed_and_compared_with_the_shipped_one(tmp_path: Path) -> None:
    request = Request(TFC, "alveo-u250", fpgas=2, link="aurora-100g", effort="fast", plots=False)
    out = make_plan(tmp_path / "out", request)
    assert check(out) == []
    assert json.loads((out / "plan.json").read_text())["options"]["link"] == "aurora-100g"
    file = out / "platform" / "links" / "aurora-100g.yaml"
    file.write_text(file.read_text().replace("gbps: 100", "gbps: 400"))
    assert {v.name for v in check(out)} == {"shipped-file-differs", "wrong-link"}


@pytest.mark.parametrize("stated", [False, True])
def test_the_warning_is_in_summary_report_plan_and_picture_unless_the_file_says_none(
    stated: bool, tmp_path: Path
) -> None:
    text = (asset_folder("platforms") / "boards" / "xcku5p.yaml").read_text(encoding="utf-8")
    text = text.replace("name: xcku5p", "name: mine", 1)
    if not stated:
        text = re.sub(r"^(shell|infrastructure|host_port): .*\n", "", text, flags=re.MULTILINE)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["plan", TFC, "-p", tmp_path / "mine.yaml", "-o", out, "--no-plots", "--effort", "fast"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    plan = json.loads((out / "plan.json").read_text())
    figure = floorplan(plan, load_platform(tmp_path / "mine.yaml"), "fpga0")
    drawn = " ".join(text.text for text in figure.texts)
    shown = [result.stdout + result.stderr, (out / "report.txt").read_text(), " ".join(plan["warnings"]), drawn]
    fields = "shell, infrastructure, host_port"
    assert [fields in " ".join(where.split()) for where in shown] == [not stated] * 4
    assert check(out) == []
    plan["platform"]["fpgas"][0]["unstated"] = ["shell"] if stated else []
    (out / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert "platform-mismatch" in {violation.name for violation in check(out)}


@pytest.fixture
def phase(whole_slots_of_u250: Path) -> PhaseEntry:
    return read_plan(whole_slots_of_u250 / "plan.json").phases[0]


def test_a_module_a_slot_is_legal(whole_slots_of_u250: Path, phase: PhaseEntry) -> None:
    assert check(whole_slots_of_u250) == []
    slots = list(phase.partition.assignment.values())
    assert len(slots) == len(set(slots)) > 1


def test_a_pblock_beside_the_shell_has_several_rectangles_and_a_window_around_them(phase: PhaseEntry) -> None:
    pblocks = phase.floorplan["fpga0"].pblocks
    several = {name: entry for name, entry in pblocks.items() if len(entry.rectangles) > 1}
    assert several
    assert len(several) < len(pblocks), "one rectangle is enough where it holds the module"
    windows = {made.name: made.window for made in phase.implementations}
    for name, entry in several.items():
        columns = {column for rect in entry.rectangles for column in (rect.left, rect.right)}
        rows = {row for rect in entry.rectangles for row in (rect.bottom, rect.top)}
        size = {"columns": max(columns) - min(columns) + 1, "rows": max(rows) - min(rows) + 1}
        assert windows[name] == size


def test_what_fits_only_over_the_whole_slot_joined_nothing_for_want_of_rectangles(phase: PhaseEntry) -> None:
    assert phase.joined == [], "granularity slot was asked for"
