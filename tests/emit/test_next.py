"""NEXT.md and what `floorflow next` prints: every file that a command names is there, every option exists."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import floorflow as ff
from floorflow.backends.backend import backend_named
from floorflow.cli.main import COMMANDS, loaded
from floorflow.emit.bundle import bundle
from floorflow.facts import Plan, read_plan
from floorflow.facts.guide import Place
from floorflow.hardware import load_platform
from floorflow.output import write
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.plans import FAST, PLANS, TFC

MADE = ("finn/build", "finn/tfc_1w1a/build", "hls4ml/tfc_1w1a_prj")
"""Folders that commands make in the plan's."""
YOURS = re.compile(r"[A-Z_]+(\.(npy|xpr|xdc|dcp))?$")
"""Words that are the user's to fill in."""
LISTED = (
    *("TFC on a Zynq", "CNV on a Zynq", "CNV on a card in soft pblocks", "CNV on a card by SLRs", "CNV on a Kintex"),
    *("TFC on an MPSoC", "TFC stitched on three cards"),
)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every command of a guide with the folder that it is run in."""
    for line in text.splitlines():
        if line.startswith("    "):
            inside = re.fullmatch(r" +\(cd (\S+) && (.*)\)", line)
            folder, words = inside.groups() if inside else (".", line)
            yield folder, shlex.split(words)


def faults(folder: Path, text: str) -> list[str]:
    """Return what is wrong with the commands of a guide, which are run in a plan's folder."""
    return [f"{' '.join(words)}: {told}" for at, words in commands(text) for told in _of_one(folder, at, words)]


def _of_one(folder: Path, at: str, words: list[str]) -> Iterator[str]:
    if words[0] == "floorflow":
        try:
            loaded(words[1]).make_context(words[1], words[2:]).close()
        except Exception as error:  # noqa: BLE001  (of a class that Typer keeps to itself)
            yield f"{type(error).__name__}: {error}"
    elif words[0] == "python3":
        script = folder / words[1]
        asked = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=True).stdout
        yield from (f"no option {word}" for word in words[2:] if word.startswith("--") and word not in asked)
    elif words[0] not in ("PYTHONPATH=.", "python", "vivado", "bash", "hls4ml"):
        yield "nobody knows it"
    for word in words[1:]:
        path = word.partition("=")[2] or word
        if "/" in path or "." in path.lstrip("."):
            yield from _missing(folder, at, path)


def _missing(folder: Path, at: str, path: str) -> Iterator[str]:
    """Yield a file that is neither there, nor made by a command before, nor the user's."""
    place = (folder / at / path).resolve()
    own = place.relative_to(folder.resolve()).as_posix() if place.is_relative_to(folder.resolve()) else ""
    bound = (folder.resolve() / Path(*Path(path).parts[2:])) if path.startswith("../bound/") else place
    is_made = own.startswith(MADE) or path in ("../bound", "../made", "../again", "../plus")
    is_yours = YOURS.search(path) or path.startswith(("/path/to/", "LINK_DIR/"))
    if not (is_made or is_yours or place.exists() or bound.exists()):
        yield f"there is no {path}"


def test_faults_are_found(planned: Planned) -> None:
    folder = planned(PLANS["TFC on a Zynq"])
    told = ("floorflow check . --nothing", "(cd finn && python nothing.py)", "python3 host/run.py --none", "make")
    assert len(faults(folder, "".join(f"    {command}\n" for command in told))) == 4


@pytest.mark.parametrize("name", LISTED)
def test_every_command_can_be_given(name: str, planned: Planned) -> None:
    folder = planned(PLANS[name])
    text = (folder / "NEXT.md").read_text()
    assert faults(folder, text) == []
    assert len([*commands(text)]) > 1


@pytest.mark.parametrize("finn", ["main", "dev", "plus"])
@pytest.mark.parametrize("name", ["CNV on a Zynq", "CNV on a card in soft pblocks", "CNV on a Kintex"])
def test_every_finn_has_its_own_way(name: str, finn: str, planned: Planned, tmp_path: Path) -> None:
    made = read_plan(planned(PLANS[name]) / "plan.json")
    folder = emitted(made, finn, tmp_path)
    text = (folder / "NEXT.md").read_text()
    assert faults(folder, text) == []
    builds = [words for _, words in commands(text) if words[0] in ("PYTHONPATH=.", "python")]
    own = ["PYTHONPATH=.", "finn", "build", "build.yaml"] if finn == "plus" else ["python", "build.py"]
    assert [words[:-1] for words in builds] == [own]


def emitted(made: Plan, finn: str, place: Path) -> Path:
    """Write what would be emitted of a plan for another FINN."""
    backend_options = made.options.backend_options.model_copy(update={"finn": finn})
    made = made.model_copy(update={"options": made.options.model_copy(update={"backend_options": backend_options})})
    names = (made.platform.fpgas[0].board, len(made.platform.fpgas))
    write(place / "out", bundle(made, load_platform(*names), backend_named("finn")), {})
    return place / "out"


@pytest.mark.parametrize("finn", ["main", "plus"])
def test_several_cards_are_built_card_by_card_or_at_once(finn: str, branches_on_two_u250: Path, tmp_path: Path) -> None:
    folder = emitted(read_plan(branches_on_two_u250 / "plan.json"), finn, tmp_path)
    text = (folder / "NEXT.md").read_text()
    assert faults(folder, text) == []
    assert text.splitlines()[4].startswith("**Cannot be built yet: ")
    assert ("bash fpga1/link.sh AURORA_FOLDER" in text) is (folder / "fpga1" / "link.sh").exists()


def test_hls4ml_has_its_own_way(tmp_path: Path) -> None:
    ff.plan(TFC, "zcu104", backend="hls4ml", **FAST).save(tmp_path / "out")
    text = (tmp_path / "out" / "NEXT.md").read_text()
    assert faults(tmp_path / "out", text) == []
    assert "hls4ml convert -c config.yml" in text


def test_next_names_folder_and_model_as_seen_from_here(planned: Planned, tmp_path: Path) -> None:
    (tmp_path / "a plan").symlink_to(planned(PLANS["TFC on a Zynq"]))
    (tmp_path / TFC.name).write_bytes(TFC.read_bytes())
    done = floorflow("next", "a plan", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "    floorflow check 'a plan'\n" in done.stdout
    assert f"(cd 'a plan/finn' && python build.py {TFC}" in done.stdout or f"../../{TFC.name}" in done.stdout
    assert "next" in COMMANDS


def test_a_folder_without_a_plan_has_no_way(tmp_path: Path) -> None:
    done = floorflow("next", tmp_path)
    assert done.returncode == 2
    assert "plan.json" in done.stderr


def test_a_model_is_told_by_its_name_where_it_is_not_found(planned: Planned) -> None:
    made = read_plan(planned(PLANS["TFC on a Zynq"]) / "plan.json")
    assert Place(frozenset()).model(made, 0, "finn") == f"/path/to/{TFC.name}"
    assert Place(frozenset(), "out/a", ("models/m.onnx",)).model(made, 0, "finn") == "../../../models/m.onnx"
    assert Place(frozenset(), "out/a", ("/m.onnx",)).model(made, 0, "finn") == "/m.onnx"
