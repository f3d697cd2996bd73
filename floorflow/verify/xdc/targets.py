"""What a floorplan is judged on: the die of a part, and the shell of a board or the one that cells' names tell."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from floorflow.verify.files import Folder, shipped_file
from floorflow.verify.hardware.boards import (
    IN_PARENT,
    Board,
    BoardProblem,
    Shell,
    brought,
    commercial,
    parents,
    spelt_out,
)
from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Device, Sites, add_to, difference
from floorflow.verify.hardware.ranges import KeepOut, SiteRange, parse_range, sites_of
from floorflow.verify.records import Record
from floorflow.verify.schema import departures, file_record
from floorflow.verify.violations import Findings as Violations

SHELLS = "shells.yaml"
_HEAD_LINES = 16
_PART = re.compile(r"^(?:part|die): *(\S+)", re.MULTILINE)
_ALIAS = re.compile(r'^ *- "(?:same die: )?([^"]+)"', re.MULTILINE)
_NAME = re.compile(r"xc[0-9a-z]+")


class NoTargetError(ValueError):
    """A part or board that is not known, or a file of one that cannot be read; holds what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Target:
    """A die, its own name as a file, the board's shell if a board was named, and all shells known for the die."""

    part: str
    device_file: str
    device: Device
    board: str | None = None
    own_shell: Shell | None = None
    entries: Sequence[Record] = field(default_factory=tuple)
    parents: tuple[str, ...] = ()
    """How the pblocks are called that the board's shell brings; with a part alone those of all shells of the die."""

    @cached_property
    def shell_pblocks(self) -> frozenset[str]:
        """Pblocks that the board's shell brings; with a part alone those of any shell known for the die."""
        if self.own_shell is not None:
            return self.own_shell.brought
        return brought(self.parents, self._slrs)

    @cached_property
    def _slrs(self) -> list[str]:
        return [str(entry["name"]) for entry in self.device.raw["slrs"]]

    @cached_property
    def shell_slrs(self) -> dict[str, tuple[str, Sites]]:
        """The SLR of each pblock that a shell brings for one, and all its sites."""
        patterns = [one for one in self.parents if IN_PARENT in one]
        named = zip(self._slrs, self.device.slr_sites, strict=True)
        return {one.replace(IN_PARENT, slr): (slr, sites) for slr, sites in named for one in patterns}

    def missing_slr(self, pblock: str) -> str:
        """Return the SLR of which a pblock would be the shell's, by its name, if the die does not have it; else ""."""
        patterns = (re.escape(one).replace(re.escape(IN_PARENT), "(SLR[0-9]+)") for one in self.parents)
        named = (re.fullmatch(pattern, pblock) for pattern in patterns if "(" in pattern)
        return next((match[1] for match in named if match and match[1] not in self._slrs), "")

    def shells_of(self, cells: Sequence[str]) -> list[Shell]:
        """Return the board's shell, else those under which cells are named, with the longest prefix."""
        if self.board is not None:
            return [self.own_shell] if self.own_shell is not None else []
        prefixes = sorted({entry["prefix"] for entry in self.entries}, key=len, reverse=True)
        found = next((one for one in prefixes if any(cell.startswith(f"{one}/") for cell in cells)), None)
        return [_shell(entry, self.device) for entry in self.entries if entry["prefix"] == found]


def find_target(part: str | None, board: str | Path | None) -> Target:
    """Return what to judge on; a board given as a path is a user's own file.

    NoTargetError if neither is known, or both are and the board's part is another die.
    """
    if board is None:
        if part is None:
            raise NoTargetError("no part is given", "say --part PART, such as xcu250-figd2104-2L-e, or --board BOARD")
        file = _device_file(part)
        return _target(part, file, None, None)
    content, name = _board(board)
    file = str(content["device"])
    if part is not None and _device_file(part) != file:
        raise NoTargetError(f"--part {part} is not the part of {name}: {content['part']}", "give one of the two")
    return _target(part or str(content["part"]), file, name, content)


def _target(part: str, file: str, board: str | None, content: Record | None) -> Target:
    device = Device(_checked(Folder(_folder("devices")), f"{file}.yaml", "device_file"))
    own, entries = None, tuple(_entries(file))
    if content is None:
        names = [name for entry in entries for name in parents(entry["prefix"], entry.get("parents", []))]
        return Target(part, file, device, None, None, entries, tuple(dict.fromkeys(names)))
    stated = spelt_out(content)
    shell = stated.get("shell") or {}
    if shell:
        own = _board_shell(Board(stated, device), device)
    pattern = shell.get("parent_pblock")
    names = [*parents(shell.get("hierarchy", ""), [pattern] if pattern else [])]
    return Target(part, file, device, board, own, entries, tuple(names))


def _folder(name: str) -> Path:
    found = shipped_file("platforms", name)
    if found is None:
        raise NoTargetError(f"platforms/{name} is missing from this installation", "install floorflow again")
    return found


def _checked(folder: Folder, name: str, record: str) -> Record:
    violations = Violations()
    content = folder.yaml(name, violations)
    judged = spelt_out(content) if content is not None and record == "board_file" else content
    faults = list(departures(judged, file_record(record))) if content is not None else []
    if content is None or faults:
        told = violations.violations[0].message if content is None else f"{faults[0][0]} {faults[0][1]}"
        raise NoTargetError(f"{folder.root / name}: {told}", "see platforms/README.md")
    return content


def device_names() -> dict[str, set[str]]:
    """Return what the die of each shipped device file is called: its part, the die, and other parts with the same."""
    names: dict[str, set[str]] = {}
    for path in sorted(_folder("devices").glob("*.yaml")):
        with path.open(encoding="utf-8") as file:
            head = "".join(line for line, _ in zip(file, range(_HEAD_LINES), strict=False))
        aliases = {name for text in _ALIAS.findall(head) for name in _NAME.findall(text.lower().partition("(")[0])}
        names[path.stem] = {path.stem, *(name.lower() for name in _PART.findall(head)), *aliases}
    return names


def _device_file(part: str) -> str:
    """Return the device file of a part: by its name up to the package, without regard to case."""
    known = device_names()
    wanted = commercial(part.strip())
    bare = re.split(r"-", wanted)[0]
    for text in (wanted, bare, f"xc{bare}"):
        for file, names in known.items():
            if text in names:
                return file
    joined = [(len(name), file) for file, names in known.items() for name in names if bare.startswith(name)]
    if joined and len(bare) > max(joined)[0] and not bare[max(joined)[0]].isdigit():
        return max(joined)[1]  # 7 series: the package follows without a dash
    every = sorted({name for names in known.values() for name in names})
    near = difflib.get_close_matches(bare, every, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    if any(path.stem == wanted for path in _folder("boards").glob("*.yaml")):
        hint = f"it is a board: say --board {wanted}; "
    raise NoTargetError(f"--part {part}: no die of this name is known", f"{hint}known: {', '.join(sorted(known))}")


def _board(board: str | Path) -> tuple[Record, str]:
    boards = _folder("boards")
    text = str(board)
    if "/" in text or text.endswith((".yaml", ".yml")):
        path = Path(text)
    else:
        stems = sorted(path.stem for path in boards.glob("*.yaml"))
        found = [stem for stem in stems if stem == text.lower()] or [
            stem for stem in stems if f"-{text.lower()}-" in f"-{stem}-"
        ]
        if len(found) != 1:
            raise NoTargetError(f"--board {text}: no such board", f"known: {', '.join(stems)}; or a board's YAML file")
        path = boards / f"{found[0]}.yaml"
    if not path.is_file():
        raise NoTargetError(f"--board {text}: there is no such file", "give the path of a board's YAML file")
    return _checked(Folder(path.parent), path.name, "board_file"), path.stem


def _entries(device_file: str) -> Iterator[Record]:
    """Yield the shells known for a die: those of shipped boards, then those of the list of shells."""
    seen = set()
    for path in sorted(_folder("boards").glob("*.yaml")):
        content = _checked(Folder(path.parent), path.name, "board_file")
        shell = spelt_out(content).get("shell")
        if content["device"] == device_file and shell and shell.get("hierarchy"):
            seen.add(shell["name"])
            parent = shell.get("parent_pblock")
            yield {
                "name": shell["name"],
                "prefix": shell["hierarchy"],
                "parents": [str(parent)] if parent else [],
                "static": [text for texts in shell.get("static", {}).values() for text in texts],
                "reserved": dict(_reserved(content)),
            }
    listed = shipped_file("platforms", SHELLS)
    if listed is not None:
        for shell in _checked(Folder(listed.parent), SHELLS, "shells_file")["shells"]:
            if shell["device"] == device_file and shell["name"] not in seen:
                yield shell


def _reserved(content: Record) -> Iterator[tuple[str, str]]:
    for memory in content.get("memories") or []:
        if memory.get("controller", {}).get("reserved"):
            yield f"{memory['name']} controller", memory["controller"]["reserved"]


def _shell(entry: Record, device: Device) -> Shell:
    """Return what an entry says: the static ranges, or all that its dynamic ranges leave."""
    static: Sites = {}
    if entry.get("dynamic"):
        spans = [span for text in entry["dynamic"] for span in _spans(text)]
        static = difference(device.all_sites, sites_of(device, spans))
    spans = [span for text in entry.get("static", []) for span in _spans(text) if span.kind not in FREE_SITE_TYPES]
    add_to(static, sites_of(device, spans))
    reserved = {name: KeepOut(sites_of(device, _spans(text))) for name, text in entry.get("reserved", {}).items()}
    slrs = [str(slr["name"]) for slr in device.raw["slrs"]]
    names = brought(parents(entry["prefix"], entry.get("parents", [])), slrs)
    return Shell(entry["name"], entry["prefix"], names, KeepOut(static), reserved)


def _spans(text: str) -> Iterator[SiteRange]:
    for one in text.split():
        span = parse_range(one)
        if span is None:
            raise NoTargetError(f"platforms: {one} is no range", "see platforms/README.md")
        yield span


def _board_shell(board: Board, device: Device) -> Shell:
    """Return the shell of a board: what `check` keeps a plan's pblocks out of."""
    try:
        reserved = {name: KeepOut(sites_of(device, _spans(text))) for name, text in _reserved(board.raw)}
        name = str(board.shell.get("name", board.raw["name"]))
        return Shell(name, board.hierarchy, board.shell_pblocks, board.static, reserved)
    except BoardProblem as problem:
        raise NoTargetError(f"{board.raw['name']}: {problem}", "correct the board's file") from problem
