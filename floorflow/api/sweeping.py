"""Many plans at once: a sweep over models, platforms and options, its table, its page and its pictures."""

from __future__ import annotations

import csv
import io
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.events import Callback, told_to
from floorflow.api.folders import files_in
from floorflow.api.options import OPTIONS
from floorflow.api.pictures import drawn
from floorflow.facts import read_plan
from floorflow.facts.brief import NEXT_FILE, first_picture
from floorflow.facts.diff import FIGURES, figures, fullest_of
from floorflow.facts.text import number, rate, table
from floorflow.importing import whole_imports
from floorflow.jobs.points import PLAN, POINTS
from floorflow.output import write_file

if TYPE_CHECKING:
    from floorflow.api.sweep_spec import Asked

Row = Mapping[str, Any]

TABLE, TIMES, PAGE, PICTURES = "table.csv", "times.csv", "index.html", "pictures"
"""Files of a sweep, beside its plans; wall times are apart, for all else is the same each time."""
_SHOWN = 40
"""Rows that the command line prints."""
OPTION = "option_"
"""How columns begin that say what was asked."""
_ENDS = {2: "refused as bad input", 3: "proven infeasible", 5: "without a plan at a limit"}


@dataclass(frozen=True)
class SweepResult:
    """What came of each point: a row of flat values in the order of the file; ``to_plan``: points of a dry run.

    A row has the number and name of its point, what was asked, the exit code with message and hint, and the figures of
    the plan by their names in `diff`; None where there is none.
    """

    out: Path
    rows: tuple[Row, ...]
    seconds: float = 0.0
    planned_now: int = 0
    to_plan: tuple[str, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``floorflow sweep --json`` prints it."""
        told = {"planned_now": self.planned_now} if self.to_plan is None else {"to_plan": [*self.to_plan]}
        return {"out": str(self.out), "rows": [dict(row) for row in self.rows], **told}

    @property
    def told(self) -> str:
        """How many points there are, how many have no plan, and why."""
        ends = Counter(row["code"] for row in self.rows if row["code"])
        why = ", ".join(f"{count} {_ENDS.get(code, f'ended with {code}')}" for code, count in sorted(ends.items()))
        lacks = sum(ends.values())
        return f"{len(self.rows)} points: {len(self.rows) - lacks} plans, {lacks} without one{why and f' ({why})'}."

    @property
    def text(self) -> str:
        """What the command line prints."""
        if self.to_plan is not None:
            done = len(self.rows) - len(self.to_plan)
            return f"{len(self.rows)} points: {done} done, {len(self.to_plan)} to plan\njobs   {self.out / 'jobs'}\n"
        heads = ("no.", "point", "frames/s", "cards", "fullest, or why there is no plan")
        more = [f"and {len(self.rows) - _SHOWN:,} more"] if len(self.rows) > _SHOWN else []
        rows = table([heads, *map(_cells, self.rows[:_SHOWN])], left=2)
        ways = [f"{name:7}{self.out / file}" for name, file in (("table", TABLE), ("page", PAGE))]
        return "\n".join([*rows, *more, "", f"{self.told} Planned now: {self.planned_now}.", *ways]) + "\n"


def sweep(
    spec: str | Path,
    out: str | Path | None = None,
    *,
    jobs: int | None = None,
    profile: str | None = None,
    dry_run: bool = False,
    progress: Callback | None = None,
) -> SweepResult:
    """Plan all points of a sweep's file that are not planned yet, and write their table, page and pictures.

    ``out``: by default a folder called as the file, in the current one. ``jobs`` plans at once, by default one a core;
    ``profile``: Snakemake's, of a cluster. A dry run writes the jobs. A point without a plan is a row as all others.

    Raises
    ------
    InputError
        If the file is not what was expected, Snakemake is missing, or the folder is another's or at work.
    ToolFailed
        If Snakemake itself fails, or a job was killed before it told what came of its point.
    KeyboardInterrupt
        On Ctrl-C; the same call goes on from there.

    """
    with whole_imports():
        from floorflow.api.sweep_spec import read_spec
        from floorflow.jobs.points import Sweep
        from floorflow.jobs.snakemake import command, held_alone, require_begun, require_snakemake, run
        from floorflow.jobs.stitched import memory_mb

    asked = read_spec(Path(spec))
    folder = Path(Path(spec).stem if out is None else out).resolve()
    made = Sweep(folder, asked.base, tuple(one.point for one in asked.asked), asked.limit_s, asked.threads)
    made.require_own()
    if not dry_run:
        require_snakemake()
    tell, started = told_to(progress), time.perf_counter()
    made.folder.mkdir(parents=True, exist_ok=True)
    with held_alone(made.folder) as lock:
        made.write()
        left = made.left
        if left and not dry_run:
            at_once = jobs or max(1, (os.cpu_count() or 1) // made.threads)
            words = command(made.folder, at_once, made.threads, {} if profile else {"mem_mb": memory_mb()}, profile)
            with tell.stage("sweep"):
                code = run(words, made.folder, lock, lambda: made.state, tell.note)
            if code:
                require_begun(made.folder)
            made.require_rows()
        told = {one.point.name: made.row(one.point) for one in asked.asked}
        rows = tuple(_row(folder, asked.asked, number, told) for number in range(len(asked.asked)))
        if dry_run:
            return SweepResult(folder, rows, to_plan=tuple(point.name for point in left))
        result = SweepResult(folder, rows, time.perf_counter() - started, len(left))
        _write(result, Path(spec).stem, [(name, row["wall_s"] if row else None) for name, row in told.items()])
    return result


def _row(folder: Path, asked: Sequence[Asked], index: int, told: Mapping[str, Mapping[str, Any] | None]) -> Row:
    """Return a row of the table."""
    one = asked[index]
    chosen = {name for each in asked for name in each.options}
    came = told[one.point.name] or {"code": None, "message": "", "hint": ""}
    found = figures(read_plan(folder / POINTS / one.point.name / PLAN)) if came["code"] == 0 else {}
    options = {f"{OPTION}{name}": one.options.get(name) for name in OPTIONS if name in chosen}
    return {
        "number": index + 1,
        "point": one.point.name,
        "model": one.model,
        "platform": one.platform,
        **{name: " ".join(map(str, v)) if isinstance(v, list) else v for name, v in options.items()},
        **{name: came[name] for name in ("code", "message", "hint")},
        **{name: found.get(name) for name in FIGURES},
    }


def _write(result: SweepResult, title: str, times: Sequence[tuple[str, float | None]]) -> None:
    """Write the table, the times, the pictures and the page."""
    with whole_imports():
        from floorflow.view.page.sweep import sweep_page
        from floorflow.view.pictures.sweep import sweep_charts

    out, rows = result.out, result.rows
    files = {TABLE: _csv([[*rows[0]], *(row.values() for row in rows)]), TIMES: _csv([("point", "wall_s"), *times])}
    svgs = {}
    for name, chart in sweep_charts(rows).items():
        picture = drawn(lambda chart=chart: chart)  # type: ignore[misc]
        svgs[name] = picture("svg")
        files |= {f"{PICTURES}/{name}.{end}": picture(end) for end in ("svg", "png")}
    looks = {row["point"]: _looks(out, row["point"]) for row in rows if row["code"] == 0}
    chosen = [name for name in rows[0] if name.startswith(OPTION) and len({row[name] for row in rows}) > 1]
    heads = {name: name.removeprefix(OPTION) for name in chosen}
    page = sweep_page(f"Sweep {title}", result.told, rows, options=heads, files=looks, pictures=svgs)
    files[PAGE] = page.encode()
    (out / PICTURES).mkdir(exist_ok=True)
    for name, data in files.items():
        write_file(out / name, data, force=True)


def _csv(rows: Iterable[Iterable[Any]]) -> bytes:
    stream = io.StringIO()
    written = csv.writer(stream, lineterminator="\n")
    for row in rows:
        written.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return stream.getvalue().encode()


def _looks(out: Path, point: str) -> list[str]:
    """Return the paths of what to look at of a plan, from the page."""
    names = files_in(out / POINTS / point)
    known = [name for name in ("report.html", "report.txt", first_picture(names), NEXT_FILE) if name in names]
    return [f"{POINTS}/{point}/{name}" for name in known]


def _cells(row: Row) -> tuple[str, ...]:
    return (
        str(row["number"]),
        row["point"],
        "-" if row["fps"] is None else rate(row["fps"]),
        number(row["fpgas"]),
        fullest_of(row) or row["message"],
    )
