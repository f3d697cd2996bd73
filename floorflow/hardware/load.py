"""Platforms by name or file: a number of equal boards, joined as asked, or what a platform file describes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import networkx as nx
from pydantic import Field

from floorflow.assets import Topology, board_path, is_path, link_path
from floorflow.errors import PlatformError
from floorflow.hardware.assembling import BoardWithDie, assembled, check_clock, link_between, read_link, with_die
from floorflow.hardware.board import MOST_FPGAS, Board, BoardLink, LinkKind, Name, SlrName, read_board
from floorflow.hardware.catalogue import board_source, check_name_is_free, file_named_in, known_platforms
from floorflow.hardware.links import TOPOLOGIES, LinkWithCores, joined, most_fpgas
from floorflow.hardware.platform import Platform
from floorflow.hardware.ports import at_host_port
from floorflow.hardware.reading import FileModel, declared_schema, parse, read_text, require


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
    ends = ((near, far, (each.slot_at_links(f"fpga{near}"), each.slot_at_links(f"fpga{far}"))) for near, far in pairs)
    links = [link_between(near, far, board.link, slots) for near, far, slots in ends if board.link]
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
    if fpgas < 1:
        raise PlatformError(f"fpgas: expected at least 1, found {fpgas}")
    asked = f"{board.name}: {fpgas} FPGAs were asked for"
    if fpgas > board.max_fpgas == 1 and board.link is None:
        raise PlatformError(
            f"{asked}, but its boards have no link to one another",
            hint="use one FPGA, or a board's file of your own with link and max_fpgas (platforms/README.md)",
        )
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


PLATFORM_SCHEMA = "floorflow-platform/1"
FpgaName = Annotated[str, Field(pattern=r"^fpga(0|[1-9][0-9]*)$")]


class FpgaModel(FileModel):
    """One FPGA, by its board: the name of a shipped one, or the path of a file.

    ``halves``: SLRs that are two slots each, with the first row of their upper halves.
    """

    board: str
    halves: dict[SlrName, Annotated[int, Field(ge=1)]] = Field(default={})


class JoinModel(FileModel):
    """A link between two FPGAs; ``ends`` are SLRs of those whose board's file says nothing of links."""

    kind: str
    between: Annotated[list[FpgaName], Field(min_length=2, max_length=2)]
    ends: dict[FpgaName, SlrName] = Field(default={})


class PlatformModel(FileModel):
    """A whole platform file."""

    file_schema: Literal["floorflow-platform/1"] = Field(alias="schema")
    name: Name
    fpgas: list[FpgaModel] = Field(min_length=1, max_length=MOST_FPGAS)
    links: list[JoinModel] = Field(default=[])


@dataclass(frozen=True)
class _Join:
    """A link of the file: its two FPGAs by number, the lower first, its kind, and the field for messages."""

    lower: int
    upper: int
    kind: LinkKind
    ends: Mapping[str, str]
    field: str

    @property
    def name(self) -> str:
        return f"fpga{self.lower}-fpga{self.upper}"


def described_platform(text: str, path: Path, clock_mhz: float | None, host_port: str | None = None) -> Platform:
    """Return the platform that ``text``, the content of the file at ``path``, describes.

    ``host_port`` is a memory channel of the first board and of the last.

    PlatformError if a field is not as expected, boards of different families are mixed, or links cannot be as the file
    has them.
    """
    file, model = str(path), parse(PlatformModel, text, str(path))
    require(model.name not in known_platforms(), file, "name", f"'{model.name}' is a board that ships; choose another")
    check_name_is_free("platforms", model.name, text, path)
    boards = _boards(model, path)
    _require_one_family(boards, file)
    kinds, link_files = _kinds(model, path)
    joins = [_join(item, kinds[item.kind], f"links.{number}") for number, item in enumerate(model.links)]
    _check_joins(joins, len(boards), file)
    for number in (0, len(boards) - 1):
        boards[number] = replace(boards[number], board=at_host_port(boards[number].board, host_port, file))
    joined = [_joined_board(number, each, joins, file) for number, each in enumerate(boards)]
    platform = assembled(model.name, joined, [_link(join, boards, joined, file) for join in joins])
    files = {f"platforms/{model.name}.yaml": text, **platform.files, **link_files}
    return replace(platform, files=files, described=True, asked_mhz=clock_mhz)


def _boards(model: PlatformModel, path: Path) -> list[BoardWithDie]:
    """Read the board of each FPGA; one that stands several times once."""
    read: dict[str, BoardWithDie] = {}
    files: dict[str, str] = {}
    for number, fpga in enumerate(model.fpgas):
        field = f"fpgas.{number}.board"
        if fpga.board not in read:
            board_file = file_named_in(path, "boards", fpga.board, field)
            board_text = read_text(board_file)
            board = read_board(board_text, str(board_file))
            _require_named_as_its_file(board.name, fpga.board, str(path), field)
            read[fpga.board] = with_die(board, board_text, board_file)
            _require_one_text(files, read[fpga.board].files, str(path), field)
    halved = [replace(read[fpga.board], halves=fpga.halves) for fpga in model.fpgas]
    for number, each in enumerate(halved):
        _check_halves(each, str(path), f"fpgas.{number}.halves")
    return halved


def _check_halves(each: BoardWithDie, file: str, field: str) -> None:
    """Check that halves are of SLRs of the die, and begin where a clock region does."""
    for slr, row in each.halves.items():
        names, device = [found.name for found in each.device.slrs], each.device
        require(slr in names, file, f"{field}.{slr}", f"{device.part} has no {slr}, only {names}")
        region, height = device.slr_region(slr), device.rows_per_clock_region
        rows = [*range(region.bottom + height, region.top, height)]
        expected = f"expected the first row of a clock region inside it, of {', '.join(map(str, rows)) or 'none'}"
        require(row in rows, file, f"{field}.{slr}", f"{expected}; found {row}")


def _kinds(model: PlatformModel, path: Path) -> tuple[dict[str, LinkKind], dict[str, str]]:
    """Read the kinds of link; return them as the file spells them, and their files by their paths in a plan."""
    kinds: dict[str, LinkKind] = {}
    files: dict[str, str] = {}
    for number, item in enumerate(model.links):
        field = f"links.{number}.kind"
        if item.kind not in kinds:
            kinds[item.kind], text = read_link(file_named_in(path, "links", item.kind, field))
            _require_named_as_its_file(kinds[item.kind].name, item.kind, str(path), field)
            _require_one_text(files, {f"links/{kinds[item.kind].name}.yaml": text}, str(path), field)
    return kinds, files


def _require_named_as_its_file(name: str, text: str, file: str, field: str) -> None:
    """Files lie in a plan under their own names, so that a platform file can be read there only if these agree."""
    require(Path(text).stem == name, file, field, f"{text} calls itself '{name}'; give the file the name that is in it")


def _require_one_text(known: dict[str, str], more: Mapping[str, str], file: str, field: str) -> None:
    """Refuse two files of one name that differ: a plan names files, not contents."""
    for name, text in more.items():
        require(known.setdefault(name, text) == text, file, field, f"another {name} of the platform has the same name")


def _require_one_family(boards: Sequence[BoardWithDie], file: str) -> None:
    """Engines are made once and may lie on any FPGA, so all must have the same architecture and DSP block."""
    first = boards[0].device.technology
    for number, each in enumerate(boards):
        found = each.device.technology
        if (found.architecture, found.dsp_block) != (first.architecture, first.dsp_block):
            what = f"{each.board.part} is {found.architecture} with {found.dsp_block}"
            other = f"{boards[0].board.part} of fpga0 {first.architecture} with {first.dsp_block}"
            raise PlatformError(
                f"{file}: fpgas.{number}.board: {what}, {other}",
                hint="engines are made once for all FPGAs; take boards of one family",
            )


def _join(item: JoinModel, kind: LinkKind, field: str) -> _Join:
    lower, upper = sorted(int(name.removeprefix("fpga")) for name in item.between)
    return _Join(lower, upper, kind, item.ends, field)


def _check_joins(joins: Sequence[_Join], count: int, file: str) -> None:
    """Check that every link joins two FPGAs that there are, no two the same ones, and that all are joined."""
    known = f"fpga0..fpga{count - 1}"
    met = set[tuple[int, int]]()
    for join in joins:
        field = f"{join.field}.between"
        require(join.upper < count, file, field, f"expected FPGAs of the file, {known}; found {join.name}")
        require(join.lower < join.upper, file, field, f"expected two FPGAs, found fpga{join.lower} twice")
        require((join.lower, join.upper) not in met, file, field, f"{join.name} stands twice; one link joins two FPGAs")
        met.add((join.lower, join.upper))
        other = sorted({*join.ends} - {*join.name.split("-")})
        require(not other, file, f"{join.field}.ends", f"{', '.join(other)} is not at this link")
    graph = nx.Graph(met)
    graph.add_nodes_from(range(count))
    apart = sorted({*range(count)} - nx.node_connected_component(graph, 0))
    require(not apart, file, "links", f"no links lead from fpga0 to {', '.join(f'fpga{n}' for n in apart)}")


def _joined_board(number: int, each: BoardWithDie, joins: Sequence[_Join], file: str) -> BoardWithDie:
    """Return an FPGA's board with the kind of link that ends there."""
    here = [join for join in joins if number in (join.lower, join.upper)]
    links = [_board_link(number, each, join, file) for join in here]
    own = each.board.link
    if own is not None and own.max_links is not None and len(here) > own.max_links:
        most = f"{len(here)} links end at fpga{number}, its board allows {own.max_links} ({each.file}: link)"
        raise PlatformError(f"{file}: {here[own.max_links].field}: {most}", hint="take out a link, or another board")
    board = each.board.model_copy(update={"link": links[0] if links else own})
    for join, link in zip(here, links, strict=True):
        same = link.port == links[0].port
        require(same, file, join.field, f"all links of fpga{number} must leave it at one port of one SLR")
    return replace(each, board=board)


def _board_link(number: int, each: BoardWithDie, join: _Join, file: str) -> BoardLink:
    """Return how a board is joined by a link: it ends where the board's file says or else the platform's."""
    field, fpga = f"{join.field}.ends", f"fpga{number}"
    slr = join.ends.get(fpga)
    if each.board.link is not None:
        require(slr is None, file, field, f"links of {fpga} end in {each.board.link.slr}, its board's file says")
        return join.kind.in_place_of(each.board.link)
    if slr is None:
        raise PlatformError(
            f"{file}: {field}: {fpga} is missing, whose board {each.board.name} says nothing of links",
            hint=f"say in which SLR of it the link ends, such as ends: {{{fpga}: {each.board.host_slr}}}",
        )
    names = [found.name for found in each.device.slrs]
    require(slr in names, file, field, f"{each.device.part} of {fpga} has no {slr}, only {names}")
    return join.kind.ending_in(slr)


def _link(join: _Join, boards: Sequence[BoardWithDie], joined: Sequence[BoardWithDie], file: str) -> LinkWithCores:
    ends = joined[join.lower].slot_at_links(f"fpga{join.lower}"), joined[join.upper].slot_at_links(f"fpga{join.upper}")
    return link_between(join.lower, join.upper, _board_link(join.lower, boards[join.lower], join, file), ends)
