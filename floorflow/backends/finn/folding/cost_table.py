"""One cost model on one part: the options of engines, a folding that is given, and the prices of what joins engines."""

# ruff: noqa: D102 - the interface says what its methods return

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from floorflow.backends.backend import Costs
from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock import left_out, misses_clock, within_clock
from floorflow.backends.finn.cost.calibrated import coefficients, relative_band
from floorflow.backends.finn.folding.legal_foldings import legal_options, option_groups, ports_of, tied_pairs
from floorflow.backends.finn.kinds.boundary import dma_resources
from floorflow.backends.finn.kinds.fifo import STYLES, Style, fifo_choices, fifo_resources, tool_fifo
from floorflow.backends.finn.kinds.joining import FifoUnit, converter_kind, converter_resources, convertible
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Choice, CostModel, priced
from floorflow.backends.finn.kinds.registry import WITH_WEIGHTS, doubt, kind_of
from floorflow.backends.finn.names import FOLDING_ATTRIBUTES, RUNTIME_WEIGHTS, FinnVersion, family
from floorflow.backends.finn.samo import estimate
from floorflow.backends.finn.tool_depths import tool_depths
from floorflow.dataflow.bands import Band
from floorflow.dataflow.fifo import SLICE_WORDS, FifoChoice
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError
from floorflow.rates import Actors
from floorflow.resources import ZERO, Resources
from floorflow.technology import Technology

FORESEEN_DEPTH: Band = (0.5, 2.0)
"""How far FIFOs may be off whose depths are foreseen: of six builds LUT, FF and block RAM were told within 15%, but of
two origins only, and depths that FINN publishes are up to 2.4 times what is foreseen (docs/rates.md)."""


@dataclass(frozen=True)
class CostTable(Costs):
    """Answers every question on FINN's costs for a fixed part, model, rule on weights written at run time and FINN.

    ``free_kinds``: engines may be hls where FINN would make them rtl, and the other way; ``own_kinds_first``: only
    where that makes them faster. ``target``: foldings that are known to miss its clock by far are left out.
    ``tool_sizes_fifos``: FIFOs are as deep as FINN's own sizing would make them, in the memory that it takes.
    ``finn_is_given``: it is known that this FINN builds what comes with a folding.
    """

    technology: Technology
    model: CostModel = "calibrated"
    allow_runtime_weights: bool = True
    finn: FinnVersion = "main"
    free_kinds: bool = False
    own_kinds_first: bool = False
    target: ClockTarget | None = None
    tool_sizes_fifos: bool = False
    finn_is_given: bool = True
    registers_ports: bool = False
    convertible = staticmethod(convertible)
    converter_kind = staticmethod(converter_kind)
    _known: dict[Hashable, tuple[Resources, Resources]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def name(self) -> str:
        return self.model

    @property
    def _joining(self) -> CostModel:
        """The model of FIFOs and converters: SAMO counts none of them."""
        return "estimated" if self.model == "samo" else self.model

    @property
    def sizes_fifos(self) -> bool:
        """Not by FINN's own costs: deep FIFOs are FINN's to size, for it asks for UltraRAM on any part."""
        return self.model != "finn" or self.tool_sizes_fifos

    def tool_depths(self, folded: FoldedDataflow, needed: Mapping[str, int], known: Actors) -> Mapping[str, int]:
        return tool_depths(folded, needed, self.finn, known)

    @property
    def has_bands(self) -> bool:
        return self.model == "calibrated"

    @property
    def fifo_kind(self) -> str:
        return "StreamingFIFO_rtl"

    def band(self, kind: str, resource: str) -> Band:
        """Return how far an estimate may be off; of FIFOs that FINN sizes the depth is foreseen as well."""
        low, high = relative_band(kind, resource)
        if self.tool_sizes_fifos and kind == self.fifo_kind:
            return min(low, FORESEEN_DEPTH[0]), max(high, FORESEEN_DEPTH[1])
        return low, high

    def doubt(self, engine: Engine, option: Option) -> tuple[Resources, Resources]:
        """Return what an engine with weights may need less and more by HLS where its version is not known.

        So too by FINN where the engine comes with a folding and nobody said which FINN it is of.
        """
        kind = option.kind or engine.kind
        if not self.has_bands or family(kind) not in WITH_WEIGHTS:
            return ZERO, ZERO
        key = (kind, *(tuple(each.items()) for each in (engine.attributes, engine.folding, option.folding)))
        if key not in self._known:
            attributes = {**engine.attributes, **engine.folding, **option.folding}
            others = kind_of(kind).versions if engine.folding and not self.finn_is_given else frozenset()
            finns = (self.finn, *sorted(others - {self.finn}))
            self._known[key] = doubt(kind, attributes, self.technology, finns)
        return self._known[key]

    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        """Return every engine's undominated legal foldings; engines whose foldings are tied share a group."""
        choice = Choice(self.technology, self.model, self.allow_runtime_weights, self.finn, self.free_kinds)
        return within_clock(option_groups(dataflow, choice), dataflow, self.target)

    def reaching(self, target: ClockTarget) -> "CostTable":
        """Return the same prices without foldings of LabelSelect whose running maximum misses the clock by far."""
        return replace(self, target=target)

    def left_out(self, dataflow: Dataflow) -> Sequence[str]:
        return tuple(left_out(dataflow, self.target))

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        if self.tool_sizes_fifos:
            return self.fifo_choices(width_bits, depth_words)[0].resources
        return fifo_resources(width_bits, depth_words, self.technology, self._joining, self.finn)

    def fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        """Return what ``ram_style`` may be, first FINN+'s automatic choice; ``auto`` where there is none."""
        if self.tool_sizes_fifos:
            return (tool_fifo(width_bits, depth_words, self.technology, self._joining, self.finn),)
        return fifo_choices(width_bits, depth_words, self.technology, self._joining, self.finn)

    def end_fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        """Return the same of a FIFO at an end, which FINN's sizing leaves in shift registers however deep it is."""
        if not self.tool_sizes_fifos:
            return self.fifo_choices(width_bits, depth_words)
        return (tool_fifo(width_bits, depth_words, self.technology, self._joining, self.finn, at_end=True),)

    def built_fifo(self, width_bits: int, depth_words: int, memory: str) -> Resources:
        """Price a FIFO of a graph; ``memory`` is its ``ram_style``, behind ``vivado`` if it is AMD's."""
        *amd, style = memory.split() or ["auto"]
        known: Style = next((each for each in STYLES if each == style), "auto")
        fifo = FifoUnit(width_bits, depth_words, amd == ["vivado"], known, self.finn)
        if self._joining == "finn":
            return fifo.finn_resources(self.technology)
        return fifo.own_resources(self.technology, coefficients(self._joining))

    def slice_resources(self, width_bits: int) -> Resources:
        """Price a FIFO of two words, which is what FINN builds for a slice."""
        return self.fifo_resources(width_bits, SLICE_WORDS)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        """Price one width converter; equal widths cost nothing."""
        return converter_resources(input_bits, output_bits, self.technology, self._joining)

    def dma_resources(self, stream_bits: int, memory_bits: int, *, reads: bool) -> Resources | None:
        """Price IODMA_hls; FINN estimates none."""
        return None if self.model == "finn" else dma_resources(stream_bits, memory_bits, reads=reads)


_UNFOLDED: Mapping[str, AttributeValue] = {"PE": 1, "SIMD": 1, "parallel_window": 0}
"""FINN's defaults for what a graph does not say."""
_TOO_WIDE = (
    f"a stream or a word of weights has more than {MAX_STREAM_BITS} bits, an HLS unit has a SIMD below MW / 1024, or a "
    "window moves farther than its buffer reaches"
)
_HINT = "Correct the folding, or leave out --keep-folding and --folding to fold anew."


def given_folding_groups(dataflow: Dataflow, costs: CostTable, *, carried: bool = True) -> tuple[OptionGroup, ...]:
    """Return a group of one option for each engine: the folding and the styles that it has.

    ``carried``: the model itself is to have a folding, so that one without any is refused.

    Raises InputError if there is no folding, or one that FINN cannot build; names the engine and the folding.
    """
    if carried and not any(engine.folding for engine in dataflow.engines):
        message = f"{dataflow.name}: the model carries no folding to keep"
        hint = "Leave out --keep-folding, give a FINN graph after step_apply_folding_config, or --folding FILE."
        raise InputError(message, hint)
    choice = Choice(costs.technology, costs.model, costs.allow_runtime_weights, costs.finn)
    for engine in dataflow.engines:
        if misses_clock(engine.kind, {**_UNFOLDED, **engine.attributes, **engine.folding}, costs.target):
            raise _illegal(engine, "it misses the clock by far")
    options = {engine.name: _given_option(engine, dataflow, choice) for engine in dataflow.engines}
    for window, follower in tied_pairs(dataflow):
        lanes = options[window].folding["SIMD"], options[follower].folding["PE"]
        if lanes[0] != lanes[1]:
            raise _illegal(
                dataflow.engine(follower),
                f"its PE is {lanes[1]}, but the depthwise window '{window}' before it sends {lanes[0]} channels a word",
            )
    return tuple(OptionGroup((name,), ((option,),)) for name, option in options.items())


def _given_option(engine: Engine, dataflow: Dataflow, choice: Choice) -> Option:
    """Return the one legal option that has the engine's own folding; styles are as given, else FINN's defaults."""
    as_given = replace(choice, model="finn")
    attributes = {**_UNFOLDED, **engine.attributes, **engine.folding}
    objection = _memory_objection(attributes, engine.kind, choice)
    if objection:
        raise _illegal(engine, objection)
    try:
        kind = kind_of(engine.kind)
        kind.unit(attributes, choice.finn)
        own = {**engine.attributes, **engine.folding}
        option = next((o for o in legal_options(kind, own, as_given) if _is_own(engine, o)), None)
    except InputError as error:
        raise InputError(f"engine {engine.name}: {error}", error.hint or _HINT) from error
    if option is None:
        raise _illegal(engine, _TOO_WIDE)
    if not ports_of(engine, dataflow.streams).take(option):
        raise _illegal(engine, "its words do not divide the last dimension of the streams at its ends")
    if choice.model == "samo":
        cycles, resources = estimate(engine.kind, {**attributes, **option.folding})
        return replace(option, cycles=cycles, resources=resources)
    unit = kind.unit({**attributes, **option.folding}, choice.finn)
    return replace(option, resources=priced(unit, choice.technology, choice.model))


def _memory_objection(attributes: Mapping[str, AttributeValue], kind: str, choice: Choice) -> str:
    """Return why what the engine stores cannot lie where it is to: UltraRAM has no initial contents before Versal."""
    if attributes.get(RUNTIME_WEIGHTS, 0) == 1 and not choice.allow_runtime_weights:
        return "its weights are written at run time, --runtime-weights never"
    if attributes.get("ram_style") != "ultra" or choice.technology.architecture == "versal":
        return ""
    stem = family(kind)
    if stem in ("MVAU", "VVAU", "Thresholding"):
        if attributes.get("mem_mode", "internal_decoupled") != "internal_decoupled":
            return ""
        if attributes.get(RUNTIME_WEIGHTS, 0) != 1:
            return f"UltraRAM (ram_style = ultra) has no initial contents: {RUNTIME_WEIGHTS} must be 1"
        return ""
    tables = stem == "Lookup" and attributes.get("mem_mode", "internal_embedded") == "internal_embedded"
    constants = stem.startswith("Elementwise") and "const" in (attributes.get("lhs_style"), attributes.get("rhs_style"))
    return "UltraRAM (ram_style = ultra) has no initial contents" if tables or constants else ""


def _is_own(engine: Engine, option: Option) -> bool:
    return all(
        option.folding[key] == engine.folding.get(key, _UNFOLDED[key])
        for key in FOLDING_ATTRIBUTES
        if key in option.folding
    )


def _illegal(engine: Engine, reason: str) -> InputError:
    folding = ", ".join(f"{key} = {value}" for key, value in engine.folding.items())
    return InputError(f"engine {engine.name} ({engine.kind}): the folding to keep ({folding}): {reason}", _HINT)
