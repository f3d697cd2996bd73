"""Take link bandwidth away step by step and print what it does to a plan over several FPGAs.

    python benchmarks/links.py MODEL.onnx [--platform alveo-u250] [--fpgas 2] [--gbps 100 50 20 10 5 2 1]

For each bandwidth a link file of its own is written and the model is planned and checked in commands of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from floorflow.assets import asset_folder

HEADINGS = ("Gb/s", "verdict", "interval", "frames/s", "links: Gb/s used", "streams over links", "engines on FPGA 0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--platform", default="alveo-u250")
    parser.add_argument("--fpgas", default="2")
    parser.add_argument("--gbps", nargs="+", default=["100", "50", "20", "10", "5", "2", "1"])
    chosen = parser.parse_args()
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + "---|" * len(HEADINGS))
    for gbps in chosen.gbps:
        print("| " + " | ".join([gbps, *row(chosen, gbps)]) + " |", flush=True)


def row(chosen: argparse.Namespace, gbps: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        link, out = Path(folder) / "link.yaml", Path(folder) / "out"
        text = (asset_folder("platforms") / "links" / "ethernet-100g.yaml").read_text(encoding="utf-8")
        link.write_text(
            text.replace("gbps: 100\n", f"gbps: {gbps}\n").replace("name: ethernet-100g", "name: slower-link"),
            encoding="utf-8",
        )
        where = ("-p", chosen.platform, "--fpgas", chosen.fpgas, "--link", str(link))
        done = floorflow("plan", str(chosen.model), *where, "-o", str(out), "--no-plots", "--json", "-q")
        if done.returncode:
            return [f"exit {done.returncode}: {' '.join(done.stderr.split())}", *[""] * (len(HEADINGS) - 2)]
        verdict = "legal" if floorflow("check", str(out)).returncode == 0 else "ILLEGAL"
        return [verdict, *plan_cells(json.loads(done.stdout))]


def floorflow(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "floorflow", *arguments], capture_output=True, text=True, check=False)


def plan_cells(plan: dict[str, Any]) -> list[str]:
    phase = plan["phases"][0]
    partition, (network,) = phase["partition"], phase["networks"]
    estimates = network["estimates"]
    loads = [f"{load['name']} {load['use']:.3g}" for load in partition["loads"] if load["kind"] == "link"]
    over = sum(crossing["kind"] == "link" for crossing in partition["crossings"])
    first = sum(len(m["engines"]) for m in phase["modules"] if partition["assignment"][m["name"]].startswith("fpga0."))
    return [f"{estimates['expected_cycles']:,}", f"{int(estimates['fps']):,}", ", ".join(loads), str(over), str(first)]


if __name__ == "__main__":
    main()
