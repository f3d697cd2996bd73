"""A stitched plan, built: its modules implemented by Vivado, or taken from a library, and its cards stitched."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.events import Callback, told_to
from floorflow.api.folders import require_folder
from floorflow.errors import ToolError
from floorflow.facts.run_times import CARD_MB, RUN_MB, assembly_s, luts_by_card, minutes, session_s, wall_s
from floorflow.importing import whole_imports
from floorflow.reading import read_json

if TYPE_CHECKING:
    from floorflow.jobs.stitched import Build

MODULES = "finn/build/modules"
"""Where FINN's build leaves the IP of modules, in the folder of a plan."""
LIBRARY = "library"
_CLUSTER_THREADS = 4
_MOST_THREADS = 8
"""Of Vivado's steps."""


@dataclass(frozen=True)
class BuildResult:
    """What there was, what was made and what went wrong; after a dry run what is to be made."""

    of: Build
    at_once: int
    dry_run: bool
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    """The sentence of each module and card that was not made."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``floorflow build --json`` prints it."""
        return {
            "modules": {
                one.cell: {"entry": str(self.of.library.folder / one.name), "made": one.name in self._lacked}
                for held in self.of.wanted.values()
                for one in held
            },
            "runs": {
                name: {"implementations": [run.name for run in held], "predicted_s": round(session_s(held))}
                for name, held in self.of.runs.items()
            },
            "cards": self._cards,
            "predicted": {"library_s": round(self._library_s), "memory_mb": self._memory_mb},
            "dry_run": self.dry_run,
            "seconds": round(self.seconds),
            "failed": self.failed,
        }

    @property
    def _lacked(self) -> set[str]:
        return {one.name for held in self.of.missing.values() for one in held}

    @property
    def _library_s(self) -> float:
        return wall_s(map(session_s, self.of.runs.values()), self.at_once)

    @property
    def _memory_mb(self) -> int:
        runs = min(self.at_once, len(self.of.runs)) * RUN_MB
        return max(runs, min(self.at_once, len(self.of.cards)) * CARD_MB)

    @property
    def _cards(self) -> dict[str, dict[str, Any]]:
        """Each card, and its checkpoint and slack where it is stitched."""
        from floorflow.jobs.stitched import CARDS, top_of

        found = {}
        for name, row in self.of.cards.items():
            card, told = row["card"], self.of.folder / CARDS / f"{name}.json"
            checkpoint = self.of.folder / card / top_of(card) / f"{top_of(card)}.dcp"
            wns = read_json(told, "report", "build again")["wns_ns"] if told.is_file() else None
            found[card] = {"checkpoint": None if wns is None else str(checkpoint), "wns_ns": wns}
        return found

    @property
    def text(self) -> str:
        """What the command line prints."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        count, lacked = sum(map(len, self.of.wanted.values())), len(self._lacked)
        made = lacked - sum(cell in self.failed for held in self.of.missing.values() for cell in (o.cell for o in held))
        runs = f"{len(self.of.runs)} run{'s' if len(self.of.runs) != 1 else ''} of Vivado"
        took = f"{lacked} to make in {runs}" if self.dry_run else f"{made} made in {runs}, {minutes(self.seconds)}"
        yield f"{count} modules in {len(self.of.wanted)} implementations: {count - lacked} from the library, {took}"
        yield f"  library   {self.of.library.folder}"
        if self.dry_run:
            luts = luts_by_card(self.of.plan.only_phase, self.of.plan.fpga_of)
            cards = ", ".join(f"{card} {minutes(assembly_s(lut))}" for card, lut in luts.items())
            yield f"  predicted {minutes(self._library_s)} with {self.at_once} at once, then {cards} to stitch; "
            yield f"            up to {self._memory_mb / 1000:.0f} GB of memory"
            yield f"  jobs      {self.of.folder / 'Snakefile'}"
            return
        for card, row in self._cards.items():
            yield f"  {card:<9} " + (
                "not stitched" if row["checkpoint"] is None else f"{row['checkpoint']}, WNS {row['wns_ns']:g} ns"
            )

    def require_all(self) -> None:
        """Raise ToolError if anything was not made, with the sentence of each."""
        if self.failed:
            told = "\n".join(f"  {name}: {why}" for name, why in self.failed.items())
            hint = f"logs are in {self.of.folder / 'work'}; run the same command again: what is made stays"
            raise ToolError(f"{len(self.failed)} not made:\n{told}", hint=hint)


def build(
    folder: str | Path,
    *,
    jobs: int | None = None,
    vivado: str | Path | None = None,
    library: str | Path | None = None,
    modules: str | Path | None = None,
    licences: int | None = None,
    profile: str | None = None,
    dry_run: bool = False,
    progress: Callback | None = None,
) -> BuildResult:
    """Implement the modules of the stitched plan in ``folder`` that the library lacks, and stitch its cards.

    ``jobs`` runs of Vivado at once, by default as many as this machine has memory and cores for, and no more than there
    are ``licences``; ``library``: the folder of a store that several plans may share, by default the plan's own;
    ``modules``: the folder with the packaged IP; ``profile``: Snakemake's, of a cluster. A dry run writes the jobs.

    Raises
    ------
    InputError
        If the folder holds no stitched plan, the IP of a module or Snakemake is missing, or another build works there.
    ToolFailed
        If Vivado is missing, or Snakemake itself fails. What fails of the modules is told by the result.
    KeyboardInterrupt
        On Ctrl-C; what is made by then is in the library.

    """
    require_folder(Path(folder), "a folder that plan wrote")
    with whole_imports():
        from floorflow.jobs.library import Library
        from floorflow.jobs.snakemake import command, held_alone, require_snakemake, run
        from floorflow.jobs.stitched import FOLDER, Build, default_at_once, memory_mb

    if not dry_run:
        require_snakemake()
    out, at_once = Path(folder).resolve(), jobs or default_at_once()
    store = out / FOLDER / LIBRARY if library is None else Path(library).resolve()
    ips = out / MODULES if modules is None else Path(modules).resolve()
    made = Build(out, ips, Library(store), _vivado(vivado), _threads(at_once, profile))
    tell, started = told_to(progress), time.perf_counter()
    made.folder.mkdir(exist_ok=True)
    with held_alone(made.folder) as lock:
        made.write()
        if dry_run or not (made.runs or made.cards_to_stitch):
            return BuildResult(made, at_once, dry_run)
        limits = {"vivado": licences or at_once, **({} if profile else {"mem_mb": memory_mb()})}
        words = command(made.folder, at_once, made.threads, limits, profile)
        with tell.stage("build"):
            code = run(words, made.folder, lock, lambda: _state(made), tell.note)
    return BuildResult(made, at_once, dry_run, time.perf_counter() - started, _failed(made, code))


def _threads(at_once: int, profile: str | None) -> int:
    import os

    return _CLUSTER_THREADS if profile else max(1, min(_MOST_THREADS, (os.cpu_count() or 1) // at_once))


def _vivado(given: str | Path | None) -> Any:
    """Return Vivado and its release; ToolError if it is not there."""
    from floorflow.jobs.stitched import Vivado

    path = shutil.which(given or "vivado")
    if path is None:
        told = f"{given} is no program" if given else "vivado is not on the PATH"
        raise ToolError(told, hint="source the settings64.sh of Vivado, or name the program by --vivado")
    done = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    release = re.search(r"vivado v?(\d{4}\.\d+(?:\.\d+)?)", done.stdout, re.I)
    if release is None:
        raise ToolError(f"{path} -version does not tell a release of Vivado", hint="name the program by --vivado")
    return Vivado(Path(path).resolve(), release[1])


def _state(made: Build) -> str:
    """Return how many modules are made, and what the runs that are under way do."""
    from floorflow.jobs.stitched import CARDS, FAILED, RUNS, WORK
    from floorflow.jobs.work import last_step

    lacked = [one.name for held in made.missing.values() for one in held]
    done = sum(made.library.has(name) for name in lacked)
    names = [(name, RUNS) for name in made.runs] + [(name, CARDS) for name in made.cards]
    ended = {name for name, kind in names if (made.folder / kind / f"{name}.json").is_file()}
    ended |= {path.stem for path in (made.folder / FAILED).glob("*.json")}
    steps = [last_step(made.folder / WORK / name) for name, _ in names if name not in ended]
    now = [step for step in steps if step]
    wrong = len([*(made.folder / FAILED).glob("*.json")])
    told = [f"{done} of {len(lacked)} modules made", *([f"{wrong} failed"] if wrong else []), *now[:3]]
    return "; ".join(told)


def _failed(made: Build, code: int) -> dict[str, str]:
    """Return the sentence of each module and card that was not made."""
    from floorflow.jobs.snakemake import require_begun
    from floorflow.jobs.stitched import FAILED

    found: dict[str, str] = {}
    for path in sorted((made.folder / FAILED).glob("*.json")):
        found |= read_json(path, "report", "build again")
    if code and not found:
        require_begun(made.folder)
    left = [one.cell for held in made.missing.values() for one in held if not made.library.has(one.name)]
    lacks = left or [made.cards[name]["card"] for name in made.cards_to_stitch]
    outside = "its job ended without a word, as one does that is killed from outside"
    return found | {name: outside for name in lacks if name not in found and (left or not found)}
