"""Plan models on boards and print a table of verdicts.

    python benchmarks/verdicts.py MODEL.onnx [MODEL.onnx ...] [--boards alveo-u250 pynq-z1] [-- MORE PLAN OPTIONS]

Every plan runs as a command of its own, is checked, and its wall time (imports included) is shown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from textwrap import shorten
from typing import Any

BOARDS = ("pynq-z1", "zcu104", "alveo-u250", "xcku5p")
HEADINGS = (
    "model", "board", "verdict", "FPGAs", "interval", "bound", "frames/s", "bottleneck", "SLRs",
    "largest use of available", "SLR crossings", "over links", "gap fold", "gap partition", "gap place", "seconds",
)  # fmt: skip
MOST_SAID = 300
"""Characters of a message that a row has room for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--boards", nargs="+", default=list(BOARDS))
    own, more = sys.argv[1:], []
    if "--" in own:
        own, more = own[: own.index("--")], own[own.index("--") + 1 :]
    chosen = parser.parse_args(own)
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + "---|" * len(HEADINGS))
    for model in chosen.models:
        for board in chosen.boards:
            print("| " + " | ".join(row(model, board, more)) + " |", flush=True)


def row(model: Path, board: str, more: list[str]) -> list[str]:
    name = model.name.split(".")[0].removeprefix("brevitas_")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        started = time.perf_counter()
        done = floorflow("plan", str(model), "-p", board, "-o", str(out), "--no-plots", "--json", "-q", *more)
        seconds = f"{time.perf_counter() - started:.1f}"
        if done.returncode:
            said = shorten(done.stderr, MOST_SAID, placeholder=" ...")
            return [name, board, f"exit {done.returncode}: {said}", *[""] * (len(HEADINGS) - 4), seconds]
        checked = floorflow("check", str(out)).returncode
        return [name, board, "legal" if checked == 0 else "ILLEGAL", *plan_cells(json.loads(done.stdout)), seconds]


def floorflow(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "floorflow", *arguments], capture_output=True, text=True, check=False)


def plan_cells(plan: dict[str, Any]) -> list[str]:
    phase = plan["phases"][0]
    estimates, partition = phase["estimates"], phase["partition"]
    slots = sorted(set(partition["assignment"].values()))
    kinds = Counter(crossing["kind"] for crossing in partition["crossings"])
    return [
        str(len({slot.split(".")[0] for slot in slots})), f"{estimates['cycles']:,}",
        f"{plan['search']['bound_cycles']:,}", f"{int(estimates['fps']):,}", estimates["bottleneck"], str(len(slots)),
        fullest(partition["utilisation"]), str(kinds["sll"]), str(kinds["link"]),
        share(phase["folding"]["stats"]["gap"]), share(partition["stats"]["gap"]),
        "/".join(share(plan["stats"]["gap"]) for plan in phase["floorplan"].values()),
    ]  # fmt: skip


def fullest(utilisation: dict[str, dict[str, float]]) -> str:
    """The fullest slot's largest uses."""
    slot, uses = max(utilisation.items(), key=lambda item: max(item[1].values()))
    largest = sorted(uses.items(), key=lambda item: -item[1])[:2]
    return f"{slot.removeprefix('fpga')} " + ", ".join(f"{name} {use:.0%}" for name, use in largest)


def share(gap: float | None) -> str:
    return "?" if gap is None else f"{gap:.1%}"


if __name__ == "__main__":
    main()
