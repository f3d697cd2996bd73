"""The part of the judge for a back end: what it must answer, where it is found, and its answers as values.

It speaks plain values (docs/backends.md, The judge's part), so that one made elsewhere imports nothing of floorflow.
Those of FINN, hls4ml, fpgaConvNet and f-CNN^x come with floorflow; others register an entry point of the group
``floorflow.judges`` under their back end's name. What a part cannot answer is a finding.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar, cast

from floorflow.verify.files import NUMBER_LIMIT
from floorflow.verify.phase_records import ChannelRecord, FoldedRecord, PhaseRecord
from floorflow.verify.plan_records import EngineRecord, PlanRecord
from floorflow.verify.records import RESOURCE_NAMES, Record, is_count
from floorflow.verify.violations import VIOLATIONS, Findings


class Row(TypedDict):
    """One engine of a phase, and where it lies: what is unknown is None, and the part then the first FPGA's."""

    id: str
    network: str
    entry: EngineRecord
    folding: FoldedRecord
    module: str | None
    slot: str | None
    slr: int | None
    style: str | None
    fpga: str | None
    dies: int
    fpga_number: int | None
    part: str


GROUP = "floorflow.judges"
BUILT_IN = {
    "finn": "floorflow.verify.finn.judge",
    "hls4ml": "floorflow.verify.layered.hls4ml:judge",
    "fpgaconvnet": "floorflow.verify.layered.fpgaconvnet:judge",
    "fcnnx": "floorflow.verify.layered.fcnnx:judge",
}
"""Modules that come with floorflow, by the name of their back end."""
ANSWERS = ("findings", "option_objections", "may_cost_nothing", "engine", "joined", "converter", "fifo", "files")
"""Names that a part must have."""


class Files(Protocol):
    """The files of one phase; a file that is missing or corrupt is reported when it is asked for, and is None."""

    def json(self, name: str) -> dict[str, Any] | None:
        """Return a JSON object."""

    def text(self, name: str) -> str | None:
        """Return a text."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file; nothing is reported."""

    def path(self, name: str) -> str:
        """Return a file's path in the plan's folder, for messages."""


class Judge(Protocol):
    """What a back end's part answers; a module with these names is one."""

    @property
    def findings(self) -> Mapping[str, str]:
        """Names of the findings that no other back end has, with what each means."""

    def option_objections(self, options: Mapping[str, Any]) -> Iterable[str]:
        """Return what is wrong with the plan's ``backend_options``, one sentence each."""

    def may_cost_nothing(self, options: Mapping[str, Any]) -> bool:
        """Whether engines, converters and FIFOs may have no resources."""

    def streams_a_cable(self, options: Mapping[str, Any]) -> int | None:
        """Return how many streams the build sends over a cable in one direction, None: any; a part may lack this."""

    def stitches(self, options: Mapping[str, Any]) -> bool:
        """Whether modules are implemented one by one and stitched; a part may lack this."""

    def engine(self, row: Row, context: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return cycles, ports, window fill, objections and least resources of an engine; None: an unknown kind."""

    def joined(self, source: Row, target: Row, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what two engines that a stream joins do not agree on, and whether the second reads no data of it."""

    def converter(self, narrow_bits: int, wide_bits: int) -> tuple[str, Iterable[str]]:
        """Return the kind of the converter between two widths, and why it cannot be made."""

    def fifo(self, channel: Mapping[str, Any], part: str, context: Mapping[str, Any]) -> Iterable[str]:
        """Return what is wrong with the style of a channel's FIFO, and with what it costs in that style."""

    def files(
        self, plan: Mapping[str, Any], phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any]
    ) -> tuple[Iterable[tuple[str, str, str]], Mapping[str, str]]:
        """Return findings ``(name, where, message)`` about a phase's files, and the cell of each engine by its id."""


class NoJudgeError(Exception):
    """There is no part of the judge for a back end, or it cannot be loaded; the message says what to do."""


def find_judge(backend: str) -> Judge:
    """Return the part of the judge for a back end.

    NoJudgeError if there is none, two, or one that cannot be imported or lacks an answer.
    """
    if backend in BUILT_IN:
        return cast(Judge, EntryPoint(backend, BUILT_IN[backend], GROUP).load())
    found = entry_points(group=GROUP, name=backend)
    values = sorted({point.value for point in found})
    if len(values) > 1:
        raise NoJudgeError(
            f"{' and '.join(values)} are installed for the back end {backend!r:.60}; uninstall all but one"
        )
    if not values:
        raise NoJudgeError(
            f"no part of the judge is installed for the back end {backend!r:.60}; install the package that brings it, "
            f"with an entry point {backend!r:.60} of the group {GROUP}, into the Python that runs this check"
        )
    return _loaded(next(iter(found)))


def _loaded(point: EntryPoint) -> Judge:
    try:
        judge = point.load()
    except Exception as error:
        raise NoJudgeError(f"{point.value} cannot be loaded: {type(error).__name__}: {error!s:.200}") from error
    missing = [name for name in ANSWERS if not hasattr(judge, name)]
    if missing:
        raise NoJudgeError(f"{point.value} lacks {', '.join(missing)}")
    return cast(Judge, judge)


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Port:
    """One stream at an engine: ``parallel`` elements of ``bits`` a word, ``elements`` a frame.

    ``last_dimension`` is the innermost size of the tensor, which words must divide for a width converter;
    ``data_type`` is None where the engine does not state one.
    """

    parallel: int
    bits: int
    elements: int
    last_dimension: int
    data_type: str | None = None

    @property
    def width_bits(self) -> int:
        """Width of the stream, un-padded."""
        return self.parallel * self.bits


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What follows from an engine's kind, attributes and folding; None where it cannot be told.

    ``products``: formed at once, by high-level synthesis; ``beyond_known_builds``: more than in any known build.
    ``host_writes``: the host has to write its weights; ``host_spared``: the options ask for few such engines.
    ``only_wires``: it passes words on and has no logic, so that it costs nothing. ``own_circuit``: constants are part
    of its logic, so that it shares no implementation.
    """

    cycles: int | None = None
    inputs: tuple[Port, ...] | None = None
    outputs: tuple[Port, ...] | None = None
    window_fill: Fraction = Fraction(0)
    least_resources: Mapping[str, int] = field(default_factory=dict)
    products: int = 0
    beyond_known_builds: bool = False
    host_writes: bool = False
    host_spared: bool = False
    only_wires: bool = False
    own_circuit: bool = False


FLAGS = ("beyond_known_builds", "host_writes", "host_spared", "only_wires", "own_circuit")


@dataclass(frozen=True)
class BackEnd:
    """A back end's part of the judge for one phase, with where its findings go."""

    name: str
    judge: Judge
    findings: Findings
    context: Record

    def engine(self, row: Row, where: str) -> EngineFacts:
        """Report what is wrong with an engine, and return what follows from it."""
        return self._asked(where, EngineFacts(), lambda: self._engine(row, where))

    def _engine(self, row: Row, where: str) -> EngineFacts:
        answer = self.judge.engine(row, self.context)
        if answer is None:
            kind = row["entry"]["kind"]
            self.findings.add("unknown-kind", where, f"the back end {self.name} has no kind {kind}")
            return EngineFacts()
        self._report((name, where, message) for name, message in answer.get("objections", ()))
        cycles = answer.get("cycles")
        if cycles is not None and cycles >= NUMBER_LIMIT:
            self.findings.add("engine-malformed", where, "attributes and folding give 2^63 cycles or more")
            cycles = None
        least = answer.get("least_resources", {})
        return EngineFacts(
            None if cycles is None else _count(cycles),
            _ports(answer.get("inputs")),
            _ports(answer.get("outputs")),
            Fraction(answer.get("window_fill", 0)),
            {resource: _count(least[resource]) for resource in RESOURCE_NAMES if resource in least},
            _count(answer.get("products", 0)),
            *(answer.get(name, False) is True for name in FLAGS),
        )

    def check_joined(self, source: Row, target: Row, where: str) -> None:
        """Report what two engines that a stream joins do not agree on."""
        objections = self._joined(source, target, where).get("objections", ())
        self._asked(where, None, lambda: self._report((name, where, message) for name, message in objections))

    def reads_no_data(self, source: Row, target: Row, where: str) -> bool:
        """Whether the second of two joined engines reads nothing that the first waits for."""
        return self._joined(source, target, where).get("target_reads_no_data", False) is True

    def _joined(self, source: Row, target: Row, where: str) -> Mapping[str, Any]:
        return self._asked(where, {}, lambda: dict(self.judge.joined(source, target, self.context)))

    def may_cost_nothing(self, where: str) -> bool:
        """Whether engines, converters and FIFOs may have no resources."""
        return self._asked(
            where, otherwise=True, ask=lambda: self.judge.may_cost_nothing(self.context["options"]) is True
        )

    def streams_a_cable(self, where: str) -> int | None:
        """Return how many streams the build sends over a cable in one direction, None: any."""
        if not hasattr(self.judge, "streams_a_cable"):
            return None
        return self._asked(where, None, lambda: self.judge.streams_a_cable(self.context["options"]))

    def stitches(self, where: str) -> bool:
        """Whether modules are implemented one by one and stitched; False for a part that does not say."""
        if not hasattr(self.judge, "stitches"):
            return False
        return self._asked(where, otherwise=False, ask=lambda: self.judge.stitches(self.context["options"]) is True)

    def converter(self, narrow_bits: int, wide_bits: int, where: str) -> str | None:
        """Return the kind of the converter between two widths after reporting why it cannot be made."""

        def ask() -> str:
            kind, objections = self.judge.converter(narrow_bits, wide_bits)
            self._report(("converter-illegal", where, message) for message in objections)
            return str(kind)

        return self._asked(where, None, ask)

    def check_fifo(self, channel: ChannelRecord, part: str, where: str) -> None:
        """Report what is wrong with the memory of a channel's FIFO, which lies on a part."""

        def ask() -> None:
            self._report(("wrong-fifo-style", where, told) for told in self.judge.fifo(channel, part, self.context))

        self._asked(where, None, ask)

    def files(self, plan: PlanRecord, phase: PhaseRecord, folder: Files, where: str) -> dict[str, str]:
        """Report what is wrong with a phase's files, and return the cells of engines.

        A part that names none (``None``) has engines that are cells of their own ids, inside the board's shell.
        """

        def ask() -> dict[str, str]:
            problems, cells = self.judge.files(plan, phase, folder, self.context)
            self._report(problems)
            if cells is None:
                return self._own_cells()
            return {str(engine): str(cell) for engine, cell in cells.items()}

        return self._asked(where, {}, ask)

    def unplaced_files(self, phase: PhaseRecord, folder: Files, clock_mhz: float, where: str) -> None:
        """Report what is wrong with the tool's files of a part of a network that is placed nowhere."""
        given = phase, folder, clock_mhz, self.context
        self._asked(where, None, lambda: self._report(self._more("unplaced_files", *given) or ()))

    @property
    def names_are_read(self) -> bool:
        """Whether what cells are called is known only from a build."""
        return bool(self._more("names_are_read"))

    def is_stream_cell(self, cell: str) -> bool:
        """Whether a cell is a FIFO or converter, of which a plan has no name."""
        return bool(self._more("is_stream_cell", cell))

    def check_build(
        self, phase: PhaseRecord, build: Path, told: tuple[Mapping[str, str], Mapping[str, str]], where: str
    ) -> None:
        """Report where a build is not what the phase, whose cells are ``told``, is bound to."""
        self._asked(where, None, lambda: self._report(self._more("build", phase, build, told, self.context) or ()))

    def builds_slices(self, phase: PhaseRecord, where: str) -> bool:
        """Whether the tool builds register slices from the files of a phase."""
        return self._asked(where, otherwise=False, ask=lambda: self._more("builds_slices", phase, self.context) is True)

    def crosses_by_fifos(self, where: str) -> bool:
        """Whether what the tool builds at SLR boundaries are FIFOs."""
        return self._asked(where, otherwise=False, ask=lambda: self._more("crosses_by_fifos", self.context) is True)

    def crosses_by_slices(self, where: str) -> bool:
        """Whether a script is to insert register slices at SLR boundaries."""
        return self._asked(where, otherwise=False, ask=lambda: self._more("crosses_by_slices", self.context) is True)

    @property
    def shares_memory(self) -> bool:
        """Whether the back end's engines work from memory that they share by a schedule."""
        return bool(self._more("shares_memory"))

    def subgraphs(self, row: Row, clock_mhz: float, where: str) -> list[tuple[str, float, float]]:
        """Return what such an engine runs one after another: name, least time in us, bytes."""

        def ask() -> list[tuple[str, float, float]]:
            found = self._more("subgraphs", row, clock_mhz, self.context) or ()
            return [(str(name), float(latency), float(moved)) for name, latency, moved in found]

        return self._asked(where, [], ask)

    def reads_memory(self, engine: str) -> bool:
        """Whether an engine has streams from memory, of which a plan has no widths."""
        return bool(self._more("reads_memory", self.context["engines"][engine]))

    def _more(self, name: str, *given: object) -> Any:
        """Return what a part answers that it need not; None if it does not."""
        answer = getattr(self.judge, name, None)
        return answer(*given) if callable(answer) else answer

    def _own_cells(self) -> dict[str, str]:
        rows, hierarchies = self.context["engines"], self.context["hierarchies"]
        inside = {name: hierarchies.get(row["fpga"]) for name, row in rows.items()}
        return {name: f"{top}/{name}" if top else name for name, top in inside.items() if top is not None}

    def _report(self, problems: Iterable[tuple[str, str, str]]) -> None:
        for name, where, message in problems:
            if name in self.findings.meanings:
                self.findings.add(name, str(where), str(message))
            else:
                told = f"the back end {self.name} reports {name!r:.60}, which it does not declare: {message}"
                self.findings.add("plan-malformed", str(where), told)

    def _asked(self, where: str, otherwise: Value, ask: Callable[[], Value]) -> Value:
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - somebody else's code on somebody else's plan; the verdict goes on
            told = f"the back end {self.name} cannot judge it: {type(error).__name__}: {error!s:.200}"
            self.findings.add("plan-malformed", where, told)
            return otherwise


def judge_of(options: Mapping[str, Any], findings: Findings) -> Judge | None:
    """Return the part of the judge for the plan's back end, or None after reporting why there is none."""
    try:
        part = find_judge(options["backend"])
        findings.meanings = {**VIOLATIONS, **part.findings}
    except NoJudgeError as error:
        findings.add("backend-unknown", "options.backend", str(error))
        return None
    check_options(part, options, findings)
    return part


def check_options(judge: Judge, options: Mapping[str, Any], findings: Findings) -> None:
    """Report what is wrong with the back end's own options of a plan."""
    where = "options.backend_options"
    try:
        for objection in judge.option_objections(options["backend_options"]):
            findings.add("plan-malformed", where, str(objection))
    except Exception as error:  # noqa: BLE001 - as above
        told = f"the back end {options['backend']} cannot judge them: {type(error).__name__}: {error!s:.200}"
        findings.add("plan-malformed", where, told)


def _ports(answer: Iterable[Mapping[str, Any]] | None) -> tuple[Port, ...] | None:
    return None if answer is None else tuple(map(_port, answer))


def _port(answer: Mapping[str, Any]) -> Port:
    parallel, bits, elements, last = (
        _count(answer[key]) for key in ("parallel", "element_bits", "elements", "last_dimension")
    )
    data_type = answer.get("type")
    return Port(parallel, bits, elements, last, None if data_type is None else str(data_type))


def _count(value: object) -> int:
    """Return a whole number of a file's range; anything else is no answer."""
    if not isinstance(value, int) or not is_count(value):
        raise TypeError(f"{value!r:.60} is no non-negative integer below 2^63")
    return value


@dataclass(frozen=True, slots=True)
class PlannedEngine:
    """An engine's entry in ``networks`` together with its folding in a phase, and what follows from both."""

    name: str
    row: Row
    facts: EngineFacts

    @property
    def entry(self) -> EngineRecord:
        """Its entry in ``networks``."""
        return self.row["entry"]

    @property
    def folding(self) -> FoldedRecord:
        """Its folding in the phase."""
        return self.row["folding"]

    @property
    def kind(self) -> str:
        """The back end's kind."""
        return self.entry["kind"]
