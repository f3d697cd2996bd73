"""Which silicon a build is priced for: the board or part that is named, or the one that the build itself tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floorflow.assets import board_path, matching, shipped
from floorflow.backends.builds import Build
from floorflow.errors import InputError
from floorflow.hardware import Infrastructure, load_platform
from floorflow.hardware.board_file import read_board
from floorflow.hardware.reading import read_text
from floorflow.resources import Resources, total
from floorflow.technology import Technology, require_known_family, technology_of

_PART = re.compile(r"x[acq][a-z0-9]+(-[a-z0-9]+)*")
_USUAL_PART = "xc7z020clg400-1"
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


def target_of(build: Build, platform: str | None, boards: Mapping[str, str]) -> Target:
    """Return the target that was named, else that of the build; ``boards``: parts of the tool's boards by name.

    Raises
    ------
    PlatformError
        If the name is of no board, file or part.
    InputError
        If none was named, and the build has a graph and does not tell its part.

    """
    if platform is not None:
        return _named(platform, boards)
    if build.board in shipped("boards"):
        return _of_board(build.board, "the build names the board")
    if build.part:
        return _of_part(build.part, f"the build names {build.board or 'the part'}")
    if build.source is None:
        # No cost model asks for the part of what is not priced as a graph; technology is that of FINN's usual boards.
        usual = technology_of(_USUAL_PART)
        return Target("part not told", "", usual, DEFAULT_CLOCK_MHZ, None, None, "nothing is priced by it")
    raise InputError(
        "the build does not tell its part (no dataflow_build_config.json, no .hwh)",
        hint="name it with --platform: a board, a YAML file of one, or a part such as xc7z020clg400-1",
    )


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
    boards = _boards_with(part)
    if boards:
        return _of_board(boards[0], f"{how}; board {boards[0]} has the same part, and its shell is taken")
    return Target(part, part, technology_of(part), DEFAULT_CLOCK_MHZ, None, None, f"{how}; no board with it is known")


def _boards_with(part: str) -> Sequence[str]:
    paths = ((name, board_path(name)) for name in shipped("boards"))
    return [name for name, path in paths if read_board(read_text(path), str(path)).part.lower() == part.lower()]
