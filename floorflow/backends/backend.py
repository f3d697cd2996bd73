"""What a back end does for the planner: the one interface between floorflow and a tool that builds engines.

docs/backends.md says how to write one. A class that inherits from `Backend` has to give the abstract methods; the
others have an answer that suits a tool without that feature. ``options`` are always of the model that the back end's
`floorflow.plugins.Registration` names.
"""

# ruff: noqa: ARG002 - answers to one interface need not use all that they are told

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.builds import Binding, Build
from floorflow.backends.clock import ClockTarget, LikelyClock
from floorflow.backends.instances import Instances, NamedCells, plain_name
from floorflow.backends.placed import Home, PlacedStream
from floorflow.backends.reports import BuiltFoldings, Report
from floorflow.dataflow.bands import Band
from floorflow.dataflow.fifo import HANDSHAKE_BITS, SLICE_WORDS, FifoChoice, of_style
from floorflow.dataflow.model import Attributes, Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup, OptionTable
from floorflow.dataflow.traffic import EnginePoint
from floorflow.errors import InputError
from floorflow.facts.guide import BuildStep, Place
from floorflow.facts.links import CardKernels
from floorflow.facts.network import EngineEntry
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.plan import Plan
from floorflow.facts.platform import PlatformEntry
from floorflow.network.model import Network
from floorflow.plugins import BackendOptions, backend_object
from floorflow.rates import Actor, Actors
from floorflow.reading import files_below
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology

Parallelism = tuple[str, int, int]
"""Name, value and most of one way in which an engine works on several things at once: ``("PE", 4, 64)``."""


@dataclass(frozen=True)
class WeightMemory:
    """The weights of an engine: how many bits, and in which memory, in the back end's own word."""

    bits: int
    style: str


@dataclass(frozen=True)
class Unplaced:
    """A folded part of a network that one device runs, of which nothing is placed.

    ``number``: its place among the parts; ``fifo_depths``: words, by channel; ``options``: the back end's own.
    """

    folded: FoldedDataflow
    network: str
    number: int
    fifo_depths: Mapping[str, int]
    part: str
    clock_mhz: float
    options: Any


Proposal = Callable[[Dataflow, int], Mapping[str, Attributes]]
"""From engines and an interval in cycles to foldings by engine: a folding method of the back end's own."""


class Source(Protocol):
    """A model as it was read, not yet lowered."""

    @property
    def network(self) -> Network:
        """What was read: operations and tensors."""

    @property
    def sha256(self) -> str:
        """Digest of the file as it was read, in hexadecimal."""


class Costs(Protocol):
    """The prices of one cost model for one part."""

    @property
    def name(self) -> str:
        """What the cost model is called."""

    @abstractmethod
    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        """Return every engine's legal foldings; engines whose foldings are tied share a group.

        Raises InputError if the foldings of an engine are not known. Raises InfeasibleError if an engine has none.
        """

    @abstractmethod
    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        """Price one FIFO in the memory that the tool takes by itself."""

    @property
    def registers_ports(self) -> bool:
        """Whether a stream has a register slice on either side wherever it enters or leaves a module."""
        return False

    def fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        """Return the memories that one FIFO can be built in, first the tool's own choice; ``""`` if there is no word.

        The first costs what `fifo_resources` says.
        """
        return (FifoChoice("", self.fifo_resources(width_bits, depth_words)),)

    def end_fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        """Return the same of a FIFO at an end of the network, which a tool may build otherwise."""
        return self.fifo_choices(width_bits, depth_words)

    def built_fifo(self, width_bits: int, depth_words: int, memory: str) -> Resources:
        """Price a FIFO as it was built, ``memory`` in the words of `BuiltNode`."""
        return of_style(self.fifo_choices(width_bits, depth_words), memory, ()).resources

    def slice_resources(self, width_bits: int) -> Resources:
        """Price one register slice: two words in registers, with valid and ready of each."""
        return Resources(ff=SLICE_WORDS * (width_bits + HANDSHAKE_BITS))

    @abstractmethod
    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        """Price one width converter; equal widths cost nothing."""

    @abstractmethod
    def convertible(self, input_bits: int, output_bits: int) -> bool:
        """Whether a converter between the two widths can be built at all."""

    @abstractmethod
    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        """Return the kind of the converter between two different widths."""

    def dma_resources(self, stream_bits: int, memory_bits: int, *, reads: bool) -> Resources | None:
        """Price what reads memory into a stream, or writes one to memory; None if it is not known."""
        return None

    @property
    def fifo_kind(self) -> str:
        """The kind of FIFOs, for their band."""
        return "FIFO"

    @property
    def sizes_fifos(self) -> bool:
        """Whether FIFOs are to be as deep as the full rate needs; else the tool sizes them when it builds."""
        return True

    @property
    def tool_sizes_fifos(self) -> bool:
        """Whether the depths planned are those that the tool's own sizing is foreseen to set (`tool_depths`)."""
        return False

    def tool_depths(self, folded: FoldedDataflow, needed: Mapping[str, int], known: Actors) -> Mapping[str, int]:
        """Return the depth of each channel's FIFO that the tool will set, no less than the full rate ``needed``."""
        return needed

    @property
    def own_kinds_first(self) -> bool:
        """Whether options of another kind than the engine's own (`Option.kind`) are only for shorter intervals."""
        return False

    @property
    def has_bands(self) -> bool:
        """Whether it is known how far the estimates may be off."""
        return False

    def doubt(self, engine: Engine, option: Option) -> tuple[Resources, Resources]:
        """Return what an engine may need less and more, beside its band: by versions of the tool that are not known."""
        return ZERO, ZERO

    def reaching(self, target: ClockTarget) -> "Costs":
        """Return the prices without foldings whose engine alone is known to miss the clock by far; all, unless told."""
        return self

    def left_out(self, dataflow: Dataflow) -> Sequence[str]:
        """Return what `reaching` leaves out of the foldings of these engines, a sentence for each."""
        return ()

    def band(self, kind: str, resource: str) -> Band:
        """Return the factors on an estimate between which four measured amounts in five lie."""
        return (1.0, 1.0)


class Backend(Protocol):
    """A tool that builds engines, as the planner sees it."""

    name: str
    parallel_attributes: tuple[str, ...] = ()
    """Integer attributes of foldings that say how much an engine does at once, for tables of what they range over."""
    folding_limit: str = "are not among those that the back end offers"
    """What may stop a wider folding beside the slots, as a verb with its object."""
    start_ups: str = "engines start anew each frame"
    """What lengthens the interval where FIFOs are small, as a clause."""
    fifo_depths: str = "the depths in plan.json"
    """Where the user gives the depths of FIFOs."""
    memory_attributes: tuple[str, ...] = ()
    """Attributes of foldings that say in which memory an engine's weights lie, and nothing else."""
    boards: Mapping[str, str] = {}
    """Parts of the boards that the tool builds for, by the tool's names in small letters."""
    known_products: Mapping[int, int] = {}
    """Products of the largest engine known to have been built of those that `products` counts, by the width of operands
    from which it holds; nothing where that is not known."""
    names_are_read: bool = False
    """Whether what cells are called is known only from a build, whose steps `bound_files` brings."""
    own_reports: tuple[str, ...] = ()
    """Names of the tool's own reports that `read_report` knows, for people; first one that counts a netlist."""

    @abstractmethod
    def read(self, path: Path, options: Any) -> Source:
        """Read a model file; what it holds may be refused by `lower` only.

        Raises InputError if the file is missing, broken or not understood at all.
        """

    @abstractmethod
    def lower(self, source: Any, technology: Technology, options: Any) -> Dataflow:
        """Return the engines that a model becomes, in topological order, with role, window fill and label.

        Raises InputError if an operation has no engine; names all that have none.
        """

    @abstractmethod
    def costs(self, technology: Technology, options: Any, *, own_kinds: bool = False) -> Costs:
        """Return the prices for a part; with ``own_kinds`` no engine has options of another kind (`Option.kind`)."""

    def tool(self, options: Any) -> str:
        """Return what the tool is called, with its version if there are several."""
        return self.name

    def streams_a_cable(self, options: Any) -> int | None:
        """Return how many streams the tool sends over a cable between FPGAs in one direction; None: any number."""
        return None

    # A folding that is given

    def with_folding(self, dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
        """Return the engines with the folding of a file (``--folding``).

        Raises InputError if the file is missing or broken, or is no folding of these engines.
        """
        raise InputError(f"--folding {path}: back end {self.name} reads no folding files", hint="leave it out")

    def folding_inputs(self, dataflow: Dataflow, path: Path) -> Sequence[Path]:
        """Return the files that `with_folding` reads for a path, that one first."""
        return (path,)

    def folding_files(self, folded: FoldedDataflow) -> Mapping[str, str]:
        """Return the files, by name, from which `with_folding` gets this folding back."""
        return {}

    def unplaced_files(self, part: Unplaced) -> Mapping[str, str]:
        """Return the tool's own files of a part of a network that is placed nowhere, by their paths in its folder."""
        return {f"{self.name}/{name}": text for name, text in self.folding_files(part.folded).items()}

    def folding_file(self, plan: Plan, phase: int, network: str, /) -> str | None:
        """Return which of `files` is the folding of a network that `with_folding` reads; None if none is."""
        return None

    def given_groups(self, dataflow: Dataflow, costs: Any, *, carried: bool = True) -> tuple[OptionGroup, ...]:
        """Return a group of one option for each engine: the one that is its ``folding``.

        ``carried``: the model itself is to have a folding, so that one without any is refused.

        Raises InputError if there is no folding, or one that cannot be built.
        """
        if carried and not any(engine.folding for engine in dataflow.engines):
            raise InputError(f"--keep-folding: back end {self.name} reads no foldings", hint="leave it out")
        return rows_as_given(dataflow, costs.groups(dataflow))

    def fold_methods(self, options: Any) -> Mapping[str, Proposal]:
        """Return folding methods of the tool's own, by the names of its registration."""
        return {}

    # Kinds that a folding chooses

    def finished(self, folded: FoldedDataflow) -> FoldedDataflow:
        """Return the engines as their options make them: kinds, and the names that follow; in the same order."""
        return folded

    def with_kinds(self, dataflow: Dataflow, kinds: Mapping[str, str]) -> Dataflow:
        """Return the engines with other kinds, by name, as `finished` would make them."""
        return dataflow

    # Time

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when a folded engine reads and writes; ``inputs`` and ``outputs`` are words a frame at its ports.

        Raises InputError if that is not known: FIFO depths and latency are then not analysed, and the plan says so.
        """
        raise InputError(f"{engine.name}: when {engine.kind} reads and writes is unknown")

    def stages(self, engine: Engine, option: Option) -> int:
        """Return the pipeline stages of a folded engine: cycles from a word in to a word at its output port."""
        return 0

    def expected_interval(self, folded: FoldedDataflow) -> int:
        """Return the interval in cycles with what starting anew each frame adds to that of the slowest engine."""
        return folded.interval_cycles

    def likely_clock(self, folded: FoldedDataflow, target: ClockTarget, /) -> LikelyClock | None:
        """Return which clock a routed design is likely to reach; None if that is not known."""
        return None

    # External memory

    def from_memory(self, network: str, engine: Engine, option: Option, clock_mhz: float, options: Any) -> EnginePoint:
        """Return a folded engine as what it runs from external memory, one subgraph after another.

        Raises InputError if engines of the back end do not share memory by a schedule (`Registration.shares_memory`).
        """
        raise InputError(f"{engine.name}: engines of back end {self.name} share no memory by a schedule")

    # What the planner takes sparingly

    def products(self, engine: Engine, options: OptionTable, /) -> NDArray[np.int64]:
        """Return how many products an engine forms at once if high-level synthesis makes it, (n_options,); else 0.

        ``--max-products`` limits them: front ends run out of time and memory.
        """
        return np.zeros(len(options), dtype=np.int64)

    def host_writes(self, engine: Engine, options: OptionTable, /) -> NDArray[np.bool_]:
        """Mark the options with which the host has to write the engine's memories before the first frame."""
        return np.zeros(len(options), dtype=np.bool_)

    def unwritable(
        self, dataflow: Dataflow, engines: Iterable[str], slots: Sequence[int], options: Any
    ) -> frozenset[str]:
        """Return those engines that cannot be built if the host writes them; ``slots``: how many each FPGA has."""
        return frozenset()

    def spares_host(self, options: Any) -> bool:
        """Whether options that `host_writes` marks are only for where much rests on them, for few engines; else free.

        Much: without them nothing fits, or the rate falls by more than a tenth.
        """
        return False

    def loosened(self, options: Any) -> Iterable[tuple[str, BackendOptions]]:
        """Yield options that forbid less, each with its words on the command line, for a request that is infeasible."""
        return ()

    # What people and other tools get

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        """Return how much a folded engine does at once, and how much it could at most."""
        return ()

    def weight_memory(self, engine: Engine, option: Option) -> WeightMemory | None:
        """Return how many bits of weights a folded engine holds, and where; None if it has none or that is unknown."""
        return None

    def in_logic(self, engine: Engine, option: Option, *, written_later: bool = False) -> str:
        """Return which constants of a folded engine become part of its logic, empty if none do.

        An engine that has some is a circuit of its own; contents of block RAM can be set afterwards, with
        ``written_later`` those of any memory.
        """
        return "weights" if engine.weight_bits else ""

    def unbuildable(
        self,
        folded: FoldedDataflow,
        streams: Sequence[PlacedStream],
        home: Mapping[str, Home],
        options: Any,
    ) -> tuple[str, ...]:
        """Return engines that the tool cannot build where they lie, none if it can; ``home`` is where each does."""
        return ()

    def unlinkable(
        self,
        folded: FoldedDataflow,
        streams: Sequence[PlacedStream],
        home: Mapping[str, Home],
        shells: Sequence[str],
        options: Any,
    ) -> Mapping[str, tuple[int, int]]:
        """Return the streams that are too wide to join what the tool makes of an FPGA, with their bits and the most.

        ``shells``: the shell of each FPGA, empty where it has none.
        """
        return {}

    def check_boards(self, options: Any, boards: Mapping[str, str]) -> None:
        """Refuse, with an InputError, options that boards do not take; ``boards``: shells, or nothing, by name."""

    def unbuilt(self, boards: Sequence[str], networks: int, options: Any, *, in_regions: bool) -> Sequence[str]:
        """Return what keeps the tool from building a plan, a clause each; none where what is emitted builds it.

        ``boards``: the board of each FPGA; ``in_regions``: phases are loaded into regions while the rest runs.
        """
        return ()

    def unjoined(self, platform: PlatformEntry, phases: Sequence[PhaseEntry], options: Any) -> Sequence[str]:
        """Return what keeps the tool from joining a plan's several FPGAs as planned, a clause each."""
        return ()

    def builds_slices(self, options: Any, *, knows_depths: bool) -> bool:
        """Whether what is emitted makes the tool build register slices; ``knows_depths``: the plan has FIFO depths."""
        return False

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: Any) -> Sequence[str]:
        """Return what the user has to know of a finished plan, a sentence each."""
        return ()

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return the tool's own files of a phase (by its number), by their paths in the phase's folder."""
        return {}

    def card_kernels(self, plan: Plan, phase: int, fpga: Mapping[str, Any], /) -> CardKernels | None:
        """Return the kernels that the tool's build makes of the part on one of several cards; None: it builds none."""
        return None

    def cells(self, plan: Plan, phase: int, cell_pattern: str, hierarchy: str, /) -> Mapping[str, str]:
        """Return every engine's cell of a phase, by the engine's id: that id, inside ``hierarchy``.

        ``hierarchy`` is the cell of the board's shell that holds the user's kernels, empty without a shell;
        ``cell_pattern`` the board's for FINN's engines, with ``{engine}`` in it and perhaps ``{partition}``.
        """
        engines = [name for module in plan.phases[phase].modules for name in module.engines]
        return {name: f"{hierarchy}/{name}" if hierarchy else name for name in engines}

    def bound_files(
        self,
        plan: Plan,
        phase: int,
        fpgas: Sequence[Mapping[str, Any]],
        library: str,
        /,
    ) -> Mapping[str, str]:
        """Return files for a build that tells what cells are called, by their paths in the phase's folder.

        ``fpgas`` have ``name``, ``board``, ``part``, ``platform`` (of Vitis, or empty), ``cell_pattern`` and
        ``constraints``: texts by their names, with ``members:<module>`` in the place of a module's cells. ``library``
        is the Tcl that they call.
        """
        return {}

    def bind(self, plan: Plan, files: Mapping[str, bytes], build: Path, /) -> Binding:
        """Return a plan's constraints by the names that a build gave its cells; ``files`` are those of the plan.

        Raises InputError if the build is not that of the plan, or it cannot be told which cell is which.
        """
        raise InputError(f"{build}: back end {self.name} names cells itself", hint="use the plan as it is")

    def build_steps(self, plan: Plan, place: Place, /) -> Iterable[BuildStep]:
        """Return the way from a plan that lies in a place to what its tool makes of it: a project of the user's own."""
        scripts = [place.path(name) for name in place.matching("pblocks.tcl")]
        told = f"source {', '.join(scripts)} in it"
        return (BuildStep("Implement it in a Vivado project of your own", (), "Vivado", told),) if scripts else ()

    def cost_model(self, plan: Plan, /) -> str:
        """Return in words what the plan's resources are."""
        return f"estimates of back end {self.name}"

    def links_copies(self, boards: Mapping[str, str], /) -> bool:
        """Whether what is emitted links several copies, or networks, for boards with these shells, empty for none."""
        return False

    def steps(self, plan: Plan, phase: int, free: Resources, /) -> Iterable[str]:
        """Return what to try next in a phase that leaves so much of all limits."""
        return ()

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what in the network would shorten engines that are folded as wide as can be, or nothing."""
        return ""

    # What a build reports

    def read_report(self, file: str, text: str, /) -> Report | BuiltFoldings | None:
        """Return what a file of a build's folder (``file``: its path there) holds; None if it is not the tool's own.

        Raises InputError if it is malformed; names file and line.
        """
        return None

    def report_files(self, folder: Path, /, *, several: bool = False) -> Sequence[Path]:
        """Return those of all files below a folder that may be reports: build folders hold scratch, too.

        ``several``: each FPGA of a plan has a build of its own.

        Raises InputError if the folder holds several builds and should hold one.
        """
        return files_below(folder)

    def instances(self, plan: Plan, phase: int, reports: Sequence[Report], /) -> Instances:
        """Return which engines the instances in all reports of a build are; the plan has one network."""
        cells = self.cells(plan, phase, "{engine}", "")
        return NamedCells({plain_name(cell): name for name, cell in cells.items()})

    def read_build(self, folder: Path, /) -> Build:
        """Return what a build folder of the tool holds: graph, nodes as built, and the tool's own figures.

        Raises InputError if nothing in it can be used; names what was looked for.
        """
        raise InputError(f"{folder}: back end {self.name} reads no build folders", hint="name another with --backend")

    def recognises_build(self, folder: Path, /) -> bool:
        """Whether a folder holds what this tool alone writes, so that `read_build` is to be asked."""
        return False

    def built_options(self, folder: Path, costs: Costs, /) -> Mapping[str, Option]:
        """Return prices, by name, of the engines of a build that has no graph to be lowered, if there are any."""
        return {}

    def host_port_bits(self, board: str, part: str, /) -> int | None:
        """Return how wide the memory's side of a DMA engine is at most; None if the tool does not say."""
        return None

    # Single engines

    def cost_lines(self, lines: Iterable[str], part: str, options: Any) -> Iterator[dict[str, Any]]:
        """Price single engines, one a JSON line (``floorflow cost``)."""
        raise InputError(f"--backend {self.name}: it prices no single engines")


def backend_named(name: str) -> Backend:
    """Import a back end and return it.

    Raises InputError if there is none of that name, or it cannot be imported.
    """
    return cast(Backend, backend_object(name))


def rows_as_given(dataflow: Dataflow, groups: tuple[OptionGroup, ...]) -> tuple[OptionGroup, ...]:
    """Return the groups with one row each: the first in which every engine has its own ``folding``.

    Raises InputError if there is none; names the engines and the foldings.
    """
    return tuple(_row_as_given([dataflow.engine(name) for name in group.engines], group) for group in groups)


def _row_as_given(engines: list[Engine], group: OptionGroup) -> OptionGroup:
    rows = (row for row in group.rows if all(map(_is_own, engines, row)))
    row = next(rows, None)
    if row is None:
        foldings = "; ".join(f"{engine.name}: {_told(engine)}" for engine in engines)
        raise InputError(f"the folding to keep ({foldings}) is none of the options", hint="fold anew")
    return OptionGroup(group.engines, (row,))


def _is_own(engine: Engine, option: Option) -> bool:
    return all(engine.folding.get(name) == value for name, value in option.folding.items())


def _told(engine: Engine) -> str:
    return ", ".join(f"{name} = {value}" for name, value in engine.folding.items()) or "none"
