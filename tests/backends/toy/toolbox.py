"""The toy back end of ``tests/toy_backend``: where it is, and floorflow's command line with it installed or not."""

from pathlib import Path

from tests import command_line
from tests.command_line import Ended
from tests.plans import ROOT

TOY = ROOT / "tests" / "toy_backend"
EDGES = TOY / "edges.toy"
U250 = ("-p", "alveo-u250", "--cap", "LUT=0.0055", "--cap", "DSP=0.03", "--effort", "fast")
"""A card on which these caps spread the edges over SLRs; widths differ and are converted between most engines."""


def floorflow(*words: str | Path, installed: bool = True, path: tuple[Path, ...] = (TOY,)) -> Ended:
    """Run the command line; ``installed``: with the toy back end, or what ``path`` holds, on Python's path."""
    return command_line.floorflow(*words, path=path if installed else ())


def plan(model: Path, out: Path, *words: str) -> Ended:
    return floorflow("plan", model, "--backend", "toykit", "-o", out, *words)
