"""The jobs of a sweep: a run of ``floorflow plan`` a point, each a process with a time limit in a folder of its own.

What came of a point stands in a file, with the digest of all that it was asked: whatever is there need not be planned
again, and whatever changed is.
"""

import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from floorflow.errors import InputError, LimitError, ToolError
from floorflow.jobs.snakemake import CONFIG, alone, read_config, tell_of, write_jobs
from floorflow.output.listed import sha256
from floorflow.reading import exists, read_json, read_text

FOLDER, POINTS = "jobs", "points"
"""In the folder of a sweep: the jobs, and the plans."""
ROWS, WORK, LOG = "rows", "work", "plan.log"
"""In `FOLDER`: what came of each point; where each is worked on, and what its run said."""
PLAN = "plan.json"
MEM_MB = 2000
"""Asked for a plan, of which those of ResNet-50 take half; again twice as much where that was too little."""
GRACE_S = 120.0
"""After its time limit a plan is written, judged and drawn; a run that is still there then is killed."""
_ENDED = frozenset({0, 2, 3, 5})
"""Exit codes that a run has again: planned, bad input, infeasible, limit reached."""
_SNAKEFILE = """\
# Written by `floorflow sweep`, which also wrote config.yaml: the command line of each point, and what it may take.
#
#   python -m snakemake -s Snakefile --directory . --cores 8 --keep-going
#
# A file in rows/ tells what came of a point, a plan or the message of an error; the plans are in ../points. When these
# files are there, `floorflow sweep` makes the table and the page of them.


configfile: "config.yaml"


rule all:
    input:
        [f"rows/{point}.json" for point in config["points"]],


rule point:
    output:
        "rows/{point}.json",
    threads: config["threads"]
    resources:
        mem_mb=lambda wildcards, attempt: attempt * config["mem_mb"],
        runtime=config["minutes"],
    shell:
        "{config[python]} -m floorflow.jobs point {wildcards.point}"
"""


@dataclass(frozen=True)
class Point:
    """A plan that is asked for: its name, the words after ``floorflow``, and the digest of all that it follows from."""

    name: str
    words: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class Sweep:
    """Points that are planned below ``out``, by commands that run in ``base``, each in ``limit_s`` seconds."""

    out: Path
    base: Path
    points: tuple[Point, ...]
    limit_s: float
    threads: int = 1

    @property
    def folder(self) -> Path:
        """Where the jobs are."""
        return self.out / FOLDER

    def require_own(self) -> None:
        """Refuse a folder that holds anything but a sweep."""
        known = exists(self.folder / CONFIG) and "points" in read_config(self.folder)
        if self.out.is_dir() and any(self.out.iterdir()) and not known:
            raise InputError(f"{self.out}: holds other files than those of a sweep", hint="choose another folder by -o")

    def row(self, point: Point) -> Mapping[str, Any] | None:
        """Return what came of a point; None if it has to be planned, or planned again."""
        path = self.folder / ROWS / f"{point.name}.json"
        if not path.is_file():
            return None
        row: Mapping[str, Any] = read_json(path, "report", f"delete {path}")
        plan = self.out / POINTS / point.name / PLAN
        made = sha256(plan) if row["code"] == 0 and plan.is_file() else None
        return row if (row["digest"], row["plan_sha256"]) == (point.digest, made) and row["code"] in _ENDED else None

    @property
    def left(self) -> list[Point]:
        """The points that have to be planned."""
        return [point for point in self.points if self.row(point) is None]

    @property
    def state(self) -> str:
        """How many points have a row."""
        done = sum((self.folder / ROWS / f"{point.name}.json").is_file() for point in self.points)
        return f"{done} of {len(self.points)} points done"

    def require_rows(self) -> None:
        """Raise ToolError if nothing came of a point: its job was killed."""
        lost = [point.name for point in self.points if not (self.folder / ROWS / f"{point.name}.json").is_file()]
        if lost:
            told = "\n".join(f"  {name}: its job ended without a word, as one does that is killed" for name in lost)
            raise ToolError(f"{len(lost)} points without a row:\n{told}", hint="run the same command again: rows stay")

    def write(self) -> None:
        """Write Snakefile and data, and forget what came of points that have to be planned again."""
        for name in (ROWS, WORK):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.out / POINTS).mkdir(exist_ok=True)
        config = {
            "python": sys.executable,
            "folder": str(self.base),
            "seconds": self.limit_s,
            "minutes": ceil((self.limit_s + GRACE_S) / 60),
            "mem_mb": MEM_MB,
            "threads": self.threads,
            "points": {
                point.name: {"digest": point.digest, "command": shlex.join(point.words)} for point in self.points
            },
        }
        write_jobs(self.folder, _SNAKEFILE, config)
        for point in self.left:
            (self.folder / ROWS / f"{point.name}.json").unlink(missing_ok=True)


def main(words: Sequence[str]) -> int:
    """Plan a point in the folder of jobs, and write what came of it; that there is no plan is no failure."""
    (name,) = words
    folder = Path.cwd()
    config = read_config(folder)
    asked, out, home = config["points"][name], folder.parent / POINTS / name, folder / WORK / name
    home.mkdir(exist_ok=True)
    command = [config["python"], "-m", "floorflow", *shlex.split(asked["command"]), "-o", str(out), "--force"]
    with alone(folder / WORK, name) as held:
        started, ended = time.monotonic(), True
        with (home / LOG).open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own words
                command, cwd=config["folder"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[held]
            )
        try:
            code = process.wait(config["seconds"] + GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            ended, code = False, LimitError.exit_code
        seconds = time.monotonic() - started
        message, hint = _said(read_text(home / LOG, "report", "plan again", replace=True), code)
        if not ended:
            message, hint = f"did not end within {config['seconds'] + GRACE_S:g} s, and was killed", ""
        row = {
            "digest": asked["digest"],
            "code": code if code >= 0 else 128 - code,
            "message": message,
            "hint": hint,
            "plan_sha256": sha256(out / PLAN) if code == 0 else None,
            "wall_s": round(seconds, 2),
        }
        tell_of(folder / ROWS / f"{name}.json", row)
    return 0


def _said(log: str, code: int) -> tuple[str, str]:
    """Return the message and the hint of the error that a run ended with."""
    if code == 0:
        return "", ""
    _, found, last = f"\n{log}".rpartition("\nerror: ")
    if not found:
        killed = "killed (signal 9), as the system does when memory runs out"
        return killed if code == -9 else f"ended with exit code {code} and without a message", ""
    message, _, hint = last.partition("\nhint: ")
    return " ".join(message.split()), " ".join(hint.split())
