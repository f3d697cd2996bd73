"""hls or rtl is chosen where it serves the objective, and all that follows goes by the names that FINN then gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow import flow
from floorflow.backends.finn.read.source import read_source
from floorflow.errors import InfeasibleError, InputError
from floorflow.facts import Plan, read_plan
from floorflow.output import write
from floorflow.request import DEFAULT_CAP, Request
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval.rate import own_kinds
from floorflow.study.calibration.calibrate import calibrate
from floorflow.study.calibration.replan import Overrides
from floorflow.verify import check
from tests.conftest import CNV, TFC, make_plan
from tests.scarce_dsp import FEW_DSP, mixed_bits
from tests.study import report_samples as samples
from tests.study.calibration.test_calibrate import uses

STYLES = "finn/specialize_layers_config.json"
PREFERENCE = "preferred_impl_style"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mixed") / "mixed_bits.onnx"
    onnx.save(mixed_bits(), path)
    return path


def request(model: Path, **options: Any) -> Request:
    return Request(model, **{"platform": "xcku5p", "effort": "fast", "plots": False} | options)


def decided(files: dict[str, Any]) -> dict[str, Any]:
    """All files of a plan but what names the option or depends on its bytes."""
    plan = json.loads(files["plan.json"])
    del plan["options"]["backend_options"]["impl_style"]
    own = {name: re.sub("sha256 [0-9a-f]{64}", "", text) for name, text in files.items() if name.startswith("finn/")}
    return own | {"plan": plan}


def deviating(plan: Plan) -> list[str]:
    return [engine.name for engine in plan.networks[0].engines if PREFERENCE in engine.attributes]


@pytest.mark.parametrize("network", [CNV, TFC], ids=lambda path: path.stem)
def test_finns_own_choice_stays_where_it_reaches_the_same_rate(network: Path) -> None:
    plans = [flow.plan(request(network, impl_style=style)).files for style in ("auto", "default")]
    assert decided(plans[0]) == decided(plans[1])
    assert STYLES not in plans[0]


def test_units_leave_the_dsps_where_these_run_short(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match="DSP: at least 2 needed, 1 allowed"):
        flow.plan(request(model, cap=FEW_DSP, impl_style="default"))
    outcome = flow.plan(request(model, cap=FEW_DSP))
    assert deviating(outcome.plan) == ["MVAU_hls_1", "MVAU_hls_2"]
    styles = {"MVAU_1": "hls", "MVAU_2": "hls"}
    expected = {"Defaults": {}} | {name: {PREFERENCE: style} for name, style in styles.items()}
    assert json.loads(outcome.files[STYLES]) == expected
    assert any("against FINN's own choice" in warning for warning in outcome.plan.warnings)
    assert set(json.loads(outcome.files["finn/folding_config.json"])) == {
        "Defaults",
        *(engine.name for engine in outcome.plan.networks[0].engines),
    }
    write(tmp_path / "out", outcome.files, {})
    assert check(tmp_path / "out") == []


def test_free_is_never_slower_nor_scarcer_than_finns_own_choice(model: Path) -> None:
    for share in (0.003, 0.01, 0.9):
        cap = {**DEFAULT_CAP, "DSP": share, "LUT": 0.05}
        plans = {s: flow.plan(request(model, cap=cap, impl_style=s)).plan for s in ("default", "auto", "free")}
        bounds = {style: plan.summary.networks[0].bound_cycles for style, plan in plans.items()}
        assert bounds["free"] == bounds["auto"] <= bounds["default"]
        found = {style: plan.summary.networks[0].interval_cycles for style, plan in plans.items()}
        assert found["free"] <= found["default"]
        assert found["auto"] <= found["default"]
        if found["auto"] == found["default"]:
            assert not deviating(plans["auto"])
        small = [
            flow.plan(request(model, cap=cap, impl_style=style, objective="resources", tie_break="scarcity"))
            .plan.phases[0]
            .networks[0]
            for style in ("default", "free")
        ]
        assert (small[1].folding.stats.objective or 0) <= (small[0].folding.stats.objective or 0)


def test_costs_of_finns_leave_the_choice_to_finn(model: Path) -> None:
    assert not deviating(flow.plan(request(model, costs="finn")).plan)


def test_the_problem_of_finns_own_kinds_is_the_one_without_others(model: Path) -> None:
    source = read_source(model)
    free = own_kinds(prepare(source, request(model, impl_style="free"), 1).problem)
    default = prepare(source, request(model, impl_style="default"), 1).problem
    assert free is not None
    assert free.groups == default.groups
    for one, other in zip(free.couplings, default.couplings, strict=True):
        for name in ("source_class", "target_class", "use"):
            assert (getattr(one, name) == getattr(other, name)).all()


@pytest.fixture(scope="module")
def built(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_plan(tmp_path_factory.mktemp("built") / "out", request(model, cap=FEW_DSP))


@pytest.mark.parametrize("keep_folding", [False, True])
def test_what_was_built_and_measured_in_other_styles_is_planned_again(
    model: Path, built: Path, tmp_path: Path, keep_folding: bool
) -> None:
    before = read_plan(built / "plan.json")
    (tmp_path / "post_synth_resources.json").write_text(samples.synthesis_json(uses(before)))
    calibration = calibrate(built, tmp_path, Overrides(model, keep_folding=keep_folding, plots=False), plan=flow.plan)
    assert uses(calibration.after.plan) == uses(before)
    assert calibration.after.plan.calibration is not None
    assert calibration.after.plan.calibration.measured == sorted(uses(before))
    assert deviating(calibration.after.plan) == deviating(before)
    assert calibration.kinds["MVAU_hls_1"] == "MVAU_hls"


def test_a_style_file_that_changed_since_is_refused(model: Path, built: Path, tmp_path: Path) -> None:
    plan_folder = make_plan(
        tmp_path / "kept",
        request(model, cap=FEW_DSP, keep_folding=True, folding=built / "finn" / "folding_config.json"),
    )
    for name in ("folding_config.json", "specialize_layers_config.json"):
        (tmp_path / name).write_bytes((built / "finn" / name).read_bytes())
    (tmp_path / "post_synth_resources.json").write_text(
        samples.synthesis_json(uses(read_plan(plan_folder / "plan.json")))
    )
    overrides = Overrides(model, folding=tmp_path / "folding_config.json", plots=False)
    assert deviating(calibrate(plan_folder, tmp_path, overrides, plan=flow.plan).after.plan)
    (tmp_path / "specialize_layers_config.json").write_text("{}")
    with pytest.raises(InputError, match="is not the file"):
        calibrate(plan_folder, tmp_path, overrides, plan=flow.plan)
