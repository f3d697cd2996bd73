"""A folder of reports: which files are which, what they hold, and which are left aside."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from floorflow.errors import InputError
from floorflow.study.reports import finn_estimates, finn_synthesis, flat_text, hierarchy_text, hierarchy_xml, power_text
from floorflow.study.reports.finn_json import nodes
from floorflow.study.reports.rows import FINN, HLS, Report

_TEXTS = (".rpt", ".txt", ".log")
_LARGEST_BYTES = 256 * 2**20
_CONFIG = "final_hw_config.json"
"""FINN's folding of what was built; tells whether it is the plan's."""


@dataclass(frozen=True)
class Folder:
    """What was read; ``aside`` names the files that were not."""

    reports: tuple[Report, ...]
    digests: dict[str, str]
    """sha256 by file, of every file that was read."""
    built_configs: dict[str, dict[str, Any]]
    """FINN's final_hw_config.json by engine, empty if there is none."""
    aside: tuple[str, ...]


def read_reports(folder: Path) -> Folder:
    """Read every report in a folder and the folders below it; a single report may be given too.

    Raises
    ------
    InputError
        If there is no such folder, no report in it, or one that is malformed; names file and line.

    """
    files = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    if not folder.exists():
        raise InputError(f"{folder}: no such folder", hint="give the folder with the reports of a build")
    reports: list[Report] = []
    digests: dict[str, str] = {}
    built_configs: dict[str, dict[str, Any]] = {}
    aside: list[str] = []
    for path in files:
        name = path.name if folder.is_file() else path.relative_to(folder).as_posix()
        text = _text(path)
        report = None if text is None else _read(text, path.name, name)
        if report is not None:
            reports.append(report)
        elif text is not None and path.name == _CONFIG:
            built_configs |= nodes(text, name)
        else:
            aside.append(name)
            continue
        digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    if not reports:
        raise InputError(
            f"{folder}: no report in it that calibrate reads",
            hint="it reads report_utilization (-hierarchical as text or XML), report_power -hier all, "
            "post_synth_resources.json and estimate_layer_resources*.json",
        )
    return Folder(tuple(reports), digests, built_configs, tuple(aside))


def _text(path: Path) -> str | None:
    """Return the text of a file that may be a report."""
    if path.suffix.lower() not in {".xml", ".json", *_TEXTS} or path.stat().st_size > _LARGEST_BYTES:
        return None
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint="make it readable, or take it out of the folder") from error


def _read(text: str, base: str, name: str) -> Report | None:
    """Return what a file holds, told by its contents and, for FINN's JSON, by its name; None for anything else."""
    if fnmatchcase(base, "*post_synth_resources*.json"):
        return finn_synthesis.read(text, name)
    if fnmatchcase(base, "*estimate_layer_resources*.json"):
        return finn_estimates.read(text, name, HLS if "_hls" in base else FINN)
    if base.lower().endswith(".xml"):
        return hierarchy_xml.read(text, name) if hierarchy_xml.recognises(text[:4096]) else None
    if not base.lower().endswith(_TEXTS):
        return None
    readers = (hierarchy_text, power_text, flat_text)
    reader = next((reader for reader in readers if reader.recognises(text)), None)
    return None if reader is None else reader.read(text, name)
