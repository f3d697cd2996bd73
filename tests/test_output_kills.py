"""A writer that is killed leaves a whole old or a whole new bundle, and nothing that the next one does not clear."""

import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from floorflow.errors import InputError
from floorflow.output import RUN_FILE, Written, add, recover, require_free, write
from floorflow.output import workshop as workshop_module
from floorflow.output.journal import has_journal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
from kills import SIGNALS, Ground, Writer, aimed, at_random, at_renames, found_in, lay, two_writers, write_time_s

SIZE = 5
KILLED = -signal.SIGKILL


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "force"])
def test_a_signal_at_every_operation_leaves_the_old_or_the_new(
    number: signal.Signals, fresh: bool, tmp_path: Path
) -> None:
    stride = (3 if fresh else 6) if number == signal.SIGKILL else (5 if fresh else 15)
    outcomes = Counter(aimed(Ground(tmp_path, SIZE, fresh), number, stride=stride))
    assert outcomes["broken"] == 0
    assert outcomes["old"] > 2
    assert outcomes["new"] > 0
    assert (outcomes["undone"] > 0) == (number == signal.SIGKILL and not fresh)


def test_signals_at_random_moments_leave_the_old_or_the_new(tmp_path: Path) -> None:
    ground, dice = Ground(tmp_path, SIZE, fresh=False), random.Random(0)
    longest = write_time_s(ground)
    outcomes = Counter(at_random(ground, SIGNALS[n % 4], dice.random() * longest) for n in range(12))
    assert outcomes["broken"] == 0


@pytest.mark.parametrize("moment", range(1, 160, 32))
def test_of_two_writers_the_one_that_lives_wins_whole(moment: int, tmp_path: Path) -> None:
    """Where the one that lives was first, the killed one may have begun to move: then the next command undoes it."""
    assert two_writers(Ground(tmp_path, SIZE, fresh=False), signal.SIGKILL, moment) in ("new", "undone")


def killed_at_each_rename(ground: Ground, act: Callable[[Path], None]) -> Iterator[int]:
    """Yield after each kill that ended a writer before its next rename; the folder is laid anew before each."""
    moment, code = 0, KILLED
    while code == KILLED:
        moment += 1
        lay(ground.out, 1, SIZE)
        code = Writer.start(ground.out, 2, SIZE, at_renames(moment, signal.SIGKILL), act).ended()
        if code == KILLED:
            yield moment
    assert code == 0


@pytest.mark.parametrize("read", [recover, lambda out: require_free(out, force=True)], ids=["read", "written"])
def test_whoever_comes_next_puts_the_old_bundle_back(read: Callable[[Path], None], tmp_path: Path) -> None:
    ground = Ground(tmp_path, SIZE, fresh=False)
    ground.prepare()
    between = 0
    for _moment in killed_at_each_rename(ground, lambda out: lay(out, 2, SIZE)):
        between += found_in(ground.out, SIZE) < 0
        assert found_in(ground.out, SIZE) > 0 or not (ground.out / "plan.json").exists()
        read(ground.out)
        assert found_in(ground.out, SIZE) == 1
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        assert (ground.out / "plots/mine.png").read_text() == "mine"
    assert between > SIZE


def test_what_the_user_did_after_a_kill_is_kept(tmp_path: Path) -> None:
    ground = Ground(tmp_path, SIZE, fresh=False)
    ground.prepare()
    kept = 0
    for _moment in killed_at_each_rename(ground, lambda out: lay(out, 2, SIZE)):
        edited = ground.out / "platform/devices/4.txt"
        if edited.exists() and edited.read_text().startswith("2 "):
            edited.write_text("edited")
            recover(ground.out)
            aside = edited.with_name("4.txt.yours")
            assert aside.read_text() == "edited"
            aside.unlink()
            kept += 1
        recover(ground.out)
        assert found_in(ground.out, SIZE) == 1
    assert kept > 0


def killed_between(tmp_path: Path) -> tuple[Ground, Path]:
    """Return a folder whose writer was killed when the old files were out, and its workshop."""
    ground = Ground(tmp_path, SIZE, fresh=False)
    ground.prepare()
    for _moment in killed_at_each_rename(ground, lambda out: lay(out, 2, SIZE)):
        if found_in(ground.out, SIZE) < 0 and not (ground.out / "run.json").exists():
            break
    return ground, tmp_path / ".out.floorflow"


def test_where_the_broken_folder_was_renamed_the_old_files_stay_in_the_workshop(tmp_path: Path) -> None:
    ground, workshop = killed_between(tmp_path)
    ground.out.rename(tmp_path / "broken")
    held = {path: path.read_bytes() for path in (workshop / "old").rglob("*") if path.is_file()}
    assert held
    for _again in range(2):
        with pytest.raises(InputError, match=r"\.out\.floorflow: holds, in old/"):
            require_free(ground.out, force=False)
    assert {path: path.read_bytes() for path in held} == held
    (tmp_path / "broken").rename(ground.out)
    recover(ground.out)
    assert found_in(ground.out, SIZE) == 1


def test_another_folder_in_the_workshops_place_does_not_make_the_undo_forgotten(tmp_path: Path) -> None:
    ground, workshop = killed_between(tmp_path)
    workshop.rename(tmp_path / "kept")
    workshop.mkdir()
    for _again in range(2):
        with pytest.raises(InputError, match=r"\.out\.floorflow: holds, in old/"):
            recover(ground.out)
    workshop.rmdir()
    (tmp_path / "kept").rename(workshop)
    recover(ground.out)
    assert found_in(ground.out, SIZE) == 1


def test_after_a_restart_the_device_has_another_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ground, _workshop = killed_between(tmp_path)
    inode = workshop_module._inode
    monkeypatch.setattr(workshop_module, "_inode", lambda folder: [inode(folder)[0] + 1, inode(folder)[1]])
    recover(ground.out)
    assert found_in(ground.out, SIZE) == 1


def test_a_file_that_the_user_made_after_a_kill_costs_no_old_one(tmp_path: Path) -> None:
    ground, _workshop = killed_between(tmp_path)
    (ground.out / "plan.json").write_text("mine")
    recover(ground.out)
    aside = ground.out / "plan.json.yours"
    assert aside.read_text() == "mine"
    aside.unlink()
    assert found_in(ground.out, SIZE) == 1


def test_nothing_is_put_back_through_a_link(tmp_path: Path) -> None:
    ground, far = Ground(tmp_path, SIZE, fresh=False), tmp_path / "far"
    far.mkdir()
    lay(ground.out, 1, SIZE)
    refused = 0
    for _moment in killed_at_each_rename(ground, lambda out: lay(out, 2, SIZE)):
        devices = ground.out / "platform/devices"
        moved = not (devices / "4.txt").exists() or (devices / "4.txt").read_text().startswith("2 ")
        devices.rename(tmp_path / "aside")
        devices.symlink_to(far)
        if has_journal(ground.out):
            with pytest.raises(InputError, match="is a link") if moved else nullcontext():
                recover(ground.out)
            refused += moved
        assert list(far.iterdir()) == []
        devices.unlink()
        (tmp_path / "aside").rename(devices)
        recover(ground.out)
        assert found_in(ground.out, SIZE) == 1
    assert refused > 0


def test_what_is_added_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ground = Ground(tmp_path, SIZE, fresh=False)
    plain = {"plan.json": "{}", "report.txt": "short"}
    full = {**plain, "report.txt": "long", "extras.json": "{}", "plots/x.png": "x"}

    def added(place: Path) -> None:
        add(
            place,
            {name: full[name] for name in full if full[name] != plain.get(name)},
            {},
            Written((out / RUN_FILE).read_bytes()),
        )

    moment, code = 0, KILLED
    while code == KILLED:
        moment += 1
        write(out, plain, {})
        code = Writer.start(out, 2, SIZE, at_renames(moment, signal.SIGKILL), added).ended()
        assert (out / "plan.json").read_text() == "{}"
        recover(out)
        held = {
            p.relative_to(out).as_posix(): p.read_text() for p in out.rglob("*") if p.is_file() and p.name != RUN_FILE
        }
        assert held == (full if code == 0 else plain)
    assert code == 0
    assert moment > 4
    assert ground.out == out
