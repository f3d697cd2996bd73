"""What is wrong is told in Python with the sentence, the hint and the class that the command line has for it."""

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from typer.testing import CliRunner

import floorflow as ff
from floorflow.assets import asset_folder
from floorflow.cli.main import app
from tests.cli.test_cli import bad_models
from tests.plans import CNV, TFC

PYNQ, U250 = "pynq-z1", "alveo-u250"
Call = Callable[[], object]


def told(error: ff.FloorflowError) -> str:
    return f"error: {error}\n" + (f"hint: {error.hint}\n" if error.hint else "")


def answers_alike(arguments: list[object], call: Call) -> ff.FloorflowError:
    """Return what Python raises, which the command line has said, too, before it ended with the error's code."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    with pytest.raises(ff.FloorflowError) as caught:
        call()
    # On a slow machine a line tells of progress before.
    assert re.sub(r"(?m)^\d+ s: .*\n", "", ended.stderr) == told(caught.value)
    assert ended.exit_code == caught.value.exit_code
    assert ended.stdout == ""
    return caught.value


PLANS: dict[str, tuple[list[object], dict[str, Any], str]] = {
    "unknown platform": ([TFC, "-p", "alveo-u25"], {"platform": "alveo-u25"}, "did you mean alveo-u250"),
    "no board file": ([TFC, "-p", "none.yaml"], {"platform": "none.yaml"}, "none.yaml"),
    "no model": (["nowhere.onnx", "-p", PYNQ], {"model": "nowhere.onnx"}, "nowhere.onnx"),
    "a folder as model": ([TFC.parent, "-p", PYNQ], {"model": TFC.parent}, "is a folder"),
    "no folding file": ([TFC, "-p", PYNQ, "--folding", "no.json"], {"folding": "no.json"}, "no.json"),
    "unknown resource": ([TFC, "-p", PYNQ, "--cap", "LUTS=0.5"], {"cap": {"LUTS": 0.5}}, "unknown resource 'LUTS'"),
    "no link to another": ([TFC, "-p", PYNQ, "--fpgas", 2], {"fpgas": 2}, "its boards have no link"),
    "unknown option": ([TFC, "-p", PYNQ, "--backend-option", "speed=9"], {"backend_options": {"speed": 9}}, "speed"),
    "too high a rate": ([TFC, "-p", PYNQ, "--fps", 1e9], {"fps": 1e9}, "proven infeasible: engine"),
    "no room": ([CNV, "-p", PYNQ, "--cap", "LUT=0.05"], {"model": CNV, "cap": {"LUT": 0.05}}, "by the cost model: "),
}
"""What is asked for, of the command and in Python, and words of what is said; `tests/test_request.py` has more."""


@pytest.mark.parametrize("mistake", sorted(PLANS))
def test_mistakes_in_a_plan_are_told_alike(mistake: str, tmp_path: Path) -> None:
    arguments, given, words = PLANS[mistake]
    asked = {"model": TFC, "platform": PYNQ, **given}
    error = answers_alike(["plan", *arguments, "-o", tmp_path / "out"], lambda: ff.plan(**asked))
    assert words in f"{error}\n{error.hint}"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["garbage", "truncated", "float", "dynamic", "unsupported"])
def test_models_that_cannot_be_read_are_told_alike(kind: str, tmp_path: Path) -> None:
    model, word = bad_models(tmp_path)[kind]
    error = answers_alike(["plan", model, "-p", PYNQ, "-o", tmp_path / "out"], lambda: ff.plan(model, PYNQ))
    assert word in str(error)
    assert error.exit_code == 2
    assert len(told(error).splitlines()) <= 24
    assert not (tmp_path / "out").exists()


def malformed(folder: Path) -> Path:
    text = (asset_folder("platforms") / "boards" / "alveo-u250.yaml").read_text(encoding="utf-8")
    board = folder / "mine.yaml"
    board.write_text(text.replace("name: alveo-u250", "name: mine", 1).replace("slr: SLR3", "slr: SLR7", 1))
    return board


OTHERS: dict[str, tuple[list[object], Call]] = {
    "plan with a malformed board": (
        ["plan", TFC, "-p", "mine.yaml", "-o", "out"],
        lambda: ff.plan(TFC, ff.platform("mine.yaml")),
    ),
    "plan to a full folder": (["plan", TFC, "-p", PYNQ, "-o", "."], lambda: ff.load("plan").save(".")),
    "check no plan": (["check", "nothing"], lambda: ff.check("nothing")),
    "inspect nothing": (["inspect", "nowhere.onnx"], lambda: ff.inspect("nowhere.onnx")),
    "inspect for no part": (["inspect", TFC, "--part", "toaster"], lambda: ff.inspect(TFC, part="toaster")),
    "inspect for two parts": (
        ["inspect", TFC, "-p", PYNQ, "--part", "xczu7ev"],
        lambda: ff.inspect(TFC, PYNQ, part="xczu7ev"),
    ),
    "compare by no method": (
        ["compare", TFC, "-p", PYNQ, "--methods", "magic"],
        lambda: ff.compare(TFC, PYNQ, methods=["magic"]),
    ),
    "compare on auto": (["compare", TFC, "-p", U250, "--fpgas", "auto"], lambda: ff.compare(TFC, U250, fpgas="auto")),
    "fronts of no resource": (
        ["pareto", TFC, "-p", PYNQ, "--resources", "BRAM"],
        lambda: ff.pareto(TFC, PYNQ, resources=["BRAM"]),
    ),
    "fronts of a resource that is not there": (
        ["pareto", TFC, "-p", PYNQ, "--resources", "URAM"],
        lambda: ff.pareto(TFC, PYNQ, resources=["URAM"]),
    ),
    "calibrate no plan": (["calibrate", "no", "--reports", ".", "-o", "out"], lambda: ff.calibrate("no", ".")),
    "calibrate by no reports": (
        ["calibrate", "plan", "--reports", "no", "-o", "out"],
        lambda: ff.calibrate("plan", "no"),
    ),
    "no such platform": (["platforms", "toaster"], lambda: ff.platform("toaster")),
    "price a file of another kind": (["cost", TFC], lambda: list(ff.cost(["\x00"]))),
}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    ff.plan(TFC, PYNQ, effort="fast", plots=False).save(folder / "plan")
    malformed(folder)
    return folder


@pytest.mark.parametrize("mistake", sorted(OTHERS))
def test_other_mistakes_are_told_alike(mistake: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    answers_alike(*OTHERS[mistake])


def test_an_infeasible_request_tells_what_is_short_as_values() -> None:
    with pytest.raises(ff.Infeasible) as caught:
        ff.plan(CNV, PYNQ, cap={"LUT": 0.05})
    assert caught.value.exit_code == 3
    refusal = caught.value.refusals[0]
    assert isinstance(refusal, ff.Refusal)
    assert (refusal.resource, refusal.proven) == ("LUT", True)
    assert refusal.needed > refusal.allowed > 0
    assert any(refusal.names for refusal in caught.value.refusals)
    assert str(refusal) in str(caught.value)


def test_a_traceback_shows_the_hint() -> None:
    with pytest.raises(ff.InputError) as caught:
        ff.platform("alveo-u25")
    assert "did you mean alveo-u250" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ff.plan(TFC, ff.platform(U250, fpgas=2), fpgas=3), "fpgas: 3 is asked for beside a platform"),
        (lambda: ff.plan(ff.read(TFC), PYNQ, weight_bits=3), "weight_bits: 3 is asked for of a model that was read"),
        (lambda: ff.read(ff.read(TFC), weight_bits=3), "cannot be read in another way"),
        (lambda: ff.read(7), "a model was expected, found int"),  # type: ignore[arg-type]
        (lambda: ff.pareto(TFC, PYNQ, granularity="layer"), "--granularity: pareto has no such option"),  # type: ignore[call-arg]
        (lambda: ff.inspect(TFC, seed=3), "--seed: inspect has no such option"),  # type: ignore[call-arg]
        (lambda: ff.load("nowhere"), "nowhere: there is no such folder"),
        (lambda: ff.platform(U250, clock_mhz=-1), "clock_mhz: expected a clock above 0 MHz"),
    ],
    ids=["fpgas twice", "bits too late", "read anew", "no model", "no option", "no seed", "no folder", "no clock"],
)
def test_mistakes_that_only_python_can_make_are_told_as_well(call: Call, words: str) -> None:
    with pytest.raises(ff.InputError) as caught:
        call()
    assert words in str(caught.value)


def test_a_folder_without_a_plan_is_refused_with_one_hint(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ff.InputError) as caught:
            ff.check(folder)
        assert told(caught.value).count("floorflow plan") == 1


def test_a_model_in_memory_that_is_none_is_told_without_a_file_that_nobody_knows(tmp_path: Path) -> None:
    model = onnx.load(bad_models(tmp_path)["float"][0])
    with pytest.raises(ff.InputError) as caught:
        ff.plan(model, PYNQ)
    assert str(caught.value).startswith("g.onnx: ")
