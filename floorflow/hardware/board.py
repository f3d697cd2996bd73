"""A board: one FPGA with its part name, clock, shell and infrastructure, read from ``platforms/boards/<name>.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from floorflow.hardware.geometry import Rect
from floorflow.hardware.reading import FileModel, parse
from floorflow.resources import Resources

Occurrence = Literal["every", "first_and_last"]


@dataclass(frozen=True)
class Shell:
    """The vendor's part of the design, which the user's may not touch.

    ``static`` lists for each SLR the ranges that the shell keeps. ``measured_available`` says what was measured to
    remain of an SLR where that is less than its sites. ``parent_pblock`` holds ``{slr}``: the pblocks that come with
    the shell and are parents of ours.
    """

    name: str
    hierarchy: str
    parent_pblock: str | None
    static: Mapping[str, tuple[str, ...]]
    measured_available: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class BoardInfrastructure:
    """Logic beside the network, such as a memory controller; ``reserved`` is the range kept free for it, if any."""

    name: str
    slr: str
    per: Occurrence
    resources: Resources
    reserved: str | None


@dataclass(frozen=True)
class BoardLink:
    """How boards are joined: links end in the SLR ``slr``, at most ``max_links`` in one FPGA (None: any number).

    ``gbps`` holds in each direction, ``latency_us`` is one way. ``core`` is the logic at each end of a link, None if
    there is none; ``ports`` is where streams leave the die, by the kind of link; ``assumed``: bandwidth and latency are
    guesses.
    """

    kind: str
    gbps: float
    latency_us: float
    slr: str
    core: Resources | None
    ports: Mapping[str, Rect]
    assumed: bool
    max_links: int | None = None

    @property
    def port(self) -> tuple[str, Rect | None]:
        """The SLR where links end, and the port in it; None if the file gives none for this kind."""
        return self.slr, self.ports.get(self.kind)


@dataclass(frozen=True)
class Board:
    """One FPGA board.

    ``part`` has package and speed grade; ``device`` is the die's name or, in a user's file, a path relative to it.
    ``sll_wires`` replaces the die's own number of wires at each SLR boundary, None keeps it. ``crossing_registers`` is
    the number of flip-flop stages at an SLR boundary, ``host_slr`` where the host's streams enter, ``host_port`` the
    place in it, None if the file does not say. ``link`` is how up to ``max_fpgas`` of them are joined, None if they
    cannot be.
    """

    name: str
    part: str
    device: str
    clock_mhz: float
    max_fpgas: int
    host_slr: str
    host_port: Rect | None
    crossing_registers: int
    sll_wires: tuple[int, ...] | None
    cell_pattern: str
    shell: Shell | None
    infrastructure: tuple[BoardInfrastructure, ...]
    link: BoardLink | None
    unstated: tuple[str, ...] = ()
    """Which of shell, infrastructure and host_port the file says nothing of, not even that there is none."""

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


Count = Annotated[int, Field(ge=0)]
MOST_GBPS, MOST_LATENCY_US, MOST_MHZ, MOST_FPGAS, MOST_REGISTERS = 100_000, 1_000_000, 1000, 64, 16
"""Above these a number in a file is a slip: the wrong unit, or a digit too many."""
SlrName = Annotated[str, Field(pattern=r"^SLR\d+$")]
STATED = ("shell", "infrastructure", "host_port")
"""Fields that a board without them states as ``none``; one that says nothing of them is planned with a warning."""
Cell = Annotated[str, Field(pattern=r"^[A-Za-z0-9_{}/]+$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Amounts = dict[Literal["LUT", "FF", "BRAM18", "URAM", "DSP"], Count]


def _check_placeholders(pattern: str, allowed: set[str]) -> None:
    """Raise ValueError unless every ``{...}`` in the pattern is allowed."""
    try:
        pattern.format(**dict.fromkeys(allowed, "x"))
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"expected only the placeholders {sorted(allowed)}") from error


class PortModel(FileModel):
    """A rectangle of columns and CLB rows, inclusive, where streams enter and leave the die."""

    left: Count
    bottom: Count
    right: Count
    top: Count

    @model_validator(mode="after")
    def _sides(self) -> PortModel:
        if self.left > self.right or self.bottom > self.top:
            raise ValueError("expected left <= right and bottom <= top")
        return self

    @property
    def rect(self) -> Rect:
        """The rectangle."""
        return Rect(self.left, self.bottom, self.right, self.top)


class ShellModel(FileModel):
    """The shell's facts."""

    name: str
    hierarchy: Cell
    parent_pblock: Cell | None = None
    static: dict[SlrName, list[str]] = Field(default={})
    measured_available: dict[SlrName, Amounts] = Field(default={})

    @field_validator("parent_pblock")
    @classmethod
    def _parent(cls, pattern: str | None) -> str | None:
        _check_placeholders(pattern or "", {"slr"})
        return pattern


class InfrastructureModel(FileModel):
    """One piece of infrastructure."""

    name: Name
    slr: SlrName
    per: Occurrence
    resources: Amounts
    reserved: str | None = None


class LinkModel(FileModel):
    """How boards are joined."""

    kind: Name
    gbps: float = Field(gt=0, le=MOST_GBPS, allow_inf_nan=False)
    latency_us: float = Field(ge=0, le=MOST_LATENCY_US, allow_inf_nan=False)
    slr: SlrName
    core: Amounts | None = None
    ports: dict[Name, PortModel] = Field(default={})
    assumed: bool
    max_links: int | None = Field(default=None, ge=1)


class EvidenceModel(FileModel):
    """Where facts come from and how sure they are."""

    fact: str
    confidence: str
    source: str


_EMPTY: dict[str, Any] = {"shell": None, "infrastructure": [], "host_port": None}


class BoardModel(FileModel):
    """A whole board file."""

    file_schema: Literal["floorflow-board/1"] = Field(alias="schema")
    name: Name
    part: str = Field(pattern=r"^xc\w+(-\w+)+$")
    device: str
    clock_mhz: float = Field(gt=0, le=MOST_MHZ, allow_inf_nan=False)
    max_fpgas: int = Field(ge=1, le=MOST_FPGAS)
    host_slr: SlrName
    host_port: PortModel | None = None
    crossing_registers: int = Field(ge=0, le=MOST_REGISTERS)
    sll_wires: list[Count] | None = None
    cell_pattern: Cell
    shell: ShellModel | None = None
    infrastructure: list[InfrastructureModel] = Field(default=[])
    link: LinkModel | None = None
    evidence: list[EvidenceModel]

    @model_validator(mode="before")
    @classmethod
    def _nothing(cls, data: Any) -> Any:
        """Take ``none`` as the statement that there is none; a field without a value states nothing."""
        if not isinstance(data, dict):
            return data
        stated = {name: value for name, value in data.items() if name not in STATED or value is not None}
        return {name: _EMPTY[name] if name in STATED and value == "none" else value for name, value in stated.items()}

    @field_validator("cell_pattern")
    @classmethod
    def _cell(cls, pattern: str) -> str:
        _check_placeholders(pattern, {"engine", "partition"})
        if "{engine}" not in pattern:
            raise ValueError("expected the placeholder {engine}")
        return pattern


def read_board(text: str, file: str) -> Board:
    """Return the board that ``text``, the content of ``file``, describes.

    Raises
    ------
    PlatformError
        If a field is missing, unknown or malformed. Whether the board fits its die is checked by ``load_platform``.

    """
    model = parse(BoardModel, text, file)
    return Board(
        name=model.name,
        part=model.part,
        device=model.device,
        clock_mhz=model.clock_mhz,
        max_fpgas=model.max_fpgas,
        host_slr=model.host_slr,
        host_port=None if model.host_port is None else model.host_port.rect,
        crossing_registers=model.crossing_registers,
        sll_wires=None if model.sll_wires is None else tuple(model.sll_wires),
        cell_pattern=model.cell_pattern,
        shell=None if model.shell is None else _shell(model.shell),
        infrastructure=tuple(_infrastructure(item) for item in model.infrastructure),
        link=None if model.link is None else _link(model.link),
        unstated=tuple(name for name in STATED if name not in model.model_fields_set),
    )


def _shell(model: ShellModel) -> Shell:
    return Shell(
        name=model.name,
        hierarchy=model.hierarchy,
        parent_pblock=model.parent_pblock,
        static={slr: tuple(texts) for slr, texts in sorted(model.static.items())},
        measured_available={
            slr: {str(name): amount for name, amount in amounts.items()}
            for slr, amounts in sorted(model.measured_available.items())
        },
    )


def _infrastructure(model: InfrastructureModel) -> BoardInfrastructure:
    return BoardInfrastructure(model.name, model.slr, model.per, resources(model.resources), model.reserved)


def _link(model: LinkModel) -> BoardLink:
    core = None if model.core is None else resources(model.core)
    ports = {kind: port.rect for kind, port in sorted(model.ports.items())}
    return BoardLink(model.kind, model.gbps, model.latency_us, model.slr, core, ports, model.assumed, model.max_links)


def resources(amounts: Amounts) -> Resources:
    """Return a file's amounts as a value; those that are left out are 0."""
    return Resources.from_dict({str(name): amount for name, amount in amounts.items()})
