"""A plan is bound to the kernels of a build: names are read, and a build of another design is refused."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

import floorflow as ff
from floorflow import facts
from floorflow.facts import read_plan
from tests.built_kernels import Kernels, built, write
from tests.command_line import floorflow

BUILDS = Path(__file__).parent / "backends" / "finn" / "builds"


def plan_of(out: Path) -> facts.Plan:
    return read_plan(out / "plan.json")


def engines_in(kernels: Kernels, kind: str) -> list[onnx.NodeProto]:
    return [node for model in kernels.values() for node in model.graph.node if node.op_type.startswith(kind)]


def set_attribute(node: onnx.NodeProto, name: str, value: object) -> None:
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


@pytest.fixture(params=["cnv_on_u250", "branches_on_two_u250"])
def out(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.getfixturevalue(request.param)
    return folder


def test_the_foreseen_kernels_bind_without_a_renaming(out: Path, tmp_path: Path) -> None:
    bound = ff.bind(out, write(built(plan_of(out)), tmp_path / "build"))
    assert set(bound.cells) == set(plan_of(out).engines)
    assert not bound.notes
    bound.save(tmp_path / "new")
    assert ff.check(tmp_path / "new").legal
    assert not list((tmp_path / "new").rglob("pblocks.unbound.tcl"))


def test_every_node_but_dma_engines_is_in_one_place(out: Path, tmp_path: Path) -> None:
    kernels = built(plan_of(out))
    bound = ff.bind(out, write(kernels, tmp_path / "build"))
    texts = [data.decode() for name, data in bound.plan.files.items() if name.endswith("/pblocks.tcl")]
    cells = [cell for text in texts for one in re.findall(r"-cells \{([^}]*)\}", text) for cell in one.split()]
    slices = json.loads(bound.plan.files["bound.json"])["slices"]
    assert not {*slices} & {*cells}
    assert len(slices) == sum(c["slices"] + c["crossing_registers"] for c in bound.plan.channels)
    cells += slices
    nodes = [node.name for node in engines_in(kernels, "") if node.op_type != "IODMA_hls"]
    assert sorted(cell.rpartition("/")[2] for cell in cells) == sorted(nodes)


def test_renamed_nodes_are_followed_and_listed(cnv_on_u250: Path, tmp_path: Path) -> None:
    def rename(kernels: Kernels) -> None:
        windows = engines_in(kernels, "ConvolutionInputGenerator_rtl")
        for node in windows:
            node.name += "7"

    before = ff.bind(cnv_on_u250, write(built(plan_of(cnv_on_u250)), tmp_path / "as_foreseen")).cells
    after = ff.bind(cnv_on_u250, write(built(plan_of(cnv_on_u250)), tmp_path / "renamed", rename))
    windows = {engine for engine in before if engine.startswith("ConvolutionInputGenerator")}
    assert {engine for engine, node in after.renamed if node.endswith("7")} >= windows
    assert after.cells == {engine: cell + ("7" if engine in windows else "") for engine, cell in before.items()}


def test_a_folder_without_kernels_is_no_build(cnv_on_u250: Path, tmp_path: Path) -> None:
    with pytest.raises(ff.InputError, match="holds no kernels"):
        ff.bind(cnv_on_u250, tmp_path)


def test_a_plan_without_the_steps_file_cannot_be_bound(cnv_on_u250: Path, tmp_path: Path) -> None:
    shutil.copytree(cnv_on_u250, tmp_path / "old")
    (tmp_path / "old" / "finn" / "floorflow_plan.json").unlink()
    run = json.loads((tmp_path / "old" / "run.json").read_text())
    run["files"].remove("finn/floorflow_plan.json")
    (tmp_path / "old" / "run.json").write_text(json.dumps(run))
    with pytest.raises(ff.InputError, match=r"floorflow_plan\.json"):
        ff.bind(tmp_path / "old", tmp_path)


def test_what_check_refuses_is_not_bound(cnv_on_u250: Path, tmp_path: Path) -> None:
    """Names are bound to whatever a spoilt folder says, and the build that follows takes hours."""
    old = tmp_path / "old"
    shutil.copytree(cnv_on_u250, old)
    plan = json.loads((old / "plan.json").read_text())
    plan["phases"][0]["networks"][0]["interval_cycles"] += 1
    (old / "plan.json").write_text(json.dumps(plan))
    build = write(built(plan_of(cnv_on_u250)), tmp_path / "build")
    ran = floorflow("bind", old, "--build", build, "-o", tmp_path / "new")
    assert (ran.returncode, (tmp_path / "new").exists()) == (2, False)
    assert re.search(r"\d+ violations, so it is not bound: [a-z-]+: ", ran.stderr), ran.stderr
    assert f"floorflow check {old}" in ran.stderr


@pytest.mark.parametrize(
    "name", ["auto", *(pytest.param(name, marks=pytest.mark.slow) for name in ("custom_1", "custom_3")), "custom_4"]
)
def test_real_builds_bind_to_plans_of_their_graphs(name: str, tmp_path: Path) -> None:
    """Kernels of FINN+ builds for PYNQ-Z2 (tests/backends/finn/copy_builds.py)."""
    model = ff.read(BUILDS / name / "graph_with_fifos.onnx", finn="plus")
    full = dict.fromkeys(("LUT", "FF", "BRAM18", "DSP"), 1.0)
    usual: dict[str, Any] = {"keep_folding": True, "finn": "plus", "cap": full, "effort": "fast", "plots": False}
    plan = ff.plan(model, "pynq-z2", granularity="stage" if name == "auto" else "slot", **usual)
    plan.save(tmp_path / "out")
    assert ff.check(tmp_path / "out").legal
    bound = ff.bind(tmp_path / "out", BUILDS / name)
    assert not bound.renamed
    assert {cell.split("/")[1] for cell in bound.cells.values()} == {"StreamingDataflowPartition_1"}
    graph = onnx.load(BUILDS / name / "kernel_partitions" / "partition_2.onnx").graph
    inside = {node.name for node in graph.node}
    assert {cell.rpartition("/")[2] for cell in bound.cells.values()} <= inside
