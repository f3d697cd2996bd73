"""The zoo on real boards: in space, in time, in both; and the batch at which a reconfiguration pays.

    python benchmarks/reconfiguration.py plan RESULTS.json [--only TEXT] [--seconds 240]
    python benchmarks/reconfiguration.py table RESULTS.json
    python benchmarks/reconfiguration.py picture RESULTS.json FOLDER

`plan` runs `floorflow plan` and `floorflow check` on each network and board, and keeps what is known already; a run
that is cut off by its time is a row of its own. *Time* on a card with several SLRs leaves it the host's SLR alone.
`picture` folds all segments of the networks that come in several phases, and draws the frame rate of a batch over its
size: by the folding bounds, so no plan is above its line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml
from matplotlib.figure import Figure

from floorflow.errors import required
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES
from floorflow.search.candidate.preparing import context_of, priced, read
from floorflow.search.many.phases import phase_request, segments_in_time
from floorflow.segments.in_time import BoardMemory
from floorflow.segments.paths import cheapest_path, lazy_path

ZOO = Path(__file__).parent.parent / "examples" / "zoo"
EXAMPLES = ZOO.parent
NETWORKS = ("three_layer", "tfc", "mpcnn", "lenet", "cnv", "mobilenet_v1", "vgg11", "resnet50_w1a2")
BOARDS = ("pynq-z1", "zcu104", "alveo-u250", "xcku5p")
SEVERAL_SLRS = "alveo-u250"
BATCH = 256
IN_TIME = ["--reconfigure", "full", "--batch", str(BATCH)]
WAYS = {"space": [], "time": IN_TIME, "space and time": IN_TIME}
KEYS = ("network", "board", "way")


def model_of(network: str) -> Path:
    """Return a network of the zoo, or of the examples beside it."""
    place = ZOO / f"{network}.onnx"
    return place if place.exists() else EXAMPLES / place.name


def with_one_slr(board: str, folder: Path) -> Path:
    """Write the file of a card of which the host's SLR alone may be used."""
    text = (EXAMPLES.parent / "platforms" / "boards" / f"{board}.yaml").read_text(encoding="utf-8")
    facts = yaml.safe_load(text)
    measured = facts["shell"]["measured_available"]
    measured |= {slr: dict.fromkeys(RESOURCE_NAMES, 0) for slr in ("SLR1", "SLR2", "SLR3")}
    path = folder / f"{board}.yaml"
    path.write_text(yaml.safe_dump(facts | {"name": f"{board}-one-slr"}), encoding="utf-8")
    return path


def planned(network: str, board: str, way: str, seconds: float) -> dict[str, object]:
    """Return what a plan and its check say, as a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        alone = way == "time" and board == SEVERAL_SLRS
        platform = str(with_one_slr(board, Path(folder))) if alone else board
        asked = [str(model_of(network)), "-p", platform, "-o", str(out), "--no-plots", "--bargains", "none"]
        command = [sys.executable, "-m", "floorflow", "plan", *asked, "--effort", "fast", *WAYS[way]]
        started = time.perf_counter()
        row: dict[str, object] = {"network": network, "board": board, "way": way}
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return row | {"status": f"no answer in {seconds:g} s"}
        row["seconds"] = round(time.perf_counter() - started, 1)
        if run.returncode:
            last = [line for line in run.stderr.splitlines() if line.startswith("error")] or [run.stderr[-300:]]
            return row | {"status": f"exit {run.returncode}", "why": last[-1]}
        check = subprocess.run([sys.executable, "-m", "floorflow", "check", str(out)], capture_output=True, check=False)
        plan = json.loads((out / "plan.json").read_text())
        return row | {"status": "legal" if check.returncode == 0 else "check fails"} | figures(plan)


def figures(plan: dict) -> dict[str, object]:
    """Return the time of a batch in ms, what is proven of it, and the phases of a plan."""
    clock_mhz, schedule = plan["options"]["clock_mhz"], plan["schedule"]
    (network,) = plan["summary"]["networks"]
    if schedule is None:
        bound = max(network["bound_cycles"], network["joint_bound_cycles"] or 0)
        ms = [BATCH * cycles / clock_mhz / 1e3 for cycles in (network["interval_cycles"], bound)]
        return {"phases": 1, "batch_ms": ms[0], "bound_ms": ms[1], "load_ms": 0.0}
    return {
        "phases": len(plan["phases"]),
        "batch_ms": schedule["period_us"] / 1e3,
        "bound_ms": schedule["stats"]["bound"] / 1e3,
        "load_ms": sum(step["load_us"] for step in schedule["steps"]) / 1e3,
    }


def plan_all(results: Path, only: str, seconds: float) -> None:
    rows = json.loads(results.read_text()) if results.exists() else []
    known = {(row["network"], row["board"], row["way"]) for row in rows}
    for network in NETWORKS:
        for board in BOARDS:
            for way in WAYS:
                key = network, board, way
                # On one die time alone is the same as space and time.
                same = way == "time" and board != SEVERAL_SLRS
                if same or key in known or only not in " ".join(key):
                    continue
                rows.append(planned(*key, seconds))
                print(rows[-1], flush=True)
                results.write_text(json.dumps(rows, indent=1))


def table(results: Path) -> None:
    print(f"| network | board | way | ms a batch of {BATCH} | proven not below | gap | phases | loading | frames/s | |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    orders = NETWORKS, BOARDS, tuple(WAYS)
    rows = json.loads(results.read_text())
    for row in sorted(rows, key=lambda row: [o.index(row[k]) for o, k in zip(orders, KEYS, strict=True)]):
        head = f"| {row['network']} | {row['board']} | {row['way']} |"
        if "batch_ms" not in row:
            print(f"{head} | | | | | | {row.get('why', row['status'])[:160]} |")
            continue
        gap = max(0.0, 1 - row["bound_ms"] / row["batch_ms"])
        print(
            f"{head} {row['batch_ms']:,.2f} | {row['bound_ms']:,.2f} | {gap:.1%} | {row['phases']} "
            f"| {row['load_ms'] / row['batch_ms']:.0%} | {BATCH * 1e3 / row['batch_ms']:,.0f} | {row['status']} |"
        )


def rates(network: str, board: str, batches: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return frames a second by batch, the number of partitions, and the rate of one alone, all by folding bounds."""
    request = Request(model_of(network), board, reconfigure="full", bargains="none")
    whole = priced(read(request), phase_request(request), 1)
    own = whole.platform.fpgas[0].board
    segments = segments_in_time(
        required(context_of(whole)), BoardMemory(own.memory_gbps or 0, whole.platform.clock_mhz)
    )
    count, load_us = len(segments.blocks), (own.reconfiguration.ms if own.reconfiguration else 0) * 1e3
    fps, parts = np.zeros(len(batches)), np.zeros(len(batches), dtype=np.int64)
    for number, batch in enumerate(batches.tolist()):
        us_per_cycle = batch / whole.platform.clock_mhz
        cost, path = lazy_path(
            lambda us_per_cycle=us_per_cycle: cheapest_path(segments.lowest * us_per_cycle, load_us),  # type: ignore[misc]
            lambda found: segments.folded.close(found[1] or ()),
        )
        fps[number], parts[number] = batch * 1e6 / cost, len(path or ())
    segments.folded.close([(0, count)])
    return fps, parts, whole.platform.clock_mhz * 1e6 / segments.lowest[0, count]


def picture(results: Path, folder: Path, pairs: list[tuple[str, str]]) -> None:
    batches = np.unique(np.round(np.geomspace(1, 65536, 33)).astype(np.int64))
    figure = Figure(figsize=(5.2 * len(pairs), 4.0), layout="constrained")
    plans = json.loads(results.read_text()) if results.exists() else []
    for number, (network, board) in enumerate(pairs):
        axes = figure.add_subplot(1, len(pairs), number + 1)
        fps, parts, alone = rates(network, board, batches)
        axes.loglog(batches, fps, color="#0072b2", label="partitions in time, proven not above")
        if alone > 0:
            axes.axhline(alone, color="#d55e00", linestyle="--", label="one partition alone, proven not above")
        pays = next((batch for batch, count in zip(batches.tolist(), parts.tolist(), strict=True) if count > 1), None)
        if pays is not None and alone > 0:
            axes.axvline(pays, color="#999999", linewidth=0.8)
            axes.annotate(
                f"pays from {pays:,} frames",
                (pays, fps.max()),
                fontsize=8,
                color="#555555",
                rotation=90,
                va="top",
                ha="right",
            )
        before = 0
        for batch, count, rate in zip(batches.tolist(), parts.tolist(), fps.tolist(), strict=True):
            if count != before:
                axes.annotate(f"p = {count}", (batch, rate), textcoords="offset points", xytext=(2, 6), fontsize=8)
                before = count
        for row in plans:
            if (row["network"], row["board"]) == (network, board) and "batch_ms" in row:
                rate, mark = BATCH * 1e3 / row["batch_ms"], "s" if row["way"] == "space" else "o"
                axes.plot(
                    [BATCH], [rate], mark, color="#009e73", label=f"planned, {row['way']}, {row['phases']} phases"
                )
        axes.set(xlabel="frames a batch", ylabel="frames/s", title=f"{network} on {board}")
        axes.grid(visible=True, which="major", color="#e5e5e5")
        axes.legend(fontsize=7, loc="best")
    folder.mkdir(parents=True, exist_ok=True)
    for end in ("png", "svg"):
        figure.savefig(folder / f"reconfiguration_pays.{end}", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("plan", "table", "picture"))
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--pairs", default="cnv_2w2a:pynq-z1,mobilenet_v1_w4a4:pynq-z1,mobilenet_v1:zcu104")
    asked = parser.parse_args()
    if asked.what == "plan":
        plan_all(asked.results, asked.only, asked.seconds)
    elif asked.what == "table":
        table(asked.results)
    else:
        pairs = [tuple(pair.split(":")) for pair in asked.pairs.split(",")]
        picture(asked.results, asked.folder, pairs)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
