"""One cost model on one part: the options of engines and the prices of what joins them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from floorflow.backends.backend import Costs
from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock.limits import left_out, within_clock
from floorflow.backends.finn.cost.bands import relative_band
from floorflow.backends.finn.cost.calibrated import coefficients
from floorflow.backends.finn.cost.dma import dma_resources
from floorflow.backends.finn.folding.tied_engines import option_groups
from floorflow.backends.finn.kinds.converter import converter_kind, converter_resources, convertible
from floorflow.backends.finn.kinds.fifo import STYLES, Style, fifo_choices, fifo_resources, tool_fifo
from floorflow.backends.finn.kinds.joining import FifoUnit
from floorflow.backends.finn.kinds.kind import Choice, CostModel
from floorflow.backends.finn.kinds.registry import WITH_WEIGHTS, doubt, kind_of
from floorflow.backends.finn.names import family
from floorflow.backends.finn.tool_depths import tool_depths
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.bands import Band
from floorflow.dataflow.fifo import SLICE_WORDS, FifoChoice
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup
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
    _known: dict[Hashable, tuple[Resources, Resources]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def name(self) -> str:
        """The cost model's name."""
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
        """Return what FINN's sizing is foreseen to set."""
        return tool_depths(folded, needed, self.finn, known)

    @property
    def has_bands(self) -> bool:
        """Whether the model was fitted to builds."""
        return self.model == "calibrated"

    @property
    def fifo_kind(self) -> str:
        """FINN's op type of FIFOs."""
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

    def reaching(self, target: ClockTarget) -> CostTable:
        """Return the same prices without foldings of LabelSelect whose running maximum misses the clock by far."""
        return replace(self, target=target)

    def left_out(self, dataflow: Dataflow) -> Sequence[str]:
        """Return which foldings of LabelSelect are left out, and why."""
        return tuple(left_out(dataflow, self.target))

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        """Price one FIFO in FINN+'s automatic choice of memory."""
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

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        """Whether FINN can build the converter: an hls one goes through words of the common multiple."""
        return convertible(input_bits, output_bits)

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        """Return FINN's op type of the converter between two different widths."""
        return converter_kind(input_bits, output_bits)
