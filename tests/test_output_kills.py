"""A writer that is killed leaves a whole old or a whole new bundle, and nothing that the next one does not clear."""

from __future__ import annotations

import random
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from floorflow.errors import InputError
from floorflow.output import require_free, write

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
from kills import SIGNALS, Ground, aimed, at, at_random, bundle, found_in, two_writers, write_time_s

SIZE = 7
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have other ways to exchange folders")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "force"])
def test_a_signal_at_every_operation_leaves_the_old_or_the_new(
    number: signal.Signals, fresh: bool, tmp_path: Path
) -> None:
    outcomes = Counter(aimed(Ground(tmp_path, SIZE, fresh), number, stride=1 if number == signal.SIGKILL else 4))
    assert outcomes["broken"] == 0
    assert outcomes["old"] > 5
    assert outcomes["new"] > 0


def test_signals_at_random_moments_leave_the_old_or_the_new(tmp_path: Path) -> None:
    ground, dice = Ground(tmp_path, SIZE, fresh=False), random.Random(0)
    longest = write_time_s(ground)
    outcomes = Counter(at_random(ground, SIGNALS[n % 3], dice.random() * longest) for n in range(24))
    assert outcomes["broken"] == 0


@pytest.mark.parametrize("moment", range(1, 160, 20))
def test_of_two_writers_the_one_that_lives_wins_whole(moment: int, tmp_path: Path) -> None:
    assert two_writers(Ground(tmp_path, SIZE, fresh=False), signal.SIGKILL, moment) == "new"


def refuse_exchange(_one: Path, _other: Path) -> None:
    raise OSError(18, "Invalid cross-device link")


def test_where_folders_cannot_be_exchanged_files_are_moved_one_by_one(tmp_path: Path) -> None:
    ground = Ground(tmp_path, SIZE, fresh=False)
    ground.prepare()
    write(ground.out, bundle(2, SIZE), {"generation": 2}, exchange=refuse_exchange)
    assert found_in(ground.out, SIZE) == 2
    assert (ground.out / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not list(ground.out.glob(".*"))


@pytest.mark.parametrize("moment", range(60, 200, 4))
def test_what_was_moved_in_part_is_completed_by_the_next_run(moment: int, tmp_path: Path) -> None:
    import os

    ground = Ground(tmp_path, SIZE, fresh=False)
    ground.prepare()
    pid = os.fork()
    if pid == 0:
        from kills import _counting

        sys.addaudithook(_counting(at(moment, signal.SIGKILL)))
        write(ground.out, bundle(2, SIZE), {"generation": 2}, exchange=refuse_exchange)
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(InputError, match="not empty"):
        require_free(ground.out, force=False)
    assert found_in(ground.out, SIZE) in {1, 2}
    assert (ground.out / "build/run.log").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
