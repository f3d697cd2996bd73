"""The jobs of a stitched plan: runs of Vivado that make what the library lacks, and a card's assembly of it.

All is named by the digest of what it is made of, so that whatever is there need not be made, and whatever changed has
another name. Snakemake sees a file that tells of each finished job, `floorflow.jobs.work` does the work.
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

from floorflow.errors import InputError
from floorflow.facts import Plan, read_plan
from floorflow.facts.run_times import CARD_MB, RUN_MB, Run, assembly_s, luts_by_card, runs_of, session_s, sessions
from floorflow.facts.stitched import TOP, StitchedModule, by_implementation, stitched_modules
from floorflow.jobs.library import Library, Wanted, wanted_in
from floorflow.jobs.snakemake import read_config, write_jobs
from floorflow.reading import files_below, read_bytes

FOLDER = "jobs"
RUNS, CARDS, WORK, FAILED, LOG = "runs", "cards", "work", "failed", "vivado.log"
"""In `FOLDER`: what tells of finished runs and cards, where Vivado works, what went wrong; and what Vivado says."""
TIMES_PREDICTED, LEAST_MINUTES = 4, 30
"""Of a job's time limit on a cluster, which a predicted time is no promise for."""
_SNAKEFILE = """\
# Written by `floorflow build`, which also wrote config.yaml: what is to be made, and what that takes.
#
#   python -m snakemake -s Snakefile --directory . --cores 8 --resources vivado=4 --keep-going
#
# Modules go to the library as soon as they are made; a file in runs/ tells that all of a run are there, one in cards/
# that a card is stitched. All are named by the digest of what they are made of: what changed has another name.


configfile: "config.yaml"


rule all:
    input:
        [f"runs/{run}.json" for run in config["runs"]],
        [f"cards/{card}.json" for card in config["cards"]],


rule modules:
    output:
        "runs/{run}.json",
    threads: config["threads"]
    resources:
        vivado=1,
        mem_mb=lambda wildcards, attempt: attempt * config["runs"][wildcards.run]["mem_mb"],
        runtime=lambda wildcards, attempt: attempt * config["runs"][wildcards.run]["minutes"],
    shell:
        "{config[python]} -m floorflow.jobs modules {wildcards.run}"


rule card:
    input:
        lambda wildcards: [f"runs/{run}.json" for run in config["cards"][wildcards.card]["runs"]],
    output:
        "cards/{card}.json",
    threads: config["threads"]
    resources:
        vivado=1,
        mem_mb=lambda wildcards, attempt: attempt * config["cards"][wildcards.card]["mem_mb"],
        runtime=lambda wildcards, attempt: attempt * config["cards"][wildcards.card]["minutes"],
    shell:
        "{config[python]} -m floorflow.jobs card {wildcards.card}"
"""


@dataclass(frozen=True)
class Vivado:
    """The program and its release."""

    path: Path
    release: str


@dataclass(frozen=True)
class Build:
    """What is to be made of the plan in ``out``, with the packaged IP in ``ips`` and a store of modules."""

    out: Path
    ips: Path
    library: Library
    vivado: Vivado
    threads: int

    @property
    def folder(self) -> Path:
        """Where the jobs are."""
        return self.out / FOLDER

    @cached_property
    def plan(self) -> Plan:
        """The plan; InputError if its modules are not stitched."""
        plan = read_plan(self.out / "plan.json")
        if not plan.options.backend_options.stitches:
            raise InputError(f"{self.out}: is no plan of --flow stitch", hint="plan with --flow stitch")
        return plan

    @cached_property
    def modules(self) -> dict[str, StitchedModule]:
        """The modules by their cells."""
        return {module.cell: module for module in stitched_modules(self.plan.only_phase).values()}

    def made_by(self, implementation: str) -> list[Wanted]:
        """Return what an implementation's script makes, by the files as they are now."""
        return wanted_in(self.out, self.ips, implementation, self.modules, self.vivado.release)

    @cached_property
    def wanted(self) -> dict[str, list[Wanted]]:
        """What each implementation's script makes."""
        return {name: self.made_by(name) for name in by_implementation(self.modules.values())}

    @cached_property
    def missing(self) -> dict[str, list[Wanted]]:
        """What the library lacks of each implementation, where it lacks any."""
        rows = {name: [one for one in held if not self.library.has(one.name)] for name, held in self.wanted.items()}
        return {name: held for name, held in rows.items() if held}

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """The runs of Vivado that make what is missing, by their names."""
        known = {run.name: run for run in runs_of(self.plan.only_phase)}
        left = [Run(name, known[name].lut, len(held)) for name, held in self.missing.items()]
        return {self._run_name(held): held for held in sessions(left)}

    def _run_name(self, held: Sequence[Run]) -> str:
        entries = [one.name for run in held for one in self.missing[run.name]]
        more = f"_and_{len(held) - 1}" if len(held) > 1 else ""
        return f"{held[0].name}{more}-{_digest(entries)}"

    @cached_property
    def cards(self) -> dict[str, dict[str, Any]]:
        """The cards by the names of their jobs: card, entries by cells, and the runs that they wait for."""
        fpga_of, lut = self.plan.fpga_of, luts_by_card(self.plan.only_phase, self.plan.fpga_of)
        entry_of = {one.cell: one.name for held in self.wanted.values() for one in held}
        made_by = {one.cell: name for name, held in self.runs.items() for r in held for one in self.missing[r.name]}
        found = {}
        for fpga in sorted(path.parents[1].name for path in self.out.glob("*/top/assemble.tcl")):
            cells = sorted(cell for cell, module in self.modules.items() if fpga_of[module.slot] == fpga)
            files = [path for path in files_below(self.out / fpga / "top") if path.suffix in {".v", ".xdc", ".tcl"}]
            own = {path.name: _sourced(path) for path in files}
            told = [self.vivado.release, own, {cell: entry_of[cell] for cell in cells}]
            found[f"{fpga}-{_digest(told)}"] = {
                "card": fpga,
                "entries": {cell: entry_of[cell] for cell in cells},
                "runs": sorted({made_by[cell] for cell in cells if cell in made_by}),
                "mem_mb": CARD_MB,
                "minutes": _limit(assembly_s(lut.get(fpga, 0))),
            }
        return found

    @property
    def cards_to_stitch(self) -> list[str]:
        """Those of which no file tells that they are stitched."""
        return [name for name in self.cards if not (self.folder / CARDS / f"{name}.json").is_file()]

    def config(self) -> dict[str, Any]:
        """Return the data of the Snakefile."""
        return {
            "python": sys.executable,
            "vivado": str(self.vivado.path),
            "release": self.vivado.release,
            "threads": self.threads,
            "modules": str(self.ips),
            "library": str(self.library.folder),
            "runs": {
                name: {
                    "implementations": {run.name: [one.cell for one in self.missing[run.name]] for run in held},
                    "mem_mb": RUN_MB,
                    "minutes": _limit(session_s(held)),
                }
                for name, held in self.runs.items()
            },
            "cards": self.cards,
        }

    def write(self) -> None:
        """Write Snakefile and data, and forget what is told of runs whose modules are no longer in the library."""
        for name in (RUNS, CARDS, WORK, FAILED):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.library.folder.mkdir(parents=True, exist_ok=True)
        self.library.tidy()
        write_jobs(self.folder, _SNAKEFILE, self.config())
        for name in [*self.runs, *self.cards_to_stitch]:
            (self.folder / RUNS / f"{name}.json").unlink(missing_ok=True)
            (self.folder / WORK / name / LOG).unlink(missing_ok=True)
        shutil.rmtree(self.folder / FAILED)
        (self.folder / FAILED).mkdir()


def read_build(folder: Path) -> tuple[Build, dict[str, Any]]:
    """Return what is to be made in the folder of jobs, and the data that was written of it."""
    config = read_config(folder)
    vivado = Vivado(Path(config["vivado"]), config["release"])
    library = Library(Path(config["library"]))
    return Build(folder.parent, Path(config["modules"]), library, vivado, config["threads"]), config


def top_of(fpga: str) -> str:
    """Return what a card's design is called."""
    return f"{TOP}_{fpga}"


def default_at_once() -> int:
    """Return how many runs this machine has room for, by memory and by two cores each."""
    return max(1, min((os.cpu_count() or 1) // 2, memory_mb() // RUN_MB))


def memory_mb() -> int:
    """Return the memory of this machine."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000)


def _limit(seconds: float) -> int:
    return max(LEAST_MINUTES, ceil(TIMES_PREDICTED * seconds / 60))


def _digest(told: object) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]


def _sourced(path: Path) -> str:
    lines = read_bytes(path, "plan", "plan again").splitlines(keepends=True)
    return hashlib.sha256(b"".join(line for line in lines if b"Generated by floorflow" not in line)).hexdigest()
