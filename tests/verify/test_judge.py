"""Plans of other back ends: judged by the part that their back end brings, and told of where it is not installed."""

import copy
import json
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from floorflow.verify import Verdict, judge
from tests.verify import toy_judge
from tests.verify.planting import Files, Mutant, Plan, Registry, part_of, pblocks, phase_of
from tests.verify.tiny import found_after, tiny_plan, write_folder

KIND_OF = {"FMPadding_rtl": "Reader", "ConvolutionInputGenerator_rtl": "Mixer", "MVAU_hls": "Writer"}


@cache
def toy_plan() -> tuple[Plan, Files]:
    """Return a small plan as the toy back end would have made it: its kinds, its converter and its only file."""
    plan, files = copy.deepcopy(tiny_plan("xcku5p"))
    phase, folding = phase_of(plan), part_of(plan)["folding"]["engines"]
    plan["options"] |= {"backend": "toy", "backend_options": {"speed": "fast"}}
    plan["platform"]["fpgas"][0]["crossing"]["fifos"] = False
    phase |= {"bands": {}, "fits": {}, "confidence": None, "fifo_kind": ""}
    for block in pblocks(plan).values():
        block["likelihood"] = None
    for engine in plan["networks"][0]["engines"]:
        ports: dict[str, list[list[int]]] = {}
        for key, end in (("inputs", "target"), ("outputs", "source")):
            channels = [c for c in phase["channels"] if c[end] == engine["name"]]
            ports[key] = [_words(c, c[f"{end}_width_bits"]) for c in channels]
        entry = folding[engine["name"]]
        entry |= {"attributes": {"lanes": 2}, "parallelism": [{"name": "lanes", "value": 2, "most": 4}], "products": 0}
        engine |= {"kind": KIND_OF[engine["kind"]], "attributes": {"work": 2 * entry["cycles"], **ports}}
    for channel in phase["channels"]:
        channel["fifo_style"] = ""
        if channel["converter"]:
            channel["converter"] = "Widener"
    files = {name: text for name, text in files.items() if not name.startswith("finn/")}
    script = files["fpga0/pblocks.tcl"]  # the toy's cells are known without a build, so that nothing is compared
    files["fpga0/pblocks.tcl"] = re.sub(r"floorflow::ports.*\n| -ports \d+", "", script)
    return plan, files | {"toy/list.json": json.dumps({"toys": list(folding)})}


def _words(channel: Plan, width_bits: int) -> list[int]:
    return [width_bits, channel["words_per_frame"] * channel["width_bits"] // width_bits]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "toy", value: str = "the_toy_judge") -> None:
    """Install a part of the judge as a package would: a module, and an entry point in its metadata."""
    folder.mkdir()
    shutil.copy(toy_judge.__file__, folder / "the_toy_judge.py")
    info = folder / f"{value.replace('_', '').replace(':', '')}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {info.name.partition('-')[0]}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[floorflow.judges]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch)


def verdict_of(tmp_path: Path, plan: Plan, files: Files) -> Verdict:
    return judge(write_folder(tmp_path / "out", plan, files))


def names(tmp_path: Path, plan: Plan, files: Files) -> set[str]:
    return {violation.name for violation in verdict_of(tmp_path, plan, files).violations}


@pytest.mark.usefixtures("toy")
def test_a_plan_of_another_back_end_is_legal_without_files_of_finn(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, *toy_plan())
    assert verdict.violations == []
    assert not [name for name in toy_plan()[1] if "finn" in name]


TOY_MISTAKES = Registry()
TOY_MISTAKES.rows("toy")


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("mutant", TOY_MISTAKES.mutants, ids=lambda mutant: mutant.title)
def test_the_part_of_another_back_end_finds_its_mistakes(mutant: Mutant, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *toy_plan(), tmp_path)


def test_without_its_part_of_the_judge_a_plan_is_not_legal_and_the_rest_is_judged(tmp_path: Path) -> None:
    plan, files = copy.deepcopy(toy_plan())
    phase_of(plan)["partition"]["cost"] += 1
    found = verdict_of(tmp_path, plan, files).violations
    assert {violation.name for violation in found} == {"backend-unknown", "wrong-cost", "wrong-objective"}
    told = next(violation for violation in found if violation.name == "backend-unknown")
    assert "install the package" in told.message
    assert "floorflow.judges" in told.message


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("the_toy_judge:KINDS", "lacks findings, option_objections"),
        ("no_such_judge", "cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_a_part_that_is_none_is_told(value: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch, value=value)
    found = verdict_of(tmp_path, *toy_plan()).violations
    assert [violation.name for violation in found] == ["backend-unknown"]
    assert told in found[0].message


def test_two_parts_for_one_back_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch)
    install(tmp_path / "other", monkeypatch, value="another_judge")
    found = verdict_of(tmp_path, *toy_plan()).violations
    assert [violation.name for violation in found] == ["backend-unknown"]
    assert "another_judge and the_toy_judge are installed" in found[0].message


def test_a_part_cannot_take_the_place_of_finns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", monkeypatch, name="finn")
    assert names(tmp_path, *tiny_plan("xcku5p")) == set()
