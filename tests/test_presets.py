"""Presets set several options together, whatever the user gives wins, and plan and report say every value."""

from pathlib import Path
from typing import Any, get_args

import pytest

import floorflow as ff
from floorflow import flow
from floorflow.api.command import command_line
from floorflow.errors import InputError
from floorflow.facts import Plan
from floorflow.presets import Preset
from floorflow.record.run import PlanWithFiles
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request
from floorflow.resources import RESOURCE_NAMES
from floorflow.search.candidate.preparing import platform_of, settled
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.verify import check
from tests.backends.toy.toolbox import EDGES
from tests.backends.toy.toolbox import floorflow as toy_floorflow
from tests.command_line import floorflow
from tests.conftest import make_plan
from tests.plans import CNV, TFC

SAFE_CAP = {"LUT": 0.6, "FF": 0.5, "BRAM18": 0.8, "URAM": 0.8, "DSP": 0.8}
ALL = dict.fromkeys(RESOURCE_NAMES, 1.0)
MIXED = Path(__file__).parent / "hardware" / "mixed" / "u250-and-u280.yaml"


def asked(preset: str = "balanced", platform: str = "u250", **options: Any) -> Request:
    return Request(TFC, platform, preset=preset, plots=False, **options)


def limits(request: Request) -> tuple[Any, ...]:
    return request.cap.as_dict(), request.confidence, request.max_products, request.max_engine_share.as_dict()


def weights(request: Request) -> Any:
    return request.backend_options.model_dump()["runtime_weights"]


def test_balanced_is_what_stands_unless_told() -> None:
    assert asked() == Request(TFC, "u250", plots=False)
    assert limits(asked()) == (DEFAULT_CAP, 0.9, "1:8192,2:4096,3:1024", {**ALL, "LUT": 0.25, "DSP": 0.5})


def test_safe_has_lower_caps_smaller_engines_and_more_confidence() -> None:
    request = asked("safe")
    assert limits(request) == (SAFE_CAP, 0.95, "1:7168,2:2048,3:512", {**ALL, "LUT": 0.25, "DSP": 0.5})
    assert (request.fill.as_dict(), request.tie_break, weights(request)) == ({}, "fullness", "auto")


def test_max_is_what_version_0_1_did() -> None:
    request = asked("max")
    assert limits(request) == (DEFAULT_CAP, "none", "none", ALL)
    assert request.fill.as_dict() == DEFAULT_FILL == {**ALL, "LUT": 0.85, "FF": 0.85}
    assert (request.tie_break, weights(request)) == ("scarcity", "always")
    assert (request.max_hops, request.constraint_style) == (16, "hard")


@pytest.mark.parametrize("preset", get_args(Preset))
def test_what_is_given_wins_and_the_rest_stays_the_presets(preset: str) -> None:
    usual = asked(preset)
    request = asked(
        preset, cap={"LUT": 0.65}, fill=["DSP=0.5"], max_engine_share={"LUT": 0.4}, tie_break="fullness", max_hops=2
    )
    assert request.cap.as_dict() == {**usual.cap.as_dict(), "LUT": 0.65}
    assert request.fill.as_dict() == {**usual.fill.as_dict(), "DSP": 0.5}
    assert request.max_engine_share.as_dict() == {**usual.max_engine_share.as_dict(), "LUT": 0.4}
    assert (request.tie_break, request.max_hops, request.confidence) == ("fullness", 2, usual.confidence)
    assert weights(asked(preset, runtime_weights="never")) == "never"


def test_what_a_preset_sets_does_not_count_as_given() -> None:
    assert settled(asked("max", risk=0.1)).risk == 0.1
    other = asked("safe", max_products=100).changed(preset="max")
    assert (other.max_products, other.confidence, weights(other)) == (100, "none", "always")


def test_a_confidence_with_max_sizes_pblocks_in_place_of_its_fills() -> None:
    assert asked("max", confidence=0.9).fill.as_dict() == {}
    assert asked("max", confidence=0.9, fill={"LUT": 0.5}).fill.as_dict() == {**DEFAULT_FILL, "LUT": 0.5}


def test_an_unknown_preset_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match="--preset reckless: expected safe, balanced or max"):
        asked("reckless", cap={"LUT": 0.5})
    told = floorflow("plan", TFC, "-p", "pynq-z1", "--preset", "reckless", "-o", "never")
    assert told.returncode == 2
    assert "'reckless' is not one of 'safe', 'balanced', 'max'" in " ".join(told.stderr.replace("│", "").split())


def test_safe_slows_alveo_cards_to_200_mhz_and_nothing_else() -> None:
    def clock(preset: str, platform: str, **options: Any) -> float:
        return platform_of(settled(asked(preset, platform, **options))).clock_mhz

    assert [clock(preset, "u250") for preset in get_args(Preset)] == [200, 250, 250]
    assert clock("safe", "u250", clock_mhz=225) == 225
    assert clock("safe", "zcu104") == clock("balanced", "zcu104")
    assert (clock("safe", str(MIXED)), clock("balanced", str(MIXED))) == (200, 220)


def test_safe_never_raises_the_clock_of_a_card(tmp_path: Path) -> None:
    text = (Path(ff.__file__).parents[1] / "platforms" / "boards" / "alveo-u250.yaml").read_text()
    slow = tmp_path / "slow.yaml"
    slow.write_text(text.replace("name: alveo-u250", "name: slow").replace("clock_mhz: 250", "clock_mhz: 150"))
    assert platform_of(asked("safe", str(slow))).clock_mhz == 150


def test_the_command_line_says_what_differs_from_the_preset() -> None:
    def words(**options: Any) -> list[str]:
        return command_line("plan", Request(TFC, "u250", preset="max", **options))[5:]

    assert words(runtime_weights="always", tie_break="scarcity") == ["--preset", "max"]
    assert words(tie_break="fullness", cap={"LUT": 0.6}, max_products=4096, runtime_weights="auto") == [
        *("--tie-break", "fullness", "--preset", "max", "--cap", "LUT=0.6", "--max-products", "4096"),
        *("--runtime-weights", "auto"),
    ]


@pytest.mark.slow
def test_max_reaches_the_interval_of_version_0_1() -> None:
    plan = flow.plan(Request(CNV, "u250", preset="max", plots=False, effort="fast")).plan
    assert plan.only_network.name == "cnv_2w2a"
    assert plan.summary.networks[0].interval_cycles == 1568
    options = plan.options
    assert (options.preset, options.confidence, options.max_products, weights(options)) == (
        "max",
        "none",
        "none",
        "always",
    )


@pytest.mark.slow
def test_safe_fills_no_slot_above_its_caps_and_keeps_its_clock() -> None:
    plan = flow.plan(Request(CNV, "u250", preset="safe", plots=False, effort="fast")).plan
    used = plan.phases[0].partition.utilisation
    assert 0 < max(shares["LUT"] for shares in used.values()) <= 0.6
    assert all(shares[name] <= cap for shares in used.values() for name, cap in SAFE_CAP.items() if name in shares)
    assert plan.options.clock_mhz == plan.summary.clock_mhz == 200
    assert max(entry.products or 0 for entry in plan.phases[0].engines.values()) <= 2048


def told(made: PlanWithFiles) -> dict[str, str]:
    """Return the lines of the report on the preset, by option."""
    text = made.files["report.txt"].partition("\npreset     ")[2].partition("\nengines ")[0]
    first, *rest = text.splitlines()
    return {"preset": first} | {name: value for name, _, value in (line.strip().partition("  ") for line in rest)}


def test_the_report_shows_every_value_and_marks_those_that_are_not_the_presets() -> None:
    usual = {name: value.strip() for name, value in told(flow.plan(asked("max", effort="fast"))).items()}
    assert usual == {
        "preset": "max, all its values",
        "cap": "LUT 70%, FF 50%, BRAM18 90%, URAM 90%, DSP 90%",
        "fill": "LUT 85%, FF 85%, BRAM18 100%, URAM 100%, DSP 100%",
        "confidence": "none",
        "max-products": "none",
        "max-engine-share": "none",
        "tie-break": "scarcity",
        "max-hops": "16",
        "constraint-style": "hard",
        "clock": "250 MHz",
        "runtime-weights": "always",
    }
    other = asked("safe", cap={"LUT": 0.55}, clock_mhz=180, runtime_weights="never", fill={"LUT": 0.8}, effort="fast")
    marked = told(flow.plan(other))
    assert marked.pop("preset") == "safe, 4 of its values are not the preset's"
    assert {name for name, value in marked.items() if "not of the preset" in value} == {
        "cap",
        "fill",
        "clock",
        "runtime-weights",
    }
    assert marked["clock"].strip() == "180 MHz  (not of the preset, which has 200 MHz)"
    assert marked["cap"].strip().startswith("LUT 55%, FF 50%, BRAM18 80%")
    assert marked["runtime-weights"].strip() == "never  (not of the preset, which has auto)"


def test_a_risk_stands_in_place_of_a_presets_caps_and_fills() -> None:
    made = flow.plan(asked("max", "pynq-z1", risk=0.2, effort="fast"))
    assert made.plan.options.fill.as_dict() == ALL
    assert made.plan.options.max_products == "none"
    assert "--risk 0.2 gave caps and fills" in told(made)["preset"]


@pytest.mark.parametrize("preset", get_args(Preset))
def test_a_plan_with_a_preset_is_legal_and_asks_for_the_same_again(preset: str, tmp_path: Path) -> None:
    asked_for = Request(TFC, "pynq-z1", preset=preset, confidence=0.8, effort="fast", plots=False)
    out = make_plan(tmp_path / "out", asked_for)
    assert not list(check(out))
    plan = Plan.model_validate_json((out / "plan.json").read_text())
    again = replanned_request(out, plan, Overrides(model=TFC, plots=False))
    assert limits(again) == limits(asked_for)
    assert (again.fill, again.max_hops, again.preset) == (asked_for.fill, asked_for.max_hops, preset)
    assert weights(again) == weights(asked_for)


@pytest.mark.parametrize("preset", ["safe", "max"])
def test_another_back_end_takes_presets(preset: str, tmp_path: Path) -> None:
    words = ("--backend", "toykit", "-p", "zcu104", "--effort", "fast", "--no-plots", "-o", tmp_path / "out")
    made = toy_floorflow("plan", EDGES, *words, "--preset", preset)
    assert made.returncode == 0, made.stderr
    report = (tmp_path / "out" / "report.txt").read_text()
    assert f"preset     {preset}, all its values" in report
    assert "runtime-weights" not in report
    assert toy_floorflow("check", tmp_path / "out").returncode == 0


def test_python_takes_presets_too() -> None:
    made = ff.plan(TFC, ff.platform("u250"), preset="safe", effort="fast", plots=False)
    assert made.summary["clock_mhz"] == 200
