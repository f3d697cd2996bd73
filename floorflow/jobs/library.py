"""A store of implemented modules: a folder each, named by what it was made of, that many may read and write at once.

An entry is written beside, and renamed once it is whole: there is none, or all of it. Of two writers the first wins,
and the other takes what that one wrote.
"""

import hashlib
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from floorflow.backends.vivado.reports import read_vivado
from floorflow.errors import InputError, ToolError
from floorflow.facts.stitched import StitchedModule, core_name
from floorflow.output.listed import sha256
from floorflow.reading import read_json, read_text
from floorflow.resources import RESOURCE_NAMES

ENTRY = "entry.json"
SCHEMA = "floorflow-library/1"
_INCOMING = ".incoming-"
_OLD_S = 86_400.0
_PLACE = re.compile(r"^lappend places \[dict create((?: \\\n    [^\n]*)*)\]\n", re.M)
_VALUE = r"^\s*{} \{{(.*)\}}(?: \\)?$"
_STAMPED = re.compile(rb"^.*(?:coreCreationDateTime|coreRevision).*$", re.M)
"""Lines of IP-XACT that Vivado writes anew each time that an IP is packaged."""


@dataclass(frozen=True)
class Wanted:
    """A module as it is to be made: its cell, and all that its checkpoint follows from.

    ``implementation_sha256``: of the sources, the back end's IP, the scripts and the clock; ``place``: its pblock, pins
    and delays as ``run.tcl`` has them.
    """

    module: StitchedModule
    implementation_sha256: str
    part: str
    period_ns: str
    place: str
    vivado: str

    @property
    def cell(self) -> str:
        """What its files are called."""
        return self.module.cell

    @property
    def name(self) -> str:
        """What its entry is called."""
        told = [SCHEMA, self.implementation_sha256, self.part, self.period_ns, self.place, self.vivado]
        return f"{self.cell}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]}"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that a run leaves of it; the timing is the last."""
        ends = (".dcp", "_utilization.xml", "_timing_summary.rpt", "_timing.json")
        return tuple(f"{self.cell}{end}" for end in ends)

    @property
    def window(self) -> str:
        """The ranges of its pblock."""
        return _value(self.place, "ranges")


def wanted_in(out: Path, ips: Path, name: str, modules: Mapping[str, StitchedModule], vivado: str) -> list[Wanted]:
    """Return what ``ooc/<name>/run.tcl`` of a plan's folder makes; ``modules``: by their cells.

    Raises InputError if the script or the IP, which is in ``ips/<name>``, is not there.
    """
    again = "plan again with --flow stitch"
    text = _plain(read_text(out / f"ooc/{name}/run.tcl", "plan", again))
    places = [match[1] for match in _PLACE.finditer(text)]
    rest = _PLACE.sub("", text)
    part, period = (re.search(rf" -{key} (\S+)", rest) for key in ("part", "period"))
    if not places or part is None or period is None:
        raise InputError(f"{out / f'ooc/{name}/run.tcl'}: is no script of floorflow's", hint=again)
    if not (ips / name).is_dir():
        raise InputError(
            f"{ips}: has no folder {name} with the IP that {core_name(name)} is",
            hint=f"run the back end's build first, {out / 'finn/build.py'}, or name its folder by --modules",
        )
    own = [out / f"ooc/{name}/{name}.v", *sorted((out / "rtl").glob("floorflow_stitch_*.v"))]
    own.append(out / "vivado/floorflow_stitch.tcl")
    told = [rest, *(f"{path.name} {_plain(read_text(path, 'plan', again))}" for path in own), *_ip(ips / name)]
    digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    rows = [(modules[_value(place, "name")], place) for place in places]
    return [Wanted(module, digest, part[1].strip("{}"), period[1], place, vivado) for module, place in rows]


def _ip(folder: Path) -> Iterator[str]:
    """Yield name and digest of each file of an IP, without the times at which it was packaged."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            data = _STAMPED.sub(b"", data) if path.suffix in {".xml", ".tcl"} else data
            yield f"{path.relative_to(folder).as_posix()} {hashlib.sha256(data).hexdigest()}"


def _plain(text: str) -> str:
    """Return a text of ours without comments, of which one names the plan that it came from."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(("#", "//")))


def _value(place: str, key: str) -> str:
    found = re.search(_VALUE.format(key), place, re.M)
    return found[1] if found else ""


@dataclass(frozen=True)
class Library:
    """The folder of a store."""

    folder: Path

    def has(self, name: str) -> bool:
        """Whether it has an entry, which then is whole."""
        return (self.folder / name / ENTRY).is_file()

    def put(self, wanted: Wanted, made: Path) -> None:
        """Take in what a run left of a module in a folder.

        Raises InputError or ToolError if a file is missing, or is not what Vivado writes.
        """
        content = entry(wanted, made)
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = Path(mkdtemp(prefix=_INCOMING, dir=self.folder))
        try:
            beside.chmod(0o755)
            for name in wanted.files:
                shutil.copyfile(made / name, beside / name)
            (beside / ENTRY).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            beside.rename(self.folder / wanted.name)
        except OSError:
            if not self.has(wanted.name):  # else another was first
                raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def link(self, name: str, folder: Path) -> dict[str, Any]:
        """Lay links to the files of an entry into a folder; return what is known of it.

        Raises InputError if a file is missing or not what was put there.
        """
        home = (self.folder / name).resolve()
        content = dict(read_json(home / ENTRY, "plan", "build again"))
        for file, digest in content["sha256"].items():
            if not (home / file).is_file() or sha256(home / file) != digest:
                raise InputError(f"{home / file}: is damaged", hint=f"delete {home}, and build again")
            with suppress(FileNotFoundError):
                (folder / file).unlink()
            (folder / file).symlink_to(home / file)
        return content

    def tidy(self) -> None:
        """Delete what writers left that were killed a day ago or earlier."""
        for left in self.folder.glob(f"{_INCOMING}*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _OLD_S:
                    shutil.rmtree(left, ignore_errors=True)


def entry(wanted: Wanted, made: Path) -> dict[str, Any]:
    """Return what the store tells of a module: what it was made of, and its area, clock and ports as measured."""
    missing = [name for name in wanted.files if not (made / name).is_file() or not (made / name).stat().st_size]
    if missing:
        raise ToolError(f"Vivado left no {', '.join(missing)}")
    _, area, _, timing = wanted.files
    told = read_json(made / timing, "report", "build again")
    report = read_vivado(read_text(made / area, "report", "build again"), area)
    if report is None or not report.rows or report.rows[0].resources is None:
        raise ToolError(f"{area} is no utilisation by hierarchy")
    period = float(wanted.period_ns)
    return {
        "schema": SCHEMA,
        "cell": wanted.cell,
        "implementation": wanted.module.implementation,
        "implementation_sha256": wanted.implementation_sha256,
        "part": wanted.part,
        "window": wanted.window.split(),
        "vivado": wanted.vivado,
        "resources": {name: report.rows[0].resources.as_dict()[name] for name in RESOURCE_NAMES},
        "primitive_cells": told["cells"],
        "clock_mhz": round(1000 / period, 3),
        "wns_ns": told["wns_ns"],
        "reached_mhz": round(1000 / (period - told["wns_ns"]), 3),
        "ports": {port.name: port.bits for port in wanted.module.ports},
        "sha256": {name: sha256(made / name) for name in wanted.files},
    }
