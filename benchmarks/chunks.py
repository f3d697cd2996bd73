"""Chunks swapped by partial reconfiguration: the paper's figures and tables, `milp` against `exact`, and what helps.

    python benchmarks/chunks.py [--parts paper,milp,gains] [--areas 0.3:1.0:0.05]

Prints Markdown. The paper is Seyoum et al.; its models: examples/seyoum_case.json. Seconds are of the clock.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from floorflow import api
from floorflow.papers.dpr.case_file import ChunkCase, read_chunk_case
from floorflow.papers.dpr.case_rows import answered_rows
from floorflow.papers.dpr.over_areas import PAPER
from tests.residual_models import residual_network

ROOT = Path(__file__).resolve().parents[1]
CASE = ROOT / "examples" / "seyoum_case.json"
BOARDS = ("pynq-z1", "zcu104")
BASE: dict[str, Any] = {"foldings": "powers", "costs": "finn", "regions": 1}
GAINS: dict[str, dict[str, Any]] = {
    "base": {},
    "all foldings": {"foldings": "all"},
    "free size": {"regions": 1, "sizes": "free", "size_step": 0.05},
    "two regions": {"regions": 2, "sizes": "free", "size_step": 0.05},
    "calibrated": {"costs": "calibrated"},
    "together": {"foldings": "all", "regions": 2, "sizes": "free", "size_step": 0.05, "costs": "calibrated"},
}
"""``base`` is the paper's: powers of two, one region of the whole area, FINN's own costs for its fit."""


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    for row in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    print()


def shown(ms: float | None) -> str:
    """Return milliseconds, or that there is no design."""
    return "-" if ms is None else f"{ms:.2f}"


def stock_ms(case: ChunkCase, net: str) -> float:
    """Return equation 5 of the stock folding."""
    cycles = [layer.matrix_cycles(*fold) for layer, fold in zip(case.layers, case.stock[net], strict=True)]
    return ((case.batch - 1) * max(cycles) + sum(cycles)) / case.clock_mhz / 1000


def of_model(case: ChunkCase, net: str) -> ChunkCase:
    """Return the case with the rows of one network in model M1 alone."""
    return replace(case, rows=tuple(row for row in case.rows if (row.net, row.model) == (net, "M1")))


def paper_part(case: ChunkCase) -> None:
    """Print what figures 5 to 7 show of both networks, and the numbers of the text beside."""
    for net, printed in PAPER.items():
        started = time.perf_counter()
        rows = answered_rows(of_model(case, net))
        seconds = time.perf_counter() - started
        slowest = max(row["static"]["time"] + row["dynamic"]["time"] for row in rows)
        print(f"## {net}, model M1: {seconds:.1f} s the figure, at most {slowest:.2f} s a point\n")
        keys = ("T_ms", "n", "T_inf_ms", "T_rec_ms")
        lines = [
            [row["sigma"], shown(row["static"].get("T_ms")), *(row["dynamic"].get(key, "-") for key in keys)]
            for row in rows
        ]
        table(["area", "static ms", "dynamic ms", "chunks", "compute ms", "loads ms"], lines)
        static, dynamic = (min(row["sigma"] for row in rows if "T_ms" in row[kind]) for kind in ("static", "dynamic"))
        known = {row["sigma"]: row["static"].get("T_ms") for row in rows}
        facts = [["stock, ms", printed["stock_ms"], shown(stock_ms(case, net))]]
        facts += [[f"static at {area}, ms", ms, shown(known[float(area)])] for area, ms in printed["static_ms"].items()]
        facts += [["static feasible from", printed["static_infeasible_below"], static]]
        facts += [["dynamic feasible from (at most)", printed["dynamic_feasible_down_to"], dynamic]]
        table(["", "paper", "here"], facts)


def milp_part(case: ChunkCase) -> None:
    """Print both methods on all rows of the case, static and dynamic: how often each proves, and agrees."""
    found: dict[tuple[str, str, str], list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for exact, milp in zip(answered_rows(case), answered_rows(case, "milp"), strict=True):
        key = exact["net"], exact["model"], exact["rule"]
        found.setdefault(key, []).extend((exact[kind], milp[kind]) for kind in ("static", "dynamic"))
    print("## milp against exact, all rows of the case, static and dynamic\n")
    head = ["network", "model", "rule", "problems", "milp optimal", "infeasible", "equal", "exact s", "milp s"]
    table(head, [[*key, *agreement(pairs)] for key, pairs in found.items()])


def agreement(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> list[object]:
    """Return how many problems there are, are proven by `milp` and have equal answers, and the most seconds of one."""
    proven = [sum(milp["status"] == status for _, milp in pairs) for status in ("OPTIMAL", "INFEASIBLE")]
    same = sum((one["status"], one.get("T_ms")) == (other["status"], other.get("T_ms")) for one, other in pairs)
    slowest = (max(answers[method]["time"] for answers in pairs) for method in (0, 1))
    return [len(pairs), *proven, same, *(f"{seconds:.2f}" for seconds in slowest)]


def gains_part(areas: str) -> None:
    """Print the dynamic time of each extension, alone and together, on networks and boards."""
    print("## What each extension gains: ms a batch of 256 (times the base); 0.00% gap unless a bound is told\n")
    with tempfile.TemporaryDirectory() as folder:
        residual = Path(folder) / "residual.onnx"
        onnx.save(residual_network(), residual)
        networks = (ROOT / "examples" / "cnv_2w2a.onnx", ROOT / "examples" / "tfc_1w1a.onnx", residual)
        for board in BOARDS:
            print(f"### {board}\n")
            lines: list[list[object]] = []
            for network in networks:
                lines += gains_of(network, board, areas)
            table(["network", "area", *GAINS, "s"], lines)


def gains_of(network: Path, board: str, areas: str) -> list[list[object]]:
    """Return a line for each area."""
    started = time.perf_counter()
    found = [api.chunks(network, board, area=areas, **{**BASE, **more}).as_dict()["points"] for more in GAINS.values()]
    seconds = f"{time.perf_counter() - started:.1f}"
    return [
        [network.stem, columns[0]["area"], *(gained(one, columns[0]) for one in columns), seconds]
        for columns in zip(*found, strict=True)
    ]


def gained(point: dict[str, Any], base: dict[str, Any]) -> str:
    """Return a time, its gap if there is one, and the base's over it."""
    ms, before, gap = point["dynamic"]["ms"], base["dynamic"]["ms"], point["dynamic"]["gap"]
    open_ = f" gap {gap:.2%}" if gap else ""
    return shown(ms) + open_ + (f" ({before / ms:.2f}x)" if ms and before and point is not base else "")


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", default="paper,milp,gains")
    parser.add_argument("--areas", default="0.3:1.0:0.05", help="of the table of gains")
    asked = parser.parse_args()
    case, started = read_chunk_case(CASE), time.perf_counter()
    parts = {
        "paper": lambda: paper_part(case),
        "milp": lambda: milp_part(case),
        "gains": lambda: gains_part(asked.areas),
    }
    for name in asked.parts.split(","):
        parts[name]()
    print(f"{json.dumps(asked.parts)}: {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
