"""The files of a plan folder: read once, as bytes, text, JSON or YAML; what cannot be read becomes a violation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from floorflow.check.shape import Record
from floorflow.check.violations import Findings, NotAPlan

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_BYTES = 64 * 1024 * 1024
"""No file of a plan is larger; a larger one is not read."""


class RepeatedKeyError(ValueError):
    """A JSON object holds a key twice, of which a reader would see one."""


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise RepeatedKeyError(f"key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True)
class Folder:
    """A plan folder. Each file is read and its faults are reported once."""

    root: Path
    known: dict[str, bytes | None] = field(default_factory=dict)

    def data(self, name: str, findings: Findings) -> bytes | None:
        """Return a file's bytes, or None after reporting that it is not there."""
        if name not in self.known:
            self.known[name] = self._read(name, findings)
        return self.known[name]

    def _read(self, name: str, findings: Findings) -> bytes | None:
        path = self.root / name
        try:
            if path.stat().st_size > MAX_BYTES:
                findings.add("file-corrupt", name, f"is larger than {MAX_BYTES} bytes")
                return None
            return path.read_bytes()
        except OSError as error:
            findings.add("file-missing", name, error.strerror or str(error))
            return None

    def matching(self, patterns: Iterable[str]) -> list[str]:
        """Return the files whose paths in the folder match one of the patterns, sorted."""
        found = {path for pattern in patterns for path in self.root.glob(pattern) if path.is_file()}
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def text(self, name: str, findings: Findings) -> str | None:
        """Return a file's text, or None after reporting why not."""
        data = self.data(name, findings)
        if data is None:
            return None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            findings.add("file-corrupt", name, f"is not UTF-8: {error}")
            return None

    def json(self, name: str, findings: Findings) -> Record | None:
        """Return a JSON object, or None after reporting why not."""
        text = self.text(name, findings)
        if text is None:
            return None
        try:
            content = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            findings.add("file-corrupt", name, f"is not JSON: {error}")
            return None
        return self._object(name, content, findings)

    def yaml(self, name: str, findings: Findings) -> Record | None:
        """Return a YAML mapping, or None after reporting why not."""
        text = self.text(name, findings)
        if text is None:
            return None
        try:
            content = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both loaders are safe ones
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            findings.add("file-corrupt", name, f"is not YAML: {' '.join(str(error).split())}")
            return None
        return self._object(name, content, findings)

    def _object(self, name: str, content: object, findings: Findings) -> Record | None:
        if isinstance(content, dict):
            return content
        findings.add("file-corrupt", name, "holds no object")
        return None


def open_folder(out: Path) -> Folder:
    """Return the folder, if it can be a plan's.

    Raises
    ------
    NotAPlan
        If ``out`` is no folder, or holds neither plan.json nor platform/.

    """
    if not out.is_dir():
        raise NotAPlan(f"{out}: is no folder; give the folder that `floorflow plan` wrote")
    if not (out / "plan.json").exists() and not (out / "platform").exists():
        raise NotAPlan(f"{out}: holds neither plan.json nor platform/; give the folder that `floorflow plan` wrote")
    return Folder(out)
