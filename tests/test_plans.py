"""Whole plans: legal on every board, equal for equal inputs, obeyed by a strict Vivado, bad ones found out."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow import flow
from floorflow.facts import Plan, json_schema, read_plan
from floorflow.facts.constraint import STYLE_WORDS
from floorflow.hardware import Device, Rect, known_platforms, load_platform
from floorflow.request import DEFAULT_FILL, Request
from floorflow.verify import check
from tests import built_kernels, several_models
from tests.conftest import Planned, make_plan
from tests.plans import CNV, TFC
from tests.tools import need_tcl
from tests.verify.mutants import FAMILIES, Mutant
from tests.verify.planting import NotApplicable
from tests.verify.tiny import found_after, read_folder

ROOT = Path(__file__).resolve().parent.parent
NO_PLAN_HOLDS = {"slices-left-out", "wrong-slice-resources", "wrong-link-kernels"}
"""Violations for which none of the plans has what a mutant spoils; tests/verify plants them in its own."""


def each_run(chosen: Any, *what: Any) -> Any:
    """Return a case of each run, if it is among the chosen ones, or one of -m slow."""
    return pytest.param(*what, marks=() if {what, what[0]} & chosen else pytest.mark.slow)


EACH_RUN = {(TFC, "pynq-z1"), (TFC, "zcu104")}
"""The smallest boards; the styles below plan CNV on boards of each kind, and `.ci/run` on a U250 as users do."""
EXAMPLES = [each_run(EACH_RUN, model, board) for model in (CNV, TFC) for board in known_platforms()]


@pytest.mark.parametrize(("model", "board"), EXAMPLES)
def test_examples_plan_legally_on_every_board(model: Path, board: str, planned: Planned) -> None:
    assert check(planned(Request(model, board, plots=False))) == []


@pytest.fixture(scope="session")
def bound_plans(
    cnv_on_pynq: Path,
    branches_on_two_u250: Path,
    cnv_on_u250: Path,
    far_on_u250: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """Plans bound to builds, which are all that check judges whole."""
    plans = {"zynq": cnv_on_pynq, "two": branches_on_two_u250, "one": cnv_on_u250, "far": far_on_u250}
    return {name: built_kernels.bound(out, tmp_path_factory.mktemp(name)) for name, out in plans.items()}


@pytest.mark.parametrize("family", [each_run({*[*FAMILIES][::3]}, family) for family in FAMILIES])
def test_a_mistake_of_each_family_in_real_plans_is_found(
    family: str, bound_plans: dict[str, Path], tmp_path: Path
) -> None:
    """All of them are planted in plans made by hand (tests/verify); here a third of them in each run."""
    tries = ((mutant, name) for mutant in FAMILIES[family] for name in ("zynq", "two", "one", "far"))
    found = any(is_found(mutant, bound_plans[name], tmp_path / mutant.title / name) for mutant, name in tries)
    assert found or family in NO_PLAN_HOLDS


def is_found(mutant: Mutant, out: Path, spoilt: Path) -> bool:
    """Plant the mistake in a plan and find it; say whether the plan has what it is about."""
    try:
        assert mutant.expected in found_after(mutant.spoil, *read_folder(out), spoilt)
    except NotApplicable:
        return False
    return True


def expected_pblocks(plan: Plan, fpga: str) -> dict[str, tuple[list[str], str]]:
    """Return ranges and softness of each pblock that is emitted."""
    phase = plan.phases[0]
    soft = {"hard": "FALSE", "soft": "TRUE"}
    placed = phase.floorplan[fpga].pblocks.items()
    styles = {name: phase.constraint_styles[pblock.slot] for name, pblock in placed}
    return {f"pblock_{n}": (sorted(p.ranges), soft[styles[n]]) for n, p in placed if styles[n] in soft}


def expected_slrs(plan: Plan, fpga: str) -> set[str]:
    """Return the SLRs to which cells are assigned one by one."""
    phase, slots = plan.phases[0], {slot.name: slot for slot in plan.platform.slots}
    alone = (slots[phase.partition.assignment[m.name]] for m in phase.modules)
    return {s.slr for s in alone if s.fpga == fpga and phase.constraint_styles[s.name] == "slr"}


def assigned_engines(plan: Plan, fpga: str) -> int:
    """Return how many engines are in a pblock or assigned to an SLR."""
    phase, slots = plan.phases[0], {slot.name: slot for slot in plan.platform.slots}
    homes = [(slots[phase.partition.assignment[m.name]], len(m.engines)) for m in phase.modules]
    return sum(count for s, count in homes if s.fpga == fpga and phase.constraint_styles[s.name] != "none")


@pytest.mark.parametrize("board", ["cnv_on_u250", "branches_on_two_u250", "whole_slots_of_u250"])
def test_a_strict_vivado_records_what_is_planned_once_names_are_bound(
    board: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    vivado_obeys(request.getfixturevalue(board), tmp_path)


def clock_regions(device: Device, region: Rect) -> str:
    """Return an SLR as a range of clock regions."""
    height, last = device.rows_per_clock_region, len(device.clock_region_columns) - 1
    return f"CLOCKREGION_X0Y{region.bottom // height}:CLOCKREGION_X{last}Y{region.top // height}"


def vivado_obeys(planned: Path, folder: Path) -> None:
    """Bind a plan to kernels as FINN makes them, run the files of every FPGA, and compare what they make with the plan.

    Members are an engine's cell and those of FIFOs and converters with it.
    """
    need_tcl()
    from tests.vivado_model import run_outputs

    plan = read_plan(planned / "plan.json")
    platform = load_platform(plan.platform.name, len(plan.platform.fpgas))
    kernels = built_kernels.built(plan)
    built_kernels.bound(planned, folder)
    styles = plan.phases[0].constraint_styles
    for fpga in platform.fpgas:
        if all(styles[slot.name] == "none" for slot in fpga.slots):
            assert not (folder / "bound" / fpga.name).exists()
            continue
        cells = [
            built_kernels.cell(fpga.board.cell_pattern, node.name) for m in kernels.values() for node in m.graph.node
        ]
        # A sibling whose name only differs by a further digit must not be taken by mistake.
        cells += [f"{cell}0" for cell in cells if f"{cell}0" not in cells]
        parents: dict[str, list[str]] = {}
        for slot in fpga.slots:
            parent = fpga.board.parent_pblock(slot.slr)
            if parent is not None:
                parents.setdefault(parent, []).append(clock_regions(fpga.device, slot.region))
        device = planned / "platform" / "devices" / f"{fpga.device.part}.yaml"
        models = run_outputs(folder / "bound", fpga.name, cells, device, parents, streams=streams_of(plan, folder))
        assert models["xdc"].pblocks == models["tcl"].pblocks
        for model in models.values():
            recorded = {n: (sorted(p["ranges"]), p["properties"]["IS_SOFT"]) for n, p in model.pblocks.items()}
            assert recorded == expected_pblocks(plan, fpga.name)
            assert set(model.slr_of.values()) == expected_slrs(plan, fpga.name)
            members = sum(len(p["cells"]) for p in model.pblocks.values()) + len(model.slr_of)
            assert members >= assigned_engines(plan, fpga.name)


def streams_of(plan: Plan, folder: Path) -> dict[str, tuple[list[int], list[int]]]:
    """Return the bits of the streams of every engine's cell in a bound plan, padded to whole bytes as FINN's are."""
    cells: dict[str, str] = json.loads((folder / "bound" / "bound.json").read_text())["cells"]
    channels = plan.phases[0].channels
    return {
        cell: (
            [-(-c.target_width_bits // 8) * 8 for c in channels if c.target == engine],
            [-(-c.source_width_bits // 8) * 8 for c in channels if c.source == engine],
        )
        for engine, cell in cells.items()
    }


CALM = {"pynq-z2": 1000, "zedboard": 1000}
"""Rates to ask for on boards that CNV fills: the highest takes long to find, and is that of a PYNQ-Z1."""
STYLED = {("alveo-u250", "soft"), ("alveo-u250", "slr"), ("pynq-z1", "hard"), ("xcku5p", "none")}
STYLES = [
    *(each_run(STYLED, board, style) for board in known_platforms() for style in ("soft", "hard", "none")),
    *(each_run(STYLED, board, "slr") for board in known_platforms() if len(load_platform(board, 1).slots) > 1),
]


@pytest.mark.parametrize(("board", "style"), STYLES)
def test_in_every_style_files_and_report_say_what_is_planned(
    board: str, style: str, planned: Planned, tmp_path: Path
) -> None:
    out = planned(Request(CNV, board, effort="fast", constraint_style=style, fps=CALM.get(board), plots=False))
    assert check(out) == []
    vivado_obeys(out, tmp_path)
    plan = read_plan(out / "plan.json")
    phase, report = plan.phases[0], (out / "report.txt").read_text()
    told = report.partition("\nWhat is constrained\n")[2].partition("\n\n")[0].splitlines()
    for slot, said in phase.constraint_styles.items():
        assert said == style
        (line,) = [line for line in told if line.startswith(slot)]
        assert STYLE_WORDS[style] in line
    assert (out / "vivado").exists() == (style != "none")


def folder(out: Path) -> dict[str, bytes]:
    return {
        p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file() and p.name != "run.json"
    }


def test_equal_runs_write_equal_bytes_whatever_the_hash_seed(far_on_u250: Path, tmp_path: Path) -> None:
    """Branches over all SLRs of a card: engines, streams, modules and files of which many are alike.

    So it is with pictures (tests/view/pictures).
    """
    model, again = far_on_u250.parent / "branches.onnx", tmp_path / "again"
    words = ["-p", "alveo-u250", "--cap", "LUT=0.01", "--max-hops", "3", "--tie-break", "scarcity"]
    placed_shortly = "from tests.plans import *\nfrom floorflow.__main__ import main\nwith placing(**SHORT): main()"
    command = [sys.executable, "-c", placed_shortly, "plan", model, *words, "--effort", "fast", "--no-plots"]
    other = os.environ | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    done = subprocess.run([*command, "-o", again], cwd=ROOT, env=other, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert folder(far_on_u250) == folder(again)


def test_tighter_caps_spread(far_on_u250: Path) -> None:
    request = Request(far_on_u250.parent / "branches.onnx", "alveo-u250", plots=False, effort="fast")
    calm, tight = flow.plan(request).plan, read_plan(far_on_u250 / "plan.json")
    assert calm.options.cap.as_dict()["LUT"] > tight.options.cap.as_dict()["LUT"]
    spread = [len(set(plan.phases[0].partition.assignment.values())) for plan in (calm, tight)]
    assert spread[0] < spread[1]


def test_clock_override_changes_the_rate_and_nothing_else() -> None:
    slow = flow.plan(Request(TFC, "pynq-z1", clock_mhz=50, effort="fast", plots=False)).plan.phases[0].networks[0]
    fast = flow.plan(Request(TFC, "pynq-z1", clock_mhz=100, effort="fast", plots=False)).plan.phases[0].networks[0]
    assert fast.estimates.fps == 2 * slow.estimates.fps
    assert fast.folding == slow.folding


def ending_in_a_join(path: Path) -> Path:
    """Write a network whose last engine adds a branch of two layers, the second with a branch inside, to its start."""
    builder = ModelBuilder("tail", (1, 4, 6, 6))
    builder.quantise(8, signed=False, narrow=False)
    builder.conv(4, (3, 3), 4, pads=(1, 1, 1, 1))
    builder.activation(4)
    start = builder.tensor
    builder.conv(4, (3, 3), 4, pads=(1, 1, 1, 1))
    builder.activation(4)
    inner = builder.tensor
    builder.conv(4, (1, 1), 4)
    builder.activation(4)
    builder.add(inner)
    builder.quantise(4, signed=False, narrow=False)
    builder.add(start)
    onnx.save(builder.model(), path)
    return path


@pytest.mark.parametrize("granularity", ["stage", "block"])
def test_a_network_that_ends_in_a_join_is_planned_legally(granularity: str, tmp_path: Path) -> None:
    model = ending_in_a_join(tmp_path / "tail.onnx")
    request = Request(model, "zcu104", granularity=granularity, effort="fast", plots=False)  # type: ignore[arg-type]
    assert check(make_plan(tmp_path / "out", request)) == []


def test_engines_of_several_networks_alone_are_modules_with_names_that_tcl_takes(tmp_path: Path) -> None:
    plan = several_models.planned(tmp_path, "a", "a.v2", granularity="layer")
    assert ff.check(plan)
    modules = plan.plan.phases[0].modules
    assert {len(module.engines) for module in modules} == {1}
    assert all(re.fullmatch("[A-Za-z0-9_]+", module.name) for module in modules)


def test_tighter_fill_makes_larger_pblocks() -> None:
    """At 1.5% full a pblock is larger than what any grows to."""
    request = Request(TFC, "zcu104", fps=100_000, effort="fast", plots=False)
    loose = flow.plan(request).plan.phases[0]
    tight = flow.plan(request.changed(fill={**DEFAULT_FILL, "LUT": 0.015})).plan.phases[0]

    def supply(phase: Any) -> int:
        return sum(p.supply.LUT for f in phase.floorplan.values() for p in f.pblocks.values())

    assert supply(tight) > supply(loose)


def test_finn_costs_plan_too_and_are_checked(tmp_path: Path) -> None:
    out = make_plan(tmp_path / "out", Request(TFC, "zcu104", costs="finn", effort="fast", plots=False))
    assert check(out) == []
    assert any("FINN's own estimates" in warning for warning in read_plan(out / "plan.json").warnings)


@pytest.mark.slow
def test_no_weights_in_uram_when_runtime_weights_are_forbidden() -> None:
    phase = flow.plan(Request(CNV, "alveo-u250", runtime_weights=False, effort="fast", plots=False)).plan.phases[0]
    assert not any(e.attributes.get("runtime_writeable_weights") for e in phase.engines.values())


def test_the_schema_in_docs_is_the_codes_own() -> None:
    assert (ROOT / "docs" / "plan.schema.json").read_text() == json_schema()
