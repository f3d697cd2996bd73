"""README and docs: their commands run, the files that they name exist, the output that they show is the real one."""

import json
import re
import runpy
import shlex
import shutil
import sys
import textwrap
import warnings
from contextlib import chdir
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

import floorflow as ff
from floorflow import api
from floorflow.facts import read_plan
from floorflow.request import Request
from tests.built_kernels import built, write
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.plans import PLANS, ROOT, placing

README = ROOT / "README.md"
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("platforms/*.md")]
)
STANDS_FOR = {
    "MODEL": "examples/tfc_1w1a.onnx",
    "BOARD": "pynq-z1",
    "OUT": "out/tfc",
    "NEW": "out/new",
    "DIR": "reports",
    "BUILD": "build",
    "FLOORPLAN.xdc": "floorplan.xdc",
    "FILE": "engines.jsonl",
    "FILE.jsonl": "engines.jsonl",
    "CASE.json": "case.json",
}
"""What a word in capitals in a command is replaced by."""
QUICKER = {
    "benchmarks/calibration.py": ("--help",),  # its tables are those of test_calibrated.py
    "benchmarks/kills.py": ("--random", "5", "--stride", "40"),
    "benchmarks/samo.py": ("--methods", "exact", "--only", "cnv_b1__zc706"),
    "plan": ("--effort", "fast", "--no-plots"),
    "calibrate": ("--no-plots",),
}
"""What makes a long program or command short, which it is not when somebody reads of it."""
SLOW_PROGRAMS = ("benchmarks/clock.py", "benchmarks/kills.py", "benchmarks/pblocks.py")
LONG = {
    r"(?<=sweep )examples/sweeps/cards.yaml": "examples/sweeps/cards.yaml --dry-run",
    r"(?<=plan )examples/(resnet50_w1a2|mobilenet_v1_w4a4|cnv_2w2a).onnx": "examples/tfc_1w1a.onnx",
    r"(?<=compare )examples/cnv_2w2a.onnx(?=.* --reconfigure full)": "examples/tfc_1w1a.onnx",
    r"examples/several/zfnet.onnx .* --backend": "examples/several/lenet5.onnx --backend",
    r"--fps zfnet=.* --fps vgg16=4 ": "--fps 100 ",
    r"(?<=plan )examples/zoo/mpcnn.onnx": "examples/zoo/tfc.onnx",
    r"--replicas 8 -o out/eight": "--replicas 4 -o out/four",
    r'(?<=plan\(")examples/cnv_2w2a.onnx': "examples/tfc_1w1a.onnx",
}
"""Networks that take long to plan so, and what is planned instead of them; they themselves are by -m slow."""
MOST_CHARACTERS = 400
"""Of a line or a row of a table: nobody reads longer ones."""
RUN_BY_THE_GATE = ("python3 -m venv",)
"""Commands that `.ci/run` takes from the README and runs in fresh environments."""


def code(text: str) -> list[str]:
    """Return the code spans and the indented lines of a document; of a line only what stands before an explanation."""
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return [re.split(r" {2,}", line)[0] for line in lines] + re.findall(r"`([^`\n]+)`", text)


def documented(start: str) -> list[str]:
    """Return the commands in the documents that begin with one of some words, each once."""
    walked = "tutorial.md"  # by test_tutorial, in order
    found = [part for path in DOCUMENTS if path.name != walked for part in code(path.read_text(encoding="utf-8"))]
    return sorted({part for part in found if re.match(start, part)})


def in_short(command: str) -> str:
    """Return a command with a small network in the place of one that takes long."""
    for large, small in LONG.items():
        command = re.sub(large, small, command)
    return command


def programs() -> list[str]:
    """Return the indented Python programs in the documents: those that begin with the import of floorflow."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    return re.findall(r"^    import floorflow as ff\n(?:(?:    .*)?\n)+", text, re.MULTILINE)


def runnable(command: str) -> list[str]:
    """Return a command's words without what is optional, and with examples for what is in capitals."""
    bare = re.sub(r"\[[^\]]*\]", "", command)
    return [STANDS_FOR.get(word, word) for word in shlex.split(bare)]


def run(words: list[str]) -> None:
    """Run a Python program as `python` with these words would, in this process: that spares its imports."""
    name, is_module = (words[1], True) if words[0] == "-m" else (words[0], False)
    with (
        patch.object(sys, "argv", words[is_module:]),
        patch.object(sys, "path", [str((ROOT / name).parent), *sys.path]),
        chdir(ROOT),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            (runpy.run_module if is_module else runpy.run_path)(name, run_name="__main__")
        except SystemExit as end:
            assert not end.code, end.code  # noqa: PT017


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory, cnv_on_u250: Path) -> Path:
    """A folder with the examples, two plans, a FINN build, a floorplan, reports, engines and a case of chunks."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "examples").symlink_to(ROOT / "examples")
    shutil.copytree(cnv_on_u250, folder / "out" / "card")
    (folder / "my-kv260.yaml").write_text(api.new_board("my-kv260", "xck26-sfvc784-2LV-c"), encoding="utf-8")
    words = ("plan", "examples/tfc_1w1a.onnx", "-p", "pynq-z1", *QUICKER["plan"], "-o", "out/tfc")
    done = floorflow(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    shutil.copytree(ROOT / "tests" / "study" / "audit" / "builds" / "custom_4", folder / "build")
    shutil.copy(ROOT / "tests" / "verify" / "xdc" / "floorplans" / "z7020_dfx.xdc", folder / "floorplan.xdc")
    (folder / "reports").mkdir()
    engine = {"MVAU_hls_0": {"LUT": 1000, "SRL": 0, "FF": 900, "BRAM_36K": 0, "BRAM_18K": 1, "URAM": 0, "DSP": 0}}
    (folder / "reports" / "post_synth_resources.json").write_text(json.dumps(engine))
    write(built(read_plan(folder / "out" / "tfc" / "plan.json")), folder / "reports")
    done = floorflow("bind", "out/tfc", "--build", "reports", "-o", "out/new", folder=folder)
    assert done.returncode == 0, done.stderr
    attributes = {
        "MW": 64,
        "MH": 32,
        "PE": 8,
        "SIMD": 16,
        "inputDataType": "INT4",
        "weightDataType": "INT4",
        "outputDataType": "INT32",
    }
    (folder / "engines.jsonl").write_text(json.dumps({"op_type": "MVAU_rtl", "attrs": attributes}) + "\n")
    case = json.loads((ROOT / "examples" / "seyoum_case.json").read_text())
    (folder / "case.json").write_text(json.dumps({**case, "expected": case["expected"][:3]}))
    return folder


COMMANDS = documented(r"floorflow [a-z]+ \S")
FIRST_PAGES = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/first-plan.md"))
SHORT = dict.fromkeys(map(in_short, COMMANDS))
LATER = {each for each in SHORT if re.match("floorflow (plan|compare) examples", each) and each not in FIRST_PAGES}
"""By -m slow: that their options exist is tested in each run (cli/test_plan_help.py), and each has tests of its own."""
EACH_RUN = [pytest.param(each, marks=pytest.mark.slow if each in LATER else ()) for each in SHORT]
SLOW = [pytest.param(command, marks=pytest.mark.slow) for command in COMMANDS if in_short(command) != command]


@pytest.mark.parametrize("command", [*EACH_RUN, *SLOW])
def test_documented_commands_run(command: str, workplace: Path, tmp_path: Path) -> None:
    words = runnable(command)[1:]
    for option in ("-o", "--out"):
        if option in words:  # each command writes to a folder of its own
            words[words.index(option) + 1] = str(tmp_path / "out")
    words += [word for name, more in QUICKER.items() if name in words for word in more]
    if any(word.startswith("samo:") for word in words) and "--effort" in words:  # where nothing is placed there is none
        del words[words.index("--effort") : words.index("--effort") + 2]
    done = floorflow(*words, folder=workplace)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", documented(r"floorflow [a-z]+$"))
def test_commands_that_are_only_named_exist(command: str) -> None:
    assert floorflow(command.split()[1], "--help").returncode == 0


def in_its_run(command: str) -> object:
    return pytest.param(command, marks=pytest.mark.slow if command.endswith(SLOW_PROGRAMS) else ())


@pytest.mark.joint
@pytest.mark.parametrize("command", [in_its_run(each) for each in documented(r"python3? ")])
def test_documented_programs_start(command: str) -> None:
    """Those that need no files run; the others only tell what they would do. Of tests only the files are looked for."""
    if command.startswith(RUN_BY_THE_GATE):
        assert "readme_command" in (ROOT / ".ci" / "run").read_text()
        return
    words = shlex.split(command.partition(" >")[0])[1:]
    if words[:2] == ["-m", "pytest"]:
        assert all((ROOT / word).exists() for word in words[2:])
        return
    if words[0].startswith("benchmarks/") and len(words) > 1:
        words = [words[0], "--help"]
    elif words[0] == "-m" and words[1].startswith("benchmarks."):
        words = [*words[:2], "--help"]
    run([*words, *QUICKER.get(words[0], ())])


PROGRAMS = programs()
LONG_PROGRAMS = [pytest.param(program, marks=pytest.mark.slow) for program in PROGRAMS if in_short(program) != program]


@pytest.mark.parametrize("program", [*map(in_short, PROGRAMS), *LONG_PROGRAMS])
def test_documented_python_runs(program: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    monkeypatch.setattr(ff, "plan", partial(ff.plan, effort="fast"))
    exec(compile(textwrap.dedent(program), "documented", "exec"), {})  # noqa: S102


def test_there_is_documented_python() -> None:
    assert len(programs()) == 2


def test_no_line_is_too_long_to_read() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in [*DOCUMENTS, *ROOT.glob("benchmarks/*.md")]}
    long = [
        f"{path.name}:{number}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MOST_CHARACTERS
    ]
    assert not long


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 90


def test_files_that_documents_name_exist() -> None:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"`((?:floorflow|tests|benchmarks|platforms|docs|examples|tcl)/[\w./-]*)`", text)
        linked = re.findall(r"\]\((?!https?:)([^)#]+)", text)
        missing = [name for name in named if not (ROOT / name).exists()]
        assert missing + [name for name in linked if not (path.parent / name).exists()] == [], path


def printed(folder: Path) -> str:
    """Return what a plan of the README's first command prints, as the README shows it."""
    plan = api.load(folder)
    told = plan.told("out/card", [*plan.files, "report.html"])
    lines = told.replace("/path/to/", "../../../examples/").splitlines()
    return "".join(f"    {line}\n" for line in lines)


@pytest.mark.slow
def test_the_summary_in_the_readme_is_the_examples_own(planned: Planned) -> None:
    model = "examples/mobilenet_v1_w4a4.onnx"
    asked = Request(
        ROOT / model, "u250", finn="plus", label_select=True, preset="safe", constraint_style="hard", plots=False
    )
    with placing():
        assert printed(planned(asked)) in README.read_text()


def test_the_summary_in_the_readme_has_the_lines_of_a_plan(planned: Planned) -> None:
    """The slow test above compares every number; here another plan begins its lines with the same words.

    That one is made by SLRs and in haste: it offers no copies.
    """
    lines = [line[:14] for line in printed(planned(PLANS["CNV on a card by SLRs"])).splitlines()]
    shown = README.read_text().partition("standard output, with\n\n")[2].partition("\n\n")[0].splitlines()
    begun = [line[:14] for line in shown]
    assert 9 <= len(shown) <= 10
    assert {*begun[1:]} - {"    lifted by "} == {*lines[1:]} - {"    lifted by "}
