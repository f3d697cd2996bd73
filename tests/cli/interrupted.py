"""Runs of the command line on a terminal, and Ctrl-C, or another signal, as soon as a stage is shown."""

import math
import os
import pty
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LAUNCH = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
"""A shell may start the tests with SIGINT ignored, which children inherit."""
RUN = f"{LAUNCH}from floorflow.__main__ import main; main()"
PATIENCE_S = 30.0
"""After so long a run that does not end is killed: ten times what is promised, for others may hold the machine."""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
_TERMINAL = {"TERM": "xterm", "COLUMNS": "300"}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, all it said, and the CPU and wall seconds from Ctrl-C to its end."""

    code: int
    said: str
    cpu_s: float
    wall_s: float

    @property
    def last_sentence(self) -> str:
        """What it said last, in one line."""
        plain = self.said.replace(HIDE, "").replace(SHOW, "").replace("\x1b[1;33m", "").replace("\x1b[0m", "")
        return plain[plain.rindex("interrupted:") :].replace("\r\n", "")

    @property
    def cursor_is_back(self) -> bool:
        """Whether the cursor was hidden, and shown after that."""
        return self.said.rfind(SHOW) > self.said.rfind(HIDE) >= 0


def interrupted_at(
    marker: str, *arguments: str | Path, code: str = RUN, worked_cpu_s: float = 0.0, number: int = signal.SIGINT
) -> Ended:
    """Start the command line on a terminal of its own, and press Ctrl-C, or send a signal, once it shows ``marker``.

    ``worked_cpu_s``: CPU seconds that it must have worked since then.
    """
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        start_new_session=True,
        env=os.environ | _TERMINAL,
    )
    os.close(theirs)
    said = _read_until(marker, ours)
    begun = _cpu_s(run.pid)
    while (cpu := _cpu_s(run.pid)) < begun + worked_cpu_s:
        assert run.poll() is None, said
    wall = time.monotonic()
    os.kill(run.pid, number)
    said += _read_until(None, ours, wall + PATIENCE_S)
    os.close(ours)
    if time.monotonic() > wall + PATIENCE_S:
        run.kill()
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return Ended(run.returncode, said, usage.ru_utime + usage.ru_stime - cpu, time.monotonic() - wall)


def on_a_terminal(*arguments: str | Path, code: str = RUN, typed: str = "", columns: int = 300) -> str:
    """Run the command line on a terminal of its own to its good end; return all that it said there."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | _TERMINAL | {"COLUMNS": str(columns)},
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    said = _read_until(None, ours)
    os.close(ours)
    assert run.wait() == 0, said
    return said


def _read_until(marker: str | None, terminal: int, deadline: float = math.inf) -> str:
    """Read until the marker stands there, or without one to the end or the deadline."""
    said = b""
    while marker is None or marker.encode() not in said:
        wait = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
        if not select.select([terminal], [], [], wait)[0]:
            break
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that nobody holds the other end any more
            part = b""
        if not part:
            assert marker is None, f"{marker!r} never came: {said.decode()}"
            break
        said += part
    return said.decode(errors="replace")


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
