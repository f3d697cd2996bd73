"""Time this tree's plans against those of another floorflow, in turn, and print the ratio of times.

    python benchmarks/speed.py --command OTHER/bin/floorflow [FOLDER] [--times 3] [--rows FILE] [--timeout 900]

FOLDER holds the models (default: ../shared/models). In every round each case is planned by both, one after the other,
so that both meet the same machine; finished runs are kept in ``--rows`` and are not made again. A time is the least
of its rounds, the ratio this tree's over the other's. A run that was stopped at ``--timeout`` took at least that long.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from joint import MODELS, RESIDUAL, RESNET50, Case, found, interval
from runs import Row, command_of, keep, markdown, planned, rows_of

CNV = "brevitas_CNV_2W2A.light"
CASES = (
    (Case(RESNET50, "alveo-u250", ("--fpgas", "2")), 0.85),
    (Case(CNV, "alveo-u250", ()), 1.1),
    (Case(CNV, "pynq-z1", ()), 1.1),
    (Case(RESIDUAL, "alveo-u250", ()), 0.1),
)
"""What is timed, with pictures, and the ratio that is asked for."""

HEADINGS = ("case", "interval", "seconds", "user s", "interval, other", "seconds, other", "user s, other")
RATIOS = ("ratio", "ratio of user s", "asked for")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS, help="folder of models")
    parser.add_argument("--command", required=True, help="the other floorflow")
    parser.add_argument("--times", type=int, default=3, help="rounds")
    parser.add_argument("--rows", type=Path, default=Path("speed_rows.jsonl"), help="JSON lines of finished runs")
    parser.add_argument("--timeout", type=float, help="seconds a run")
    parser.add_argument("--models", nargs="+", default=[""], help="only those whose name holds one of these words")
    chosen = parser.parse_args()
    cases = [row for row in CASES if any(word in row[0].model for word in chosen.models)]
    done = {row["key"]: row for row in rows_of(chosen.rows)}
    for count in range(chosen.times):
        for case, _ in cases:
            for other in (None, chosen.command):
                key = key_of(case, other, count)
                if key not in done:
                    done[key] = {"key": key, **measured(case, other, chosen)}
                    keep(done[key], chosen.rows)
    lines = []
    for case, most in cases:
        ours, others = (
            [done[key_of(case, other, count)] for count in range(chosen.times)] for other in (None, chosen.command)
        )
        lines.append([case.key, *cells(ours), *cells(others), *ratios(ours, others), f"{most:g}"])
    print(markdown([*HEADINGS, *RATIOS], lines))


def key_of(case: Case, other: str | None, count: int) -> str:
    """Return what a run is called in the file of runs."""
    return f"{case.key} | {other or 'this tree'} | {count}"


def measured(case: Case, other: str | None, chosen: argparse.Namespace) -> Row:
    """Plan one case with pictures."""
    model = found(case.model, chosen.folder)
    if model is None:
        raise SystemExit(2)
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(model), "-p", case.board, *case.options]
        return planned(command_of(other), arguments, Path(folder) / "out", chosen.timeout)


def least(rows: list[Row], what: str) -> float:
    return float(min(row[what] for row in rows))


def cells(rows: list[Row]) -> list[str]:
    """Return interval and least times of one floorflow's runs."""
    stopped = " (stopped)" if any(row["timed_out"] for row in rows) else ""
    return [interval(rows[0]), f"{least(rows, 'wall_s'):.1f}{stopped}", f"{least(rows, 'user_s'):.1f}"]


def ratios(ours: list[Row], others: list[Row]) -> list[str]:
    return [f"{least(ours, what) / least(others, what):.2f}" for what in ("wall_s", "user_s")]


if __name__ == "__main__":
    main()
