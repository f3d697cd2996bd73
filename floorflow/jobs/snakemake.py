"""Snakemake as a process beside: what it is asked for, one at a time in a folder, watched until it ends."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from floorflow.errors import InputError

LOCK, LOG = "lock", "snakemake.log"
POLL_S = 0.2
PATIENCE_S = 10.0
"""Seconds for Snakemake and its jobs to end before they are killed."""


def require_snakemake() -> None:
    """Refuse where it is not installed."""
    if find_spec("snakemake") is None:
        raise InputError("Snakemake is not installed, which runs the jobs", hint="pip install 'floorflow[jobs]'")


def command(folder: Path, at_once: int, threads: int, limits: Mapping[str, int], profile: str | None) -> list[str]:
    """Return the command that runs ``folder/Snakefile``, so many jobs at once with so many threads each.

    ``limits``: what all running jobs may hold together of resources. A profile names a cluster, whose memory is its
    scheduler's to share out. What is there and what is not the jobs' names tell, never the times of files.
    """
    own = ["-s", "Snakefile", "--directory", str(folder), "--keep-going", "--nolock", "--rerun-incomplete"]
    own += ["--rerun-triggers", "params", "--keep-incomplete"]
    own += ["--jobs", str(at_once)] if profile else ["--cores", str(at_once * threads)]
    own += ["--resources", *(f"{name}={amount}" for name, amount in limits.items())]
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
                f"{folder}: another build works in it (process {file.read().strip() or 'unknown'})",
                hint="wait for it, or end it",
            ) from None
        yield file.fileno()


def run(words: Sequence[str], folder: Path, lock: int, tell: Callable[[], None]) -> int:
    """Run a command in a folder until it ends; return its exit code. Its words are in `LOG`.

    ``tell`` is called now and then. KeyboardInterrupt ends it and all that it started.
    """
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own words
            words, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, pass_fds=[lock], start_new_session=True
        )
    os.truncate(lock, 0)
    os.write(lock, str(process.pid).encode())
    try:
        while process.poll() is None:
            tell()
            time.sleep(POLL_S)
    except BaseException:
        _end(process)
        raise
    return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group, first by asking."""
    for number, patience in ((signal.SIGTERM, PATIENCE_S), (signal.SIGKILL, PATIENCE_S)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
