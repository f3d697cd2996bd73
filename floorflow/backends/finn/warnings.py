"""What the user of a plan has to know of FINN's engines, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.backends.finn.datatype import bits_of
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.backends.finn.version import NAMED_HLS
from floorflow.dataflow.model import FoldedDataflow, Stream
from floorflow.errors import some

DMA_BITS = 512
"""Widest memory interface of FINN's DMA engines: that of VitisBuild."""
ZYNQ_PORT_BITS = (128, 64)
"""Those of Zynq UltraScale+ and Zynq: FINN's ``pynq_native_port_width``."""
PACKED_BITS, PACKED_SUM_BITS = 4, 25
"""FINN main's ``mvu_4sx4u.sv`` takes weights and data of so many bits, and sums of so many with any weights.

It takes sums from a 48-bit word at bit 21 (DSP48E1), 22 or 23 (DSP48E2, any or narrow weights): of more than 27, 26 or
25 bits the range is beyond the word and synthesis stops, whatever PE and SIMD (FINN issue 1681; issue 1682 is the same
at SIMD 1 and PE 2 alone). FINN dev and FINN+ have another core (``mvu.sv``).
"""


def warnings_of(folded: FoldedDataflow, clock_mhz: float, options: FinnOptions) -> Iterator[str]:
    """Yield them: weights that are written at run time, styles, inputs beyond a DMA engine, costs of FINN's own."""
    written = sorted(n for n, o in folded.options.items() if o.folding.get("runtime_writeable_weights"))
    if written:
        yield (
            f"URAM of UltraScale+ cannot be initialised: the weights of {some(written)} must be written at run time "
            "over AXI-lite"
        )
    other = [engine.name for engine in folded.dataflow.engines if PREFERENCE in engine.attributes]
    if other:
        yield f"hls or rtl against FINN's own choice, which specialize_layers_config.json tells it: {some(other)}"
    yield from _too_wide_sums(folded, options)
    yield from _placed_by_hls(folded, options)
    for stream in folded.dataflow.streams:
        if stream.from_outside:
            yield from _too_wide(stream, folded.options[stream.target].input_widths_bits[stream.target_port], clock_mhz)
    if options.costs == "finn":
        yield "costs are FINN's own estimates, in which some hardware costs nothing; real use is higher"
    if options.costs == "samo":
        yield "costs are those of SAMO's fork of FINN (2022), in which some hardware costs nothing; real use is higher"


def _too_wide_sums(folded: FoldedDataflow, options: FinnOptions) -> Iterator[str]:
    """Warn of RTL matrix units whose sums are wider than FINN main's core for few bits can be synthesised with."""
    wide = {
        engine.name: engine.output_bits
        for engine in folded.dataflow.engines
        if engine.kind == "MVAU_rtl" and engine.operand_bits <= PACKED_BITS and engine.output_bits > PACKED_SUM_BITS
    }
    if wide and options.finn == "main":
        yield (
            f"FINN main's RTL unit for operands of up to {PACKED_BITS} bits does not synthesise with sums beyond "
            f"{PACKED_SUM_BITS} bits (27 on 7 series; FINN issue 1681): "
            f"{some([f'{name} ({bits} bits)' for name, bits in wide.items()])}; "
            "FINN's step_minimize_bit_width narrows them, else take MVAU_hls, FINN dev or FINN+"
        )


def _placed_by_hls(folded: FoldedDataflow, options: FinnOptions) -> Iterator[str]:
    """Say which products HLS places in DSP blocks or LUTs by its version, where nobody gave that."""
    open_ones = sorted(
        engine.name
        for engine in folded.dataflow.engines
        if folded.options[engine.name].folding.get("resType") == "auto"
        and engine.kind.endswith("_hls")
        and bits_of(str(engine.attributes["inputDataType"])) > 1
    )
    if open_ones and options.vivado is None and options.costs in {"calibrated", "estimated"}:
        version = ".".join(map(str, NAMED_HLS[options.finn]))
        yield (
            f"resType auto of {some(open_ones)}: HLS 2022 was seen to multiply in DSP blocks, 2024.2 in LUTs, and no "
            f"--vivado says which builds; priced as {version} does, the likelihoods span both"
        )


def _too_wide(stream: Stream, width_bits: int, clock_mhz: float) -> Iterator[str]:
    """Warn of an input of more bits a word than any DMA engine feeds, and say how many frames a second each does."""
    if width_bits > DMA_BITS:
        frame_bits = stream.elements * stream.element_bits
        fed = {bits: int(clock_mhz * 1e6 / -(-frame_bits // bits)) for bits in (DMA_BITS, *ZYNQ_PORT_BITS)}
        alveo, ultrascale, zynq = (f"{bits} bits a cycle ({rate:,} frames/s)" for bits, rate in fed.items())
        yield (
            f"{stream.source} takes {width_bits:,} bits a word; FINN's DMA engines give at most {alveo} on Alveo, "
            f"{ultrascale} on Zynq UltraScale+ and {zynq} on Zynq, if the host's memory keeps up: --fps plans for less"
        )
