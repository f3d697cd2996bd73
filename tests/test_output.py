"""An output folder is written whole or not at all, and nothing of the user's is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from floorflow.errors import InputError
from floorflow.output import require_free, write


def listing(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_bundle_is_laid_out_with_the_list_of_its_files(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    write(out, {"plan.json": "{}", "plots/x.png": b"\x89"}, {"seconds": 1})
    assert listing(out) == {"plan.json", "plots/x.png", "run.json"}
    assert json.loads((out / "run.json").read_text())["files"] == ["plan.json", "plots/x.png"]
    assert listing(tmp_path / "a") == {f"out/{name}" for name in listing(out)}


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    require_free(tmp_path, force=False)
    write(tmp_path / "out", {"plan.json": "{}"}, {})


def test_a_folder_that_holds_anything_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="not empty"):
        require_free(tmp_path, force=False)


def test_a_file_is_refused_even_with_force(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("")
    with pytest.raises(InputError, match="is a file"):
        require_free(target, force=True)


def test_force_replaces_an_earlier_plan_and_keeps_foreign_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "old", "fpga0/pblocks.xdc": "old"}, {})
    (out / "notes.txt").write_text("mine")
    write(out, {"plan.json": "new"}, {})
    assert listing(out) == {"plan.json", "run.json", "notes.txt"}
    assert (out / "plan.json").read_text() == "new"
    assert (out / "notes.txt").read_text() == "mine"


def test_force_does_not_overwrite_a_file_that_no_plan_wrote(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("my own plan for world peace")
    with pytest.raises(InputError, match=r"plan\.json: is not of an earlier plan"):
        write(tmp_path, {"plan.json": "{}"}, {})
    assert (tmp_path / "plan.json").read_text() == "my own plan for world peace"


def test_links_and_empty_folders_survive_force(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "old", "old/x": ""}, {})
    (out / "link").symlink_to(tmp_path)
    (out / "empty").mkdir()
    write(out, {"plan.json": "new"}, {})
    assert sorted(p.name for p in out.iterdir()) == ["empty", "link", "plan.json", "run.json"]


@pytest.mark.parametrize("inside", ["out", "out/below"])
def test_a_path_through_a_file_is_refused_before_the_work(inside: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match=r"is a file|no writable folder"):
        require_free(tmp_path / inside, force=True)


def test_the_current_folder_and_a_link_to_one_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", {"plan.json": "{}"}, {})
    monkeypatch.chdir(tmp_path / "real")
    write(Path(), {"plan.json": "again"}, {})
    assert (tmp_path / "real" / "plan.json").read_text() == "again"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="cannot be written"):
        write(out, {"plan.json": "{}", "plan.json/below": "a file cannot be a folder"}, {})
    assert list(tmp_path.iterdir()) == []


def test_without_force_what_another_run_wrote_in_the_meantime_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    require_free(out, force=False)
    write(out, {"plan.json": "the other's"}, {})
    with pytest.raises(InputError, match="not empty"):
        write(out, {"plan.json": "mine"}, {}, force=False)
    assert (out / "plan.json").read_text() == "the other's"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
