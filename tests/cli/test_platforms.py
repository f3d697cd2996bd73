"""``floorflow platforms``: a board of one's own in three commands, and bare parts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from floorflow.cli.main import app
from floorflow.verify import check
from tests.plans import TFC

PART = "xck26-sfvc784-2LV-c"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_board_of_ones_own_in_three_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("platforms", "--new", "Mine", "--part", PART).exit_code == 0
    checked = json.loads(run("platforms", "--check", "mine.yaml", "--json").stdout)
    facts = {doubt["fact"]: doubt for doubt in checked["doubts"]}
    assert {"shell", "infrastructure", "clock_mhz", "cell_pattern"} <= {*facts}
    assert facts["shell"]["uncertain"] == "how much of the silicon is free, and where pblocks may lie"
    shown = run("platforms", "--check", "mine.yaml").stdout
    assert all(fact in shown for fact in facts)
    assert run("platforms", "mine.yaml", "--picture", "mine.png").exit_code == 0
    assert (tmp_path / "mine.png").read_bytes().startswith(b"\x89PNG")


def test_a_board_without_a_shell_of_finn_is_said_to_have_none_and_what_follows(tmp_path: Path) -> None:
    file = tmp_path / "my board.yaml"
    made = run("platforms", "--new", "mine", "--part", PART, "--out", file)
    checked = run("platforms", "--check", file)
    for said in (made.stderr, checked.stdout):
        assert "FINN has no shell for mine: the build ends at a stitched IP" in said
    assert made.stderr.splitlines()[-1].split("next ")[1].strip() == f"floorflow platforms --check '{file}'"
    assert checked.stdout.splitlines()[-1] == f"next: floorflow plan MODEL.onnx -p '{file}' -o out"
    shipped = run("platforms", "--check", "zcu104")
    assert "no shell" not in shipped.stdout
    assert json.loads(run("platforms", "--check", "zcu104", "--json").stdout)["unbuilt"] == []


def test_a_file_is_replaced_only_if_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("mine", encoding="utf-8")
    asked = ("platforms", "--new", "mine", "--part", PART, "--out", path)
    refused = run(*asked)
    assert (refused.exit_code, path.read_text(encoding="utf-8")) == (2, "mine")
    assert "there is such a file already" in refused.stderr
    assert run(*asked, "--force").exit_code == 0
    assert "name: mine" in path.read_text(encoding="utf-8")
    picture = tmp_path / "thesis.png"
    picture.write_text("mine")
    drawn = ("platforms", "zcu104", "--picture", picture)
    assert (run(*drawn).exit_code, picture.read_text()) == (2, "mine")
    assert run(*drawn, "--force").exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_name_that_ships_is_pointed_out(tmp_path: Path) -> None:
    made = run("platforms", "--new", "kv260", "--part", PART, "--out", tmp_path / "kv260.yaml")
    assert made.exit_code == 0
    assert "kv260 ships with floorflow" in made.stderr
    other = run("platforms", "--new", "mine", "--part", PART, "--out", tmp_path / "mine.yaml")
    assert "kv260 ships with this part: -p kv260" in other.stderr


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (("--new", "mine"), "belong together"),
        (("--part", PART), "belong together"),
        (("--new", "mine", "--part", "xc9"), "its die is not known"),
        (("--new", "mine", "--part", PART, "--check", "kv260"), "are two commands"),
        (("zcu104", "--check", "kv260"), "no other board is named beside it"),
        (("--picture", "x.png"), "of which board?"),
        (("zcu104", "--picture", "x.gif"), "pictures are .png, .svg, .pdf"),
        (("--check", "nothing.yaml"), "there is no such file"),
        (("--out", "x.yaml"), "only --new writes a board's file"),
    ],
)
def test_what_does_not_belong_together_is_refused(asked: tuple[str, ...], complaint: str) -> None:
    refused = run("platforms", *asked)
    assert refused.exit_code == 2
    assert complaint in " ".join(refused.stderr.split())


def test_a_bare_part_is_planned_with_its_assumptions_in_the_report(tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = run("plan", TFC, "-p", "XCZU7EV", "-o", out, "--no-plots", "--effort", "fast")
    assert made.exit_code == 0, made.stderr
    told = " ".join((out / "report.txt").read_text().split())
    assert "xczu7ev: part: assumed to be xczu7ev-ffvc1156-2-e" in told
    assert "xczu7ev: clock_mhz: assumed to be 200" in told
    assert "says nothing of shell, infrastructure" in told
    plan = json.loads((out / "plan.json").read_text(encoding="utf-8"))
    assert (plan["platform"]["name"], plan["platform"]["fpgas"][0]["device"]) == ("xczu7ev", "xczu7ev")
    assert "assumed: [part" in (out / "platform" / "boards" / "xczu7ev.yaml").read_text(encoding="utf-8")
    assert check(out) == []
