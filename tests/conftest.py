"""Plans that several tests look at, made once a session."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from floorflow import flow
from floorflow.output import write
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request
from floorflow.view import render
from tests.random_models import random_graph

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
CNV = EXAMPLES / "cnv_2w2a.onnx"
TFC = EXAMPLES / "tfc_1w1a.onnx"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded with `record_property`: counts of random cases, levels of imports."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    for report in reports:
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")


def make_plan(out: Path, request: Request) -> Path:
    made = flow.plan(request)
    pictures = render(made.plan.model_dump(by_alias=True), made.platform) if request.plots else {}
    write(out, made.files | pictures, {})
    return out


@pytest.fixture(scope="session")
def cnv_on_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 2-bit CNV over several SLRs of a U250."""
    return make_plan(tmp_path_factory.mktemp("u250") / "out", Request(CNV, "alveo-u250", plots=False))


@pytest.fixture(scope="session")
def cnv_on_pynq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 2-bit CNV on a Zynq."""
    return make_plan(tmp_path_factory.mktemp("pynq") / "out", Request(CNV, "pynq-z1", plots=False))


@pytest.fixture(scope="session")
def whole_slots_of_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Branches in one module a slot, at a fill that makes more of some slots than a rectangle necessary."""
    folder = tmp_path_factory.mktemp("whole")
    onnx.save(random_graph(27), folder / "branches.onnx")
    fill = {**DEFAULT_FILL, "LUT": 0.015}
    request = Request(folder / "branches.onnx", "alveo-u250", granularity="slot", fill=fill, effort="fast", plots=False)
    return make_plan(folder / "out", request)


@pytest.fixture(scope="session")
def branches_on_two_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network with forks, adds and concats, squeezed until it needs two cards."""
    folder = tmp_path_factory.mktemp("branches")
    onnx.save(random_graph(27), folder / "branches.onnx")
    cap = {**DEFAULT_CAP, "LUT": 0.01}
    request = Request(folder / "branches.onnx", "alveo-u250", fpgas=2, cap=cap, effort="fast", plots=False)
    return make_plan(folder / "out", request)
