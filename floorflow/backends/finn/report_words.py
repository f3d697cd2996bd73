"""What people are told of FINN: its cost models, limits and attributes, warnings of a plan, what to try next."""

from collections.abc import Iterator, Sequence

from floorflow.backends.finn.attributes import bits_of
from floorflow.backends.finn.names import NAMED_HLS
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.dataflow.model import FoldedDataflow, Stream
from floorflow.errors import some
from floorflow.facts import EngineEntry, Plan
from floorflow.facts.memory import MemoryEntry
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.platform import SlotEntry
from floorflow.request import limits_of
from floorflow.resources import Resources

FIFO_DEPTHS = "FINN: inFIFODepths"
"""Where the depths of FIFOs are given."""
START_UPS = "windows and HLS start anew"
"""What lengthens the interval where FIFOs are small."""
FOLDING_LIMIT = "exceed FINN's widest stream"
"""What may stop a wider folding beside the slots."""
_COSTS = {
    "calibrated": "floorflow's estimates, fitted to real builds (docs/cost-model.md)",
    "estimated": "floorflow's estimates from structure (docs/cost-model.md)",
    "finn": "FINN's own estimates",
    "samo": "the estimators of SAMO's fork of FINN, in which some hardware costs nothing (docs/samo-backends.md)",
}


def cost_model(plan: Plan) -> str:
    """Return what the resources of the plan are."""
    asked = plan.options.backend_options
    return _COSTS[asked.costs] if isinstance(asked, FinnOptions) else "estimates"


def faster_by_hand(engines: Sequence[EngineEntry]) -> str:
    """Return what would shorten engines that are folded as wide as can be; empty if nothing is known to."""
    sizes = [str(engine.attributes.get("IFMDim", "")) for engine in engines]
    return f"a smaller feature map than {some(sorted(set(sizes)))}" if all(sizes) else ""


def steps(plan: Plan, phase: int, free: Resources) -> Iterator[str]:
    """Yield what to try next in a phase; ``free`` is what its design leaves of all limits."""
    folded = plan.phases[phase].engines
    names = [name for name, entry in folded.items() if entry.attributes.get("runtime_writeable_weights")]
    if names:
        uram = sum(folded[name].resources.URAM for name in names)
        asked = plan.options.backend_options
        free_to_choose = isinstance(asked, FinnOptions) and asked.runtime_weights == "always"
        elsewhere = (
            f"; --runtime-weights never puts them elsewhere ({max(0, free.bram18):,} BRAM18 are free below the limits)"
        )
        yield (
            f"before the first frame software writes the weights of {', '.join(names)} over AXI-lite ({uram:,} URAM)"
            f"{elsewhere if free_to_choose else ''}"
        )
    yield from _weights_for_uram(plan, plan.phases[phase])


SCARCE, IDLE = 0.7, 0.2
"""Shares of a slot's limit: BRAM18 from which the weights' place is worth a word, URAM up to which it is idle."""
IN_URAM = "ultra, written at run time"


def _weights_for_uram(plan: Plan, phase: PhaseEntry) -> Iterator[str]:
    """Yield, of slots that BRAM18 fills while URAM is idle, what the weights that may lie in URAM would save there."""
    asked = plan.options.backend_options
    if isinstance(asked, FinnOptions) and (asked.runtime_weights == "always" or asked.stitches):
        return
    found = [text for slot in plan.slots_in(phase) for text in _saved_in(plan, phase, slot)]
    if found:
        yield (
            "BRAM18 is the scarcest while URAM is idle; weights in URAM would save, with the foldings as they are, "
            f"{'; '.join(found)}: --runtime-weights always plans with them, and software writes them over AXI-lite "
            "before the first frame"
        )


def _saved_in(plan: Plan, phase: PhaseEntry, slot: SlotEntry) -> Iterator[str]:
    """Yield what a slot would save; nothing where BRAM18 is not its scarcest resource or URAM is not idle."""
    used, available = phase.partition.utilisation[slot.name], slot.available.resources
    limit = limits_of(plan.options, available).as_dict()
    shares = {name: used[name] * have / limit[name] for name, have in available.as_dict().items() if limit[name]}
    scarcest = max(shares, key=lambda name: shares[name], default="")
    if scarcest != "BRAM18" or shares[scarcest] < SCARCE or shares.get("URAM", 1.0) > IDLE:
        return
    slot_of = {engine: phase.partition.assignment[m.name] for m in phase.modules for engine in m.engines}
    inside = [memory for memory in phase.memories if slot_of.get(memory.name) == slot.name]
    names, saved, taken = _moved(inside, limit["URAM"] * (1 - shares["URAM"]))
    if saved:
        after = shares["BRAM18"] - saved / limit["BRAM18"]
        yield (
            f"{saved:,} BRAM18 of {slot.name} ({shares['BRAM18']:.0%} to {after:.0%} of its limit) for {taken:,} of "
            f"{limit['URAM']:,} URAM ({some(names)})"
        )


def _moved(memories: Sequence[MemoryEntry], uram: float) -> tuple[list[str], int, int]:
    """Return which weights fit so much URAM, what BRAM18 they save and what URAM they take; best trades first."""
    moves = []
    for memory in memories:
        other = next((other.resources for other in memory.others if other.style == IN_URAM), None)
        if memory.kind == "weights" and other is not None and other.BRAM18 < memory.resources.BRAM18:
            moves.append((memory.name, memory.resources.BRAM18 - other.BRAM18, other.URAM - memory.resources.URAM))
    names: list[str] = []
    saved = taken = 0
    for name, blocks, ultra in sorted(moves, key=lambda move: (-move[1] / max(move[2], 1), move[0])):
        if taken + ultra <= uram:
            names, saved, taken = [*names, name], saved + blocks, taken + ultra
    return names, saved, taken


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
