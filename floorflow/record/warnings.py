"""What a user should know of a plan beside its figures, as sentences."""

from __future__ import annotations

from floorflow.backends.finn.options import finn_options
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.channels import Channel
from floorflow.record.part import Part
from floorflow.search.context import PlanningContext
from floorflow.search.search import SearchResult
from floorflow.text.lists import some

DMA_BITS = 512
"""Widest memory interface of FINN's DMA engines (InsertIODMA)."""


def _fed_by_dma(context: PlanningContext, channel: Channel) -> int:
    """Return the frames a second, rounded down, that one DMA engine feeds into a channel."""
    bits = channel.stream.elements * channel.stream.element_bits
    return int(context.platform.clock_mhz * 1e6 / -(-bits // DMA_BITS))


def _style_warning(result: SearchResult) -> list[str]:
    """Say which engines FINN makes as they are planned only if it is told to."""
    other = [engine.name for engine in result.candidate.folded.dataflow.engines if PREFERENCE in engine.attributes]
    if not other:
        return []
    return [f"hls or rtl against FINN's own choice, which specialize_layers_config.json tells it: {some(other)}"]


def warnings_of(part: Part) -> list[str]:
    """Return what is to be said of a network in a phase."""
    context, result = part.context, part.result
    options = result.candidate.folded.options
    written = sorted(n for n, o in options.items() if o.folding.get("runtime_writeable_weights"))
    warnings = []
    if context.board.doubt:
        fields = "the fields" if len(context.board.unstated) > 1 else "the field"
        warnings.append(f"{context.board.doubt}; state {fields}, or 'none' (platforms/README.md)")
    if written:
        warnings.append(
            f"URAM cannot be initialised: the weights of {some(written)} must be written at run time over AXI-lite"
        )
    wide = [c for c in result.candidate.channels if c.stream.from_outside and c.width_bits > DMA_BITS]
    warnings += _style_warning(result)
    warnings += [
        f"{c.stream.source} takes {c.width_bits:,} bits a word, FINN's DMA engines give {DMA_BITS} a cycle at most: "
        f"the rate holds only if the host's memory keeps up; --fps {_fed_by_dma(context, c)} is what they feed"
        for c in wide
    ]
    if result.repair:
        warnings.append(f"to place the design: {result.repair}")
    if finn_options(context.request).costs == "finn":
        warnings.append("costs are FINN's own estimates, in which some hardware costs nothing; real use is higher")
    return warnings
