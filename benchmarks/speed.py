"""Plan all models on four platforms with this tree and with others, and print one table of times and of plans.

    python benchmarks/speed.py [FOLDER] [--beside NAME=COMMAND ...] [--rows FILE] [--models WORD ...] [--timeout 600]

The models are those of ``examples/`` and of FOLDER (default: ../shared/models), each on one and on two U250, on a
ZCU104 and on as few KU5P as hold it, at default effort and without pictures. Each case is planned by this tree, then by
each floorflow of ``--beside``, one process at a time; seconds are those of the processor, of all its processes.
Without ``--beside`` a row is a network, and a cell has the seconds, the interval and the joint bound if it is shorter.
Finished runs are kept in ``--rows`` and are not made again. Below the table stands what is asked of all rows together.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from statistics import median

from joint import EXAMPLES, MODELS, Case, found
from runs import Row, command_of, keep, markdown, planned, rows_of

PLATFORMS = (
    ("alveo-u250", ()),
    ("alveo-u250", ("--fpgas", "2")),
    ("zcu104", ()),
    ("xcku5p", ("--fpgas", "auto")),
)
OWN = "this tree"
NEAR_THE_BOUND = 1.25
SUMS = ("fullness", "crossings", "wire_length")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS, help="folder of models")
    parser.add_argument("--beside", nargs="+", default=[], metavar="NAME=COMMAND", help="other floorflows")
    parser.add_argument("--rows", type=Path, default=Path("speed_rows.jsonl"), help="JSON lines of finished runs")
    parser.add_argument("--timeout", type=float, help="seconds a run")
    parser.add_argument("--models", nargs="+", default=[""], help="only those whose name holds one of these words")
    parser.add_argument("--boards", nargs="+", default=[""], help="only platforms that hold one of these words")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    chosen = parser.parse_args()
    names = {path.name.removesuffix(".onnx") for folder in (EXAMPLES, chosen.folder) for path in folder.glob("*.onnx")}
    cases = [
        Case(model, board, options)
        for model in sorted(names)
        for board, options in PLATFORMS
        if any(word in model for word in chosen.models)
        if any(word in " ".join((board, *options)) for word in chosen.boards)
    ]
    commands = {OWN: None, **dict(text.split("=", 1) for text in chosen.beside)}
    done = {row["key"]: row for row in rows_of(chosen.rows)}
    for case in cases:
        for name, command in commands.items():
            key = f"{case.key} | {name}"
            if key not in done and not chosen.only_table:
                done[key] = {"key": key, **measured(case, command, chosen)}
                keep(done[key], chosen.rows)
    known = {
        case.key: rows
        for case in cases
        if len(rows := [done[f"{case.key} | {name}"] for name in commands if f"{case.key} | {name}" in done])
        == len(commands)
    }
    if chosen.beside:
        headings = ["case", "bound", *(f"{what}, {name}" for name in commands for what in ("interval", "CPU s"))]
        print(markdown(headings, [[key, bound(rows[0]), *cells(rows)] for key, rows in known.items()]))
    else:
        print(across(cases, known))
    print(summary([*commands], [*known.values()]))


def measured(case: Case, command: str | None, chosen: argparse.Namespace) -> Row:
    """Plan one case."""
    model = found(case.model, chosen.folder)
    if model is None:
        raise SystemExit(2)
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(model), "-p", case.board, *case.options, "--no-plots"]
        return planned(command_of(command), arguments, Path(folder) / "out", chosen.timeout)


def across(cases: Sequence[Case], known: Mapping[str, Sequence[Row]]) -> str:
    """Return a table of a row for each network and a column for each platform."""
    platforms = list(dict.fromkeys(" ".join((case.board, *case.options)) for case in cases))
    at = {(case.model, " ".join((case.board, *case.options))): case.key for case in cases}
    models = dict.fromkeys(case.model for case in cases)
    lines = [[m, *(in_short(known[at[m, p]][0]) if at.get((m, p)) in known else "" for p in platforms)] for m in models]
    return markdown(["network", *platforms], lines)


def in_short(row: Row) -> str:
    """Return the seconds of a run, its interval, the joint bound where that is shorter, and whether it was stopped."""
    interval, joint = row.get("interval_cycles"), row.get("joint_bound_cycles")
    found = [f"{interval:,}"] if interval else [] if row["timed_out"] else [f"exit {row['exit']}"]
    shorter = [f"bound {joint:,}"] if interval and joint and joint < interval else []
    return f"{row['user_s']:.1f} ({', '.join([*found, *shorter, *['stopped'] * row['timed_out']])})"


def bound(row: Row) -> str:
    """Return the joint bound, or that of folding."""
    cycles = row.get("joint_bound_cycles") or row.get("bound_cycles")
    return f"{cycles:,}" if cycles else ""


def cells(rows: Sequence[Row]) -> list[str]:
    """Return interval, or how it ended, and seconds of each run of a case."""
    found_by = [
        f"{row['interval_cycles']:,}{' (stopped)' * row['timed_out']}" if "interval_cycles" in row else ended(row)
        for row in rows
    ]
    return [text for row, told in zip(rows, found_by, strict=True) for text in (told, f"{row['user_s']:.1f}")]


def ended(row: Row) -> str:
    """Return how a run without a plan ended."""
    return "stopped" if row["timed_out"] else f"exit {row['exit']}"


def summary(names: Sequence[str], cases: Sequence[Sequence[Row]]) -> str:
    """Return times of all rows, nearness to bounds, and sums over the rows that all have planned at equal intervals."""
    if not cases:
        return "no rows"
    lines = []
    equal = [rows for rows in cases if len({row.get("interval_cycles") for row in rows} - {None}) == 1]
    equal = [rows for rows in equal if all("interval_cycles" in row for row in rows)]
    for place, name in enumerate(names):
        own = [rows[place] for rows in cases]
        seconds = sorted(row["user_s"] for row in own)
        nine = seconds[ceil(0.9 * len(seconds)) - 1]
        ratios = [row["interval_cycles"] / cycles for row in own if (cycles := row.get("joint_bound_cycles"))]
        near = sum(ratio <= NEAR_THE_BOUND for ratio in ratios)
        sums = ", ".join(
            f"{what.replace('_', ' ')} {sum(row[place][what] or 0 for row in equal):,.0f}" for what in SUMS
        )
        none = sum("interval_cycles" not in row and row["exit"] not in {0, 3} for row in own)
        lines.append(
            f"* {name}: {len(own)} rows, {none} without an answer; CPU s: median {median(seconds):.1f}, nine in ten at "
            f"most {nine:.1f}, most {seconds[-1]:.1f}; {near} of {len(ratios)} within {NEAR_THE_BOUND:g} of the joint "
            f"bound; over {len(equal)} rows of equal intervals: {sums}"
        )
    longer = [
        rows[0]["key"].split(" | ")[0]
        for rows in cases
        if len(rows) > 1
        and "interval_cycles" in rows[1]
        and rows[0].get("interval_cycles", 1e99) > rows[1]["interval_cycles"]
    ]
    return "\n".join([*lines, f"* longer than {names[1]}: {', '.join(longer) or 'none'}" if len(names) > 1 else ""])


if __name__ == "__main__":
    main()
