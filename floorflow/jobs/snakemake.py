"""Snakemake as a process beside: what it is asked for, one at a time in a folder, watched until it ends."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from floorflow.errors import InputError, ToolError
from floorflow.reading import read_bytes

CONFIG, SNAKEFILE = "config.yaml", "Snakefile"
LOCK, LOG = "lock", "snakemake.log"
POLL_S, TELL_S = 0.2, 1.0
PATIENCE_S = 10.0
"""Seconds for Snakemake and its jobs to end before they are killed."""


def require_snakemake() -> None:
    """Refuse where it is not installed."""
    if find_spec("snakemake") is None:
        raise InputError("Snakemake is not installed, which runs the jobs", hint="pip install 'floorflow[jobs]'")


def write_jobs(folder: Path, rules: str, config: Mapping[str, Any]) -> None:
    """Write a Snakefile, and its data."""
    (folder / SNAKEFILE).write_text(rules, encoding="utf-8")
    text = yaml.safe_dump(config, sort_keys=False, width=120)
    (folder / CONFIG).write_text(text, encoding="utf-8")


def read_config(folder: Path) -> dict[str, Any]:
    """Return the data of the Snakefile in a folder."""
    config: dict[str, Any] = yaml.safe_load(read_bytes(folder / CONFIG, "configuration", "run the command again"))
    return config


def command(folder: Path, at_once: int, threads: int, limits: Mapping[str, int], profile: str | None) -> list[str]:
    """Return the command that runs ``folder/Snakefile``, so many jobs at once with so many threads each.

    ``limits``: what all running jobs may hold together of resources. A profile names a cluster, whose memory is its
    scheduler's to share out. What is there and what is not the jobs' names tell, never the times of files; what is
    there is whole (`tell_of`), whether or not Snakemake lived to see it.
    """
    own = ["-s", "Snakefile", "--directory", str(folder), "--keep-going", "--nolock", "--ignore-incomplete"]
    own += ["--rerun-triggers", "params", "--keep-incomplete"]
    own += ["--jobs", str(at_once)] if profile else ["--cores", str(at_once * threads)]
    own += ["--resources", *(f"{name}={amount}" for name, amount in limits.items())] if limits else []
    own += ["--profile", profile] if profile else []
    return [sys.executable, "-m", "snakemake", *own]


@contextmanager
def held_alone(folder: Path) -> Iterator[int]:
    """Hold a folder's lock, and give it to what is started with its file; refuse where another holds it."""
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise InputError(
                f"{folder}: another run works in it (process {file.read().strip() or 'unknown'})",
                hint="wait for it, or end it",
            ) from None
        yield file.fileno()


@contextmanager
def alone(folder: Path, name: str) -> Iterator[int]:
    """Wait until nobody else does a job: what it runs may outlive whoever waited for it, and holds the lock too."""
    with (folder / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def tell_of(path: Path, content: object) -> None:
    """Write a file that tells of a job, whole or not at all."""
    beside = path.with_name(f".{path.name}")
    beside.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    beside.replace(path)


def run(words: Sequence[str], folder: Path, lock: int, state: Callable[[], str], tell: Callable[[str], None]) -> int:
    """Run a command in a folder until it ends; return its exit code. Its words are in `LOG`.

    ``tell`` is told the ``state`` now and then. KeyboardInterrupt, which then says it, ends all that was started.
    """
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own words
            words, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, pass_fds=[lock], start_new_session=True
        )
    os.truncate(lock, 0)
    os.write(lock, str(process.pid).encode())
    last = -TELL_S
    try:
        while process.poll() is None:
            if time.monotonic() - last >= TELL_S:
                last = time.monotonic()
                tell(state())
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        _end(process)
        raise KeyboardInterrupt(f"{state()}; the same command goes on from there") from None
    except BaseException:
        _end(process)
        raise
    return process.returncode


def require_begun(folder: Path) -> None:
    """Raise ToolError, with the last lines of what Snakemake said, if it did not come to a job."""
    log = read_bytes(folder / LOG, "report", "run the command again").decode(errors="replace").splitlines()
    if not any(line.startswith(("rule ", "localrule ")) for line in log):
        raise ToolError(f"Snakemake failed: {' '.join(log[-3:])}", hint=f"see {folder / LOG}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group, first by asking."""
    for number, patience in ((signal.SIGTERM, PATIENCE_S), (signal.SIGKILL, PATIENCE_S)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
