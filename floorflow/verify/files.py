"""The files of a plan folder: read once, as bytes, text, JSON or YAML; what cannot be read becomes a violation."""

import json
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings, NotAPlan

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_BYTES = 64 * 1024 * 1024
"""No file of a plan, and no floorplan, is larger; a larger one is not read."""

YAML_DEPTH = 64
YAML_NODES = 1_000_000
"""Bounds of a YAML file: collections in each other, and nodes when each alias is replaced by what it stands for."""

NUMBER_LIMIT = 2**63
"""Integers below it, whatever their sign, are those that every reader of a plan can store."""

SCHEDULE = "schedule.json"
"""What a plan on a platform of resources alone has in the place of plan.json."""
LIBRARY = "vivado/floorflow.tcl"

_BROKEN_TEXT = re.compile("[\0\ud800-\udfff]")
_YAML_ERRORS = (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError)
"""What PyYAML raises: besides its own errors those of Python's types, for tags that do not fit their values."""


JSON_VALUES = 4_000_000
"""Bound of a JSON file: values, told by the commas and brackets in it."""


class UnfitFileError(ValueError):
    """A file that is not read, since it is no plain file; the message completes "it ..."."""


class TooLargeError(UnfitFileError):
    """A file that is not read, since it is over the limit."""


def read_plain(path: Path, most: int = MAX_BYTES) -> bytes:
    """Return what a plain file holds, without waiting for what pipes and devices may never give.

    Raises
    ------
    UnfitFileError
        If it is no plain file, or (TooLargeError) holds more than ``most`` bytes.
    OSError, ValueError
        If it cannot be opened; ValueError: its name holds NUL or half a surrogate pair.

    """
    if not stat.S_ISREG(path.stat().st_mode):  # before it is opened: that alone may set a device going
        raise UnfitFileError("is no plain file")
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise UnfitFileError("is no plain file")
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLargeError(f"is larger than the limit of {most:,} bytes")
    return data


class RepeatedKeyError(ValueError):
    """A JSON object or a YAML mapping holds a key twice, of which a reader would see one."""


class _Loader(_SafeLoader):  # type: ignore[misc]  # the C loader has no types
    """A safe loader that refuses a key that stands twice in one mapping."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Record:
        keys = [(key.tag, key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) < len(keys):
            raise RepeatedKeyError(f"key {next(key for key in keys if keys.count(key) > 1)[1]!r} stands twice")
        found: Record = super().construct_mapping(node, deep)
        return found


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
        try:
            return read_plain(self.root / name)
        except TooLargeError as error:
            findings.add("file-corrupt", name, str(error))
        except (OSError, ValueError) as error:
            findings.add("file-missing", name, getattr(error, "strerror", None) or str(error))
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
        if sum(map(text.count, ",[{")) > JSON_VALUES:
            findings.add("file-corrupt", name, f"holds more than the limit of {JSON_VALUES:,} values")
            return None
        try:
            content = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            findings.add("file-corrupt", name, f"is not JSON: {error}")
            return None
        fault = _fault(content)
        if fault:
            findings.add("file-corrupt", name, fault)
            return None
        found: Record = content
        return found

    def yaml(self, name: str, findings: Findings) -> Record | None:
        """Return a YAML mapping, or None after reporting why not."""
        text = self.text(name, findings)
        if text is None:
            return None
        content, fault = parsed_yaml(text)
        if fault:
            findings.add("file-corrupt", name, fault)
        return content


@dataclass(frozen=True)
class PhaseFolder:
    """The files of one phase: those under ``prefix`` in the plan's folder, and where their faults are reported."""

    folder: Folder
    findings: Findings
    prefix: str = ""

    def path(self, name: str) -> str:
        """Return a file's path in the plan's folder."""
        return f"{self.prefix}{name}"

    def json(self, name: str) -> Record | None:
        """Return a JSON object, or None after reporting why not."""
        return self.folder.json(self.path(name), self.findings)

    def text(self, name: str) -> str | None:
        """Return a file's text, or None after reporting why not."""
        return self.folder.text(self.path(name), self.findings)

    def exists(self, name: str) -> bool:
        """Whether there is such a plain file."""
        return (self.folder.root / self.path(name)).is_file()


@lru_cache(maxsize=16)
def parsed_yaml(text: str) -> tuple[Record | None, str]:
    """Return a mapping, or None and why not; many plans on few boards are judged with the same files.

    No rule changes what it is given.
    """
    try:
        if excess := _yaml_excess(text):
            return None, f"is not YAML of a plan: {excess}"
        content = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader, see above
    except _YAML_ERRORS as error:
        return None, f"is not YAML: {' '.join(str(error).split())}"
    fault = _fault(content)
    return (None, fault) if fault else (content, "")


def _yaml_excess(text: str) -> str:
    """Tell what in a text would exhaust a reader that recurses; the events of the parser come without recursion."""
    nodes, behind = 0, dict[str | None, int]()
    entered: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            nodes += behind.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            nodes += 1
            if isinstance(event, yaml.CollectionStartEvent):
                entered.append((event.anchor, nodes - 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = entered.pop()
            if anchor is not None:
                behind[anchor] = nodes - before
        if len(entered) > YAML_DEPTH:
            return f"nested more than {YAML_DEPTH} deep"
        if nodes > YAML_NODES:
            return f"more than {YAML_NODES} nodes, aliases counted in full"
    return ""


def _fault(content: object) -> str:
    """Tell why a content is no object of a plan; empty if it is."""
    fault = next(_faults(content), "") if isinstance(content, dict) else "no object"
    return fault and f"holds {fault}"


def _faults(content: object) -> Iterator[str]:
    """Yield what no file of a plan holds: numbers that tools cannot store, broken texts, values outside JSON."""
    waiting, seen = [content], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            if id(value) not in seen:  # else a YAML alias
                seen.add(id(value))
                waiting += [*value, *value.values()] if isinstance(value, dict) else value
        elif value is not None and (fault := _fault_of_scalar(value)):
            yield fault


def _fault_of_scalar(value: object) -> str:
    if isinstance(value, str):
        return f"a text with NUL or half a surrogate pair: {value!r:.60}" if _BROKEN_TEXT.search(value) else ""
    if isinstance(value, int):
        return "an integer of 2^63 or more" if abs(value) >= NUMBER_LIMIT else ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else "a number that is not finite"
    return f"a {type(value).__name__}, expected values as in JSON"


def shipped_file(kind: str, name: str) -> Path | None:
    """Return a file or folder that ships with floorflow, in the wheel or beside the source tree."""
    package = Path(__file__).resolve().parents[1]
    candidates = (package / "_assets" / kind / name, package.parent / kind / name)
    return next((path for path in candidates if path.exists()), None)


def check_library(folder: Folder, plan: PlanRecord, findings: Findings) -> None:
    """Judge that the Tcl library, which the scripts source, is the shipped one; without scripts there need be none."""
    styles = {style for phase in plan["phases"] for style in phase["constraint_styles"].values()}
    if styles <= {"none"} and not (folder.root / LIBRARY).exists():
        return
    shipped = shipped_file("tcl", "floorflow.tcl")
    if (
        folder.text(LIBRARY, findings) is not None
        and shipped
        and folder.data(LIBRARY, findings) != shipped.read_bytes()
    ):
        findings.add("shipped-file-differs", LIBRARY, "floorflow ships another file of this name")


def open_folder(out: Path) -> Folder:
    """Return the folder, if it can be a plan's.

    NotAPlan if ``out`` is no folder, or holds neither plan.json nor platform/ nor schedule.json.
    """
    if not out.is_dir():
        raise NotAPlan(f"{out}: is no folder")
    if not any((out / name).exists() for name in ("plan.json", SCHEDULE, "platform")):
        raise NotAPlan(f"{out}: holds neither plan.json nor platform/ nor {SCHEDULE}")
    return Folder(out)
