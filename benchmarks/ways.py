"""Take out one way to a design at a time, and say which rows are worse without it.

    python benchmarks/ways.py [FOLDER] [--rows FILE] [--ways WORD ...] [--only-table]

Every row is planned whole, then without each way, one process at a time, without pictures; finished runs are kept in
``--rows``. A way wins a row if without it the interval is longer, the design fuller by a tenth of a percent or more, or
there is none. FOLDER holds the models (default: ../shared/models).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from joint import MODELS, Case, found
from runs import Row, keep, markdown, planned, rows_of

from floorflow.cli.main import main as floorflow
from floorflow.search.interval import rate
from floorflow.search.interval.state import SearchState
from floorflow.search.interval.strategies import Strategy

CASES = (
    Case("brevitas_CNV_2W2A.light", "alveo-u250"),
    Case("brevitas_CNV_2W2A.light", "xcku5p", ("--fpgas", "auto")),
    Case("resnet18_w3a3.light.qonnx", "alveo-u250"),
    Case("brevitas_RESNET18_4W4A_ts.light", "alveo-u250"),
    Case("brevitas_RESNET18_4W4A_ts.light", "alveo-u250", ("--fpgas", "2")),
    Case("resnet18_int8_qdq.light", "alveo-u250"),
    Case("brevitas_quant_mobilenet_v1_4b.light", "alveo-u250"),
    Case("brevitas_quant_mobilenet_v1_4b.light", "zcu104"),
    Case("brevitas_quant_mobilenet_v1_4b.light", "xcku5p", ("--fpgas", "auto")),
    Case("mobilenet_v2_w4a4.light.qonnx", "alveo-u250"),
    Case("squeezenet_w4a4.light.qonnx", "alveo-u250"),
    Case("squeezenet_w4a4.light.qonnx", "zcu104"),
    Case("resnet50_w1a2", "alveo-u250", ("--fpgas", "2")),
)
WAYS = {
    "least_full_candidate": "evenly",
    "fold_whole": "the whole",
    "fold_segments": "segments",
    "fold_nearest": "the nearest of the whole",
    "fold_scattered": "stages from anywhere",
    "in_slots_before": "the slots of the design before",
}
NONE = "nothing"
FULLER = 0.1
"""Percent by which a design is fuller where that counts."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS, help="folder of models")
    parser.add_argument("--rows", type=Path, default=Path("ways_rows.jsonl"), help="JSON lines of finished runs")
    parser.add_argument("--ways", nargs="+", default=["fold", "least", "slots"], help="only those of these words")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a run")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    chosen = parser.parse_args()
    done = {row["key"]: row for row in rows_of(chosen.rows)}
    ways = [NONE, *(way for way in WAYS if any(word in way for word in chosen.ways))]
    for case in CASES:
        for way in () if chosen.only_table else ways:
            key = f"{case.key} | {way}"
            if key not in done:
                done[key] = {"key": key, **without(way, case, chosen.folder, chosen.timeout)}
                keep(done[key], chosen.rows)
    rows = [[f"{WAYS[way]} (`{way}`)", *lost(way, done)] for way in ways[1:]]
    print(markdown(["way", "rows that are worse without it", "seconds without it, with all"], rows))


def without(way: str, case: Case, models: Path, timeout_s: float) -> Row:
    """Plan one case without a way, in one process."""
    model = found(case.model, models)
    if model is None:
        raise SystemExit(2)
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(model), "-p", case.board, *case.options, "--no-plots", "--jobs", "1"]
        command = [sys.executable, str(Path(__file__).resolve()), "--without", way]
        return planned(command, arguments, Path(folder) / "out", timeout_s)


def lost(way: str, done: dict[str, Row]) -> tuple[str, str]:
    """Return the rows that a way wins, and the seconds of the rows that were planned without it and with all."""
    pairs = [(case.key, done.get(f"{case.key} | {way}"), done.get(f"{case.key} | {NONE}")) for case in CASES]
    both = [(key, less, whole) for key, less, whole in pairs if less and whole]
    won = [f"{key}: {told(less)} for {told(whole)}" for key, less, whole in both if is_worse(less, whole)]
    seconds = [sum(row["user_s"] for row in column) for column in ([r[1] for r in both], [r[2] for r in both])]
    return "; ".join(won) or "none", f"{seconds[0]:.0f}, {seconds[1]:.0f}"


def is_worse(less: Row, whole: Row) -> bool:
    """Whether a plan is slower or fuller than another, or there is none."""
    if "interval_cycles" not in whole:
        return False
    if less.get("interval_cycles") != whole["interval_cycles"]:
        return "interval_cycles" not in less or bool(less["interval_cycles"] > whole["interval_cycles"])
    return bool(less["fullness"] > whole["fullness"] + FULLER)


def told(row: Row) -> str:
    """Return the interval of a plan and how full it is."""
    if "interval_cycles" not in row:
        return f"exit {row['exit']}"
    return f"{row['interval_cycles']:,} ({row['fullness']:.1f}%)"


def take_out(way: str) -> None:
    """Let the search of this process do without a way."""
    every = rate._strategies  # noqa: SLF001  (an ablation)

    def others(run: SearchState, interval: int) -> Iterator[Strategy]:
        return (own for own in every(run, interval) if own.__name__ != way)

    rate._strategies = others  # noqa: SLF001
    if way == "in_slots_before":
        vars(import_module("floorflow.search.interval.search"))[way] = lambda _: False


if __name__ == "__main__":
    if sys.argv[1:2] == ["--without"]:
        take_out(sys.argv[2])
        sys.argv[1:] = sys.argv[3:]
        floorflow()
    else:
        main()
