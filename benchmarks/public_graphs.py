"""Partition public task graphs of multi-die designs with method ``cuts``, and print what is found, its bound and time.

    python benchmarks/public_graphs.py FOLDER [--only WORD] [--effort fast|default|best] [--seed 0] [--method cuts]

FOLDER holds ``devices.json``, a graph a file as JSON, and a README.md with the table of what is known, from which the
envelopes (U: share of a slot's resources in use, L: wires over each row boundary) and best values are read. Slots make
a grid; the cost of a wire is the columns and rows between its ends. A module's area is its own and that of the FIFOs it
reads, in 1/1000 of a resource. Seconds are of one CPU.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor, log2
from pathlib import Path
from typing import Any

from floorflow.hardware import Crossing
from floorflow.partition import Edge, ModuleStream, PartitionProblem, PartitionSolution, SlotCapacity, partition
from floorflow.partition.problem import SharedLimit
from floorflow.resources import Resources, total

PARTS = 1000
"""FIFOs take parts of a LUT: amounts are whole numbers of these parts."""
ENVELOPE = re.compile(r"U=([\d.]+), L=(\d+): (\d+) (?:proven|\(bound (\d+)\))")


@dataclass(frozen=True)
class Known:
    """A case in one envelope: share of resources, wires over a row boundary, and the best cost with its bound."""

    case: str
    envelope: str
    share: float
    wires: int
    best: int
    bound: int


def known_values(readme: str) -> Iterator[Known]:
    """Read the rows of the table: P the published floorplan's own envelope, S a standard one."""
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 3 or not cells[0].startswith("`"):
            continue
        for envelope, cell in zip("PS", cells[-2:], strict=True):
            if found := ENVELOPE.fullmatch(cell):
                share, wires, best, bound = found.groups()
                yield Known(cells[0].strip("`"), envelope, float(share), int(wires), int(best), int(bound or best))


def problem_of(graph: Mapping[str, Any], device: Mapping[str, Any], share: float, wires: int) -> PartitionProblem:
    """State a graph on a grid of slots, in an envelope."""
    slots = sorted(device["slots"], key=lambda name: (device["slots"][name]["y"], device["slots"][name]["x"]))
    place = {(device["slots"][name]["x"], device["slots"][name]["y"]): index for index, name in enumerate(slots)}
    edges: list[Edge] = []
    rows: dict[int, list[int]] = {}
    for (x, y), index in place.items():
        for beside, other in (("x", (x + 1, y)), ("y", (x, y + 1))):
            if other in place:
                if beside == "y":
                    rows.setdefault(y, []).append(len(edges))
                # A wire pays one for each: no two are boundaries of one FPGA, where the second would be dearer.
                edges.append(Edge(index, place[other], Crossing("sll"), f"{slots[index]}-{slots[place[other]]}"))
    demands = {m["name"]: amounts(m["area"]) for m in graph["modules"]}
    for edge in graph["edges"]:
        demands[edge["dst"]] = total([demands[edge["dst"]], amounts(fifo_area(edge["width"], edge["depth"]))])
    barred = {name: frozenset(range(len(slots))) - {slots.index(slot)} for name, slot in graph["fixed"].items()}
    for name, row in graph.get("row_fixed", {}).items():
        barred[name] = frozenset(i for (_, y), i in place.items() if y != row) | barred.get(name, frozenset())
    return PartitionProblem(
        demands=demands,
        streams=tuple(ModuleStream(e["name"], e["src"], e["dst"], e["width"]) for e in graph["edges"]),
        slots=tuple(SlotCapacity(name, amounts(device["slots"][name]["area"], share)) for name in slots),
        edges=tuple(edges),
        host_in=0,
        host_out=0,
        barred=barred,
        fpgas=tuple(range(len(edges))),
        together=tuple(tuple(group) for group in graph["groups"]),
        shared=tuple(SharedLimit(tuple(over), wires, f"row {y}") for y, over in sorted(rows.items())),
    )


def amounts(area: Mapping[str, float], share: float = 1.0) -> Resources:
    """Return resources in parts; BRAM are of 18 Kbit."""
    names = ("LUT", "FF", "BRAM", "URAM", "DSP")
    return Resources(*(floor(PARTS * share * area.get(name, 0) + 1e-6) for name in names))


def fifo_area(width: int, depth: int) -> dict[str, float]:
    """Return what a FIFO takes: block RAM from 1,024 words on, else LUTs; nothing at depth 0."""
    if depth == 0:
        return {}
    if depth >= 1024:
        return {"FF": width, "BRAM": int(width / 36 * 2)}
    levels = int(log2(depth))
    return {"LUT": width * ((depth - 1) / 16 + 1) + 15 + 3 * levels, "FF": 7 + 3 * levels}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", metavar="WORD", help="only cases with this word")
    parser.add_argument("--effort", choices=["fast", "default", "best"], default="best")
    parser.add_argument("--method", default="cuts")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    devices = json.loads((chosen.folder / "devices.json").read_text(encoding="utf-8"))
    print("| case | envelope | best known | found | bound | proven | s |")
    print("|---|---|--:|--:|--:|---|--:|")
    for known in known_values((chosen.folder / "README.md").read_text(encoding="utf-8")):
        if chosen.only not in known.case:
            continue
        graph = json.loads((chosen.folder / f"{known.case}.json").read_text(encoding="utf-8"))
        problem = problem_of(graph, devices[graph["device"]], known.share, known.wires)
        began = time.process_time()
        answer = partition(problem, chosen.method, chosen.effort, chosen.seed)
        seconds = time.process_time() - began
        best = f"{known.best:,}" + (" proven" if known.bound == known.best else f" (bound {known.bound:,})")
        cells = [known.case, f"{known.envelope}: {known.share:g}, {known.wires:,}", best]
        if isinstance(answer, PartitionSolution):
            assert problem.is_legal(answer.slot_of)
            stats = answer.stats
            cells += [f"{stats.objective:,.0f}", f"{stats.bound or 0:,.0f}", "yes" if stats.gap == 0 else "no"]
        else:
            cells += [str(answer), "", ""]
        print("| " + " | ".join([*cells, f"{seconds:.1f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
