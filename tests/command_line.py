"""The command line in this process: what a process of its own would do, without a second of imports.

Tests that need a fresh interpreter (exit by a signal, standard streams, what an import finds) start one themselves.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from floorflow.cli.main import app


@dataclass(frozen=True)
class Ended:
    """What a command left behind, by the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def floorflow(*words: str | Path, path: Sequence[Path] = (), folder: Path | None = None) -> Ended:
    """Run a command in a folder, with more folders in front on Python's path; an unexpected error is raised."""
    written = [str(word) for word in words]
    with (
        patch.object(sys, "path", [*map(str, path), *sys.path]),
        patch.object(sys, "argv", ["floorflow", *written]),
        patch.dict(os.environ, {"COLUMNS": "200"}),
        chdir(folder or Path.cwd()),
    ):
        importlib.invalidate_caches()
        result = CliRunner().invoke(app, written, catch_exceptions=False)
    return Ended(result.exit_code, result.stdout, result.stderr)
