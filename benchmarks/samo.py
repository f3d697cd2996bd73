"""SAMO's 144 cases by floorflow's methods: optima, SAMO's recorded results, seconds; and design points a second.

    python benchmarks/samo.py [--methods exact,rule,annealing] [--only TEXT]

Cases and recorded results are those of `tests/papers/samo/data`. Seconds are of CPU; annealing: the best of 3 seeds.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from math import exp, inf, log
from statistics import median

import numpy as np

from floorflow.papers.samo.methods import schedule_methods
from floorflow.papers.samo.methods.brute import cycles_of
from floorflow.papers.samo.problem import ScheduleAnswer, evaluate
from tests.papers.samo.samo_cases import CASES, problem, results

POINTS = 200_000
SEEDS = range(3)
TABLE_4 = {"3-layer": "simple", "TFC": "tfc", "LeNet": "lenet", "CNV": "cnv"}


def solved(name: str, method: str) -> tuple[ScheduleAnswer, float]:
    """Return the best answer of a method on a case, and its CPU seconds."""
    started = time.process_time()
    seeds = SEEDS if method.startswith("annealing") else range(1)
    answers = [schedule_methods()[method](problem(name), seed) for seed in seeds]
    seconds = time.process_time() - started
    best = min(answers, key=lambda answer: answer.stats.objective or inf)
    if best.design is not None:
        found = evaluate(problem(name), best.design)
        assert not found.broken
        assert abs(found.us - (best.stats.objective or inf)) <= 1e-9 * found.us
    return best, seconds


def samo_us(name: str, method: str) -> float | None:
    """Return what SAMO's own method had on a case: None where it has no record."""
    case = CASES[name]
    if method == "rule":
        return (case.get("samo_rule") or {}).get("us")
    runs = [run["best_us"] for run in case.get("samo_annealing") or [] if method.startswith("annealing")]
    return min(runs, default=None)


def table(method: str, names: Sequence[str]) -> None:
    rows = defaultdict(list)
    for name in names:
        answer, seconds = solved(name, method)
        rows[CASES[name]["backend"]].append((name, answer.stats.objective, seconds))
    for backend, entries in [*sorted(rows.items()), ("all", [entry for each in rows.values() for entry in each])]:
        print(f"{method:10} {backend:12} {line(method, entries)}")


def line(method: str, entries: Sequence[tuple[str, float | None, float]]) -> str:
    optima = {name: CASES[name]["optimum"].get("us") for name, _, _ in entries}
    feasible = [(us or inf) / optima[name] for name, us, _ in entries if optima[name]]
    agreed = sum(us is None for name, us, _ in entries if optima[name] is None)
    recorded = [(us or inf, samo) for name, us, _ in entries if (samo := samo_us(name, method)) is not None]
    seconds = [each for _, _, each in entries]
    return ", ".join(
        [
            f"{len(entries)} cases",
            f"{sum(ratio < 1 + 1e-6 for ratio in feasible)} of {len(feasible)} optimal",
            f"{agreed} infeasible",
            f"mean {exp(sum(map(log, feasible)) / len(feasible)):.3f}x, worst {max(feasible):.2f}x",
            f"no worse than SAMO in {sum(us <= samo * (1 + 1e-9) for us, samo in recorded)} of {len(recorded)}",
            f"better in {sum(us < samo * (1 - 1e-6) for us, samo in recorded)}",
            f"seconds: median {median(seconds):.3f}, most {max(seconds):.2f}",
        ]
    )


def points_a_second() -> None:
    """Print how many foldings of a whole network are judged by all rules a second, beside Table IV."""
    prefix = {"fpgaconvnet": "fcn_", "finn": "finn_", "hls4ml": "hls_"}
    for row in results()["table_4"]:
        start = f"{prefix[row['backend']]}{TABLE_4[row['network']]}"
        name = next((name for name in CASES if name.startswith(start)), None)
        if name is None:
            continue
        nodes = problem(name).nodes
        random = np.random.default_rng(0)
        rows = np.stack([random.integers(len(node.cycles), size=POINTS) for node in nodes], axis=1)
        started = time.process_time()
        cycles_of(problem(name), 0, rows)
        rate = POINTS / (time.process_time() - started)
        paper = row["paper_points_per_s"]
        print(f"{row['network']:8} {row['backend']:12} {rate:12,.0f} points/s, paper {paper:,}: {rate / paper:,.0f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="exact,rule,annealing")
    parser.add_argument("--only", default="", help="cases whose name has this")
    asked = parser.parse_args()
    names = [name for name in CASES if asked.only in name]
    points_a_second()
    for method in asked.methods.split(","):
        table(method, names)


if __name__ == "__main__":
    main()
