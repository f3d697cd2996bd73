"""Make tables of `benchmarks/*.md` anew: run the command above each, and put what it prints in the table's place.

    python -m benchmarks.results                    # list the tables: when each was made, and by which command
    python -m benchmarks.results NAME [NAME ...]    # make these anew
    python -m benchmarks.results --all              # make all anew: many hours

A table stands in its page between two marks, under a line that this program writes. Prose around it stays.

    <!-- table NAME -->
    *Date, commit, machine:* `command`

    | table |
    <!-- end of table -->

Of an output the first table and all below it are taken; of one without a table, the last line. COMMIT in a command
stands for the commit, so that rows which a stopped run has kept are of the same code. Run it from a clean tree: a
commit that does not hold all of the code is marked by a `+`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(
    r"<!-- table (?P<name>[\w-]+) -->\n\*(?P<made>.+):\* `(?P<command>.+)`\n\n(?P<body>(?s:.*?))<!-- end of table -->\n"
)
MOST_CHARACTERS = 400
"""Of a row (`tests/test_documents.py`)."""


@dataclass(frozen=True)
class Table:
    """A table of a page; ``made``: date, commit and machine."""

    page: Path
    name: str
    made: str
    command: str
    body: str

    @property
    def marked(self) -> str:
        """The table as it stands in its page."""
        head = f"<!-- table {self.name} -->\n*{self.made}:* `{self.command}`\n\n"
        return f"{head}{self.body.rstrip()}\n<!-- end of table -->\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables to make anew")
    parser.add_argument("--all", action="store_true", help="make all anew")
    chosen = parser.parse_args()
    known = {table.name: table for table in tables()}
    if unknown := sorted({*chosen.names} - {*known}):
        parser.error(f"no table of this name: {', '.join(unknown)}")
    if not chosen.names and not chosen.all:
        for table in known.values():
            print(f"{table.name:20} {table.made}: {table.command}")
    failed = []
    for name in known if chosen.all else chosen.names:
        try:
            replace(known[name], printed(known[name].command))
        except subprocess.CalledProcessError as error:
            failed.append(name)
            print(f"{name} stays as it is: its command ended with {error.returncode}", flush=True)
        else:
            print(f"{name} written to {known[name].page.relative_to(ROOT)}", flush=True)
    sys.exit(bool(failed))


def tables() -> Iterator[Table]:
    """Yield the marked tables of all pages."""
    for page in sorted((ROOT / "benchmarks").glob("*.md")):
        for match in MARKED.finditer(page.read_text(encoding="utf-8")):
            yield Table(page, **match.groupdict())


def replace(table: Table, body: str) -> None:
    """Put a new body in a table's place, with today's date, this commit and this machine."""
    page = table.page.read_text(encoding="utf-8")  # anew: a table before may have changed it
    new = Table(table.page, table.name, made(), table.command, body)
    assert page.count(table.marked) == 1, table.name
    table.page.write_text(page.replace(table.marked, new.marked), encoding="utf-8")


def printed(command: str) -> str:
    """Run a command as a shell does, by this Python, and return the part of its output that belongs in a page."""
    own = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", command).replace("COMMIT", commit())
    words = ["bash", "-c", own]
    (ROOT / "out").mkdir(exist_ok=True)
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return told(done.stdout)


def told(output: str) -> str:
    """Return the first table of an output and all below it, or the last line where there is no table."""
    lines = [shortened(line) for line in output.strip().splitlines()]
    first = next((number for number, line in enumerate(lines) if line.startswith("|")), len(lines) - 1)
    return "\n".join(lines[first:])


def shortened(line: str) -> str:
    """Return a row whose longest cell is cut so far that the row can be read."""
    if len(line) <= MOST_CHARACTERS:
        return line
    longest = max(line.split("|"), key=len)
    return line.replace(longest, f"{longest[: len(longest) - (len(line) - MOST_CHARACTERS) - 5]} ... ")


def made() -> str:
    """Return today's date, the commit and the machine."""
    return f"{datetime.now(UTC):%Y-%m-%d}, commit {commit()}, {machine()}"


def commit() -> str:
    """Return the commit; a `+` stands for code that it does not hold."""
    git = ["git", "-C", str(ROOT)]
    answers = [
        subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout.strip()
        for words in (["rev-parse", "--short=8", "HEAD"], ["status", "--porcelain", "--", "*.py", "*.yaml", "*.json"])
    ]
    return answers[0] + ("+" if answers[1] else "")


def machine() -> str:
    """Return the processor's name and how many cores this process may use."""
    names = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else 'an unnamed processor'}"


if __name__ == "__main__":
    main()
