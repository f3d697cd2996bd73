"""What is wrong is told in Python with the sentence, the hint and the class that the command line has for it."""

from __future__ import annotations

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
    return caught.value


PLANS: dict[str, tuple[list[object], dict[str, Any]]] = {
    "unknown platform": ([TFC, "-p", "alveo-u25"], {"platform": "alveo-u25"}),
    "no board file": ([TFC, "-p", "none.yaml"], {"platform": "none.yaml"}),
    "no model": (["nowhere.onnx", "-p", PYNQ], {"model": "nowhere.onnx"}),
    "a folder as model": ([TFC.parent, "-p", PYNQ], {"model": TFC.parent}),
    "no folding file": ([TFC, "-p", PYNQ, "--folding", "no.json"], {"folding": "no.json"}),
    "unknown resource": ([TFC, "-p", PYNQ, "--cap", "LUTS=0.5"], {"cap": {"LUTS": 0.5}}),
    "above one": ([TFC, "-p", PYNQ, "--cap", "LUT=1.5"], {"cap": {"LUT": 1.5}}),
    "no number": ([TFC, "-p", PYNQ, "--fill", "LUT=much"], {"fill": {"LUT": "much"}}),
    "given twice": ([TFC, "-p", PYNQ, "--cap", "LUT=0.7", "--cap", "LUT=0.6"], {"cap": ["LUT=0.7", "LUT=0.6"]}),
    "two goals": (
        [TFC, "-p", PYNQ, "--objective", "throughput", "--fps", 10],
        {"objective": "throughput", "fps": 10},
    ),
    "no FPGA": ([TFC, "-p", PYNQ, "--fpgas", 0], {"fpgas": 0}),
    "FPGAs in words": ([TFC, "-p", PYNQ, "--fpgas", "two"], {"fpgas": "two"}),
    "no link to another": ([TFC, "-p", PYNQ, "--fpgas", 2], {"fpgas": 2}),
    "above the most": ([TFC, "-p", PYNQ, "--fpgas", 3, "--max-fpgas", 2], {"fpgas": 3, "max_fpgas": 2}),
    "link of a board without": ([TFC, "-p", PYNQ, "--link", "pcie"], {"link": "pcie"}),
    "unknown link": ([TFC, "-p", U250, "--fpgas", 2, "--link", "string"], {"platform": U250, "link": "string"}),
    "too many FPGAs": ([TFC, "-p", U250, "--fpgas", 17], {"platform": U250, "fpgas": 17}),
    "three in a pair": (
        [TFC, "-p", U250, "--fpgas", 3, "--topology", "pair"],
        {"platform": U250, "fpgas": 3, "topology": "pair"},
    ),
    "too many links": (
        [TFC, "-p", U250, "--fpgas", 4, "--topology", "full"],
        {"platform": U250, "fpgas": 4, "topology": "full"},
    ),
    "free at FINN's prices": (
        [TFC, "-p", PYNQ, "--impl-style", "free", "--costs", "finn"],
        {"impl_style": "free", "costs": "finn"},
    ),
    "unknown folding method": ([TFC, "-p", PYNQ, "--fold-method", "magic"], {"fold_method": "magic"}),
    "method without latency": (
        [TFC, "-p", PYNQ, "--fold-method", "rule", "--objective", "latency"],
        {"fold_method": "rule", "objective": "latency"},
    ),
    "method with nothing to fold": (
        [TFC, "-p", PYNQ, "--fold-method", "rule", "--keep-folding"],
        {"fold_method": "rule", "keep_folding": True},
    ),
    "unknown back end": ([TFC, "-p", PYNQ, "--backend", "hls5ml"], {"backend": "hls5ml"}),
    "unknown option of a back end": (
        [TFC, "-p", PYNQ, "--backend-option", "speed=9"],
        {"backend_options": {"speed": 9}},
    ),
    "a rate beyond the widest folding": ([TFC, "-p", PYNQ, "--fps", 1e9], {"fps": 1e9}),
    "no room": ([CNV, "-p", PYNQ, "--cap", "LUT=0.05"], {"model": CNV, "cap": {"LUT": 0.05}}),
}


SAID = {
    "unknown platform": "did you mean alveo-u250",
    "unknown resource": "unknown resource 'LUTS'",
    "above one": "expected a fraction",
    "no number": "expected a fraction",
    "given twice": "--cap LUT=0.6: LUT is given twice, before as LUT=0.7",
    "two goals": "--objective throughput: --fps 10 asks for that rate",
    "no FPGA": "--fpgas 0: expected auto or a number of 1 and more",
    "FPGAs in words": "--fpgas two: expected auto or a number",
    "no link to another": "pynq-z1: 2 FPGAs were asked for, but its boards have no link",
    "above the most": "--fpgas 3: --max-fpgas allows 2",
    "link of a board without": "link: --link pcie was asked for, but the field is missing",
    "unknown link": "--link string: unknown kind of link",
    "too many FPGAs": "alveo-u250: 17 FPGAs were asked for, at most 16 can be linked",
    "three in a pair": "with --topology pair, but a pair is two",
    "too many links": "an FPGA ends at most 2 links",
    "free at FINN's prices": "--impl-style free: --costs finn prices FINN's own choices",
    "a rate beyond the widest folding": "proven infeasible: engine",
}
"""Words of what is said of some of them."""


@pytest.mark.parametrize("mistake", sorted(PLANS))
def test_mistakes_in_a_plan_are_told_alike(mistake: str, tmp_path: Path) -> None:
    arguments, given = PLANS[mistake]
    asked = {"model": TFC, "platform": PYNQ, **given}
    error = answers_alike(["plan", *arguments, "-o", tmp_path / "out"], lambda: ff.plan(**asked))
    assert SAID.get(mistake, "") in f"{error}\n{error.hint}"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["garbage", "truncated", "float", "dynamic", "unsupported"])
def test_models_that_cannot_be_read_are_told_alike(kind: str, tmp_path: Path) -> None:
    model, word = bad_models(tmp_path)[kind]
    error = answers_alike(["plan", model, "-p", PYNQ, "-o", tmp_path / "out"], lambda: ff.plan(model, PYNQ))
    assert word in str(error)


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


SEEN_BY_THE_PARSER: dict[str, tuple[list[object], dict[str, Any], str]] = {
    "wrong effort": (["--effort", "heroic"], {"effort": "heroic"}, "--effort heroic: expected fast, default or best"),
    "negative rate": (["--fps", -3], {"fps": -3}, "--fps -3: expected at least 0.001"),
    "negative seed": (["--seed", -1], {"seed": -1}, "--seed -1: expected at least 0"),
    "too wide": (["--weight-bits", 99], {"weight_bits": 99}, "--weight-bits 99: expected at least 1 and at most 16"),
    "unknown topology": (["--topology", "torus"], {"topology": "torus"}, "--topology torus: expected pair, chain"),
    "unknown option": (["--fsp", 3], {"fsp": 3}, "unknown option 'fsp'"),
    "unknown method": (["--place-method", "magic"], {"place_method": "magic"}, "--place-method magic: unknown method"),
}


@pytest.mark.parametrize("mistake", sorted(SEEN_BY_THE_PARSER))
def test_what_the_commands_parser_refuses_python_refuses_too(mistake: str, tmp_path: Path) -> None:
    words, given, sentence = SEEN_BY_THE_PARSER[mistake]
    ended = CliRunner().invoke(app, [str(w) for w in ("plan", TFC, "-p", PYNQ, "-o", tmp_path / "out", *words)])
    with pytest.raises(ff.InputError) as caught:
        ff.plan(TFC, PYNQ, **given)
    assert ended.exit_code == caught.value.exit_code == 2
    assert sentence in str(caught.value)


def test_an_infeasible_request_tells_what_is_short_as_values() -> None:
    with pytest.raises(ff.Infeasible) as caught:
        ff.plan(CNV, PYNQ, cap={"LUT": 0.05})
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
        (lambda: ff.load("nowhere"), "nowhere: is no folder"),
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
