"""Writers killed at every moment: after each, the output folder holds one whole bundle, the old or the new.

    python benchmarks/kills.py [--folder /dev/shm] [--random 150] [--stride 3] [--seed 0]

Half a minute in memory (/dev/shm, the default where there is one) on quiet cores; several times that on a disk.

A writer is a forked process that calls `floorflow.output.write` as the command line does. *Aimed* moments lie before
each of its operations on the file system, as Python's audit events tell them; *random* ones are drawn from the time
that a write takes, and a signal comes from outside. After each the folder is judged, then the next run writes, and the
folder is judged again: nothing of the killed one may be left, and the user's own files must be as they were.

*Undone* counts folders that SIGKILL left between two plans: they hold no plan.json, so that nobody takes them for a
plan, and what every command does first, `recover`, has put the whole old bundle back. Any other signal waits.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from floorflow.output import RUN_FILE, recover, require_free, write
from floorflow.output.journal import has_journal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
MINE = {"notes.txt": "mine", "build/run.log": "mine", "plots/mine.png": "mine"}
"""Files of the user's, one of them among the plan's pictures."""

MEMORY = Path("/dev/shm")  # noqa: S108 - writes in a folder of its own there
BROKEN = -1


def bundle(generation: int, size: int) -> dict[str, str | bytes]:
    """Return a bundle of about ``size`` files, all of which tell its generation; some names differ between two."""
    folders = ("", "finn/", "fpga0/", "fpga1/vivado/", "platform/devices/", "plots/")
    names = [
        "plan.json",
        *(f"{folders[n % len(folders)]}{n}.txt" for n in range(1, size)),
        f"only{generation % 2}/{generation % 3}",
    ]
    return {name: f"{generation} {name}\n" * 50 for name in names}


def found_in(out: Path, size: int) -> int:
    """Return the generation that a folder holds, 0 for no bundle at all, `BROKEN` for anything between."""
    held = {p.relative_to(out).as_posix(): p.read_text() for p in out.rglob("*") if p.is_file()} if out.exists() else {}
    held = {name: text for name, text in held.items() if name not in MINE}
    if not held:
        return 0
    try:
        run = json.loads(held.pop(RUN_FILE))
    except (KeyError, ValueError):
        return BROKEN
    whole = held == bundle(run["generation"], size) and sorted(held) == run["files"]
    return int(run["generation"]) if whole else BROKEN


def lay(out: Path, generation: int, size: int) -> None:
    """Write a generation as a run of the command line with ``--force`` does."""
    require_free(out, force=True)
    write(out, bundle(generation, size), {"generation": generation})


@dataclass
class Writer:
    """A forked process that lays a generation; ``before`` is called before each operation on the file system."""

    pid: int

    @classmethod
    def start(
        cls,
        out: Path,
        generation: int,
        size: int,
        before: Callable[[str, int], None] | None = None,
        act: Callable[[Path], None] | None = None,
    ) -> Writer:
        """Fork; the child never returns. ``act``: what it does instead of laying the generation."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the child can answer for itself
        pid = os.fork()
        if pid == 0:
            _child(out, act or (lambda place: lay(place, generation, size)), before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return cls(pid)

    def ended(self) -> int:
        """Wait and return the exit code, negative for the signal that ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _child(out: Path, act: Callable[[Path], None], before: Callable[[str, int], None] | None) -> NoReturn:
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        if before is not None:
            sys.addaudithook(_counting(before))
        act(out)
        code = 0
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 - told by the exit code, and the reason on standard error
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def _counting(before: Callable[[str, int], None]) -> Callable[[str, tuple[object, ...]], None]:
    """Return an audit hook that tells each operation on the file system, and how many of its kind and of all came."""
    counts = Counter[str]()

    def hook(event: str, _arguments: tuple[object, ...]) -> None:
        if event == "open" or (event.startswith(("os.", "shutil.")) and event != "os.kill"):
            counts.update((event, ""))
            before(event, counts[event])
            before("", counts[""])

    return hook


def at(moment: int, number: signal.Signals, event: str = "") -> Callable[[str, int], None]:
    """Return what sends this process a signal at one of its operations, or of those of a kind."""

    def before(kind: str, count: int) -> None:
        if (kind, count) == (event, moment):
            os.kill(os.getpid(), number)

    return before


def at_renames(moment: int, number: signal.Signals) -> Callable[[str, int], None]:
    """Return what sends this process a signal before it renames a file for the so-manieth time."""
    return at(moment, number, "os.rename")


@dataclass
class Ground:
    """A folder for trials: ``out`` holds generation ``held`` (0: it does not exist) before each."""

    folder: Path
    size: int
    fresh: bool
    held: int = 0

    @property
    def out(self) -> Path:
        """The output folder."""
        return self.folder / "out"

    def prepare(self) -> None:
        """Remove the output folder, or lay a first generation beside the user's files."""
        if self.fresh:
            shutil.rmtree(self.out, ignore_errors=True)
            self.held = 0
        elif not self.held:
            self.held = 1
            lay(self.out, self.held, self.size)
            for name, text in MINE.items():
                (self.out / name).parent.mkdir(parents=True, exist_ok=True)
                (self.out / name).write_text(text)

    def judge(self, number: signal.Signals, *expected: int) -> str:
        """Return what is found; let the next run write, and return ``broken`` if anything is not as it must be."""
        found = found_in(self.out, self.size)
        if found not in expected and number == signal.SIGKILL and not (self.out / "plan.json").exists():
            recover(self.out)
            result = "undone" if found_in(self.out, self.size) in {self.held, *expected} else "broken"
        else:
            result = "broken" if found not in expected else "old" if found == self.held else "new"
        self.held = max(expected) + 1
        lay(self.out, self.held, self.size)
        tidy = [path.name for path in self.folder.iterdir()] == ["out"] and not has_journal(self.out)
        tidy = tidy and found_in(self.out, self.size) == self.held
        mine = self.fresh or all((self.out / name).read_text() == text for name, text in MINE.items())
        return result if tidy and mine else "broken"


def aimed(ground: Ground, number: signal.Signals, first: int = 1, stride: int = 1) -> Iterator[str]:
    """Yield the outcome of a signal at each ``stride``-th operation of a writer, until one gets to its end."""
    moment, code = first, -1
    while code != 0:
        ground.prepare()
        code = Writer.start(ground.out, ground.held + 1, ground.size, at(moment, number)).ended()
        if code != 0:
            yield ground.judge(number, ground.held, ground.held + 1)
        moment += stride


def at_random(ground: Ground, number: signal.Signals, delay_s: float) -> str:
    """Return the outcome of a signal from outside, so long after a writer was started."""
    ground.prepare()
    writer = Writer.start(ground.out, ground.held + 1, ground.size)
    time.sleep(delay_s)
    os.kill(writer.pid, number)
    writer.ended()
    return ground.judge(number, ground.held, ground.held + 1)


def two_writers(ground: Ground, number: signal.Signals, moment: int) -> str:
    """Return the outcome of two writers at once, of which one is killed: the other's bundle, or both one by one."""
    ground.prepare()
    killed = Writer.start(ground.out, ground.held + 1, ground.size, at(moment, number))
    other = Writer.start(ground.out, ground.held + 2, ground.size)
    killed.ended()
    done = other.ended() == 0
    return ground.judge(number, ground.held + 1, ground.held + 2) if done else "broken"


def write_time_s(ground: Ground) -> float:
    """Return how long a writer takes, with its fork."""
    ground.prepare()
    started = time.perf_counter()
    Writer.start(ground.out, ground.held + 1, ground.size).ended()
    ground.held += 1
    return time.perf_counter() - started


def _rows(folder: Path, arguments: argparse.Namespace) -> Iterator[tuple[str, str, str, Counter[str]]]:
    dice = random.Random(arguments.seed)
    for name, fresh in (("fresh folder", True), ("--force", False)):
        for number in SIGNALS:
            ground = Ground(Path(tempfile.mkdtemp(dir=folder)), arguments.files, fresh)
            first = dice.randint(1, arguments.stride)
            yield name, number.name, "aimed", Counter(aimed(ground, number, first, arguments.stride))
            longest = write_time_s(ground) * 1.2
            delays = [dice.random() * longest for _ in range(arguments.random // 3)]
            yield name, number.name, "random", Counter(at_random(ground, number, delay) for delay in delays)
    for number in SIGNALS:
        ground = Ground(Path(tempfile.mkdtemp(dir=folder)), arguments.files, fresh=False)
        moments = [dice.randint(1, 600) for _ in range(arguments.random // 3)]
        yield "two writers", number.name, "aimed", Counter(two_writers(ground, number, moment) for moment in moments)


def main() -> int:
    """Print a row a kind of trial; 1 if any left something broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=60, help="files of a bundle")
    parser.add_argument("--random", type=int, default=150, help="random trials of each scenario")
    parser.add_argument("--stride", type=int, default=3, help="aim at each so-manieth operation")
    parser.add_argument("--folder", type=Path, default=MEMORY if MEMORY.is_dir() else None, help="where to write")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder, total = Path(tempfile.mkdtemp(dir=arguments.folder)), Counter[str]()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(dir=folder)
    print(f"{'scenario':14}{'signal':10}{'moment':8}{'trials':>8}{'old':>6}{'new':>6}{'undone':>8}{'broken':>8}")
    try:
        for scenario, name, moment, counted in _rows(folder, arguments):
            total += counted
            print(f"{scenario:14}{name:10}{moment:8}{counted.total():8}", end="")
            print(f"{counted['old']:6}{counted['new']:6}{counted['undone']:8}{counted['broken']:8}", flush=True)
    finally:
        shutil.rmtree(folder)
    print(f"{'all':32}{total.total():8}{total['old']:6}{total['new']:6}{total['undone']:8}{total['broken']:8}")
    return 1 if total["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
