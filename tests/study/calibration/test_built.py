"""A build folder calibrates without a plan: its own network is planned with what Vivado counted of it."""

import json
from pathlib import Path

import pytest

from floorflow import flow
from floorflow.backends.backend import backend_named
from floorflow.errors import InputError, PlatformError
from floorflow.output import write
from floorflow.resources import Resources
from floorflow.study.calibration.built import calibrate_build
from floorflow.study.calibration.data import as_dict
from floorflow.study.calibration.replan import Overrides
from floorflow.study.reports import read_reports
from floorflow.verify import check
from tests.study.audit.layouts import CUSTOM, output_dir


def test_the_network_of_a_build_is_planned_at_what_was_measured(tmp_path: Path) -> None:
    overrides = Overrides(platform=Path("pynq-z2"), keep_folding=True, plots=False)
    found = calibrate_build(CUSTOM, overrides, plan=flow.plan)
    report = json.loads((CUSTOM / "post_synth_resources.json").read_text())
    engines = found.after.plan.only_phase.engines
    assert not found.unmeasured
    for name, entry in engines.items():
        used = Resources.from_dict(entry.resources.model_dump())
        assert (used.lut, used.ff) == tuple(report[f"StreamingDataflowPartition_1_{name}"][n] for n in ("LUT", "FF"))
    data = as_dict(found)
    assert data["before"] is None
    assert data["streams"]["measured"]["StreamingFIFO_rtl"]["count"] == 8
    assert len(data["unmatched"]["reports"]) == 2, "the two DMA engines"
    write(tmp_path / "out", found.after.files, {})
    assert not check(tmp_path / "out")


def test_reports_below_the_folder_are_told_by_their_paths(tmp_path: Path) -> None:
    overrides = Overrides(platform=Path("pynq-z2"), keep_folding=True, plots=False)
    found = calibrate_build(output_dir(CUSTOM, tmp_path / "build"), overrides, plan=flow.plan)
    write(tmp_path / "out", found.after.files, {})
    assert not check(tmp_path / "out")
    calibration = json.loads((tmp_path / "out" / "plan.json").read_text())["calibration"]
    assert [report["path"] for report in calibration["reports"]] == ["report/post_synth_resources.json"]


def test_a_part_without_a_board_has_no_floorplan() -> None:
    with pytest.raises(PlatformError, match="no board with it is known"):
        calibrate_build(CUSTOM, Overrides(platform=Path("xc7z030ffg676-2")), plan=flow.plan)


def test_a_model_belongs_to_a_plan() -> None:
    with pytest.raises(InputError, match="--model"):
        calibrate_build(CUSTOM, Overrides(model=Path("net.onnx")), plan=flow.plan)


def test_reports_in_an_output_dir_are_read_once_and_never_from_scratch(tmp_path: Path) -> None:
    folder = read_reports(output_dir(CUSTOM, tmp_path / "out"), backend_named("finn"))
    assert [report.file for report in folder.reports] == [
        "report/estimate_layer_resources.json",
        "report/post_synth_resources.json",
    ]
    assert [each.file for each in folder.foldings] == ["final_hw_config.json"]


def test_a_folder_of_reports_may_be_called_as_people_like(tmp_path: Path) -> None:
    held = tmp_path / "reports" / "vivado"
    held.mkdir(parents=True)
    (held / "post_synth_resources.json").write_text((CUSTOM / "post_synth_resources.json").read_text())
    assert len(read_reports(tmp_path / "reports", backend_named("finn")).reports) == 1
