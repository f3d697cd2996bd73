"""Compare partition methods on chains and residual graphs over one to four FPGAs like the U250, and print a table.

    python benchmarks/partition.py [--effort fast|default|best] [--seed 0] [--real]

``--real`` takes problems that searches for plans met instead (`benchmarks/data/partition`, in JSON), and `auto` alone:
a first answer (``prove=False``) and, from it, the proof.

Each answer is checked by `PartitionProblem.is_legal`. `plain-metis` is recursive bipartition without refinement; `-`
stands for no legal assignment found. The bound is that of `auto`, the gap how far its answer can be from the optimum.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from itertools import pairwise
from pathlib import Path

from floorflow.hardware import Crossing
from floorflow.partition import (
    Edge,
    ModuleStream,
    PartitionProblem,
    PartitionSolution,
    SlotCapacity,
    partition,
)
from floorflow.resources import Resources, total
from floorflow.stats import Memo

REAL = Path(__file__).parent / "data" / "partition"
METHODS = ("plain-metis", "metis", "dp", "auto")

CASES = (
    # name, modules, FPGAs, modules from one skip connection to the next (0: none), share of LUTs in use
    ("chain 12", 12, 1, 0, 0.70),
    ("chain 24", 24, 1, 0, 0.80),
    ("chain 40", 40, 1, 0, 0.93),
    ("residual 24", 24, 1, 4, 0.70),
    ("residual 48", 48, 1, 3, 0.80),
    ("chain 40", 40, 2, 0, 0.80),
    ("residual 60", 60, 2, 4, 0.75),
    ("residual 60, fewer skips", 60, 2, 6, 0.90),
    ("residual 72", 72, 3, 4, 0.75),
    ("residual 96", 96, 4, 4, 0.85),
)

SLR_LIMITS = (
    Resources(lut=205_000, ff=345_000, bram18=1_060, uram=280, dsp=2_700),  # beside the host
    Resources(lut=300_000, ff=430_000, bram18=1_200, uram=288, dsp=2_760),
    Resources(lut=205_000, ff=345_000, bram18=1_060, uram=280, dsp=2_700),
    Resources(lut=265_000, ff=390_000, bram18=1_040, uram=288, dsp=2_760),  # beside the link core
)
SLL_WIRES = (11_520, 11_520, 23_040)
LINK_GBPS = 100.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", choices=["fast", "default", "best"], default="default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", action="store_true")
    chosen = parser.parse_args()
    if chosen.real:
        real_problems(chosen.effort, chosen.seed)
        return
    headings = ["case", "FPGAs", *(f"{m}{what}" for m in METHODS for what in ("", " s")), "bound", "gap", "method"]
    print("| " + " | ".join(headings) + " |")
    print("|" + "---|" * len(headings))
    better = 0
    for name, modules, fpgas, skip, share in CASES:
        problem = network(modules, fpgas, skip, share, random.Random(modules * 10 + fpgas + chosen.seed))
        cells, costs = compared(problem, chosen.effort, chosen.seed)
        better += costs["auto"] < costs["plain-metis"]
        print("| " + " | ".join([name, str(fpgas), *cells]) + " |", flush=True)
    print(f"\nauto is better than plain METIS in {better} of {len(CASES)} cases.")


def real_problems(effort: str, seed: int) -> None:
    """Print what `auto` makes of the problems of real searches."""
    print("| problem | modules | slots | first | s | cost | bound | gap | status | method | s |")
    print("|" + "---|" * 11)
    for path in sorted(REAL.glob("*.json")):
        problem, memo = read_problem(path), Memo()
        cells = [path.stem, str(len(problem.demands)), str(len(problem.slots))]
        for prove in (False, True):
            started = time.perf_counter()
            answer = partition(problem, "auto", effort, seed, memo=memo, prove=prove)
            seconds = f"{time.perf_counter() - started:.1f}"
            if not isinstance(answer, PartitionSolution):
                cells += [str(answer), seconds]
                continue
            assert problem.is_legal(answer.slot_of)
            stats, cost = answer.stats, f"{answer.stats.objective:,.0f}"
            proof = [f"{stats.bound or 0:,.0f}", f"{stats.gap or 0:.1%}", stats.status, stats.method]
            cells += [cost, *(proof if prove else []), seconds]
        print("| " + " | ".join(cells) + " |", flush=True)


def read_problem(path: Path) -> PartitionProblem:
    """Read one problem as `benchmarks/data/partition` holds it: resources in the order LUT, FF, BRAM18, URAM, DSP."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return PartitionProblem(
        demands={name: Resources(*amounts) for name, amounts in data["modules"].items()},
        streams=tuple(ModuleStream(*row) for row in data["streams"]),
        slots=tuple(
            SlotCapacity(name, Resources(*limit), tuple(Resources(*capacity) for capacity in capacities))
            for name, limit, capacities in data["slots"]
        ),
        edges=tuple(Edge(a, b, Crossing(**crossing), name) for a, b, crossing, name in data["edges"]),
        host_in=data["host"][0],
        host_out=data["host"][1],
        frames_per_s=data["frames_per_s"],
    )


def compared(problem: PartitionProblem, effort: str, seed: int) -> tuple[list[str], dict[str, float]]:
    cells: list[str] = []
    costs: dict[str, float] = {}
    proof = ["", "", ""]
    for method in METHODS:
        started = time.perf_counter()
        answer = partition(problem, method, effort, seed)
        seconds = time.perf_counter() - started
        costs[method] = float("inf")
        if isinstance(answer, PartitionSolution):
            assert problem.is_legal(answer.slot_of)
            costs[method] = problem.cost(answer.slot_of)
            proof = (
                [f"{answer.stats.bound:,.0f}", f"{answer.stats.gap:.1%}", answer.stats.method]
                if answer.stats.bound is not None
                else proof
            )
        cells += ["-" if costs[method] == float("inf") else f"{costs[method]:,}", f"{seconds:.2f}"]
    return cells + proof, costs


def network(modules: int, fpgas: int, skip: int, share: float, rng: random.Random) -> PartitionProblem:
    """A network whose modules together use ``share`` of the LUTs, and less of the rest."""
    slots, edges = platform(fpgas)
    names = [f"m{i:02}" for i in range(modules)]
    have = total(slot.limit for slot in slots)
    sizes = [rng.uniform(0.2, 1.0) for _ in names]
    other = {"ff": 0.75, "bram18": 0.85, "uram": 0.6, "dsp": 0.7}
    weights = {r: [size * rng.uniform(0.3, 1.0) for size in sizes] for r in other}
    demands = {}
    for i, name in enumerate(names):
        amounts = {
            r: int(share * part * getattr(have, r) * weights[r][i] / sum(weights[r])) for r, part in other.items()
        }
        demands[name] = Resources(lut=int(share * have.lut * sizes[i] / sum(sizes)), **amounts)
    return PartitionProblem(demands, streams(names, skip, rng), slots, edges, 0, 4 * (fpgas - 1), frames_per_s=2_000.0)


def streams(names: list[str], skip: int, rng: random.Random) -> tuple[ModuleStream, ...]:
    """A chain, and a stream around every ``skip`` modules; widths of 8 to 256 bits."""

    def stream(source: str | None, target: str | None) -> ModuleStream:
        return ModuleStream(
            f"{source}-{target}", source, target, 2 + 8 * 2 ** rng.randrange(6), rng.randrange(50, 3_000) * 1_000
        )

    ends: list[str | None] = [None, *names, None]
    drawn = [stream(a, b) for a, b in pairwise(ends)]
    if skip:
        drawn += [stream(names[i], names[i + skip]) for i in range(1, len(names) - skip, skip)]
    return tuple(drawn)


def platform(fpgas: int) -> tuple[tuple[SlotCapacity, ...], tuple[Edge, ...]]:
    """A chain of FPGAs of four SLRs, the host in SLR0, the links in SLR3."""
    slots: list[SlotCapacity] = []
    edges: list[Edge] = []
    for number in range(fpgas):
        base = len(slots)
        slots += [SlotCapacity(f"fpga{number}.SLR{i}", limit) for i, limit in enumerate(SLR_LIMITS)]
        for i, wires in enumerate(SLL_WIRES):
            name = f"{slots[base + i].name}-{slots[base + i + 1].name}"
            edges.append(Edge(base + i, base + i + 1, Crossing("sll", wires, registers=2), name))
        if number:
            link = Crossing("link", gbps=LINK_GBPS, cost=10)
            edges.append(Edge(base - 1, base + 3, link, f"fpga{number - 1}-fpga{number}"))
    return tuple(slots), tuple(edges)


if __name__ == "__main__":
    main()
