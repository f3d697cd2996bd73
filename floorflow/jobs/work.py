"""What one job does: it runs Vivado, takes what that made, and says in a sentence what went wrong."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floorflow.errors import FloorflowError, ToolError
from floorflow.jobs.library import Wanted
from floorflow.jobs.snakemake import alone, tell_of
from floorflow.jobs.stitched import CARDS, FAILED, LOG, RUNS, WORK, Build, read_build, top_of

SCRIPT = "session.tcl"
_SESSION = """\
# Written by `floorflow build`: implements these modules one after another.
#   vivado -mode batch -source session.tcl -tclargs MODULES FOLDER
source {library}
set_param general.maxThreads {threads}
floorflow::session $argv {{
{runs}
}}
"""
_NAMED = re.compile(r"^floorflow failed: (.*?): (.*)$", re.M)
_ERROR = re.compile(r"^(?:ERROR|floorflow): (?!.* modules were not made: )(.*)$", re.M)
_EARLIER = "due to earlier errors"
"""What a step of Vivado raises, whose cause is an error that it printed before."""
_LICENCE = re.compile(r"\blicen[sc]e\b", re.I)
_KILLED = {137, -9}
_STEP = re.compile(rb"^floorflow now: (.*?)\r?$", re.M)
_TAIL = 200_000
"""Bytes at the end of a log in which the last step is looked for."""


def main(words: Sequence[str]) -> int:
    """Do the job that the words name, in the folder of jobs; return its exit code."""
    kind, name = words
    folder = Path.cwd()
    build, config = read_build(folder)
    with alone(folder / WORK, name) as held:
        try:
            wrong = (_modules if kind == "modules" else _card)(build, config, name, held)
        except FloorflowError as error:
            wrong = {name: str(error)}
    if wrong:
        tell_of(folder / FAILED / f"{name}.json", wrong)
        sys.stderr.write("".join(f"{one}: {why}\n" for one, why in wrong.items()))
    return 1 if wrong else 0


def _modules(build: Build, config: dict[str, Any], name: str, lock: int) -> dict[str, str]:
    """Make the modules of a run that the library lacks; return what went wrong, by their cells."""
    implementations = config["runs"][name]["implementations"]
    wanted = {m: [one for one in build.made_by(m) if one.cell in cells] for m, cells in implementations.items()}
    missing = {made: [one for one in held if not build.library.has(one.name)] for made, held in wanted.items()}
    missing = {made: held for made, held in missing.items() if held}
    started, home = time.monotonic(), build.folder / WORK / name
    wrong: dict[str, str] = {}
    if missing:
        made = _fresh(home)
        script = _session(build, missing, home)
        code, log = _vivado(build, home, lock, script, build.ips, made)
        wrong = _taken(build, [one for held in missing.values() for one in held], made, code, log)
    if not wrong:
        entries = [one.name for held in wanted.values() for one in held]
        tell_of(
            build.folder / RUNS / f"{name}.json", {"entries": entries, "seconds": round(time.monotonic() - started)}
        )
        shutil.rmtree(home / "made", ignore_errors=True)
    return wrong


def _fresh(home: Path) -> Path:
    shutil.rmtree(home, ignore_errors=True)
    made = home / "made"
    made.mkdir(parents=True)
    return made


def _session(build: Build, missing: dict[str, list[Wanted]], home: Path) -> Path:
    """Write the script of a run."""
    rows = [
        f"    {{{{{build.out.resolve() / f'ooc/{made}/run.tcl'}}} {' '.join(one.cell for one in held)}}}"
        for made, held in missing.items()
    ]
    library = f"{{{build.out.resolve() / 'vivado/floorflow_stitch.tcl'}}}"
    text = _SESSION.format(library=library, threads=build.threads, runs="\n".join(rows))
    (home / SCRIPT).write_text(text, encoding="utf-8")
    return home / SCRIPT


def _taken(build: Build, wanted: Sequence[Wanted], made: Path, code: int, log: str) -> dict[str, str]:
    """Take into the library what a run made; return why the rest was not."""
    now = {one.name for made_by in {w.module.implementation for w in wanted} for one in build.made_by(made_by)}
    named = {cell.strip(): why for cells, why in _NAMED.findall(log) for cell in cells.split(",")}
    wrong = {}
    for one in wanted:
        if not (made / one.files[-1]).is_file():
            wrong[one.cell] = sentence(log, code, named.get(one.cell, ""))
        elif one.name not in now:
            wrong[one.cell] = "its sources changed while it was made; build again"
        else:
            try:
                build.library.put(one, made)
            except (FloorflowError, OSError) as error:
                wrong[one.cell] = str(error)
    return wrong


def _card(build: Build, config: dict[str, Any], name: str, lock: int) -> dict[str, str]:
    """Stitch a card of what is in the library; return what went wrong, by its name."""
    row = config["cards"][name]
    card, top, home = row["card"], top_of(row["card"]), build.folder / WORK / name
    started, folder = time.monotonic(), build.folder / row["card"]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _fresh(home)
    for old in (build.folder / CARDS).glob(f"{card}-*.json"):
        old.unlink()
    try:
        for entry in row["entries"].values():
            build.library.link(entry, folder)
    except FloorflowError as error:
        return {card: f"{error}; {error.hint}"}
    pins = build.out / card / "top/pins.xdc"
    words = [folder, *([pins.resolve()] if pins.is_file() else [])]
    code, log = _vivado(build, home, lock, build.out.resolve() / card / "top/assemble.tcl", *words)
    ends = [".dcp", "_funcsim.v", "_timing.json", *([".bit"] if pins.is_file() else [])]
    lacks = [f"{top}{end}" for end in ends if not (folder / top / f"{top}{end}").is_file()]
    if code or lacks:
        return {card: sentence(log, code, "" if code else f"Vivado left no {', '.join(lacks)}")}
    timing = json.loads((folder / top / f"{top}_timing.json").read_text(encoding="utf-8"))
    told = {"entries": row["entries"], "wns_ns": timing["wns_ns"], "seconds": round(time.monotonic() - started)}
    tell_of(build.folder / CARDS / f"{name}.json", told)
    return {}


def _vivado(build: Build, home: Path, lock: int, script: Path, *arguments: Path) -> tuple[int, str]:
    """Run a script in Vivado; return its exit code and what it said."""
    words = [str(build.vivado.path), "-mode", "batch", "-nojournal", "-nolog"]
    words += ["-source", str(script), "-tclargs", *(str(path.resolve()) for path in arguments)]
    with (home / LOG).open("wb") as log:
        try:
            done = subprocess.run(  # noqa: S603 - the user's own Vivado
                words, cwd=home, stdout=log, stderr=subprocess.STDOUT, pass_fds=[lock], check=False
            )
        except OSError as error:
            raise ToolError(f"{build.vivado.path}: {error.strerror}", hint="give Vivado by --vivado") from error
    return done.returncode, (home / LOG).read_text(encoding="utf-8", errors="replace")


def sentence(log: str, code: int, named: str = "") -> str:
    """Return in a sentence why a run failed; ``named``: what its script caught, which may not be the cause."""
    if code in _KILLED and not named:
        return "killed (signal 9), as the system does when memory runs out; fewer at once (-j) leave more for each"
    said = [named.removeprefix("ERROR: ").removeprefix("floorflow: ")]
    if not named or _EARLIER in named:
        said = [str(each) for each in _ERROR.findall(log.partition(named)[0] if named else log) if _EARLIER not in each]
    if said:
        return f"no licence: {said[-1]}" if _LICENCE.search(said[-1]) else said[-1]
    return f"Vivado ended with exit code {code} and without a message of an error" if code else "Vivado left nothing"


def last_step(folder: Path) -> str:
    """Return what a run that is under way does now, by its log; nothing before its first step."""
    try:
        with (folder / LOG).open("rb") as log:
            log.seek(max(0, (folder / LOG).stat().st_size - _TAIL))
            told = _STEP.findall(log.read())
    except OSError:
        return ""
    return told[-1].decode(errors="replace") if told else ""
