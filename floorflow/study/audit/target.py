"""Which silicon a build is priced for: the board or part that is named, or the one that the build itself tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from floorflow.assets import board_path, matching, shipped
from floorflow.backends.builds import Build
from floorflow.hardware import Infrastructure, load_platform
from floorflow.hardware.board import read_board
from floorflow.hardware.reading import read_text
from floorflow.resources import Resources, total
from floorflow.technology import Technology, require_known_family, technology_of

_PART = re.compile(r"x[acq][a-z0-9]+(-[a-z0-9]+)*")
_DIE = re.compile(r"x[acq]7[a-z]\d+t?|[^-]+")
_USUAL_PART = "xc7z020clg400-1"
_NAMES_READ = 3
"""Folders of a path that may be named for the board, the build's own and two above it."""
DEFAULT_CLOCK_MHZ = 100.0
"""Clock where neither build nor board says one: FINN's default period is 10 ns."""


@dataclass(frozen=True)
class Target:
    """A part with what stands beside the network on it; ``infrastructure`` None: no board is known, so neither is that.

    ``silicon`` is all that the board's FPGA has, None without a board. ``how`` says in a clause where it is from.
    """

    name: str
    part: str
    technology: Technology
    clock_mhz: float
    infrastructure: tuple[Infrastructure, ...] | None
    silicon: Resources | None
    how: str


def target_of(build: Build, platform: str | None, boards: Mapping[str, str], folder: Path) -> Target:
    """Return the target that was named, else that of the build, else of the one board that its folder is named for.

    ``boards``: parts of the tool's boards by name. Where nothing tells a part, ``part`` is empty, and prices are of the
    family that FINN's users mostly have.

    Raises PlatformError if the name is of no board, file or part.
    """
    if platform is not None:
        asked = _named(platform, boards)
        same = not build.part or _die(build.part) == _die(asked.part)
        return asked if same else replace(asked, how=f"{asked.how}, but the build tells {build.part}")
    if build.board in shipped("boards"):
        return _of_board(build.board, "the build names the board")
    if build.part:
        return _of_part(build.part, f"the build names {build.board or 'the part'}")
    # Hyphens and case of both aside.
    words = [part for name in folder.parts[-_NAMES_READ:] for part in re.split(r"[_. ]+", name.lower())]
    parts = [part for word in words for part in (word.replace("-", ""), *word.split("-"))]
    known = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in (*boards, *shipped("boards"))}
    known |= {short.removeprefix("alveo"): name for short, name in known.items()}
    in_path = sorted({known[part] for part in parts if part in known})
    if len(in_path) == 1:
        how = f"no file tells the part, the folder's name tells {in_path[0]}"
        return _of_board(in_path[0], how) if in_path[0] in shipped("boards") else _of_part(boards[in_path[0]], how)
    how = "nothing is priced by it" if build.source is None else f"prices are of {_USUAL_PART}: --platform names yours"
    return Target("part not told", "", technology_of(_USUAL_PART), DEFAULT_CLOCK_MHZ, None, None, how)


def _die(part: str) -> str:
    """Return a part's name up to its package, which follows a hyphen only from UltraScale on."""
    found = _DIE.match(part.lower())
    return found[0] if found else part.lower()


def _named(platform: str, boards: Mapping[str, str]) -> Target:
    name = platform.lower()
    if not matching(name, shipped("boards")):
        if name in boards:
            return _of_part(boards[name], f"no file for {name}")
        if _PART.fullmatch(name):
            return _of_part(name, "a part was named")
    board_path(platform)
    return _of_board(platform, "as asked for")


def _of_board(name: str, how: str) -> Target:
    whole = load_platform(name, None if name.endswith((".yaml", ".yml")) else 1)
    board = whole.fpgas[0].board
    silicon = total(slot.capacity for slot in whole.slots)
    return Target(whole.name, board.part, whole.technology, whole.clock_mhz, whole.infrastructure, silicon, how)


def _of_part(part: str, how: str) -> Target:
    """Return a shipped board with that part, for what stands beside the network on it; else the part alone."""
    require_known_family(part)
    paths = ((name, board_path(name)) for name in shipped("boards"))
    boards = [name for name, path in paths if read_board(read_text(path), str(path)).part.lower() == part.lower()]
    if boards:
        return _of_board(boards[0], f"{how}; board {boards[0]} has the same part, and its shell is taken")
    return Target(part, part, technology_of(part), DEFAULT_CLOCK_MHZ, None, None, f"{how}; no board with it is known")
