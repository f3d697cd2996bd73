"""The toy back end of ``tests/toy_backend``: where it is, and floorflow's command line with it installed or not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOY = ROOT / "tests" / "toy_backend"
EDGES = TOY / "edges.toy"
U250 = ("-p", "alveo-u250", "--cap", "LUT=0.0055", "--effort", "fast")
"""A card on which this cap spreads the edges over SLRs; widths differ and are converted between most engines."""


def floorflow(
    *words: str | Path, installed: bool = True, path: tuple[Path, ...] = (TOY,)
) -> subprocess.CompletedProcess[str]:
    """Run the command line; ``installed``: with the toy back end, or what ``path`` holds, on Python's path."""
    folders = [str(folder) for folder in (ROOT, *(path if installed else ()))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "COLUMNS": "200"}
    command = [sys.executable, "-m", "floorflow", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def plan(model: Path, out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return floorflow("plan", model, "--backend", "toykit", "-o", out, *words)
