"""A folder of reports: which files are which, what they hold, and which are left aside."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from floorflow.backends.backend import Backend
from floorflow.backends.reports import BuiltFoldings, Report
from floorflow.backends.vivado.reports import read_vivado
from floorflow.errors import InputError
from floorflow.reading import MOST_BYTES, is_file, read_bytes, read_text, require_folder

_TEXTS = (".rpt", ".txt", ".log")
_READABLE = "make it readable, or take it out of the folder"


@dataclass(frozen=True)
class Folder:
    """What was read; ``aside`` names the files that were not."""

    reports: tuple[Report, ...]
    digests: dict[str, str]
    """sha256 by file, of every file that was read."""
    foldings: tuple[BuiltFoldings, ...]
    """What the build itself says of its foldings, which tells whether they are the plan's."""
    aside: tuple[str, ...]


def read_reports(folder: Path, backend: Backend, *, several: bool = False) -> Folder:
    """Read every report in a folder and the folders below it, the back end's own too; a single one may be given.

    ``several``: each FPGA of a plan has a build of its own in it.

    Raises InputError if there is no such folder, no report in it, or one that is malformed; names file and line.
    """
    if not is_file(folder):
        require_folder(folder, "the folder with the reports of a build")
    files = [folder] if is_file(folder) else list(backend.report_files(folder, several=several))
    found: list[Report | BuiltFoldings] = []
    digests: dict[str, str] = {}
    aside: list[str] = []
    for path in files:
        name = path.name if is_file(folder) else path.relative_to(folder).as_posix()
        text = _text(path)
        content = None if text is None else _read(text, name, backend)
        if content is None:
            aside.append(name)
            continue
        found.append(content)
        digests[name] = hashlib.sha256(read_bytes(path, "report", _READABLE)).hexdigest()
    reports = tuple(content for content in found if isinstance(content, Report))
    if not reports:
        raise InputError(f"{folder}: no report in it that calibrate reads", hint=_known(backend))
    foldings = tuple(content for content in found if isinstance(content, BuiltFoldings))
    return Folder(reports, digests, foldings, tuple(aside))


def _known(backend: Backend) -> str:
    kinds = ["report_utilization (-hierarchical as text or XML)", "report_power -hier all", *backend.own_reports]
    return f"it reads {', '.join(kinds[:-1])} and {kinds[-1]}"


def _text(path: Path) -> str | None:
    if path.suffix.lower() not in {".xml", ".json", *_TEXTS} or path.stat().st_size > MOST_BYTES["report"]:
        return None
    return read_text(path, "report", _READABLE, replace=True)


def _read(text: str, name: str, backend: Backend) -> Report | BuiltFoldings | None:
    """Return what a file holds: by its back end, else, as Vivado's, by its contents; None for anything else."""
    own = backend.read_report(name, text)
    if own is not None:
        return own
    return read_vivado(text, name)
