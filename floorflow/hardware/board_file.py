"""A board from its file, ``platforms/boards/<name>.yaml``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from floorflow.hardware.board import (
    Board,
    BoardInfrastructure,
    BoardLink,
    Evidence,
    Memory,
    Occurrence,
    Reconfiguration,
    Shell,
)
from floorflow.hardware.geometry import Rect
from floorflow.hardware.reading import NAME, FileModel, parse
from floorflow.resources import Resources

Count = Annotated[int, Field(ge=0, le=2**40)]
MOST_GBPS, MOST_LATENCY_US, MOST_MHZ, MOST_FPGAS, MOST_REGISTERS = 100_000, 1_000_000, 1000, 64, 16
MOST_RECONFIGURATION_MS = 1_000_000
"""Above these a number in a file is a slip: the wrong unit, or a digit too many."""
SlrName = Annotated[str, Field(pattern=r"^SLR[0-9]+$")]
STATED = ("shell", "infrastructure", "host_port")
"""Fields that a board without them states as ``none``; one that says nothing of them is planned with a warning."""
Cell = Annotated[str, Field(pattern=r"^[A-Za-z0-9_{}/]+$")]
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
]
"""Facts that a file may call assumed."""
Name = Annotated[str, Field(pattern=NAME)]
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

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    hierarchy: Annotated[str, Field(pattern=r"^[A-Za-z0-9_/]+$")]
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
    slr: SlrName | Literal["host"]
    per: Occurrence
    resources: Amounts
    reserved: str | None = None


class ControllerModel(FileModel):
    """What the controller of a memory channel takes."""

    resources: Amounts
    reserved: str | None = None


class MemoryModel(FileModel):
    """A memory channel."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+(\[[0-9]+\])?$")]
    slr: SlrName
    port: PortModel | None = None
    controller: ControllerModel | None = None
    assumed: bool


class ReconfigurationModel(FileModel):
    """How the device is loaded anew, and in what time."""

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
    reliable: bool = True


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
    part: str = Field(pattern=r"^xc[A-Za-z0-9_]+(-[A-Za-z0-9_]+)+$")
    device: str
    clock_mhz: float = Field(gt=0, le=MOST_MHZ, allow_inf_nan=False)
    max_fpgas: int = Field(ge=1, le=MOST_FPGAS)
    host_slr: SlrName | None = None
    host_port: PortModel | None = None
    memories: list[MemoryModel] = Field(default=[])
    crossing_registers: int = Field(ge=0, le=MOST_REGISTERS)
    sll_wires: list[Count] | None = None
    cell_pattern: Cell
    shell: ShellModel | None = None
    infrastructure: list[InfrastructureModel] = Field(default=[])
    link: LinkModel | None = None
    reconfiguration: ReconfigurationModel | None = None
    memory_gbps: float | None = Field(default=None, gt=0, le=MOST_GBPS, allow_inf_nan=False)
    assumed: list[Fact] = Field(default=[])
    evidence: list[EvidenceModel] = Field(default=[])

    @model_validator(mode="before")
    @classmethod
    def _nothing(cls, data: Any) -> Any:
        """Take ``none`` as the statement that there is none; a field without a value states nothing."""
        if not isinstance(data, dict):
            return data
        stated = {name: value for name, value in data.items() if name not in STATED or value is not None}
        return {name: _EMPTY[name] if name in STATED and value == "none" else value for name, value in stated.items()}

    @model_validator(mode="after")
    def _one_host(self) -> BoardModel:
        if bool(self.memories) == (self.host_slr is not None):
            raise ValueError("expected host_slr, or memories in its place")
        if self.memories and self.host_port is not None:
            raise ValueError("host_port: expected none beside memories, of which each has its own port")
        names = [memory.name for memory in self.memories]
        if len({*names}) < len(names):
            raise ValueError("memories: expected each name once")
        absent = [str(fact) for fact in self.assumed if getattr(self, fact) in (None, []) and fact not in STATED]
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


def read_board(text: str, file: str) -> Board:
    """Return the board that ``text``, the content of ``file``, describes.

    Raises
    ------
    PlatformError
        If a field is missing, unknown or malformed. Whether the board fits its die is checked by ``load_platform``.

    """
    model = parse(BoardModel, text, file)
    memories = tuple(_memory(item) for item in model.memories)
    host_port = None if model.host_port is None else model.host_port.rect
    stated = {*model.model_fields_set, *(["host_port"] if memories else [])}
    return Board(
        name=model.name,
        part=model.part,
        device=model.device,
        clock_mhz=model.clock_mhz,
        max_fpgas=model.max_fpgas,
        host_slr=memories[0].slr if memories else model.host_slr or "",
        host_port=memories[0].port if memories else host_port,
        crossing_registers=model.crossing_registers,
        sll_wires=None if model.sll_wires is None else tuple(model.sll_wires),
        cell_pattern=model.cell_pattern,
        shell=None if model.shell is None else _shell(model.shell),
        infrastructure=tuple(_infrastructure(item) for item in model.infrastructure),
        link=None if model.link is None else _link(model.link),
        unstated=tuple(name for name in STATED if name not in stated),
        memories=memories,
        host_memory=memories[0].name if memories else None,
        reconfiguration=None
        if model.reconfiguration is None
        else Reconfiguration(**model.reconfiguration.model_dump()),
        memory_gbps=model.memory_gbps,
        assumed=tuple(str(fact) for fact in model.assumed),
        evidence=tuple(Evidence(item.fact, item.confidence, item.source) for item in model.evidence),
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


def _memory(model: MemoryModel) -> Memory:
    held = model.controller
    return Memory(
        name=model.name,
        slr=model.slr,
        port=None if model.port is None else model.port.rect,
        controller=None if held is None else resources(held.resources),
        reserved=None if held is None else held.reserved,
        assumed=model.assumed,
    )


def _link(model: LinkModel) -> BoardLink:
    core = None if model.core is None else resources(model.core)
    ports = {kind: port.rect for kind, port in sorted(model.ports.items())}
    return BoardLink(
        model.kind,
        model.gbps,
        model.latency_us,
        model.slr,
        core,
        ports,
        assumed=model.assumed,
        max_links=model.max_links,
        reliable=model.reliable,
    )


def resources(amounts: Amounts) -> Resources:
    """Return a file's amounts as a value; those that are left out are 0."""
    return Resources.from_dict({str(name): amount for name, amount in amounts.items()})
