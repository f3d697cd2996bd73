"""Folders of stitched plans with the IP of their modules, and a stand-in for Vivado that goes wrong as it is told."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.plans import ROOT
from tests.tools import need_module, need_tcl


class Project:
    """A plan's folder, whose modules are made by a stand-in for Vivado."""

    def __init__(self, plan: Path, folder: Path, *, packaged: str = "2026-01-01") -> None:
        need_tcl()
        need_module("snakemake", "Snakemake is not installed: pip install -e '.[jobs]'")
        self.out = folder / "out"
        shutil.copytree(plan, self.out)
        self.said, self.started = folder / "said.json", folder / "started"
        self.started.mkdir()
        self.vivado = folder / "vivado"
        program = f'STAND_IN={self.said} exec {sys.executable} -m tests.jobs.vivado "$@"'
        self.vivado.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT} {program}\n")
        self.vivado.chmod(0o755)
        for script in (self.out / "ooc").iterdir():
            ip = self.out / "finn/build/modules" / script.name
            ip.mkdir(parents=True)
            (ip / "component.xml").write_text(
                f"<name>{script.name}_core</name>\n<x:coreCreationDateTime>{packaged}</x:coreCreationDateTime>\n"
            )
            (ip / f"{script.name}_core.v").write_text(f"module {script.name}_core; endmodule\n")
        self.goes()

    def goes(self, **wrong: Any) -> None:
        """Tell the stand-in what goes wrong from now on."""
        self.said.write_text(json.dumps({"log": str(self.started), **wrong}))

    def command(self, *more: str | Path) -> list[str]:
        """Return a build's command line, behind ``floorflow``."""
        return ["build", str(self.out), "--vivado", str(self.vivado), "-j", "2", *map(str, more)]

    def ran(self) -> list[str]:
        """Return what Vivado was started with since this was last asked, and forget it."""
        found = sorted(path.read_text() for path in self.started.iterdir())
        for path in self.started.iterdir():
            path.unlink()
        return found

    @property
    def library(self) -> Path:
        """The plan's own store."""
        return self.out / "jobs/library"

    def cells(self) -> set[str]:
        """Return the cells of the plan's modules."""
        cards = json.loads((self.out / "cells.json").read_text())["cards"]
        return {row["cell"] for card in cards.values() for row in card["modules"].values()}


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a store."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
