"""One point of a sweep: what its row says of each way in which a run can end."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest

from floorflow.jobs import points
from floorflow.jobs.points import Point, Sweep

ENDS: dict[str, tuple[str, int, str, str]] = {
    "a limit": ("printf 'note\\nerror: none was\\n  found\\nhint: wait\\n' >&2; exit 5", 5, "none was found", "wait"),
    "no message": ("exit 70", 70, "ended with exit code 70 and without a message", ""),
    "no memory": ("kill -9 $$", 137, "killed (signal 9), as the system does when memory runs out", ""),
    "no end": ("exec sleep 60", 5, "did not end within 0.2 s, and was killed", ""),
    "a plan": ('while [ "$1" != -o ]; do shift; done; mkdir -p "$2"; echo {} > "$2/plan.json"', 0, "", ""),
}


def sweep(tmp_path: Path, run: str) -> Sweep:
    """Return a sweep of one point whose runs do this."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{run}\n")
    program.chmod(0o755)
    made = Sweep(
        tmp_path / "out", tmp_path, (Point("one", ("plan", "m.onnx"), "digest"),), 0.2 if "sleep" in run else 60.0
    )
    made.folder.mkdir(parents=True)
    with patch.object(points.sys, "executable", str(program)):
        made.write()
    return made


@pytest.mark.parametrize(("run", "code", "message", "hint"), ENDS.values(), ids=ENDS)
def test_a_row_says_how_a_run_ended(tmp_path: Path, run: str, code: int, message: str, hint: str) -> None:
    made = sweep(tmp_path, run)
    with patch.object(points, "GRACE_S", 0.0), chdir(made.folder):
        assert points.main(["one"]) == 0
    row = json.loads((made.folder / points.ROWS / "one.json").read_text())
    assert (row["code"], row["message"], row["hint"]) == (code, message, hint)
    # What the same run would end with again is done; what the machine did to it is not.
    assert made.left == ([] if code in {0, 5} else [*made.points])
