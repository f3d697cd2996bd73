"""A board: one FPGA with its part name, clock, shell and infrastructure, read from ``platforms/boards/<name>.yaml``.

The values are the models that read the file; whoever makes one otherwise takes `model_construct` or `model_copy`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from floorflow.hardware.geometry import Rect
from floorflow.hardware.reading import NAME, FileModel, parse, read_as
from floorflow.resources import Resources

Occurrence = Literal["every", "first_and_last", "first", "last"]
HOST = "host"
"""Stands for the SLR of the host's streams."""
MOST_GBPS, MOST_LATENCY_US, MOST_MHZ, MOST_FPGAS, MOST_REGISTERS = 100_000, 1_000_000, 1000, 64, 16
MOST_RECONFIGURATION_MS, MOST_OVERHEAD, MOST_WATTS = 1_000_000, 100, 10_000
"""Above these a number in a file is a slip: the wrong unit, or a digit too many."""
STATED = ("shell", "infrastructure", "host_port")
"""Fields that a board without them states as ``none``; one that says nothing of them is planned with a warning."""
Fact = Literal[
    "part",
    "clock_mhz",
    "max_fpgas",
    "host_slr",
    "host_port",
    "memories",
    "crossing_registers",
    "sll_wires",
    "cell_pattern",
    "shell",
    "infrastructure",
    "link",
    "reconfiguration",
    "memory_gbps",
    "power",
]
"""Facts that a file may call assumed."""

Count = Annotated[int, Field(ge=0, le=2**40)]
SlrName = Annotated[str, Field(pattern=r"^SLR[0-9]+$")]
Cell = Annotated[str, Field(pattern=r"^[A-Za-z0-9_{}/]+$")]
Name = Annotated[str, Field(pattern=NAME)]
_Amounts = dict[Literal["LUT", "FF", "BRAM18", "URAM", "DSP"], Count]
Amounts = Annotated[Resources, read_as(_Amounts, Resources.from_dict)]
"""Resources by name; those that are left out are 0."""
Gbps = Annotated[float, Field(gt=0, le=MOST_GBPS, allow_inf_nan=False)]
Overhead = Annotated[float, Field(ge=0, le=MOST_OVERHEAD, allow_inf_nan=False)]
LatencyUs = Annotated[float, Field(ge=0, le=MOST_LATENCY_US, allow_inf_nan=False)]


class _Sides(FileModel):
    left: Count
    bottom: Count
    right: Count
    top: Count


def _rect(sides: _Sides) -> Rect:
    if sides.left > sides.right or sides.bottom > sides.top:
        raise ValueError("expected left <= right and bottom <= top")
    return Rect(**dict(sides))


Port = Annotated[Rect, read_as(_Sides, _rect)]
"""A rectangle of columns and CLB rows, inclusive, where streams enter and leave the die."""


def _check_placeholders(pattern: str, allowed: set[str]) -> None:
    """Raise ValueError unless every ``{...}`` in the pattern is allowed."""
    try:
        pattern.format(**dict.fromkeys(allowed, "x"))
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"expected only the placeholders {sorted(allowed)}") from error


class Shell(FileModel):
    """The vendor's part of the design, which the user's may not touch.

    ``static`` lists for each SLR the ranges that the shell keeps. ``measured_available`` says what was measured to
    remain of an SLR where that is less than its sites. ``parent_pblock`` holds ``{slr}``: the pblocks that come with
    the shell and are parents of ours.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    hierarchy: Annotated[str, Field(pattern=r"^[A-Za-z0-9_/]+$")]
    parent_pblock: Cell | None = None
    static: Annotated[
        Mapping[str, tuple[str, ...]],
        read_as(dict[SlrName, list[str]], lambda found: {slr: tuple(texts) for slr, texts in sorted(found.items())}),
    ] = Field(default={})
    measured_available: Annotated[
        Mapping[str, Mapping[str, int]], read_as(dict[SlrName, _Amounts], lambda found: dict(sorted(found.items())))
    ] = Field(default={})

    @field_validator("parent_pblock")
    @classmethod
    def _parent(cls, pattern: str | None) -> str | None:
        _check_placeholders(pattern or "", {"slr"})
        return pattern


class BoardInfrastructure(FileModel):
    """Logic beside the network, such as a memory controller; ``reserved`` is the range kept free for it, if any."""

    name: Name
    slr: SlrName | Literal["host"]
    per: Occurrence
    resources: Amounts
    reserved: str | None = None

    def stands_on(self, number: int, count: int) -> bool:
        """Whether it stands on an FPGA of so many."""
        ends = {"first": (0,), "last": (count - 1,), "first_and_last": (0, count - 1), "every": (number,)}
        return number in ends[self.per]


class _Controller(FileModel):
    resources: Amounts
    reserved: str | None = None


class Memory(FileModel):
    """A memory channel at which the host's streams may end: where that is, and the controller that it takes, if any.

    ``assumed``: place or price are guesses.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+(\[[0-9]+\])?$")]
    slr: SlrName
    port: Port | None = None
    held: _Controller | None = Field(default=None, alias="controller")
    assumed: bool

    @property
    def controller(self) -> Resources | None:
        """What the controller takes."""
        return None if self.held is None else self.held.resources

    @property
    def reserved(self) -> str | None:
        """The range that is kept free for the controller."""
        return None if self.held is None else self.held.reserved


class BoardPower(FileModel):
    """Watts: ``base_w`` the board draws beside the die's leakage and the plan's logic; ``limit_w`` it may draw at most.

    The base is of shell or processor, memories, transceivers and supplies; the limit None where there is none.
    """

    base_w: float = Field(ge=0, le=MOST_WATTS, allow_inf_nan=False)
    limit_w: float | None = Field(default=None, gt=0, le=MOST_WATTS, allow_inf_nan=False)


class Reconfiguration(FileModel):
    """Loading the device anew while the host runs: ``full``, or ``partial`` where a part of it may be loaded alone.

    ``ms`` is what loading all of it takes, ``bytes`` the bitstream that is loaded then. A region of a share of it takes
    ``us_per_area x share + offset_us``. None where the file does not say so.
    """

    kind: Literal["full", "partial"]
    ms: float = Field(gt=0, le=MOST_RECONFIGURATION_MS, allow_inf_nan=False)
    bytes: int | None = Field(default=None, gt=0)
    us_per_area: float | None = Field(default=None, gt=0, le=MOST_RECONFIGURATION_MS * 1e3, allow_inf_nan=False)
    offset_us: float | None = Field(default=None, ge=0, le=MOST_RECONFIGURATION_MS * 1e3, allow_inf_nan=False)

    @model_validator(mode="after")
    def _of_a_part(self) -> Self:
        """Refuse half of what a part takes, and any of a device that is loaded as a whole."""
        stated = [self.us_per_area is not None, self.offset_us is not None]
        if any(stated) and (self.kind != "partial" or not all(stated)):
            raise ValueError("us_per_area and offset_us stand together, and only where kind is partial")
        return self

    def load_us(self, part_bytes: int) -> float | None:
        """Return what a bitstream of a part takes, its share by bytes; None where that is not known."""
        if self.bytes is None:
            return None
        share = part_bytes / self.bytes
        if self.us_per_area is None or self.offset_us is None:
            return self.ms * 1e3 * share
        return self.us_per_area * share + self.offset_us


class BoardLink(FileModel):
    """How boards are joined: links end in the SLR ``slr``, at most ``max_links`` in one FPGA (None: any number).

    ``gbps`` holds in each direction, ``latency_us`` is one way. ``overhead`` are bits of protocol for each bit of a
    stream, what tells several on one link apart included. ``core`` is the logic at each end of a link, None if
    there is none; ``ports`` is where streams leave the die, by the kind of link; ``assumed``: bandwidth and latency are
    guesses; ``reliable``: nothing that is sent is ever lost.
    """

    kind: Name
    gbps: Gbps
    latency_us: LatencyUs
    slr: SlrName
    core: Amounts | None = None
    ports: Annotated[Mapping[str, Rect], read_as(dict[Name, Port], lambda found: dict(sorted(found.items())))] = Field(
        default={}
    )
    assumed: bool
    max_links: int | None = Field(default=None, ge=1)
    reliable: bool = True
    overhead: Overhead = 0.0

    @property
    def port(self) -> tuple[str, Rect | None]:
        """The SLR where links end, and the port in it; None if the file gives none for this kind."""
        return self.slr, self.ports.get(self.kind)


class Evidence(FileModel):
    """How sure a fact of a board's file is, or several joined by commas, and where it is from."""

    fact: str
    confidence: str
    source: str


class LinkKind(FileModel):
    """A whole link file: Gb/s in each direction, microseconds one way, overhead of protocol, the logic at each end.

    ``assumed``: these are guesses; ``reliable``: nothing that is sent is ever lost.
    """

    file_schema: Literal["floorflow-link/1"] = Field(alias="schema")
    name: Name
    gbps: Gbps
    latency_us: LatencyUs
    core: Amounts | None = None
    assumed: bool
    reliable: bool = True
    overhead: Overhead = 0.0
    evidence: list[Evidence]

    @property
    def _of_a_board(self) -> dict[str, Any]:
        own = ("gbps", "latency_us", "core", "assumed", "reliable", "overhead")
        return {"kind": self.name, **{name: getattr(self, name) for name in own}}

    def in_place_of(self, own: BoardLink) -> BoardLink:
        """Return how a board is joined with this kind of link instead of its own; its ends stay where they are."""
        return own.model_copy(update=self._of_a_board)

    def ending_in(self, slr: str) -> BoardLink:
        """Return how a board that says nothing of links is joined by one that ends in an SLR of it."""
        return BoardLink.model_construct(slr=slr, **self._of_a_board)


_EMPTY: dict[str, Any] = {"shell": None, "infrastructure": [], "host_port": None}


class BoardFile(FileModel):
    """A whole board file."""

    file_schema: Literal["floorflow-board/1"] = Field(alias="schema")
    name: Name
    part: str = Field(pattern=r"^xc[A-Za-z0-9_]+(-[A-Za-z0-9_]+)+$")
    device: str
    clock_mhz: float = Field(gt=0, le=MOST_MHZ, allow_inf_nan=False)
    max_fpgas: int = Field(ge=1, le=MOST_FPGAS)
    host_slr: SlrName | None = None
    host_port: Port | None = None
    memories: Annotated[tuple[Memory, ...], read_as(list[Memory], tuple)] = ()
    crossing_registers: int = Field(ge=0, le=MOST_REGISTERS)
    sll_wires: Annotated[tuple[int, ...], read_as(list[Count], tuple)] | None = None
    cell_pattern: Cell
    shell: Shell | None = None
    infrastructure: Annotated[tuple[BoardInfrastructure, ...], read_as(list[BoardInfrastructure], tuple)] = ()
    link: BoardLink | None = None
    reconfiguration: Reconfiguration | None = None
    """None where the file does not say that the device can be loaded anew, and in what time."""
    memory_gbps: Gbps | None = None
    """What the memory at which the host's streams end carries, both ways together; None where the file does not say."""
    power: BoardPower | None = None
    """None where the file says nothing of it."""
    assumed: Annotated[tuple[str, ...], read_as(list[Fact], tuple)] = ()
    """Facts that the file itself calls guesses."""
    evidence: Annotated[tuple[Evidence, ...], read_as(list[Evidence], tuple)] = ()

    @model_validator(mode="before")
    @classmethod
    def _nothing(cls, data: Any) -> Any:
        """Take ``none`` as the statement that there is none; a field without a value states nothing."""
        if not isinstance(data, dict):
            return data
        stated = {name: value for name, value in data.items() if name not in STATED or value is not None}
        return {name: _EMPTY[name] if name in STATED and value == "none" else value for name, value in stated.items()}

    @model_validator(mode="after")
    def _one_host(self) -> Self:
        if bool(self.memories) == (self.host_slr is not None):
            raise ValueError("expected host_slr, or memories in its place")
        if self.memories and self.host_port is not None:
            raise ValueError("host_port: expected none beside memories, of which each has its own port")
        names = [memory.name for memory in self.memories]
        if len({*names}) < len(names):
            raise ValueError("memories: expected each name once")
        absent = [fact for fact in self.assumed if getattr(self, fact) in (None, ()) and fact not in STATED]
        if absent:
            raise ValueError(f"assumed: {', '.join(absent)} is called assumed, but not stated")
        return self

    @field_validator("cell_pattern")
    @classmethod
    def _cell(cls, pattern: str) -> str:
        _check_placeholders(pattern, {"engine", "partition"})
        if "{engine}" not in pattern:
            raise ValueError("expected the placeholder {engine}")
        return pattern


class Board(BoardFile):
    """One FPGA board.

    ``part`` has package and speed grade; ``device`` is the die's name or, in a user's file, a path relative to it.
    ``sll_wires`` replaces the die's own number of wires at each SLR boundary, None keeps it. ``crossing_registers`` is
    the number of flip-flop stages at an SLR boundary, ``host_slr`` where the host's streams enter, ``host_port`` the
    place in it, None if the file does not say; where the file lists ``memories`` both are those of ``host_memory``.
    ``link`` is how up to ``max_fpgas`` of them are joined, None if they cannot be.
    """

    host_slr: str
    unstated: tuple[str, ...] = ()
    """Which of shell, infrastructure and host_port the file says nothing of, not even that there is none."""
    host_memory: str | None = None

    @property
    def is_alveo(self) -> bool:
        """Whether it is an Alveo card: AMD sells their parts, xcu50 to xcu280, on these alone."""
        return self.part.startswith("xcu")

    @property
    def at_host(self) -> Memory | None:
        """The memory channel at which the host's streams end, if the file lists any."""
        return next((memory for memory in self.memories if memory.name == self.host_memory), None)

    @property
    def placed_infrastructure(self) -> tuple[BoardInfrastructure, ...]:
        """Infrastructure with the SLR that it is in, and the controller of the host's memory channel."""
        here = tuple(
            each.model_copy(update={"slr": self.host_slr}) if each.slr == HOST else each for each in self.infrastructure
        )
        memory = self.at_host
        if memory is None or memory.held is None:
            return here
        name = f"{memory.name} controller"
        own = dict(memory.held)
        return (BoardInfrastructure.model_construct(name=name, slr=memory.slr, per="first_and_last", **own), *here)

    @property
    def doubt(self) -> str:
        """What the plan takes for granted because the file does not state it; empty if it states all."""
        if not self.unstated:
            return ""
        taken = ["all its silicon counts as available"] if {"shell", "infrastructure"} & {*self.unstated} else []
        if "host_port" in self.unstated:
            taken.append(f"the host's streams enter at the right edge of {self.host_slr}")
        return f"the board's file says nothing of {', '.join(self.unstated)}: {' and '.join(taken)}"

    def parent_pblock(self, slr: str) -> str | None:
        """Return the shell's pblock that must be the parent of pblocks in an SLR, or None."""
        if self.shell is None or self.shell.parent_pblock is None:
            return None
        return self.shell.parent_pblock.format(slr=slr)

    def with_host_at(self, memory: Memory) -> "Board":
        """Return the board with the host's streams at a memory channel of it."""
        return self.model_copy(update={"host_slr": memory.slr, "host_port": memory.port, "host_memory": memory.name})


def read_board(text: str, file: str) -> Board:
    """Return the board that ``text``, the content of ``file``, describes.

    PlatformError if a field is missing, unknown or malformed. Whether the board fits its die is checked by
    ``load_platform``.
    """
    model = parse(BoardFile, text, file)
    stated = {*model.model_fields_set, *(["host_port"] if model.memories else [])}
    unstated = tuple(name for name in STATED if name not in stated)
    board = Board.model_construct(**{**dict(model), "unstated": unstated})
    return board.with_host_at(model.memories[0]) if model.memories else board
