"""Planning again with what was measured: the same if it is as estimated, another plan if it is not."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from floorflow import flow
from floorflow.cli.main import app
from floorflow.dataflow.measured import MeasuredEngine, Measurements, corrected, factors_of
from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InfeasibleError, InputError
from floorflow.facts import Plan, read_plan
from floorflow.output import write
from floorflow.request import Request
from floorflow.resources import Resources, total
from floorflow.search.candidate.progress import SILENT
from floorflow.study.calibration.calibrate import Calibration, calibrate
from floorflow.study.calibration.data import as_dict, text
from floorflow.study.calibration.replan import Overrides
from floorflow.verify import check
from tests.conftest import Planned
from tests.plans import CNV, TFC
from tests.study import report_samples as samples

QUIET = Overrides(model=TFC, plots=False)


@pytest.fixture(scope="module")
def tfc(planned: Planned) -> Path:
    """The smallest network on the smallest board."""
    return planned(Request(TFC, "pynq-z1", effort="fast", plots=False))


@pytest.fixture(scope="module")
def as_estimated(tfc: Path, tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    """It, planned again with all that it uses measured to be what was estimated."""
    return replanned(tfc, tmp_path_factory.mktemp("as_estimated"), lambda use: use, QUIET)


def uses(plan: Plan) -> dict[str, Resources]:
    folded = plan.phases[0].engines
    return {name: Resources.from_dict(entry.resources.model_dump()) for name, entry in folded.items()}


def reported(folder: Path, rows: dict[str, Resources]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "post_synth_resources.json").write_text(samples.synthesis_json(rows))
    return folder


def scaled(out: Path, change: Callable[[Resources], Resources]) -> dict[str, Resources]:
    return {name: change(use) for name, use in uses(read_plan(out / "plan.json")).items()}


def replanned(out: Path, tmp_path: Path, change: Callable[[Resources], Resources], overrides: Overrides) -> Calibration:
    return calibrate(out, reported(tmp_path / "reports", scaled(out, change)), overrides, plan=flow.plan)


def decided(plan: Plan) -> dict[str, Any]:
    """A plan without what a calibration says of its sureness, by which pblocks are sized."""
    content = json.loads(plan.to_json())
    del content["calibration"]
    for name in ("bands", "fits", "confidence", "floorplan", "constraint_styles", "implementations"):
        del content["phases"][0][name]
    for row in content["networks"][0]["trace"]:
        row["detail"] = re.sub(r"hpwl [\d,]+", "hpwl", row["detail"])  # of these pblocks
    return content


def test_what_is_as_estimated_gives_the_same_plan(as_estimated: Calibration) -> None:
    calibration = as_estimated
    assert decided(calibration.after.plan) == decided(calibration.before)
    assert all(factor == 1 for by in calibration.measured.factors.values() for factor in by.values())
    assert calibration.after.plan.calibration.measured == sorted(calibration.estimates)
    assert not any("hls" in kind and "MVAU" in kind for kind in calibration.after.plan.phases[0].bands)
    assert calibration.estimates == uses(calibration.before)


def test_no_bargain_is_offered_that_no_command_makes(as_estimated: Calibration) -> None:
    calibration = as_estimated
    assert calibration.after.extras is not None
    found = calibration.after.extras(SILENT)
    assert found is None or found.bargains is None
    assert "* none is offered: " in calibration.after.files["report.txt"]


def test_the_same_holds_for_one_engine_alone(tfc: Path, tmp_path: Path) -> None:
    name, use = next(iter(uses(read_plan(tfc / "plan.json")).items()))
    calibration = calibrate(
        tfc, reported(tmp_path / "reports", {name: use}), Overrides(TFC, plots=False), plan=flow.plan
    )
    assert decided(calibration.after.plan) == decided(calibration.before)
    assert calibration.after.plan.calibration.measured == [name]
    assert calibration.unmeasured == sorted(set(calibration.estimates) - {name})


@pytest.mark.slow
def test_larger_rows_change_the_plans_use_and_it_stays_legal(cnv_on_u250: Path, tmp_path: Path) -> None:
    def change(use: Resources) -> Resources:
        return Resources(2 * use.lut, use.ff, use.bram18, use.uram, use.dsp)

    calibration = replanned(cnv_on_u250, tmp_path, change, Overrides(CNV, plots=False))
    before, after = calibration.before.phases[0], calibration.after.plan.phases[0]
    assert after.networks[0].interval_cycles > before.networks[0].interval_cycles
    assert after.engines != before.engines
    write(tmp_path / "new", calibration.after.files | {"calibration.json": text(calibration)}, {})
    assert check(tmp_path / "new") == []
    assert "measured   " in calibration.after.files["report.txt"]


def test_a_kept_folding_takes_every_measured_row(tfc: Path, tmp_path: Path) -> None:
    def change(use: Resources) -> Resources:
        return Resources(use.lut + 7, use.ff + 5, use.bram18 + 1, use.uram, use.dsp)

    overrides = Overrides(TFC, keep_folding=True, plots=False)
    calibration = replanned(tfc, tmp_path, change, overrides)
    assert uses(calibration.after.plan) == scaled(tfc, change)
    assert as_dict(calibration)["changes"]["refolded"] == []


def test_what_can_not_fit_is_proven_infeasible(tfc: Path, tmp_path: Path) -> None:
    overrides = Overrides(TFC, keep_folding=True, plots=False)
    with pytest.raises(InfeasibleError, match="proven infeasible"):
        replanned(tfc, tmp_path, lambda use: Resources(10**6, *use.as_tuple()[1:]), overrides)


def option(lanes: int, lut: int) -> Option:
    return Option({"PE": lanes}, 100 // lanes, Resources(lut, lut), (8,), (8,))


def test_only_the_folding_that_was_built_is_measured_and_others_are_corrected() -> None:
    engines = tuple(Engine(f"A_{i}", "A", "op", {}, 0, 8, 8) for i in range(2))
    group = OptionGroup(("A_0",), ((option(1, 100),), (option(2, 200),)))
    measured = Measurements({"A_0": MeasuredEngine({"PE": 2}, Resources(50))}, {"A": {"LUT": 1.101}})
    (row,) = measured.repriced(Dataflow("n", engines, ()), [group])
    assert [options[0].resources for options in row.rows] == [Resources(111, 100), Resources(50)]
    assert [options[0].folding for options in row.rows] == [{"PE": 1}, {"PE": 2}]


def test_factors_are_medians_of_enough_comparable_rows() -> None:
    pairs = [(Resources(100, 10), Resources(100 * i, 10)) for i in range(1, 6)]
    assert factors_of({"A": pairs}) == {"A": {"LUT": 3.0, "FF": 1.0}}
    assert factors_of({"A": pairs[:4]}) == {}
    in_dsp = [(estimate, Resources(use.lut, use.ff, dsp=3)) for estimate, use in pairs]
    assert factors_of({"A": in_dsp}) == {}
    assert factors_of({"A": [(Resources(0, 10), use) for _, use in pairs]}) == {"A": {"FF": 1.0}}


def test_corrected_estimates_are_rounded_up_and_blocks_are_left_alone() -> None:
    assert corrected(Resources(10, 10, 3, 2, 1), {"LUT": 0.01, "FF": 1.25}) == Resources(1, 13, 3, 2, 1)


def test_an_engine_that_was_built_otherwise_is_not_used(tfc: Path, tmp_path: Path) -> None:
    rows = uses(read_plan(tfc / "plan.json"))
    folded = read_plan(tfc / "plan.json").phases[0].engines
    name = next(name for name, entry in folded.items() if "PE" in entry.attributes)
    folder = reported(tmp_path / "reports", rows)
    (folder / "final_hw_config.json").write_text(json.dumps({name: {"PE": 999}}))
    calibration = calibrate(tfc, folder, Overrides(TFC, plots=False), plan=flow.plan)
    assert name in calibration.unmeasured
    assert [(match.name, match.cause) for match in calibration.rejected] == [(name, "built otherwise")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": Resources(1), "b": Resources(2)}, "no row measures an engine .* they name a, b; the plan has"),
        ({"MVAU_hls_0": Resources()}, "no row measures an engine .* in doubt"),
    ],
)
def test_reports_of_something_else_are_refused(
    tfc: Path, tmp_path: Path, rows: dict[str, Resources], message: str
) -> None:
    names = {
        next(iter(uses(read_plan(tfc / "plan.json")))) if "MVAU" in name else name: use for name, use in rows.items()
    }
    with pytest.raises(InputError, match=message):
        calibrate(tfc, reported(tmp_path / "reports", names), Overrides(TFC, plots=False), plan=flow.plan)


def test_estimates_alone_measure_nothing(tfc: Path, tmp_path: Path) -> None:
    name = next(iter(uses(read_plan(tfc / "plan.json"))))
    (tmp_path / "estimate_layer_resources.json").write_text(json.dumps({name: {"LUT": 40.0}}))
    with pytest.raises(InputError, match="only finn figures"):
        calibrate(tfc, tmp_path, Overrides(TFC, plots=False), plan=flow.plan)


def test_the_model_is_asked_for_and_must_be_the_same(tfc: Path, tmp_path: Path) -> None:
    folder = reported(tmp_path / "reports", uses(read_plan(tfc / "plan.json")))
    with pytest.raises(InputError, match=r"tfc_1w1a.onnx .* is not found") as missing:
        calibrate(tfc, folder, Overrides(plots=False), plan=flow.plan)
    assert "--model FILE" in missing.value.hint
    with pytest.raises(InputError, match=r"--model .*cnv_2w2a.onnx: has sha256"):
        calibrate(tfc, folder, Overrides(CNV, plots=False), plan=flow.plan)


@pytest.mark.parametrize(
    ("doubled", "found"), [("networks", "networks: 2, phases: 1"), ("phases", "networks: 1, phases: 2")]
)
def test_a_plan_of_several_networks_or_phases_is_refused_in_one_sentence(
    tfc: Path, tmp_path: Path, doubled: str, found: str
) -> None:
    content = json.loads((tfc / "plan.json").read_text())
    content[doubled].append({**content[doubled][0], "name": "other"})
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"takes plans of one network and one phase, found {found}"):
        calibrate(tmp_path, tmp_path, Overrides(TFC, plots=False), plan=flow.plan)


def test_a_plan_that_names_no_model_is_refused(tfc: Path, tmp_path: Path) -> None:
    content = json.loads((tfc / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps({**content, "inputs": []}))
    with pytest.raises(InputError, match=r"plan\.json: inputs: names no model"):
        calibrate(tmp_path, tmp_path, Overrides(TFC, plots=False), plan=flow.plan)


def test_the_command_writes_a_new_plan_beside_what_was_measured(tfc: Path, tmp_path: Path) -> None:
    plan = read_plan(tfc / "plan.json")
    model = tmp_path / TFC.name
    shutil.copy(TFC, model)
    shutil.copytree(tfc, tmp_path / "out")
    rows = uses(plan)
    top = total(rows.values())
    lines = [(0, "top", top), *((1, name, use) for name, use in rows.items()), (1, "xbar", Resources(5))]
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "util.rpt").write_text(samples.hierarchy_text(lines))
    powers = [(0, "top", "1.0"), *((1, name, "0.002") for name in rows)]
    (tmp_path / "reports" / "power.rpt").write_text(samples.power_text(powers))
    command = ["calibrate", str(tmp_path / "out"), "--reports", str(tmp_path / "reports"), "--no-plots"]
    run = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "new")])
    assert run.exit_code == 0, run.output
    for words in (f"{len(rows)} of {len(rows)} engines measured", "xbar", "interval", "mW"):
        assert words in run.stdout
    data = json.loads((tmp_path / "new" / "calibration.json").read_text())
    assert {name: entry["milliwatts"] for name, entry in data["engines"].items()} == dict.fromkeys(rows, 2.0)
    assert [row["instance"] for row in data["unmatched"]["reports"]] == ["top/xbar"]
    assert check(tmp_path / "new") == []
    as_json = CliRunner().invoke(app, [*command, "--json", "-o", str(tmp_path / "newer")])
    assert json.loads(as_json.stdout) == data


def test_the_plan_that_was_built_is_never_written_over(tfc: Path, tmp_path: Path) -> None:
    command = ["calibrate", str(tfc), "--reports", str(tmp_path), "-o", str(tfc), "--force"]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 2
    assert "holds the plan that was built" in run.output
