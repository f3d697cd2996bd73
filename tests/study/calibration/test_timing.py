"""What a build's timing tells: the clock that holds, the rate at it, and the streams and modules of failing paths.

The texts have the layout of Vivado 2022.2's reports (UG906) and of xclbinutil's.
"""

import json
from pathlib import Path

import pytest

from floorflow.facts import Plan, read_plan
from floorflow.study.calibration.timing import read_timing
from tests import built_kernels

SUMMARY = """\
Copyright 1986-2022 Xilinx, Inc. All Rights Reserved.
| Tool Version      : Vivado v.2022.2
Timing Summary Report
Clock Summary
-------------
Clock       Waveform(ns)         Period(ns)      Frequency(MHz)
-----       ------------         ----------      --------------
clk_fpga_0  {0.000 5.000}        10.000          100.000
ulp_clk     {0.000 2.000}        4.000           250.000

Intra Clock Table
-----------------
Clock             WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints
-----             -------      -------  ---------------------  -------------------
clk_fpga_0          2.125        0.000                      0                40512
ulp_clk            @      -120.400                    310               120512

Inter Clock Table
"""
INFO = """\
XRT Build Version: 2.14
xclbin Information
Clocks
------
   Name:      DATA_CLK
   Index:     0
   Type:      DATA
   Frequency: 187 MHz
"""
PATH = """\
Slack (VIOLATED) :        {slack}ns  (required time - arrival time)
  Source:                 {source}/a_reg[0]/C
                            (rising edge-triggered cell FDRE clocked by ulp_clk)
  Destination:            {destination}/b_reg[7]/D
                            (rising edge-triggered cell FDRE clocked by ulp_clk)
"""
MET = PATH.replace("VIOLATED", "MET")


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    return folder


def told(reports: Path, out: Path) -> tuple[dict, Plan]:  # type: ignore[type-arg]
    plan = read_plan(out / "plan.json")
    found = read_timing(reports, out).as_dict(plan)
    assert found is not None
    return found, plan


@pytest.mark.parametrize(("slack", "mhz"), [("-1.000", 200.0), ("-0.016", 249.004)])
def test_the_worst_slack_lowers_clock_and_rate(slack: str, mhz: float, reports: Path, cnv_on_u250: Path) -> None:
    (reports / "timing_summary.rpt").write_text(SUMMARY.replace("@", slack))
    found, plan = told(reports, cnv_on_u250)
    assert found["achieved_mhz"] == mhz
    assert found["fps_achieved"] == pytest.approx(plan.summary.networks[0].fps * mhz / 250, rel=1e-6)


def test_slack_that_is_left_gives_no_frames(reports: Path, cnv_on_u250: Path) -> None:
    (reports / "timing_summary.rpt").write_text(SUMMARY.replace("@", "1.000"))
    found, plan = told(reports, cnv_on_u250)
    assert found["fps_achieved"] == pytest.approx(plan.summary.networks[0].fps, rel=1e-6)


def test_the_xclbin_knows_what_vitis_made_of_the_clock(reports: Path, cnv_on_u250: Path) -> None:
    (reports / "timing_summary.rpt").write_text(SUMMARY.replace("@", "0.010"))
    (reports / "floorflow_xclbin.info").write_text(INFO)
    found, plan = told(reports, cnv_on_u250)
    assert (found["achieved_mhz"], found["file"]) == (187.0, "floorflow_xclbin.info")
    assert found["fps_achieved"] == pytest.approx(plan.summary.networks[0].fps * 187 / 250, rel=1e-6)


def test_failing_paths_are_those_of_streams_and_modules(reports: Path, cnv_on_u250: Path, tmp_path: Path) -> None:
    out = built_kernels.bound(cnv_on_u250, tmp_path)
    bound, plan = json.loads((out / "bound.json").read_text()), read_plan(out / "plan.json")
    phase = plan.phases[0]
    stream = next(c for c in phase.channels if c.source in phase.engines and c.target in phase.engines)
    fifo = next(cell for cell, name in bound["channels"].items() if name == stream.name)
    source, target = (bound["cells"][end] for end in (stream.source, stream.target))
    ends = [(source + "/grp", fifo), (source, target), (source, source), ("level0_i/shell", "level0_i/shell")]
    texts = [PATH.format(slack=f"-0.{9 - i}00", source=a, destination=b) for i, (a, b) in enumerate(ends)]
    met = MET.format(slack="0.100", source=source, destination=target)
    (reports / "failing_paths.rpt").write_text("\n".join([*texts, met]))
    found, _ = told(reports, out)
    home = {engine: module.name for module in phase.modules for engine in module.engines}
    assert [path["streams"] for path in found["failing_paths"]] == [[stream.name], [stream.name], [], []]
    assert [path["slack_ns"] for path in found["failing_paths"]] == [-0.9, -0.8, -0.7, -0.6]
    assert found["failing_by_module"][home[stream.source]] >= 3
    assert found["failing_paths"][3]["modules"] == []


def test_reports_without_timing_tell_none(reports: Path, cnv_on_u250: Path) -> None:
    (reports / "utilization.rpt").write_text("Slack of nothing\n")
    assert read_timing(reports, cnv_on_u250).as_dict(read_plan(cnv_on_u250 / "plan.json")) is None
