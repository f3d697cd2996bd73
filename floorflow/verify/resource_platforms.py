"""Platforms of which resources alone are known, from their file."""

from __future__ import annotations

from pathlib import Path

from floorflow.verify.files.reader import Folder, shipped_file
from floorflow.verify.records import Record
from floorflow.verify.schema import departures
from floorflow.verify.violations import Findings

PREFIX, FILE = "samo:", "samo.yaml"


def stated_platform(name: str, findings: Findings) -> Record | None:
    """Return what the shipped file says of a platform, with ``part``; None after reporting that it says nothing."""
    path = shipped_file("platforms", FILE)
    content = None if path is None else _yaml(path, findings)
    faults = [] if content is None else list(departures(content, "samo_file", FILE))
    for where, message in faults:
        findings.add("platform-malformed", where, message)
    if content is None or faults:
        return None
    entry: Record | None = content["platforms"].get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if entry is None:
        findings.add("platform-mismatch", "platform.name", f"{FILE} has no platform {name}")
        return None
    board = shipped_file("platforms", f"boards/{entry['board']}.yaml")
    part = None if board is None else (_yaml(board, findings) or {}).get("part")
    return {**entry, "part": part}


def _yaml(path: Path, findings: Findings) -> Record | None:
    return Folder(path.parent).yaml(path.name, findings)
