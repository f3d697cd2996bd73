"""The highest rate: among kinds of engines, with balanced rates, and never lower where more is allowed."""

import json
import re
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow import flow
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.errors import InfeasibleError, InputError
from floorflow.facts import Plan, figures, read_plan
from floorflow.folding.balance import Balance, layer_pairs
from floorflow.hardware import load_platform
from floorflow.output import write
from floorflow.request import DEFAULT_CAP, Request
from floorflow.search.candidate.cutting import Cutter, FifoPricing
from floorflow.search.candidate.preparing import prepare, read
from floorflow.search.interval.rate import own_kinds
from floorflow.study.calibration.calibrate import calibrate
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.monotone_cases import Ground, at_its_own_rate, interval_of, longer, random_chain_of_requests, saved
from tests.plans import CNV, TFC
from tests.random_models import random_residual
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


@pytest.mark.parametrize("network", [pytest.param(CNV, marks=pytest.mark.slow), TFC], ids=lambda path: path.stem)
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
    expected: dict[str, dict[str, str]] = {"Defaults": {}}
    expected |= {name: {PREFERENCE: style} for name, style in styles.items()}
    assert json.loads(outcome.files[STYLES]) == expected
    assert any("against FINN's own choice" in warning for warning in outcome.plan.warnings)
    assert set(json.loads(outcome.files["finn/folding_config.json"])) == {
        "Defaults",
        *(engine.name for engine in outcome.plan.networks[0].engines),
    }
    write(tmp_path / "out", outcome.files, {})
    assert check(tmp_path / "out") == []


@pytest.mark.parametrize("dsp", [0.003, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.01, 0.9))])
def test_free_is_never_slower_nor_scarcer_than_finns_own_choice(dsp: float, model: Path) -> None:
    cap = {**DEFAULT_CAP, "DSP": dsp, "LUT": 0.05}
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


@pytest.fixture(scope="module")
def balanced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("balanced")
    return make_plan(folder / "out", Request(TFC, "pynq-z1", epsilon=0.5, effort="fast", plots=False))


def layers(plan: Plan) -> list[int]:
    """Return the cycles of a chain's layers, in order."""
    cycles = plan.phases[0].engines
    return [cycles[e.name].cycles for e in plan.networks[0].engines if e.role == "core" and e.weight_bits]


def test_consecutive_layers_of_a_plan_differ_no_more_than_asked_for(balanced: Path) -> None:
    plan = read_plan(balanced / "plan.json")
    cycles = layers(plan)
    assert len(cycles) == 4
    assert all(max(pair) <= 1.5 * min(pair) for pair in pairwise(cycles))
    assert check(balanced) == []


def test_the_price_of_balance_is_told(balanced: Path) -> None:
    plan = read_plan(balanced / "plan.json")
    search = plan.networks[0].search
    assert search.without_balance is not None
    assert search.without_balance.bound_cycles is not None
    assert search.without_balance.bound_cycles < search.bound_cycles
    (line,) = [line for line in figures(plan) if line.startswith("  balance")]
    assert f"{search.bound_cycles:,} cycles with it, {search.without_balance.bound_cycles:,} without" in line
    assert "balance: cycles of consecutive layers" in (balanced / "report.txt").read_text()


def test_balance_that_costs_no_rate_is_told_so() -> None:
    request = Request(TFC, "pynq-z1", epsilon=1000, effort="fast", plots=False)
    assert "costs no rate" in "\n".join(figures(flow.plan(request).plan))


def test_slots_that_are_folded_one_by_one_balance_what_lies_on_both_sides_of_a_cut() -> None:
    cap = {**DEFAULT_CAP, "LUT": 0.15}
    context = prepare(read(Request(CNV, "alveo-u250")), Request(CNV, "alveo-u250", epsilon=0.5, cap=cap), 1)
    pricing = FifoPricing(context, {}, context.scarcity_prices)
    cutter = Cutter(context, pricing, {})
    slot_of = cutter.at(8_192)
    assert isinstance(slot_of, dict)
    assert len(set(slot_of.values())) > 1
    options = cutter.folded(slot_of, 8_192)
    assert isinstance(options, dict)
    assert Balance(layer_pairs(context.dataflow), 0.5).is_kept({name: o.cycles for name, o in options.items()})


@pytest.mark.slow
def test_a_balance_that_cannot_be_had_names_one_that_can() -> None:
    request = Request(CNV, "alveo-u250", epsilon=0.1, fps=1000)
    with pytest.raises(InfeasibleError) as refused:
        flow.plan(request)
    assert "--epsilon 0.21" in refused.value.hint


def test_what_a_given_folding_or_a_tool_of_others_decides_is_not_balanced() -> None:
    with pytest.raises(InputError, match="--keep-folding leaves nothing to balance"):
        Request(TFC, "pynq-z1", epsilon=1, keep_folding=True)
    with pytest.raises(InputError, match="--fold-method finn does not balance rates"):
        Request(TFC, "pynq-z1", epsilon=1, fold_method="finn")


def test_a_plan_that_is_planned_again_with_its_folding_asks_for_no_balance(balanced: Path) -> None:
    plan = read_plan(balanced / "plan.json")
    assert replanned_request(balanced, plan, Overrides(model=TFC)).epsilon == 0.5
    assert replanned_request(balanced, plan, Overrides(model=TFC, keep_folding=True)).epsilon is None


LENGTH = 3
CASES = (
    ("tfc", Ground("xcku5p", 0.02), 7),
    pytest.param("cnv", Ground("zcu104", 0.1), 3, marks=pytest.mark.slow),
    pytest.param("cnv", Ground("alveo-u250", 0.02), 4, marks=pytest.mark.slow),
    pytest.param("residual", Ground("xcku5p", 0.02), 7, marks=pytest.mark.slow),
)
"""A model, and the board and the seed of a chain of requests.

TFC and the residual network get shorter intervals; CNV on a U250 once got 14,112 cycles, and 25,088 with twice the
LUTs.
"""


def model_of(name: str, seed: int, folder: Path) -> Path:
    return {"tfc": TFC, "cnv": CNV}.get(name) or saved(random_residual(seed), folder)


@pytest.mark.parametrize(("name", "ground", "seed"), CASES)
def test_a_request_that_allows_more_never_gets_a_longer_interval(
    name: str, ground: Ground, seed: int, tmp_path: Path
) -> None:
    chain = random_chain_of_requests(model_of(name, seed, tmp_path), ground, seed, LENGTH, "fast")
    intervals = [interval_of(request) for request in chain.requests]
    assert intervals[-1] < inf, "nothing has a plan: choose another seed"
    assert not list(longer(intervals)), list(zip(("", *chain.changes), intervals, strict=True))
    last = chain.requests[-1]
    clock_mhz = load_platform(last.platform).clock_mhz
    assert interval_of(at_its_own_rate(last, intervals[-1], clock_mhz)) <= intervals[-1]
