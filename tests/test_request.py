"""The request refuses by itself whatever the command line would, keeps what it is given, and goes through plan.json."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from floorflow.cli.main import app
from floorflow.errors import InputError
from floorflow.facts import read_plan
from floorflow.facts.options import Options
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request, known_methods, option_of
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import TFC

WRONG = [
    ({"fps": 0}, "--fps 0: expected at least 0.001 and at most 1e+15"),
    ({"fps": float("nan")}, "--fps nan: expected"),
    ({"fps": "fast"}, "--fps fast: expected"),
    ({"effort": "heroic"}, "--effort heroic: expected fast, default or best"),
    ({"effrot": "fast"}, "unknown option 'effrot'"),
    ({"cap": {"LUTS": 0.5}}, "--cap LUTS=0.5: unknown resource 'LUTS'"),
    ({"cap": {"LUT": 75}}, "--cap LUT=75: expected a fraction above 0 and up to 1"),
    ({"fill": {"LUT": "much"}}, "--fill LUT=much: expected a fraction"),
    ({"cap": ["LUT=0.7", "LUT=0.6"]}, "--cap LUT=0.6: LUT is given twice, before as LUT=0.7"),
    ({"objective": "throughput", "fps": 10}, "--objective throughput: --fps 10 asks for that rate"),
    ({"topology": "torus"}, "--topology torus: expected pair, chain"),
    ({"fpgas": "two"}, "--fpgas two: expected auto or a number"),
    ({"backend": "hls5ml"}, "--backend hls5ml: "),
    ({"fill": 0.7}, "--fill 0.7: expected a fraction for each of some resources"),
    ({"fpgas": 0}, "--fpgas 0: expected auto or a number of 1 and more"),
    ({"fpgas": 3, "max_fpgas": 2}, "--fpgas 3: --max-fpgas allows 2"),
    ({"seed": -1}, "--seed -1: expected at least 0"),
    ({"weight_bits": 17}, "--weight-bits 17: expected at least 1 and at most 16"),
    ({"keep_folding": "perhaps"}, "--keep-folding perhaps: expected"),
    ({"fold_method": "magic"}, "--fold-method magic: unknown method, expected annealing, brute, cpsat, exact, finn"),
    ({"partition_method": "magic"}, "--partition-method magic: unknown method, expected auto, cuts, dp, exact, metis"),
    ({"place_method": "magic"}, "--place-method magic: unknown method, expected auto, cpsat or greedy"),
    ({"fold_method": "rule", "objective": "latency"}, "--fold-method rule: it does not fold for latency"),
    ({"fold_method": "finn", "folding": TFC}, "--fold-method finn: --keep-folding leaves nothing to fold"),
    ({"platform": None}, "--platform None: expected"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_what_is_wrong_is_an_input_error_that_names_the_option(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Request(**{"model": TFC, "platform": "pynq-z1", **options})
    assert message in str(refused.value)


def test_model_and_platform_are_needed() -> None:
    with pytest.raises(InputError, match="model: is missing"):
        Request()
    with pytest.raises(InputError, match="--platform: is missing"):
        Request("model.onnx")


def test_partial_fractions_are_completed_and_text_becomes_a_path() -> None:
    request = Request(str(TFC), "pynq-z1", cap={"LUT": 0.75}, fill=["DSP=0.5"])
    assert request.model == TFC
    assert request.cap.as_dict() == {**DEFAULT_CAP, "LUT": 0.75}
    assert request.fill.as_dict() == {"DSP": 0.5}
    assert request.fullest_fill == {**DEFAULT_FILL, "DSP": 0.5}


def test_a_request_cannot_be_changed_but_by_making_another() -> None:
    request = Request(TFC, "pynq-z1", fps=100)
    with pytest.raises(Exception, match="frozen"):
        request.fps = 3
    other = request.changed(seed=4)
    assert (other.fps, other.seed, request.seed) == (100, 4, 0)
    with pytest.raises(InputError, match="--seed"):
        request.changed(seed=-4)


def test_a_rate_that_is_no_more_asked_for_leaves_the_default_goal() -> None:
    assert Request(TFC, "pynq-z1", fps=100).goal == "resources"
    assert Request(TFC, "pynq-z1", fps=100).changed(fps=None).goal == "throughput"


def test_every_field_is_an_option_of_plan() -> None:
    shown = CliRunner().invoke(app, ["plan", "--help-all"], env={"COLUMNS": "200"}).stdout
    for name in set(Request.model_fields) - {"model"}:
        assert f"{option_of(name)} " in shown
        assert Request.model_fields[name].description


def test_the_plan_keeps_the_request_without_paths_and_planning_again_reads_it_back(tmp_path: Path) -> None:
    asked = Request(str(TFC), "Z1", fps=1000, cap={"LUT": 0.65}, seed=3, effort="fast", plots=False)
    out = make_plan(tmp_path / "out", asked)
    options = json.loads((out / "plan.json").read_text())["options"]
    assert (*options["models"], options["platform"], options["objective"]) == (TFC.name, "pynq-z1", "resources")
    assert "plots" not in options
    assert str(TFC.parent) not in json.dumps(options)
    plan = read_plan(out / "plan.json")
    assert isinstance(plan.options, Options)
    again = replanned_request(out, plan, Overrides(model=TFC, plots=False))
    resolved = {"platform": "pynq-z1", "objective": "resources", "clock_mhz": plan.options.clock_mhz}
    assert again == asked.changed(**resolved)


@pytest.mark.parametrize(
    "methods",
    [
        {"fold_method": "rule"},
        {"fold_method": "finn", "partition_method": "dp", "place_method": "greedy"},
        {"fold_method": "annealing", "partition_method": "metis"},
        {"fold_method": "cpsat", "partition_method": "exact"},
    ],
)
def test_plans_by_other_methods_are_legal_and_honest(methods: dict[str, str], tmp_path: Path) -> None:
    out = make_plan(tmp_path / "out", Request(TFC, "pynq-z1", effort="fast", plots=False, **methods))
    assert not check(out)
    phase = read_plan(out / "plan.json").phases[0]
    proves = methods["fold_method"] in {"exact", "cpsat"}
    folding = phase.networks[0].folding
    assert (folding.stats.status == "heuristic") != proves
    assert folding.stats.bound is not None
    folding = phase.networks[0].folding
    assert (folding.stats.objective or 0) >= folding.stats.bound - 1e-9
    if methods.get("partition_method") in {"dp", "metis"}:
        assert phase.partition.stats.status == "heuristic"


def test_methods_are_known_by_their_files() -> None:
    assert known_methods("fold_method") == ("annealing", "brute", "cpsat", "exact", "finn", "finn-wide", "rule")
    assert known_methods("partition_method") == ("auto", "cuts", "dp", "exact", "metis", "plain-metis")
    assert known_methods("place_method") == ("auto", "cpsat", "greedy")
