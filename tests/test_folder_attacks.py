"""Folders of anybody: no command executes, deletes or writes what lies outside; between two plans there is none."""

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

import floorflow as ff
from floorflow.output import write
from tests.command_line import floorflow
from tests.plans import TFC

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
from kills import Writer, at_renames

DEEP = "[" * 100_000 + "]" * 100_000


@dataclass(frozen=True)
class Archive:
    """A plan's folder as it was unpacked, below it what is beside, and the user's own files above."""

    home: Path

    @property
    def out(self) -> Path:
        """The plan's folder."""
        return self.home / "unpacked" / "out"

    @property
    def thesis(self) -> Path:
        """What is at stake."""
        return self.home / "thesis.tex"

    def workshop(self, names: object, *, beside: bool = False, text: str = "") -> Path:
        """Make what a killed run of version 0.1 left behind, with a list of files that the next run completes."""
        root = self.out.parent / ".out.floorflow" if beside else self.out / ".floorflow-output"
        (root / "committed").mkdir(parents=True)
        (root / "new").mkdir()
        (root / "lock").touch()
        (root / "names.json").write_text(text or json.dumps(names))
        return root

    def lists(self, *names: str, text: str = "") -> None:
        """Let run.json list other files, with the right digest where there is one."""
        digest = hashlib.sha256(self.thesis.read_bytes()).hexdigest()
        run = {"argv": [], "files": ["plan.json", *names], "sha256": dict.fromkeys(names, digest)}
        (self.out / "run.json").write_text(text or json.dumps(run))


def _linked(place: Path, target: Path) -> None:
    if place.is_file():
        place.unlink()
    else:
        shutil.rmtree(place)
    place.symlink_to(target)


def _moves_over(archive: Archive) -> None:
    root = archive.workshop({"earlier": [], "new": ["../../thesis.tex"]})
    (archive.home / "unpacked/thesis.tex").write_text("rubbish")
    (root / "committed" / "a").write_text("rubbish")


def _committed_is_a_link(archive: Archive) -> None:
    root = archive.workshop({"earlier": [], "new": ["thesis.tex"]})
    _linked(root / "committed", archive.home)


def _new_is_a_link(archive: Archive) -> None:
    root = archive.workshop({"earlier": [], "new": []}, beside=True)
    _linked(root / "new", archive.home)


def _all_is_a_link(archive: Archive) -> None:
    shutil.copytree(archive.workshop({"earlier": ["thesis.tex"], "new": []}), archive.home / "elsewhere")
    _linked(archive.out / ".floorflow-output", archive.home / "elsewhere")


def _lock_is_a_pipe(archive: Archive) -> None:
    root = archive.workshop({"earlier": ["thesis.tex"], "new": []}, beside=True)
    (root / "lock").unlink()
    os.mkfifo(root / "lock")


def _lock_is_a_link(archive: Archive) -> None:
    root = archive.workshop({"earlier": ["thesis.tex"], "new": []})
    _linked(root / "lock", archive.thesis)


def _lists_through_a_link(archive: Archive) -> None:
    (archive.out / "up").symlink_to(archive.home)
    archive.lists("up/thesis.tex")


def _lists_a_link(archive: Archive) -> None:
    (archive.out / "mine").symlink_to(archive.thesis)
    archive.lists("mine")


def _run_file_is_a_link(archive: Archive) -> None:
    shutil.move(archive.out / "run.json", archive.home / "run.json")
    (archive.out / "run.json").symlink_to(archive.home / "run.json")


def _run_file_is_a_pipe(archive: Archive) -> None:
    (archive.out / "run.json").unlink()
    os.mkfifo(archive.out / "run.json")


UPWARDS = {"earlier": ["../../thesis.tex"], "new": []}
ATTACKS: dict[str, Callable[[Archive], object]] = {
    "names lead upwards": lambda archive: archive.workshop(UPWARDS),
    "names lead upwards, beside": lambda archive: archive.workshop(UPWARDS, beside=True),
    "names are absolute": lambda archive: archive.workshop({"earlier": [str(archive.thesis)], "new": []}),
    "names of a plan": lambda archive: archive.workshop({"earlier": ["plan.json"], "new": []}),
    "new files go over others": _moves_over,
    "committed is a link": _committed_is_a_link,
    "new is a link": _new_is_a_link,
    "all of it is a link": _all_is_a_link,
    "lock is a pipe": _lock_is_a_pipe,
    "lock is a link": _lock_is_a_link,
    "names are deep": lambda archive: archive.workshop(None, text=DEEP),
    "names are a number": lambda archive: archive.workshop(None, text="5", beside=True),
    "names are rubbish": lambda archive: archive.workshop(None, text="{"),
    "run.json leads upwards": lambda archive: archive.lists("../../thesis.tex"),
    "run.json is absolute": lambda archive: archive.lists(str(archive.thesis)),
    "run.json leads through a link": _lists_through_a_link,
    "run.json lists a link": _lists_a_link,
    "run.json is deep": lambda archive: archive.lists(text=DEEP),
    "run.json is a number": lambda archive: archive.lists(text="5"),
    "run.json is a link": _run_file_is_a_link,
    "run.json is a pipe": _run_file_is_a_pipe,
}


def everything(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return what can be told of all files and folders."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        found[str(path)] = (status.st_ino, status.st_mode, status.st_nlink, status.st_mtime_ns, content)
    return found


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_command_touches_what_lies_outside(
    attack: Callable[[Archive], object], cnv_on_pynq: Path, tmp_path: Path
) -> None:
    archive = Archive(tmp_path)
    archive.thesis.write_text("years of work")
    shutil.copytree(cnv_on_pynq, archive.out)
    attack(archive)
    before = everything(tmp_path)
    for force in ((), ("--force",)):
        for words in (
            ("plan", TFC, "-p", "pynq-z1"),
            ("pareto", TFC, "-p", "pynq-z1"),
            ("bind", cnv_on_pynq, "--build", tmp_path),
        ):
            ended = floorflow(*words, "-o", archive.out, *force)
            assert ended.returncode == 2, ended.stderr
            assert everything(tmp_path) == before
    assert floorflow("check", archive.out).returncode == 0
    read_by = {"bind": ("--build", tmp_path / "none"), "calibrate": ("--reports", tmp_path)}
    for command, words in read_by.items():
        ended = floorflow(command, archive.out, *words, "-o", tmp_path / "new")
        assert ended.returncode == 2, ended.stderr
    name = next(name for name in ATTACKS if ATTACKS[name] is attack)
    with pytest.raises(ff.InputError, match=r"run\.json") if name.startswith("run.json") else nullcontext():
        ff.load(archive.out)
    assert everything(tmp_path) == before


def test_an_empty_folder_beside_a_planted_one_is_left_alone(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.thesis.write_text("years of work")
    root = archive.workshop(UPWARDS, beside=True)
    before = everything(tmp_path)
    ended = floorflow("plan", TFC, "-p", "pynq-z1", "-o", archive.out)
    assert ended.returncode == 2
    assert f"{root}: is in the way" in ended.stderr.replace("\n", "")
    assert everything(tmp_path) == before


def test_between_two_plans_nothing_passes_check(cnv_on_pynq: Path, tmp_path: Path) -> None:
    """Who has no journal (another user) sees no plan; the check of who has it puts the old one back and judges that."""
    out = tmp_path / "out"
    shutil.copytree(cnv_on_pynq, out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    new = {path.relative_to(out).as_posix(): b"new" for path in before}

    def renewed(place: Path) -> None:
        write(place, new, {})

    ended = Writer.start(out, 2, 7, at_renames(len(new) // 2 * 3, signal.SIGKILL), renewed)
    assert ended.ended() == -signal.SIGKILL
    with patch.dict(os.environ, {"XDG_STATE_HOME": str(tmp_path)}):
        names = {violation.name for violation in ff.check(out).violations}
    assert "file-missing" in names
    assert ff.check(out).legal
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
