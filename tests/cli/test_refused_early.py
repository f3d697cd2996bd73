"""Mistakes that cost nothing to see end with exit 2 before a solver, or anything else that is slow, is imported."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from floorflow.cli.main import COMMANDS, loaded
from tests.plans import ROOT, TFC

HEAVY = {"matplotlib", "networkx", "numpy", "onnx", "ortools", "pymetis"}
NEEDED = {"networkx", "numpy"}
"""What geometry needs: imported where a board has to be read."""
MOST_CPU_SECONDS = 0.5
OUT = ("-o", "{tmp}/out")
PLAN = ("plan", str(TFC), "-p", "pynq-z1", *OUT)

MISTAKES = {
    "no model": (("plan", "nowhere.onnx", "-p", "pynq-z1", *OUT), "nowhere.onnx: there is no such file"),
    "a folder as model": (("plan", "{tmp}", "-p", "pynq-z1", *OUT), "is a folder, expected a file"),
    "unknown platform": (("plan", str(TFC), "-p", "alveo-u25", *OUT), "did you mean alveo-u250"),
    "no board file": (("plan", str(TFC), "-p", "none.yaml", *OUT), "none.yaml: there is no such file"),
    "unknown link": ((*PLAN, "--link", "string"), "--link string: unknown kind of link"),
    "wrong effort": ((*PLAN, "--effort", "heroic"), "'heroic' is not one of"),
    "wrong method": ((*PLAN, "--place-method", "magic"), "'magic' is not one of"),
    "wrong fraction": ((*PLAN, "--cap", "LUT=7"), "--cap LUT=7: expected a fraction"),
    "wrong rate": ((*PLAN, "--fps", "0"), "at least 0.001"),
    "more than the most FPGAs": ((*PLAN, "--fpgas", "3", "--max-fpgas", "2"), "--max-fpgas allows 2"),
    "no folding file": ((*PLAN, "--folding", "no.json"), "--folding no.json: there is no such file"),
    "no folder to write": (("plan", str(TFC), "-p", "pynq-z1", "-o", "/proc/no/out"), "cannot be written"),
    "unknown option": ((*PLAN, "--fsp", "3"), "No such option"),
    "no argument": (("plan",), "Missing argument"),
    "unknown command": (("plam",), "No such command"),
    "no plan to check": (("check", "{tmp}/no"), "there is no such folder"),
    "inspect without model": (("inspect", "nowhere.onnx"), "there is no such file"),
    "inspect for no part": (("inspect", str(TFC), "--part", "toaster"), "toaster"),
    "compare by no method": (("compare", str(TFC), "-p", "u250", "--methods", "magic"), "--methods magic: unknown"),
    "compare on auto": (("compare", str(TFC), "-p", "u250", "--fpgas", "auto"), "--fpgas auto has none"),
    "compare on no case": (("compare", "--case", "nowhere.json"), "nowhere.json: there is no such file"),
    "pareto of no resource": (("pareto", str(TFC), "-p", "u250", "--resources", "BRAM"), "'BRAM' is unknown"),
    "no plan to calibrate": (("calibrate", "{tmp}/no", "--reports", "{tmp}", *OUT), "there is no such folder"),
    "no lines to price": (("cost", "nowhere.jsonl"), "nowhere.jsonl"),
    "more FPGAs than are linked": ((*PLAN, "--fpgas", "3"), "pynq-z1: 3 FPGAs were asked for"),
    "no such platform": (("platforms", "toaster"), "unknown platform 'toaster'"),
}


EACH_IN_A_FORK = """
import json, os, sys
from floorflow.__main__ import main
import floorflow.cli.plan
for number, words in enumerate(json.loads(sys.argv[1])):
    if os.fork() == 0:
        os.dup2(os.open(f"{number}.txt", os.O_CREAT | os.O_WRONLY), 2)
        sys.argv = ["floorflow", *words]
        try:
            main()
        except SystemExit as ended:
            with open(f"{number}.json", "w") as file:
                json.dump([ended.code, [*sys.modules]], file)
        sys.stderr.flush()
        os._exit(0)
    os.wait()
"""
"""Imports what `plan` needs of the command line, and nothing more, once for all runs."""


@dataclass(frozen=True)
class Refused:
    """How a run ended, what it said, and the packages that it had imported by then."""

    code: int
    said: str
    imported: frozenset[str]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Refused]]:
    """Make every mistake, and ask for every help; return the folder of all, and what became of each."""
    folder = tmp_path_factory.mktemp("refused")
    runs = {name: words for name, (words, _) in MISTAKES.items()} | {name: (name, "--help") for name in COMMANDS}
    commands = [[word.replace("{tmp}", str(folder)) for word in words] for words in runs.values()]
    run = [sys.executable, "-c", EACH_IN_A_FORK, json.dumps(commands)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(run, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    found = {}
    for number, mistake in enumerate(runs):
        said = " ".join(line.strip("│ ") for line in (folder / f"{number}.txt").read_text().splitlines())
        code, modules = json.loads((folder / f"{number}.json").read_text())
        found[mistake] = Refused(code, said, frozenset(name.partition(".")[0] for name in modules))
    return folder, found


@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_mistakes_are_refused_before_anything_slow_is_imported(
    mistake: str, refused: tuple[Path, dict[str, Refused]]
) -> None:
    folder, found = refused
    assert found[mistake].code == 2
    assert MISTAKES[mistake][1] in found[mistake].said
    assert "pydantic" in found[mistake].imported
    assert not found[mistake].imported & (HEAVY - (NEEDED if mistake == "more FPGAs than are linked" else set()))
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_imports_nothing_slow(name: str, refused: tuple[Path, dict[str, Refused]]) -> None:
    shown = refused[1][name]
    assert shown.code == 0
    assert not shown.imported & HEAVY


WHAT_IT_IMPORTED = """
import sys
from floorflow.__main__ import main
try:
    main()
except SystemExit:
    sys.stderr.write(" ".join(sys.modules))
"""


@pytest.mark.parametrize("word", ["--help", "--version", "plam"])
def test_what_concerns_no_command_imports_none(word: str) -> None:
    run = [sys.executable, "-c", WHAT_IT_IMPORTED, word]
    ended = subprocess.run(run, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    imported = set(ended.stderr.split())
    assert "floorflow.cli.main" in imported
    assert not imported & HEAVY
    own = {name for name in imported if name.startswith("floorflow.")}
    assert own == {"floorflow.__main__"} | {
        f"floorflow.cli{part}" for part in ("", ".main", ".signals", ".standard_streams")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    assert loaded(name).help.split("\n\n")[0] == COMMANDS[name]


def test_a_mistake_is_refused_in_half_a_second() -> None:
    def cpu_seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "floorflow", "plan", "nowhere.onnx", "-p", "u250", "-o", "never-made"],
            capture_output=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Whatever else runs on the machine makes it slower, never faster.
    assert any(cpu_seconds() < MOST_CPU_SECONDS for _ in range(4))
