"""Tell when each table of measurements was made, and by which commit: `docs/measured.md` has the answer.

    python -m benchmarks.dates            # print the table
    python -m benchmarks.dates --write    # put it into docs/measured.md

A table that `benchmarks.results` makes tells its date and commit itself. A row of another one is as old as the commit
that last changed it. Nothing is measured here: the programs that measure are named in each page.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from benchmarks import results

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measured.md"
BEGIN, END = "<!-- dates -->\n", "<!-- end of dates -->\n"
Row = tuple[str, datetime]
"""The commit that a row is of, and its date."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/measured.md")
    write = parser.parse_args().write
    table = "".join(f"{line}\n" for line in lines())
    if not write:
        print(table, end="")
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def lines() -> Iterator[str]:
    yield "| table | rows | oldest row | newest row |"
    yield "|---|--:|---|---|"
    marked = {page: list(own) for page, own in groupby(results.tables(), lambda table: table.page)}
    for path in sorted((ROOT / "benchmarks").glob("*.md")):
        for table in marked.get(path, []):
            dates, commits = (
                re.findall(r"\b[0-9a-f-]{10}\b", table.made),
                re.findall(r"\b[0-9a-f]{7,8}\b", table.made),
            )
            oldest, newest = (f"{dates[end]} ({commits[end]})" for end in (0, -1))
            rows_of = max(table.body.count("\n|") - 1, 0)
            yield f"| [{path.name}](../benchmarks/{path.name}): {table.name} | {rows_of} | {oldest} | {newest} |"
        for heading, rows in tables(path) if path not in marked else ():
            ends = [min(rows, key=lambda row: row[1]), max(rows, key=lambda row: row[1])]
            oldest, newest = (f"{date:%Y-%m-%d} ({commit})" for commit, date in ends)
            told = re.sub(r"[`|]", "", heading)
            yield f"| [{path.name}](../benchmarks/{path.name}): {told} | {len(rows)} | {oldest} | {newest} |"


def tables(path: Path) -> Iterator[tuple[str, list[Row]]]:
    """Yield each section of a page that has tables, with their rows."""
    heading, rows = "", list[Row]()
    for line, row in blamed(path):
        if line.startswith("#"):
            if rows:
                yield heading, rows
            heading, rows = line.lstrip("# "), []
        elif line.startswith("|") and not line.startswith("|---"):
            rows.append(row)
    if rows:
        yield heading, rows


def blamed(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the lines of a file with their commits."""
    command = ["git", "-C", str(ROOT), "blame", "-w", "--line-porcelain", str(path)]
    commit, date = "", datetime.min.replace(tzinfo=UTC)
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        if re.match(r"[0-9a-f]{40} ", line):
            commit = line[:8]
        elif line.startswith("committer-time "):
            date = datetime.fromtimestamp(int(line.split()[1]), UTC)
        elif line.startswith("\t"):
            yield line[1:], (commit, date)


if __name__ == "__main__":
    main()
