"""What a reader of a tool's build folder answers with, and a plan's constraints bound to the cells of a build."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from floorflow.backends.reports import Row
from floorflow.resources import Resources


@dataclass(frozen=True)
class Binding:
    """``files`` by their paths in the plan's folder, the cell of every engine, and what the build calls otherwise.

    ``renamed`` are pairs of the plan's name and the build's; ``notes`` say where the build differs without harm.
    """

    files: Mapping[str, str]
    cells: Mapping[str, str]
    renamed: Sequence[tuple[str, str]]
    notes: Sequence[str]


Role = Literal["engine", "FIFO", "converter", "DMA", "other"]
"""What a node of a build is: ``other`` only passes data on, as checksums do."""


@dataclass(frozen=True)
class BuiltNode:
    """One node of a build.

    ``engine`` is its id in the graph as it was read, ``channel`` the name of the stream that a FIFO, a converter or a
    DMA engine lies on, where the graph tells. A converter has two widths, a FIFO one, which stands in both; of a DMA
    engine, which ``reads`` memory or writes it, one is the stream's and the other the memory's.
    ``instance``: its row in the tool's report, with what was ``built``; None if no report has it. ``tool_estimate`` and
    ``tool_cycles`` are what the tool expected of it. ``rivals``: other nodes whose number, and so row, it may have.
    ``folding`` is told where no graph was read that holds it.
    """

    name: str
    kind: str
    role: Role
    engine: str | None = None
    channel: str | None = None
    input_bits: int | None = None
    output_bits: int | None = None
    depth_words: int | None = None
    memory: str = ""
    reads: bool = False
    instance: str | None = None
    built: Resources | None = None
    tool_estimate: Resources | None = None
    tool_cycles: int | None = None
    rivals: tuple[str, ...] = ()
    folding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BuildFile:
    """One file that was used. ``others``: those of the same role that were not, being of earlier steps."""

    file: str
    sha256: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulation:
    """What an RTL simulation measured; the interval needs more than one frame."""

    frames: int
    latency_cycles: int | None
    interval_cycles: float | None


@dataclass(frozen=True)
class BuiltClock:
    """The clock that was asked for, and what timing analysis left of its period: below 0 where it was missed."""

    asked_mhz: float | None = None
    worst_slack_ns: float | None = None

    @property
    def fmax_mhz(self) -> float | None:
        """The clock at which the worst path would just do."""
        if self.asked_mhz is None or self.worst_slack_ns is None:
            return None
        return 1000 / (1000 / self.asked_mhz - self.worst_slack_ns)


@dataclass(frozen=True)
class Told:
    """What a file of a build tells, such as a tool's version."""

    value: str
    file: str


@dataclass(frozen=True)
class Build:
    """A build folder as it was read; ``source`` is the graph as built, which the back end's ``lower`` takes.

    Without a graph (None) nodes are those of the reports, under their names, and have no engines.
    ``options`` are what the build tells of the back end's options, such as versions of tools, and from which file.
    ``alone`` is what the network takes by itself, out of context, where no row tells.
    ``files`` by role; ``missing`` says in a sentence each what cannot be compared for want of a file, ``notes`` what
    was taken for granted. ``whole`` is the report's sum of the design; ``unmatched`` are rows of the report that are no
    node. ``tool_interval_cycles`` and ``tool_latency_cycles`` are the tool's estimates of the network. ``part`` and
    ``board`` are empty if nothing tells.
    """

    source: Any
    files: Mapping[str, BuildFile]
    nodes: tuple[BuiltNode, ...]
    whole: Resources | None = None
    alone: Resources | None = None
    unmatched: tuple[Row, ...] = ()
    tool_interval_cycles: int | None = None
    tool_latency_cycles: int | None = None
    simulation: Simulation | None = None
    clock: BuiltClock = BuiltClock()
    part: str = ""
    board: str = ""
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: Mapping[str, Told] = field(default_factory=dict)
