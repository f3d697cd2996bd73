"""Run floorflow as a command of its own, with its time, and read the figures of the plan that it wrote.

What the measuring programs share. Plans of version 0.1 (`floorflow-plan/1`) are read as well as today's.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
GRACE_S = 10
"""Seconds that a command has after Ctrl-C to write the best plan that it knows."""


@dataclass(frozen=True)
class Ran:
    """How a command ended; ``timed_out``: it was told to stop."""

    code: int
    timed_out: bool
    wall_s: float
    user_s: float
    stdout: str
    stderr: str


def command_of(text: str | None) -> list[str]:
    """Return the words of a floorflow command; without one that of this Python, which sees PYTHONPATH as we do."""
    return shlex.split(text) if text else [sys.executable, "-m", "floorflow"]


def run(command: Sequence[str], arguments: Iterable[str], timeout_s: float | None = None) -> Ran:
    """Run a command in a session of its own; at the timeout it gets Ctrl-C, and what is left of it is killed.

    An installed command finds its own package: PYTHONPATH, which would give it another tree, is kept from it.
    Run one at a time: the user seconds are those of all children that end in the meantime.
    """
    # A command in a session of its own would outlive us.
    signal.signal(signal.SIGTERM, _terminated)
    own = command[0] == sys.executable
    environment = {name: value for name, value in os.environ.items() if own or name != "PYTHONPATH"}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
        process = subprocess.Popen(
            [*command, *arguments], stdout=out, stderr=err, env=environment, start_new_session=True
        )
        timed_out = not _ended(process, timeout_s)
        wall_s = time.perf_counter() - started
        user_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        out.seek(0)
        err.seek(0)
        return Ran(process.returncode, timed_out, wall_s, user_s, out.read(), err.read())


def _terminated(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _ended(process: subprocess.Popen[bytes], timeout_s: float | None) -> bool:
    """Wait, and say whether the process ended of its own accord."""
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        _stop(process)
        return False
    except BaseException:
        _stop(process)
        raise
    return True


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C, and kill the session if that is not enough."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def figures(plan: dict[str, Any]) -> Row:
    """Return FPGAs, interval (of FIFOs, if longer) and bounds of a plan of version 1 or 2, None where it has none."""
    search = plan["search"] if plan["schema"] == "floorflow-plan/1" else plan["networks"][0]["search"]
    return {
        "fpgas": len(plan["platform"]["fpgas"]),
        "interval_cycles": max(search["interval_cycles"], *_kept_by_choice(plan)),
        "bound_cycles": search["bound_cycles"],
        "joint_bound_cycles": search.get("joint_bound_cycles"),
        "clock_mhz": plan["options"]["clock_mhz"],
        "interrupted": bool(plan.get("interrupted")),
        **_quality(plan.get("phases", [])),
    }


def _quality(phases: list[dict[str, Any]]) -> Row:
    """Return the fullest slot's share in percent, the streams that cross, their cost and the wires of all phases."""
    parts = [phase["partition"] for phase in phases]
    floorplans = [own for phase in phases for own in phase["floorplan"].values()]
    full = [100 * part["fullness"]["objective"] for part in parts if part.get("fullness")]
    return {
        "fullness": max(full, default=None),
        "crossings": sum(len(part.get("crossings", [])) for part in parts),
        "cost": sum(part.get("cost") or 0 for part in parts),
        "wire_length": sum(own.get("hpwl") or 0 for own in floorplans),
    }


def _kept_by_choice(plan: dict[str, Any]) -> list[int]:
    """Return the intervals that FIFOs keep which were planned shallower than the engines' rate needs, at least a 0."""
    parts = [part for phase in plan.get("phases", []) for part in phase["networks"]]
    timed = [part["estimates"]["throughput"] for part in parts if part["estimates"]["throughput"] is not None]
    return [0, *(found["interval_cycles"] or 0 for found in timed if found["shallow"])]


def planned(command: Sequence[str], arguments: Iterable[str], out: Path, timeout_s: float | None = None) -> Row:
    """Plan into a folder, have it judged by the same command, and return all that is known about the run."""
    ran = run(command, ["plan", *arguments, "-o", str(out), "--quiet"], timeout_s)
    told = {
        "exit": ran.code,
        "timed_out": ran.timed_out,
        "wall_s": round(ran.wall_s, 2),
        "user_s": round(ran.user_s, 2),
        "said": " ".join(ran.stderr.split())[-1000:],
    }
    if not (out / "plan.json").exists():
        return told
    plan = json.loads((out / "plan.json").read_text(encoding="utf-8"))
    checked = run(command, ["check", str(out)])
    return told | figures(plan) | {"check": "legal" if checked.code == 0 else "ILLEGAL"}


def rows_of(file: Path) -> list[Row]:
    """Return the rows of a JSON lines file, none where there is no file."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def keep(row: Row, file: Path) -> None:
    """Append a row to a JSON lines file."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps(row) + "\n")


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
