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
from pathlib import Path
from typing import Any

BOARDS = ("pynq-z1", "zcu104", "alveo-u250", "xcku5p")
HEADINGS = (
    "model", "board", "verdict", "interval", "bound", "frames/s", "bottleneck", "SLRs", "largest use of available",
    "gap fold", "gap partition", "gap place", "seconds",
)  # fmt: skip


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
            return [name, board, f"exit {done.returncode}: {done.stderr.strip()}", *[""] * 9, seconds]
        checked = floorflow("check", str(out)).returncode
        return [name, board, "legal" if checked == 0 else "ILLEGAL", *facts(json.loads(done.stdout)), seconds]


def floorflow(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "floorflow", *arguments], capture_output=True, text=True, check=False)


def facts(plan: dict[str, Any]) -> list[str]:
    phase = plan["phases"][0]
    estimates, partition = phase["estimates"], phase["partition"]
    uses = {slot: max(use.items(), key=lambda item: item[1]) for slot, use in partition["utilisation"].items()}
    shown = ", ".join(f"{slot.split('.')[1]} {r} {u:.0%}" for slot, (r, u) in uses.items() if u)
    placed = next(iter(phase["floorplan"].values()))["stats"]
    gaps = [f"{s['gap']:.1%}" for s in (phase["folding"]["stats"], partition["stats"], placed)]
    slots = len(set(partition["assignment"].values()))
    return [
        f"{estimates['cycles']:,}", f"{plan['search']['bound_cycles']:,}", f"{int(estimates['fps']):,}",
        estimates["bottleneck"], str(slots), shown, *gaps,
    ]  # fmt: skip


if __name__ == "__main__":
    main()
