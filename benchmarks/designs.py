"""Plan random designs and count those whose slot sums fit and that got no legal floorplan, or only a slower one.

    python -m benchmarks.designs [--designs 500] [--rows FILE] [--effort default] [--slot] [--seeds 0 100000]

A design is a random network under random caps, fills and granularity on a random platform: half of them small networks
(`tests/random_cases.py`), half residual networks that fill their slots. Its slot sums fit if it has a plan, or if the
search ended in placing: `not placed` had an assignment of modules to slots within every limit, but no floorplan, and
`slower` had one at a shorter interval than that of its plan. Every plan is judged by `check`. With ``--slot`` what has
a plan is planned once more with one pblock a slot, which must have one, too. Finished designs are kept in ``--rows``.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.runs import Row, keep, rows_of
from floorflow import flow
from floorflow.errors import InfeasibleError, LimitError
from floorflow.output import write
from floorflow.record.run import PlanWithFiles
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request
from floorflow.verify import check
from tests.monotone_cases import saved
from tests.random_cases import random_request
from tests.random_models import random_residual

PLATFORMS = (("pynq-z1", 1, 0.3), ("zcu104", 1, 0.1), ("xcku5p", 1, 0.1), ("xcku5p", 2, 0.05), ("alveo-u250", 1, 0.02))
"""Boards, their number, and the least share of LUTs that residual networks may use."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", type=int, default=500, help="so many whose slot sums fit")
    parser.add_argument("--rows", type=Path, default=Path("designs_rows.jsonl"), help="JSON lines of finished designs")
    parser.add_argument("--effort", choices=["fast", "default", "best"], default="default")
    parser.add_argument("--slot", action="store_true", help="plan once more with --granularity slot")
    parser.add_argument("--seeds", nargs=2, type=int, default=[0, 100_000], help="from, and before which")
    chosen = parser.parse_args()
    done = {row["seed"]: row for row in rows_of(chosen.rows)}
    rows: list[Row] = []
    for seed in range(*chosen.seeds):
        if sum(row["sums fit"] for row in rows) >= chosen.designs:
            break
        if seed not in done:
            done[seed] = measured(seed, chosen)
            keep(done[seed], chosen.rows)
        rows.append(done[seed])
        told(done[seed])
    print(summary(rows))


def random_design(seed: int, folder: Path, effort: str) -> Request:
    """Return a request for a random network; equal seeds give equal requests."""
    if seed % 2:
        return random_request(seed, folder).changed(effort=effort, fps=None, objective=None)
    rng = random.Random(seed)
    board, fpgas, least = rng.choice(PLATFORMS)
    return Request(
        saved(random_residual(seed), folder),
        board,
        fpgas=fpgas,
        cap={**DEFAULT_CAP, "LUT": round(least * (0.95 / least) ** rng.random(), 3), "FF": rng.choice((0.5, 0.9))},
        fill={**DEFAULT_FILL, "LUT": round(rng.uniform(0.6, 1.0), 3)},
        granularity=rng.choice(("stage", "stage", "block", "layer", "slot")),
        effort=effort,
        seed=seed,
        plots=False,
    )


def measured(seed: int, chosen: argparse.Namespace) -> Row:
    """Plan one design, have it judged, and say what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        request = random_design(seed, Path(folder), chosen.effort)
        started = time.perf_counter()
        row = outcome_of(request, Path(folder) / "out")
        row |= {"seed": seed, "seconds": round(time.perf_counter() - started, 2), "granularity": request.granularity}
        row |= {"platform": f"{request.fpgas} x {request.platform}", "cap": request.cap.as_dict()["LUT"]}
        if chosen.slot and row["verdict"] in {"planned", "slower"}:
            row["slot"] = outcome_of(request.changed(granularity="slot"), Path(folder) / "slot")
        return row


def outcome_of(request: Request, out: Path) -> Row:
    """Return the verdict on a request: planned, slower, ILLEGAL, not placed, or why its slot sums do not fit."""
    try:
        made = flow.plan(request)
    except InfeasibleError as error:
        return {"verdict": "proven infeasible", "sums fit": False, "said": str(error)}
    except LimitError as error:
        placing = "(place)" in str(error)
        return {"verdict": "not placed" if placing else "sums not found", "sums fit": placing, "said": str(error)}
    write(out, made.files, {})
    violations = check(out)
    cycles, wanted = made.plan.networks[0].search.interval_cycles, shortest_that_fits(made)
    verdict = "ILLEGAL" if violations else "planned" if cycles <= wanted else "slower"
    said = "; ".join(map(str, violations[:3])) or ("" if cycles <= wanted else f"{wanted:,} cycles were not placed")
    return {"verdict": verdict, "sums fit": True, "interval_cycles": cycles, "said": said}


def shortest_that_fits(made: PlanWithFiles) -> int:
    """Return the shortest interval whose modules had slots: that of the plan, or one that was not placed."""
    network = made.plan.networks[0]
    failed = [row.interval_cycles for row in network.trace if row.stage == "place"]
    return min([network.search.interval_cycles, *failed])


def told(row: Row) -> None:
    """Print what is not as it should be."""
    for name, one in (("", row), (" --granularity slot", row.get("slot"))):
        if one is not None and one["verdict"] != "planned" and (one["sums fit"] or name):
            print(f"{row['seed']}{name}: {one['verdict']} on {row['platform']}: {one['said'][:300]}", flush=True)


def summary(rows: list[Row]) -> str:
    """Return the counts."""
    counts = Counter(row["verdict"] for row in rows)
    slots = Counter(row["slot"]["verdict"] for row in rows if "slot" in row)
    fitting = sum(row["sums fit"] for row in rows)
    lines = [f"{len(rows)} designs, of which the slot sums of {fitting} fit"]
    lines += [f"{verdict}: {count}" for verdict, count in counts.most_common()]
    lines += [f"with --granularity slot {verdict}: {count}" for verdict, count in slots.most_common()]
    return "\n".join([*lines, f"seconds: {sum(row['seconds'] for row in rows):.0f}, longest {longest(rows):.1f}"])


def longest(rows: list[Row]) -> float:
    return max((row["seconds"] for row in rows), default=0.0)


if __name__ == "__main__":
    main()
