"""The verdict on anybody's floorplan, without a plan: XDC files and pblock scripts on a part or a board."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.pictures import Picture, drawn
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.reading import read_bytes

if TYPE_CHECKING:
    from floorflow.verify.xdc import Judged
    from floorflow.view.pictures.stated_floorplan import StatedFloorplan
    from floorflow.view.sheet import Sheet

_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_OF_LIMITS = "give less in one check, or what `write_xdc` writes"
_REPORT_ENDS = (".xml", ".rpt", ".txt", ".log")


@dataclass(frozen=True)
class FloorplanFinding:
    """One finding: its name and ``severity`` (error, warning or note), where, and what to do.

    ``pblock`` is empty for what concerns none.
    """

    name: str
    severity: str
    file: str
    line: int
    pblock: str
    found: str
    expected: str
    todo: str


class FloorplanVerdict:
    """What the judge says of a floorplan. It counts as true if something was judged and there is no error."""

    def __init__(self, judged: Judged) -> None:
        self._judged = judged

    @cached_property
    def findings(self) -> tuple[FloorplanFinding, ...]:
        """All findings, the gravest first; of one name at most 200, see ``checked``."""
        return tuple(
            FloorplanFinding(f.name, f.severity, f.place.file, f.place.line, f.pblock, f.found, f.expected, f.todo)
            for f in self._judged.ordered
        )

    @property
    def legal(self) -> bool:
        """Whether all that the files say of pblocks was judged, and there is no error."""
        return self.verdict == "legal"

    @property
    def verdict(self) -> str:
        """One of ``legal``, ``violations``, ``incomplete`` (no error in what was judged) and ``nothing judged``."""
        if not self._judged.is_legal:
            return "violations"
        if self._judged.judged_nothing:
            return "nothing judged"
        return "legal" if self._judged.is_whole else "incomplete"

    def __bool__(self) -> bool:
        return self.verdict in ("legal", "incomplete")

    @property
    def shell(self) -> str | None:
        """The shell whose areas were judged: the board's, or that which the names of cells tell."""
        return self._judged.shell.name if self._judged.shell else None

    @property
    def pblocks(self) -> list[dict[str, Any]]:
        """A row a pblock: what it holds and, with a report, what its cells need and which the report lacks."""
        return [
            {"name": full.pblock, "holds": full.supply, "needs": full.demand, "not_in_report": list(full.missing)}
            for full in self._judged.fullness
        ]

    @property
    def checked(self) -> dict[str, int]:
        """Counts: commands, pblocks (all that are named, the shell's own, too), ranges, cells, findings by severity."""
        floorplan, named = self._judged.floorplan, self._judged.named
        counts = self._judged.findings.counts
        return {
            "commands": floorplan.commands,
            "pblocks": len(named),
            "ranges": sum(block.ranges for block in named),
            "cells": sum(len(block.cells) for block in named),
            **{f"{severity}s": counts[severity] for severity in ("error", "warning", "note")},
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, as ``floorflow check --json`` prints it."""
        return {
            "verdict": self.verdict,
            "part": self._judged.target.part,
            "device": self._judged.target.device_file,
            "shell": self.shell,
            "findings": [asdict(finding) for finding in self.findings],
            "not_listed": dict(self._judged.findings.left_out),
            "pblocks": self.pblocks,
            "checked": self.checked,
        }

    @cached_property
    def picture(self) -> Picture:
        """The die with its pblocks and where the findings are, drawn when it is first asked for."""
        return Picture("floorplan", drawn(self._draw))

    def _draw(self) -> Sheet:
        with whole_imports():
            from floorflow.assets import asset_folder
            from floorflow.hardware.device_file import read_device
            from floorflow.view.pictures.stated_floorplan import stated_floorplan

        path = asset_folder("platforms") / "devices" / f"{self._judged.target.device_file}.yaml"
        return stated_floorplan(self.scene, read_device(path.read_text(encoding="utf-8"), path.name))

    @cached_property
    def scene(self) -> StatedFloorplan:
        """What the picture shows."""
        from floorflow.view.box import Box
        from floorflow.view.pictures.stated_floorplan import StatedFinding, StatedFloorplan, StatedPblock

        judged = self._judged

        def boxes(sites: Any) -> tuple[Box, ...]:
            return tuple(Box(r.left, r.bottom, r.right + 1, r.top + 1) for r in judged.boxes(sites))

        gravest: dict[str, str] = {}
        for finding in judged.ordered:
            gravest.setdefault(finding.pblock, finding.severity)
        pblocks = tuple(
            StatedPblock(
                number,
                block.name,
                boxes(block.sites),
                "hard" if block.is_hard else "soft",
                _fill(full),
                gravest.get(block.name, ""),
            )
            for number, (block, full) in enumerate(zip(judged.created, self.pblocks, strict=True), 1)
        )
        findings = tuple(
            StatedFinding(f.severity, f"{f.name}{f.pblock and ' '}{f.pblock}: {f.found} ({f.place})", boxes(f.sites))
            for f in judged.ordered
        )
        shell = judged.shell
        reserved = tuple(
            (name, box) for name, area in (shell.reserved if shell else {}).items() for box in boxes(area.sites)
        )
        counts = self.checked
        told = ", ".join(f"{counts[f'{name}s']} {name}s" for name in ("error", "warning", "note"))
        return StatedFloorplan(
            title=f"{judged.target.part}: {counts['pblocks']} pblocks",
            subtitle=f"{told}; {shell.name if shell else 'no shell is judged'}",
            pblocks=pblocks,
            findings=findings,
            static=boxes(shell.static.sites) if shell else (),
            reserved=reserved,
        )


def _fill(row: Mapping[str, Any]) -> str:
    """Say how full a pblock is, or what it holds."""
    needs, holds = row["needs"], row["holds"]
    parts = [
        (name, amount, (needs or {}).get(name)) for name, amount in holds.items() if amount or (needs or {}).get(name)
    ]
    if needs is None:
        return ", ".join(f"{amount:,} {name}" for name, amount, _ in parts if name != "FF")
    return ", ".join(
        f"{name} {needed / amount:.0%}" if amount else f"{name} {needed:,} of 0"
        for name, amount, needed in parts
        if needed
    )


def check_floorplan(
    files: str | Path | Sequence[str | Path],
    *,
    part: str | None = None,
    board: str | None = None,
    report: str | Path | None = None,
) -> FloorplanVerdict:
    """Judge a floorplan made by anybody: XDC files and scripts with pblocks, in the order in which Vivado reads them.

    ``part`` is a die or a full part name, ``board`` a shipped board or a board's file, whose shell is then judged by;
    ``report`` is what ``report_utilization -hierarchical`` writes, as text or as XML.

    Raises
    ------
    InputError
        If a file cannot be read, or the part or board is unknown.

    """
    from floorflow.verify.xdc import LimitError, NoTargetError, UnreadableError, find_target, judge_floorplan

    paths = [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
    if not paths:
        raise InputError("no file is given", hint="give an XDC file or a script with pblocks")
    sources = [(str(path), _text(path)) for path in paths]
    known = None if report is None else (Path(report).name, dict(_rows(Path(report))))
    try:
        target = find_target(part, board)
    except NoTargetError as error:
        raise InputError(str(error), hint=error.hint) from error
    try:
        return FloorplanVerdict(judge_floorplan(sources, target, known))
    except UnreadableError as error:
        hint = _OF_LIMITS if isinstance(error, LimitError) else "correct it; Vivado cannot read it either"
        where = f"{error.file}:{error.line}" if error.line else error.file
        raise InputError(f"{where}: {error}", hint=hint) from error


def _text(path: Path, kind: str = "an XDC file or a script with pblocks") -> str:
    """Return a file's text: UTF-8, or else Latin-1, in which people write a © into comments."""
    raw = read_bytes(path, "floorplan", f"give {kind}")
    if _BINARY.search(raw):
        raise InputError(f"{path}: is no text, but binary", hint=f"give {kind}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _rows(path: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the whole name of each cell below the top, and "" for the top, with what it uses."""
    from floorflow.backends.vivado import reports

    if path.suffix.lower() not in _REPORT_ENDS:
        raise InputError(f"{path}: is no report", hint=f"give a file that ends in {', '.join(_REPORT_ENDS)}")
    text = _text(path, "what report_utilization -hierarchical writes")
    if reports.is_hierarchy_xml(text[:4096]):
        report = reports.read_hierarchy_xml(text, path.name)
    elif reports.is_hierarchy_text(text):
        report = reports.read_hierarchy_text(text, path.name)
    else:
        raise InputError(f"{path}: is no utilisation by hierarchy", hint="write it by report_utilization -hierarchical")
    for row in report.rows:
        if row.resources is not None:
            yield "/".join(row.path[1:]), row.resources.as_dict()
