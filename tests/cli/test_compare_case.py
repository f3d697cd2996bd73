"""``floorflow compare --case``: one object with a result a method; mistakes end with 2 and one sentence."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from floorflow.cli.main import app
from floorflow.papers.samo.problem import evaluate
from tests.papers.samo.samo_cases import CASES, content_of, problem, recorded

NAME = "fcn_tiny_c_b256__toy_small"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


@pytest.fixture
def case(tmp_path: Path) -> Path:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(content_of(NAME)))
    return file


def test_each_method_answers_with_cost_cuts_folding_and_seconds(case: Path) -> None:
    result = run("--case", case, "--methods", "exact,rule,annealing,brute", "--json")
    assert result.exit_code == 0, result.stderr
    answers = {answer["method"]: answer for answer in json.loads(result.stdout)["results"]}
    assert list(answers) == ["exact", "rule", "annealing", "brute"]
    assert {name: answer["status"] for name, answer in answers.items()} == {
        "exact": "optimal",
        "rule": "heuristic",
        "annealing": "heuristic",
        "brute": "optimal",
    }
    for answer in answers.values():
        found = evaluate(problem(NAME), recorded(NAME, answer))
        assert (found.broken, found.us) == ((), answer["us"])
        assert answer["seconds"] >= 0
    assert answers["exact"]["us"] == answers["brute"]["us"] == pytest.approx(CASES[NAME]["optimum"]["us"])
    assert (answers["exact"]["gap"], answers["rule"]["gap"]) == (0, None)


def test_what_is_infeasible_has_no_cost(tmp_path: Path) -> None:
    content = content_of(NAME)
    file = tmp_path / "case.json"
    nothing = {"LUT": 0, "DSP": 0, "BRAM": 0, "FF": 0}
    file.write_text(json.dumps(content | {"platform": content["platform"] | {"resources": nothing}}))
    result = run("--case", file, "--methods", "exact,rule", "--json")
    exact, rule = json.loads(result.stdout)["results"]
    assert (exact["status"], exact["us"], exact["cuts"], exact["folding"]) == ("infeasible", None, [], [])
    assert (rule["status"], rule["us"]) == ("heuristic", None)


def test_a_person_gets_a_table(case: Path) -> None:
    result = run("--case", case, "--methods", "exact")
    assert "optimal" in result.stdout
    assert "exact" in result.stdout


def test_a_bad_file_is_named_with_its_field(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(content_of(NAME) | {"batch": 0}))
    result = run("--case", file)
    assert result.exit_code == 2
    assert "case.json: batch: " in result.stderr.replace("\n", "")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--methods", "magic"), "--methods magic: unknown method"),
        (("-p", "u250"), "--case states the whole problem, and platform was given too"),
    ],
)
def test_what_does_not_go_with_a_case_is_refused(more: tuple[str, ...], message: str, case: Path) -> None:
    result = run("--case", case, *more)
    assert result.exit_code == 2
    assert message in result.stderr


def test_without_a_case_a_model_is_asked_for() -> None:
    result = run("-p", "u250")
    assert result.exit_code == 2
    assert "Missing argument 'MODEL', or --case" in result.stderr
