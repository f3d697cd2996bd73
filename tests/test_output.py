"""An output folder is written whole or not at all, and nothing of the user's is lost."""

import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest

from floorflow.errors import InputError
from floorflow.output import FolderWarning, add, require_free, write, write_file
from floorflow.output.change import signals_wait


def listing(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_bundle_is_laid_out_with_the_list_of_its_files(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    write(out, {"plan.json": "{}", "plots/x.png": b"\x89"}, {"seconds": 1})
    assert listing(out) == {"plan.json", "plots/x.png", "run.json"}
    run = json.loads((out / "run.json").read_text())
    assert run["files"] == ["plan.json", "plots/x.png"]
    assert run["sha256"]["plots/x.png"] == hashlib.sha256(b"\x89").hexdigest()
    assert listing(tmp_path / "a") == {f"out/{name}" for name in listing(out)}


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    require_free(tmp_path / "out", force=False)
    write(tmp_path / "out", {"plan.json": "{}"}, {}, force=False)
    assert listing(tmp_path) == {"out/plan.json", "out/run.json"}


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_holds_anything_of_the_users_alone_is_refused(force: bool, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"has no run\.json" if force else "not empty"):
        require_free(tmp_path, force=force)


def test_a_file_is_refused_even_with_force(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("")
    with pytest.raises(InputError, match="is a file"):
        require_free(target, force=True)


@pytest.mark.parametrize("place", ["home", "above home", "mount point"])
def test_a_home_or_a_mount_point_is_refused_even_with_a_plan_in_it(place: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "{}"}, {})
    home = {"home": out, "above home": out / "users" / "me"}.get(place, tmp_path)
    mounted = [out] if place == "mount point" else []
    with (
        patch.dict(os.environ, {"HOME": str(home)}),
        patch("os.path.ismount", lambda path: Path(path) in mounted),
        pytest.raises(InputError, match="a mount point or a home"),
    ):
        require_free(out, force=True)


def test_force_replaces_an_earlier_plan_and_keeps_foreign_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "old", "fpga0/pblocks.xdc": "old", "finn/build.py": "old"}, {})
    (out / "notes.txt").write_text("mine")
    (out / "finn/build/big").mkdir(parents=True)
    (out / "finn/build/big/run.log").write_text("gigabytes")
    before = [path.stat() for path in (out, out / "notes.txt", out / "finn/build", out / "finn/build/big/run.log")]
    write(out, {"plan.json": "new"}, {})
    after = [path.stat() for path in (out, out / "notes.txt", out / "finn/build", out / "finn/build/big/run.log")]
    assert listing(out) == {"plan.json", "run.json", "notes.txt", "finn/build/big/run.log"}
    assert (out / "plan.json").read_text() == "new"
    same = [
        (a.st_ino, a.st_nlink, a.st_mtime_ns) == (b.st_ino, b.st_nlink, b.st_mtime_ns)
        for a, b in zip(before, after, strict=True)
    ]
    assert same[1:] == [True] * 3
    assert before[0].st_ino == after[0].st_ino


def test_force_does_not_overwrite_a_file_that_no_plan_wrote(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"report.txt": ""}, {})
    (out / "plan.json").write_text("my own plan for world peace")
    with pytest.raises(InputError, match=r"plan\.json: is not of an earlier plan"):
        write(out, {"plan.json": "{}"}, {})
    assert (out / "plan.json").read_text() == "my own plan for world peace"
    assert listing(out) == {"report.txt", "run.json", "plan.json"}


def test_a_file_that_was_edited_is_kept_each_time(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for generation in "123":
        with pytest.warns(FolderWarning, match="edited") if generation > "1" else nullcontext():
            write(out, {"plan.json": generation, "fpga0/a.xdc": generation, "gone": generation}, {})
        (out / "fpga0/a.xdc").write_text(f"edited {generation}")
    with pytest.warns(FolderWarning, match=r"fpga0/a\.xdc as fpga0/a\.xdc\.yours3"):
        write(out, {"plan.json": "4"}, {})
    kept = {name: (out / name).read_text() for name in listing(out) - {"run.json"}}
    assert kept == {
        "plan.json": "4",
        "fpga0/a.xdc.yours": "edited 1",
        "fpga0/a.xdc.yours2": "edited 2",
        "fpga0/a.xdc.yours3": "edited 3",
    }


def test_a_file_that_is_saved_while_others_move_is_kept(tmp_path: Path) -> None:
    """Its digest was taken before: an editor that holds it, or is quick, may save in between."""
    out, rename, saved = tmp_path / "out", Path.rename, []
    write(out, {"plan.json": "old", "a.xdc": "old", "gone/b": "old"}, {})

    def moved(source: Path, target: Path) -> Path:
        if not saved and source == out / "plan.json":
            for name in ("a.xdc", "gone/b"):
                (out / name).write_text("edited")
            saved.append(source)
        return rename(source, target)

    with (
        patch.object(Path, "rename", moved),
        pytest.warns(FolderWarning, match=r"a\.xdc as a\.xdc\.yours.*gone/b as gone/b\.yours"),
    ):
        write(out, {"plan.json": "new", "a.xdc": "new"}, {})
    assert {name: (out / name).read_text() for name in listing(out) - {"run.json"}} == {
        "plan.json": "new",
        "a.xdc": "new",
        "a.xdc.yours": "edited",
        "gone/b.yours": "edited",
    }


def test_of_a_folder_without_digests_every_file_is_kept(tmp_path: Path) -> None:
    """Nobody knows whether what an older floorflow wrote was edited since."""
    out = tmp_path / "out"
    write(out, {"plan.json": "old", "same": "same", "gone": "old"}, {})
    run = json.loads((out / "run.json").read_text())
    del run["sha256"]
    (out / "run.json").write_text(json.dumps(run))
    with pytest.warns(FolderWarning, match="older floorflow"):
        write(out, {"plan.json": "new", "same": "same"}, {})
    assert listing(out) == {"plan.json", "same", "run.json", "plan.json.yours", "gone.yours", "run.json.yours"}


FOREIGN = {
    "another program's": {"files": [], "mine": 1},
    "that of a project": {"files": ["src/main.py"], "argv": [], "versions": {"python": "3"}},
    "versions that are none": {"files": ["src/main.py"], "argv": [], "versions": "floorflow"},
    "hidden files": {"files": [".git/config", "src/main.py"], "argv": [], "versions": {"floorflow": "0.1"}},
    "a hidden file below": {"files": ["src/.env"], "argv": [], "versions": {"floorflow": "0.1"}},
}


@pytest.mark.parametrize("run", FOREIGN.values(), ids=FOREIGN)
def test_a_run_file_of_another_program_is_no_leave_to_replace(run: dict[str, object], tmp_path: Path) -> None:
    for name in ("src/main.py", "src/.env", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    (tmp_path / "run.json").write_text(json.dumps(run))
    before = {name: (tmp_path / name).read_bytes() for name in listing(tmp_path)}
    with pytest.raises(InputError, match=r"run\.json: (is not floorflow's|files: .* is hidden)"):
        require_free(tmp_path, force=True)
    with pytest.raises(InputError, match=r"run\.json"):
        write(tmp_path, {"plan.json": "{}"}, {})
    assert {name: (tmp_path / name).read_bytes() for name in listing(tmp_path)} == before


def test_a_run_file_that_was_edited_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "old"}, {"seconds": 1.25})
    edited = {**json.loads((out / "run.json").read_text()), "note": "the good one"}
    (out / "run.json").write_text(json.dumps(edited))
    with pytest.warns(FolderWarning, match=r"run\.json as run\.json\.yours"):
        write(out, {"plan.json": "new"}, {"seconds": 2.5})
    write(out, {"plan.json": "newer"}, {"seconds": 3})
    assert listing(out) == {"plan.json", "run.json", "run.json.yours"}
    assert json.loads((out / "run.json.yours").read_text()) == edited


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
    with pytest.raises(InputError, match=r"is a file|no writable folder|not a directory"):
        require_free(tmp_path / inside, force=True)


def test_the_current_folder_and_a_link_to_one_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", {"plan.json": "{}"}, {})
    monkeypatch.chdir(tmp_path / "real")
    write(Path(), {"plan.json": "again"}, {})
    assert (tmp_path / "real" / "plan.json").read_text() == "again"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]
    assert sorted(p.name for p in Path().iterdir()) == ["plan.json", "run.json"]


@pytest.mark.parametrize("held", [False, True])
def test_a_failure_leaves_nothing_behind(held: bool, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if held:
        write(out, {"plan.json": "old"}, {})
    before = {name: (tmp_path / name).read_bytes() for name in listing(tmp_path)}
    with pytest.raises(InputError, match="cannot be written"):
        write(out, {"plan.json": "{}", "plan.json/below": "a file cannot be a folder"}, {})
    assert {name: (tmp_path / name).read_bytes() for name in listing(tmp_path)} == before


def test_what_cannot_be_moved_leaves_the_old_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "old", "a/x": "old", "b/x": "old"}, {})
    before = listing(out)
    rename, moved = Path.rename, []

    def refusing(source: Path, target: Path) -> Path:
        moved.append(target)
        if target == out / "a/x" and len(moved) < 9:
            raise PermissionError(13, "Permission denied", str(source), None, str(target))
        return rename(source, target)

    with patch.object(Path, "rename", refusing), pytest.raises(InputError, match=r"Permission denied: '.*out/a/x'"):
        write(out, {"plan.json": "new", "a/x": "new", "c/x": "new"}, {})
    assert listing(tmp_path) == {f"out/{name}" for name in before}
    assert (out / "a/x").read_text() == (out / "plan.json").read_text() == "old"


def test_where_files_cannot_be_moved_from_beside_they_come_from_inside(tmp_path: Path) -> None:
    """A bind mount is no mount point by its device, yet nothing can be renamed across its border."""
    out = tmp_path / "out"
    write(out, {"plan.json": "old"}, {})
    rename = Path.rename

    def across(source: Path, target: Path) -> Path:
        if source.is_relative_to(out) != target.is_relative_to(out):
            raise OSError(18, "Invalid cross-device link")
        return rename(source, target)

    with patch.object(Path, "rename", across):
        write(out, {"plan.json": "new"}, {})
    assert listing(tmp_path) == {"out/plan.json", "out/run.json"}
    assert (out / "plan.json").read_text() == "new"


def test_without_force_what_another_run_wrote_in_the_meantime_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    require_free(out, force=False)
    write(out, {"plan.json": "the other's"}, {})
    with pytest.raises(InputError, match="not empty"):
        write(out, {"plan.json": "mine"}, {}, force=False)
    assert (out / "plan.json").read_text() == "the other's"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_without_a_state_folder_all_is_written_too(tmp_path: Path) -> None:
    with patch.dict(os.environ, {"XDG_STATE_HOME": "/proc/none"}):
        for text in ("old", "new"):
            require_free(tmp_path / "out", force=True)
            write(tmp_path / "out", {"plan.json": text}, {})
    assert (tmp_path / "out/plan.json").read_text() == "new"
    assert listing(tmp_path) == {"out/plan.json", "out/run.json"}


@pytest.mark.parametrize("name", ["HOME", "XDG_STATE_HOME"])
def test_a_state_folder_in_the_output_folder_does_not_fill_it(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    home = {"HOME": str(out), "XDG_STATE_HOME": ""} if name == "HOME" else {name: str(out / "state")}
    with patch.dict(os.environ, home):
        require_free(out, force=False)
        write(out, {"plan.json": "{}"}, {}, force=False)
    assert listing(out) == {"plan.json", "run.json"}
    assert not (out / "state").exists()


@pytest.mark.parametrize("name", ["extras.json", "plots"])
def test_what_would_be_in_the_way_of_what_follows_a_plan_is_refused_first(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "{}"}, {})
    later = ("extras.json", "plots/")
    require_free(out, force=True, later=later)
    (out / name).write_text("mine")
    with pytest.raises(InputError, match=f"{name}: is not of an earlier plan"):
        require_free(out, force=True, later=later)
    require_free(out, force=True)


def test_files_are_added_to_what_a_run_has_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    written = write(out, {"plan.json": "{}", "report.txt": "short"}, {"seconds": 1})
    plan = (out / "plan.json").stat()
    written = add(out, {"plots/x.png": b"\x89", "report.txt": "long"}, {"seconds": 2}, written)
    written = add(out, {"plots/y.png": b"\x89"}, {"seconds": 3}, written)
    run = json.loads((out / "run.json").read_text())
    assert run["files"] == ["plan.json", "plots/x.png", "plots/y.png", "report.txt"]
    assert run["seconds"] == 3
    assert {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in run["files"]} == run["sha256"]
    assert ((out / "plan.json").stat().st_ino, (out / "report.txt").read_text()) == (plan.st_ino, "long")


def test_nothing_is_added_to_another_plan_nor_over_the_users_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = write(out, {"plan.json": "1", "report.txt": "short"}, {"n": 1})
    (out / "report.txt").write_text("edited")
    with pytest.warns(FolderWarning, match="edited"):
        second = add(out, {"report.txt": "long"}, {"n": 1}, first)
    assert (out / "report.txt.yours").read_text() == "edited"
    (out / "extras.json").write_text("mine")
    with pytest.raises(InputError, match="would be lost"):
        add(out, {"extras.json": "{}"}, {}, second)
    write(out, {"plan.json": "2"}, {"n": 2})
    with pytest.raises(InputError, match="holds another result by now"):
        add(out, {"plots/x.png": b""}, {}, second)
    assert listing(out) == {"plan.json", "run.json", "report.txt.yours", "extras.json"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_waits_for_the_end_of_the_moves(number: signal.Signals) -> None:
    came: list[str] = []
    before = signal.signal(number, lambda *_: came.append("answered"))
    try:
        with signals_wait():
            signal.raise_signal(number)
            came.append("moved")
    finally:
        signal.signal(number, before)
    assert came == ["moved", "answered"]


@pytest.mark.parametrize("thread", [False, True], ids=["this thread", "another thread"])
def test_a_signal_while_handlers_are_given_back_leaves_none_deaf(thread: bool) -> None:
    came: list[int] = []

    def answer(number: int, _frame: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, answer) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    change, sent = signal.signal, []

    def changed(number: int, handler: object) -> object:
        old = change(number, handler)  # type: ignore[arg-type]
        if handler is answer and not sent:
            sent.append(number)
            if thread:  # one that is not masked takes it, and this one answers
                sender = threading.Thread(target=_send_here, args=(number,))
                sender.start()
                sender.join()
            else:
                signal.raise_signal(number)
        return old

    try:
        with patch.object(signal, "signal", changed), pytest.raises(KeyboardInterrupt), signals_wait():
            pass
        assert [signal.getsignal(number) for number in before] == [answer] * 3
        assert came == sent == [signal.SIGINT]
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _send_here(number: int) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    signal.pthread_kill(threading.get_ident(), number)


def test_a_file_is_replaced_only_by_force_and_never_through_a_link(tmp_path: Path) -> None:
    picture, mine = tmp_path / "x.png", tmp_path / "mine"
    write_file(picture, b"1", force=False)
    with pytest.raises(InputError, match="there is such a file already"):
        write_file(picture, b"2", force=False)
    write_file(picture, b"2", force=True)
    assert picture.read_bytes() == b"2"
    for name, target in (("dangling.png", tmp_path / "none"), ("link.png", mine)):
        mine.write_bytes(b"mine")
        (tmp_path / name).symlink_to(target)
        for force in (False, True):
            with pytest.raises(InputError, match="there is such a file already"):
                write_file(tmp_path / name, b"3", force=force)
    assert listing(tmp_path) == {"x.png", "mine", "link.png"}
    assert mine.read_bytes() == b"mine"


SPOILT = {
    "deep": "[" * 100_000 + "]" * 100_000,
    "a number": "5",
    "no JSON": "{",
    "no list": '{"files": 5}',
    "numbers": '{"files": [5]}',
    "upwards": '{"files": ["../../thesis.tex"]}',
    "in between": '{"files": ["plots/../../../thesis.tex"]}',
    "absolute": '{"files": ["/etc/hostname"]}',
    "empty": '{"files": [""]}',
    "a point": '{"files": ["."]}',
    "NUL": '{"files": ["a\\u0000b"]}',
    "half a pair": '{"files": ["\\ud800"]}',
    "itself": '{"files": ["run.json"]}',
}


@pytest.mark.parametrize("text", SPOILT.values(), ids=SPOILT)
def test_a_run_file_that_is_not_ours_is_bad_input(text: str, tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    write(out, {"plan.json": "{}"}, {})
    (tmp_path / "thesis.tex").write_text("years of work")
    (out / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json"):
        require_free(out, force=True)
    with pytest.raises(InputError, match=r"run\.json"):
        write(out, {"plan.json": "new"}, {})
    assert listing(tmp_path) == {"a/out/plan.json", "a/out/run.json", "thesis.tex"}
    assert (out / "plan.json").read_text() == "{}"


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "link to a file": lambda out, far: (out / "plots/x").symlink_to(far / "thesis.tex"),
    "link to nothing": lambda out, far: (out / "plots/x").symlink_to(far / "none"),
    "pipe": lambda out, _far: os.mkfifo(out / "plots/x"),
    "folder": lambda out, _far: (out / "plots/x").mkdir(),
    "link as a folder": lambda out, far: ((out / "plots").rmdir(), (out / "plots").symlink_to(far))[0],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_link_leads_to_a_listed_file(way: Callable[[Path, Path], None], tmp_path: Path) -> None:
    out, far = tmp_path / "out", tmp_path / "far"
    far.mkdir()
    (far / "thesis.tex").write_text("years of work")
    (far / "x").write_text("mine")
    write(out, {"plan.json": "{}", "plots/x": "mine"}, {})
    (out / "plots/x").unlink()
    way(out, far)
    for files in ({"plan.json": "new"}, {"plan.json": "new", "plots/x": "new"}):
        with pytest.raises(InputError, match=r"is a link|no plain file"):
            write(out, files, {})
    assert (far / "thesis.tex").read_text() == "years of work"
    assert (far / "x").read_text() == "mine"
    assert (out / "plan.json").read_text() == "{}"


def test_of_a_hard_link_the_name_alone_goes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"plan.json": "{}", "x": "years of work"}, {})
    (tmp_path / "thesis.tex").write_text("years of work")
    (out / "x").unlink()
    (out / "x").hardlink_to(tmp_path / "thesis.tex")
    write(out, {"plan.json": "new", "x": "new"}, {})
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    assert (out / "x").read_text() == "new"


@pytest.mark.parametrize("name", ["../x", "/x", "", ".", "a/../../x", "a//x", "a/", "\0", "\ud800"])
def test_no_result_names_a_file_outside(name: str, tmp_path: Path) -> None:
    """What `bind` writes is named by the folder that it reads."""
    with pytest.raises(InputError, match="is no name for a file"):
        write(tmp_path / "a/out", {name: "x"}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_file_may_become_a_folder_and_back(fails: bool, tmp_path: Path) -> None:
    out, rename = tmp_path / "out", Path.rename

    def refusing(source: Path, target: Path) -> Path:
        if fails and target == out / "plan.json" and source.read_text() == "new":
            raise PermissionError(13, "Permission denied")
        return rename(source, target)

    write(out, {"plan.json": "old", "a": "old"}, {})
    with patch.object(Path, "rename", refusing), pytest.raises(InputError) if fails else nullcontext():
        write(out, {"plan.json": "new", "a/b": "new"}, {})
    assert listing(out) == {"plan.json", "run.json", "a" if fails else "a/b"}
    assert (out / "plan.json").read_text() == ("old" if fails else "new")
