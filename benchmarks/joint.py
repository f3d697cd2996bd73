"""Plan the cases of the joint search and print a table: the cases that were hard once, or all models on four boards.

    python benchmarks/joint.py cases  [FOLDER] [--rows FILE] [--out FILE.md] [--timeout 600]
    python benchmarks/joint.py boards [FOLDER] [--rows FILE] [--out FILE.md] [--beside FILE] [--models WORD ...]

FOLDER holds the models (default: ../shared/models). Every row is a command of its own, one at a time, without pictures,
judged by `check`; finished rows are kept in the JSON lines file ``--rows`` and are not run again, so that a run can be
taken up where it ended. ``--command`` runs an installed floorflow instead of this tree's, version 0.1 too; ``--beside``
shows the rows that it made next to these. ``--only-table`` runs nothing. `(so far)` is what a row that was stopped at
``--timeout`` had found. Ratio: interval over the joint bound, or over the folding bound where a plan tells no other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median

from runs import Row, command_of, keep, markdown, planned, rows_of

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT.parent / "shared" / "models"
EXAMPLES = ROOT / "examples"
BOARDS = ("pynq-z1", "zcu104", "alveo-u250", "xcku5p")

RESNET50, RESNET18 = "resnet50_w1a2.light.qonnx", "resnet18_w3a3.light.qonnx"
RESIDUAL = "brevitas_RESNET18_4W4A_ts.light"
MOBILENET, INT8, DENSENET = "brevitas_quant_mobilenet_v1_4b.light", "resnet18_int8_qdq.light", "densenet121_w4a4"


@dataclass(frozen=True)
class Case:
    """A request, and what is good enough: the longest interval, or that over the joint bound; else any plan."""

    model: str
    board: str
    options: tuple[str, ...] = ()
    most_cycles: int | None = None
    most_ratio: float | None = None

    @property
    def key(self) -> str:
        """What the case is called in a file of rows."""
        return " ".join((self.model, "-p", self.board, *self.options))


CASES = (
    Case(RESNET50, "xcku5p", ("--fpgas", "3"), 301_056),
    Case(RESNET50, "xcku5p", ("--fpgas", "4"), 200_704),
    Case(RESNET18, "xcku5p", ("--fpgas", "2"), 301_056),
    Case(RESNET18, "alveo-u250", (), 52_902),
    Case(RESIDUAL, "alveo-u250", (), 19_168),
    Case(RESIDUAL, "xcku5p", ("--fpgas", "2"), 65_536),
    Case(RESIDUAL, "xcku5p", ("--fpgas", "auto")),
    Case(MOBILENET, "xcku5p", ("--fpgas", "2"), 65_538),
    Case(MOBILENET, "zcu104", ("--cap", "LUT=0.9"), 100_352),
    Case(MOBILENET, "zcu104", (), 100_352),
    Case(DENSENET, "alveo-u250", ("--fpgas", "auto"), most_ratio=2),
    Case(INT8, "alveo-u250", ("--fpgas", "auto"), most_ratio=2),
    Case(RESNET18, "alveo-u250", ("--granularity", "slot")),
    Case(RESIDUAL, "alveo-u250", ("--granularity", "slot")),
    Case(RESNET50, "alveo-u250", ("--fpgas", "2", "--granularity", "slot")),
    Case(RESNET50, "alveo-u250", ("--fpgas", "2")),
    Case(RESNET50, "alveo-u250", ("--fpgas", "2", "--fps", "4725"), 52_910),
)
"""The table of the issue that asks for one decision, row by row; its GoogLeNet is not among the models."""

HEADINGS = ("model", "board", "options", "exit", "FPGAs", "interval", "folding bound", "joint bound", "ratio")
TIMES = ("seconds", "user s", "check")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["cases", "boards"])
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS, help="folder of models")
    parser.add_argument("--command", help="an installed floorflow instead of this tree's")
    parser.add_argument("--rows", type=Path, default=Path("joint_rows.jsonl"), help="JSON lines of finished rows")
    parser.add_argument("--beside", type=Path, help="rows of another version, shown next to these")
    parser.add_argument("--out", type=Path, help="write the Markdown table here instead of printing it")
    parser.add_argument("--timeout", type=float, help="seconds a row")
    parser.add_argument("--boards", nargs="+", default=list(BOARDS))
    parser.add_argument("--models", nargs="+", help="only those whose name holds one of these words")
    parser.add_argument("--again", action="store_true", help="run what was stopped at its timeout once more")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    chosen = parser.parse_args()
    cases = [case for case in wanted(chosen) if found(case.model, chosen.folder)]
    if not chosen.only_table:
        measure(cases, chosen)
    rows, beside = named(rows_of(chosen.rows)), named(rows_of(chosen.beside)) if chosen.beside else None
    text = table(cases, rows, beside) + "\n" + summary([rows[case.key] for case in cases if case.key in rows])
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    else:
        print(text)


def wanted(chosen: argparse.Namespace) -> Iterator[Case]:
    """Yield the cases of the table that were asked for."""
    models = sorted({path.name.removesuffix(".onnx") for path in chosen.folder.glob("*.onnx")})
    boards = (Case(model, board, ("--fpgas", "auto")) for board in chosen.boards for model in models)
    for case in CASES if chosen.table == "cases" else boards:
        if case.board in chosen.boards and any(word in case.model for word in chosen.models or [""]):
            yield case


def found(model: str, folder: Path) -> Path | None:
    """Return the file of a model, or None, with a word about it, where there is none."""
    for path in (folder / f"{model}.onnx", EXAMPLES / f"{model}.onnx"):
        if path.exists():
            return path
    print(f"no {model}.onnx in {folder} or {EXAMPLES}", file=sys.stderr)
    return None


def measure(cases: Iterable[Case], chosen: argparse.Namespace) -> None:
    """Run the cases that have no row yet."""
    done = {key for key, row in named(rows_of(chosen.rows)).items() if not (chosen.again and row["timed_out"])}
    for case in cases:
        if case.key not in done:
            row = {"key": case.key, "command": chosen.command or "this tree", **measured(case, chosen)}
            keep(row, chosen.rows)
            print(case.key, f"exit {row['exit']}, {row.get('interval_cycles')}, {row['wall_s']:.1f} s", flush=True)


def measured(case: Case, chosen: argparse.Namespace) -> Row:
    """Run one case."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(found(case.model, chosen.folder)), "-p", case.board, *case.options, "--no-plots"]
        return planned(command_of(chosen.command), arguments, Path(folder) / "out", chosen.timeout)


def named(rows: Iterable[Row]) -> dict[str, Row]:
    """Return rows by their case; of several the last."""
    return {row["key"]: row for row in rows}


def table(cases: Sequence[Case], rows: dict[str, Row], beside: dict[str, Row] | None) -> str:
    """Return the Markdown table of the cases that have rows."""
    asked = any(case.most_cycles or case.most_ratio for case in cases)
    headings = [*HEADINGS, *TIMES, *(["asked for"] if asked else [])]
    headings += [] if beside is None else [f"{what} beside" for what in ("FPGAs", "interval", "seconds", "user s")]
    lines = []
    for case in cases:
        if case.key in rows:
            goal = [verdict(case, rows[case.key])] if asked else []
            other = [] if beside is None else short(beside.get(case.key))
            lines.append([*cells(case, rows[case.key]), *goal, *other])
    return markdown(headings, lines)


def cells(case: Case, row: Row) -> list[str]:
    """Return the cells of one case."""
    name = case.model.split(".")[0].removeprefix("brevitas_")
    end = "timeout" if row["timed_out"] else str(row["exit"])
    bounds = [number(row.get(what)) for what in ("bound_cycles", "joint_bound_cycles")]
    plan = [str(row.get("fpgas", "")), interval(row), *bounds, "" if ratio(row) is None else f"{ratio(row):.2f}"]
    times = [f"{row['wall_s']:.1f}", f"{row['user_s']:.1f}", row.get("check", "")]
    return [name, case.board, " ".join(case.options), end, *plan, *times]


def short(row: Row | None) -> list[str]:
    """Return the cells of another version's row."""
    if row is None:
        return [""] * 4
    end = interval(row) or ("timeout" if row["timed_out"] else f"exit {row['exit']}")
    return [str(row.get("fpgas", "")), end, f"{row['wall_s']:.1f}", f"{row['user_s']:.1f}"]


def interval(row: Row) -> str:
    """Return the interval, and whether the row was stopped."""
    return number(row.get("interval_cycles")) + (" (so far)" if row.get("interrupted") else "")


def number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def ratio(row: Row) -> float | None:
    """Return the interval over the best bound that is known, None without a plan."""
    bound = row.get("joint_bound_cycles") or row.get("bound_cycles")
    return row["interval_cycles"] / bound if bound and "interval_cycles" in row else None


def verdict(case: Case, row: Row) -> str:
    """Return what was asked for and whether it was reached."""
    asked, reached = "a plan", True
    if case.most_cycles is not None:
        asked, reached = number(case.most_cycles), row.get("interval_cycles", inf) <= case.most_cycles
    elif case.most_ratio is not None:
        asked, reached = f"{case.most_ratio:g} x the joint bound", (ratio(row) or inf) <= case.most_ratio
    return f"{asked}: {'yes' if reached and row.get('check') == 'legal' else 'no'}"


def summary(rows: Sequence[Row]) -> str:
    """Return the figures by which the table is judged."""
    if not rows:
        return "No rows.\n"
    ends = [("timeout" if row["timed_out"] else row["exit"]) for row in rows]
    ratios = sorted(r for r in map(ratio, rows) if r is not None)
    seconds = [row["wall_s"] for row in rows]
    counts = ", ".join(f"exit {end}: {ends.count(end)}" for end in sorted(set(ends), key=str))
    lines = [f"{len(rows)} rows; {counts}; not legal: {sum(row.get('check') == 'ILLEGAL' for row in rows)}."]
    lines.append(f"Seconds: median {median(seconds):.1f}, longest {max(seconds):.1f}.")
    if ratios:
        near = sum(r <= 1.25 for r in ratios) / len(ratios)
        lines.append(f"Interval over bound: up to 1.25 in {near:.0%} of {len(ratios)} plans, {ratios[-1]:.2f} at most.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
