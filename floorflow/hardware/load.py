"""Platforms by name or file: a number of equal boards, joined as asked, or what a platform file describes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from floorflow.assets import Topology, board_path, is_path, link_path
from floorflow.errors import PlatformError
from floorflow.hardware.assembly import assembled, check_clock, link_between, read_link, with_die
from floorflow.hardware.board import Board, BoardLink, read_board
from floorflow.hardware.catalogue import board_source
from floorflow.hardware.links import TOPOLOGIES, joined, most_fpgas
from floorflow.hardware.platform import Platform
from floorflow.hardware.platform_file import PLATFORM_SCHEMA, PlatformModel, described_platform
from floorflow.hardware.ports import at_host_port
from floorflow.hardware.reading import declared_schema, parse, read_text


def load_platform(
    name_or_path: str | Path,
    fpgas: int | None = None,
    clock_mhz: float | None = None,
    link: str | None = None,
    topology: Topology | None = None,
    *,
    host_port: str | None = None,
) -> Platform:
    """Return ``fpgas`` linked boards (one unless given), or the platform that a user's file describes.

    The boards go by the name of a shipped one, by that of a bare part, or by the path of a user's board file. ``link``
    is another kind of link than the board's own: one that ships or the path of a user's file; ``topology`` a chain
    unless given. A platform file says all this itself: the number is its own, and the other two must not be given.
    ``host_port`` is the memory channel at which the host's streams end on the first FPGA and on the last, the first of
    the board's unless given.

    PlatformError if a name is unknown, a file is malformed, board and die contradict each other, the board has no such
    memory channel, or the boards cannot be joined so.
    """
    text, path = board_source(str(name_or_path))
    check_clock(clock_mhz)
    if declared_schema(text, str(path)) == PLATFORM_SCHEMA:
        _refuse_beside_a_file(path, _described(text, path), fpgas, link, topology)
        return described_platform(text, path, clock_mhz, host_port)
    count, topology = 1 if fpgas is None else fpgas, topology or "chain"
    board = at_host_port(read_board(text, str(path)), host_port, str(path))
    board, core_files = _with_link(board, link, str(path))
    _check_fpgas(board, count, topology, str(path))
    whole = with_die(board, text, path)
    most = board.max_fpgas if board.link is None else most_fpgas(topology, board.link.max_links, board.max_fpgas)
    board = whole.board.model_copy(update={"max_fpgas": most})
    each = replace(whole, board=board, files={**whole.files, **core_files})
    pairs = [] if board.link is None else joined(topology, count)
    links = [link_between(near, far, board.link, board.link) for near, far in pairs if board.link]
    platform = assembled(board.name, [each] * count, links)
    return replace(platform, asked_mhz=clock_mhz)


def described_fpgas(name_or_path: str) -> int | None:
    """Return how many FPGAs a platform file describes; None for a board, by name or by file."""
    if not is_path(name_or_path):
        return None
    path = board_path(name_or_path)
    text = read_text(path)
    return _described(text, path) if declared_schema(text, str(path)) == PLATFORM_SCHEMA else None


def _described(text: str, path: Path) -> int:
    return len(parse(PlatformModel, text, str(path)).fpgas)


def require_described(path: str | Path, count: int, fpgas: int | str) -> None:
    """Refuse another number of FPGAs than a platform file describes.

    PlatformError if they differ; ``auto`` is another number, too.
    """
    if fpgas != count:
        has = f"the file describes {count} FPGA{'s' if count > 1 else ''}"
        raise PlatformError(f"--fpgas {fpgas}: {path}: {has}", hint="leave --fpgas out, or change the file")


def _refuse_beside_a_file(path: Path, count: int, fpgas: int | None, link: str | None, topology: str | None) -> None:
    """Refuse options that contradict a platform file, or that it states itself."""
    if fpgas is not None:
        require_described(path, count, fpgas)
    for option, value in (("--link", link), ("--topology", topology)):
        if value is not None:
            raise PlatformError(
                f"{option} {value}: {path}: the file itself says which links join its FPGAs",
                hint=f"leave {option} out, or change the file",
            )


def _with_link(board: Board, name_or_path: str | None, file: str) -> tuple[Board, dict[str, str]]:
    """Give a board another kind of link; return the link's file too, by its path in a plan's platform folder."""
    if name_or_path is None:
        return board, {}
    if board.link is None:
        raise PlatformError(
            f"{file}: link: --link {name_or_path} was asked for, but the field is missing: it says where links end",
            hint="take a board with links, or add the field to a file of your own, see platforms/README.md",
        )
    kind, text = read_link(link_path(name_or_path))
    return board.model_copy(update={"link": kind.in_place_of(board.link)}), {f"links/{kind.name}.yaml": text}


def _check_fpgas(board: Board, fpgas: int, topology: Topology, file: str) -> None:
    """Check that the board can link that many FPGAs."""
    if fpgas < 1:
        raise PlatformError(f"fpgas: expected at least 1, found {fpgas}")
    asked = f"{board.name}: {fpgas} FPGAs were asked for"
    if fpgas > board.max_fpgas == 1 and board.link is None:
        raise PlatformError(f"{asked}, but its boards have no link to one another", hint="use one FPGA")
    if fpgas > board.max_fpgas:
        most = f"at most {board.max_fpgas}"
        raise PlatformError(f"{asked}, {most} can be linked ({file}: max_fpgas)", hint=f"use {most} FPGAs")
    if fpgas > 1 and board.link is None:
        raise PlatformError(
            f"{file}: link: {asked}, but the field is missing",
            hint="say in the file how its boards are linked, see platforms/README.md; or use one FPGA",
        )
    if board.link is not None:
        _check_topology(board, board.link, fpgas, topology, file)


def _check_topology(board: Board, link: BoardLink, fpgas: int, topology: Topology, file: str) -> None:
    """Check that each FPGA can end as many links as the topology asks of it."""
    most = most_fpgas(topology, link.max_links, board.max_fpgas)
    if fpgas > most:
        why = "a pair is two" if topology == "pair" else f"an FPGA ends at most {link.max_links} links ({file}: link)"
        raise PlatformError(
            f"{board.name}: {fpgas} FPGAs were asked for with --topology {topology}, but {why}",
            hint=f"use at most {most} FPGAs, or another topology: {', '.join(TOPOLOGIES)}",
        )
