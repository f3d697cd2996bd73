"""The FIFO depths that FINN's own sizing is foreseen to set, by what its sources do (`step_set_fifo_depths`).

FINN main and dev (`InsertAndSetFIFODepths`, largefifo_rtlsim) give each FIFO a frame's words, push frames through the
stitched design and keep the most words seen. So before a slow engine nearly a frame piles up, whatever the rate needs:
main sends words as fast as they go in, dev pauses between frames so that they come at the interval of its estimate.
FINN+ 1.6 (`RunLayerParallelSimulation`) begins with what an unthrottled run held and lowers one FIFO after another
while no interval grows, in steps of what a memory holds: near the depths that the full rate needs.

The run is that of the rate analysis, at the level of bursts: a prediction, no bound. What FINN may never exceed is a
frame's words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.backends.finn.cost.memory import ceil_divide
from floorflow.backends.finn.names import FinnVersion
from floorflow.dataflow.model import FoldedDataflow, Stream
from floorflow.rates import Actors, Depths, RateProblem, StepLimit, peak_words, rate_problem

LARGEST_RTL = 256
"""Words of FINN's own FIFO of shift registers (``max_qsrl_depth``); main and dev make deeper ones AMD's."""
LARGEST_VIVADO = 32768
"""Words of AMD's FIFO; FINN has to split what is deeper (``split_large_fifos``)."""
SRL_WORDS = 32
"""Words of a shift register: below, main and dev round up to them, and FINN+ sets no less."""
HLS_INPUT_WORDS = 2
"""Words in the register slice at the input of an engine in HLS, which the FIFO before it does not hold: with them two
FIFOs of the TFC builds that the run fills to 3 and 4 words are 2 deep, as they were built."""
_STEPS = 1_000_000_000
"""Steps (`floorflow.rates.fifo_graph.Work`) that the simulated frames may take."""
_FRAMES_OF_WINDOWS = 2
_BLOCK_ROWS = ((1, 16384), (2, 8192), (4, 4096), (9, 2048))
_LARGE = 281
"""Words from which on FINN+ leaves a FIFO that takes the fewest block RAM that any does."""


@dataclass(frozen=True)
class _Feed:
    """How FINN feeds the design that it simulates: frames, cycles from word to word, and cycles between frames."""

    frames: int
    spacing_cycles: int = 1
    pause_cycles: int = 0


def tool_depths(
    folded: FoldedDataflow, needed: Mapping[str, int], finn: FinnVersion, known: Actors
) -> Mapping[str, int]:
    """Return the depth of every channel's FIFO in words of the channel; none is below what the full rate ``needed``.

    Of the two FIFOs beside a converter it is the reader's: FINN fills that first.

    Raises LimitError if the frames take too long to simulate.
    """
    problem = rate_problem(folded, known=known)
    feed = _feed(folded, problem, finn)
    fed = problem.fed(feed.spacing_cycles, feed.pause_cycles)
    peaks = peak_words(fed, _capacities(folded, problem), feed.frames, StepLimit(_STEPS))
    in_hls = {engine.name for engine in folded.dataflow.engines if engine.kind.endswith("_hls")}
    depths = {}
    for fifo in problem.fifos:
        least = needed.get(fifo.name, fifo.least_words)
        before = HLS_INPUT_WORDS if fifo.target in in_hls else 0
        seen = min(peaks[fifo.name] - before, problem.writes(fifo).words)
        own = searched_depth(seen, least, fifo.width_bits) if finn == "plus" else simulated_depth(seen)
        depths[fifo.name] = max(own, least)
    return depths


def simulated_depth(seen_words: int) -> int:
    """Return what main and dev make of the most words seen (`optimize_depth`)."""
    if seen_words <= SRL_WORDS:
        return 2 if seen_words <= 2 else SRL_WORDS
    return seen_words


def searched_depth(seen_words: int, needed_words: int, width_bits: int) -> int:
    """Return where FINN+ ends with a FIFO that keeps the rate from ``needed_words`` on (`_minimize_fifo_depth`).

    It leaves what takes the fewest block RAM that any FIFO does, and searches shift registers by their LUTs.
    """
    start, least_blocks = max(seen_words + 1, SRL_WORDS), block_depth(1, width_bits)
    if _LARGE < start <= least_blocks:
        return least_blocks
    if needed_words <= SRL_WORDS:
        return SRL_WORDS
    if needed_words > LARGEST_RTL:
        return block_depth(needed_words, width_bits)
    return _searched_by_luts(min(start, LARGEST_RTL), needed_words, ceil_divide(width_bits, 2))


def _searched_by_luts(start: int, needed_words: int, luts: int) -> int:
    """Halve between two shift registers a bit and those of ``start``; no multiple of ``luts`` counts as too few."""
    low, high = 2 * luts, ceil_divide(start, SRL_WORDS) * luts
    if high <= low:
        return start
    depth = high // luts * SRL_WORDS
    while low < high:
        middle = (low + high) // 2
        tried = middle // luts * SRL_WORDS
        if middle % luts == 0 and tried >= needed_words:
            depth, high = tried, middle
        else:
            low = middle + 1
    return depth


def block_depth(words: int, width_bits: int) -> int:
    """Return the most words in as many block RAM as FINN+ counts for some (`calculate_bram_depth_range`)."""
    if width_bits > 18 and words <= 512:
        return 512
    rows = next((rows for widest, rows in _BLOCK_ROWS if width_bits <= widest), 1024)
    return ceil_divide(words, rows) * rows


def split(depth: int) -> tuple[int, ...]:
    """Return the FIFOs that ``split_large_fifos`` makes of one (`get_fifo_split_configs`)."""
    if depth <= LARGEST_RTL:
        return (depth,)
    pieces = [LARGEST_VIVADO] * (depth // LARGEST_VIVADO)
    rest = depth % LARGEST_VIVADO
    while rest > LARGEST_RTL:
        pieces.append(1 << rest.bit_length() - 1)
        rest -= pieces[-1]
    return (*pieces, rest) if rest else tuple(pieces)


def _feed(folded: FoldedDataflow, problem: RateProblem, finn: FinnVersion) -> _Feed:
    """Return how a FINN feeds its simulation."""
    inputs = [stream for stream in folded.dataflow.streams if stream.from_outside]
    outputs = [stream for stream in folded.dataflow.streams if stream.to_outside]
    words = max((problem.writes(f).words for f, s in zip(problem.fifos, folded.dataflow.streams, strict=True)
                 if s.from_outside), default=1)  # fmt: skip
    if finn == "dev":
        return _Feed(_FRAMES_OF_WINDOWS, pause_cycles=max(0, folded.interval_cycles - words))
    if finn == "main" and (len(inputs) > 1 or len(outputs) > 1):
        # Its fast driver has one stream on either side; the slow one sends words evenly until a frame is through.
        return _Feed(_FRAMES_OF_WINDOWS, spacing_cycles=ceil_divide(folded.interval_cycles, words))
    if any(engine.kind.startswith("ConvolutionInputGenerator") for engine in folded.dataflow.engines):
        return _Feed(_FRAMES_OF_WINDOWS)
    return _Feed(max(_FRAMES_OF_WINDOWS, _nodes(folded) // 2))


def _nodes(folded: FoldedDataflow) -> int:
    """Count the nodes of FINN's graph: engines, a converter and two FIFOs where widths differ, else one FIFO."""
    beside = sum(3 if _converts(stream, folded) else 1 for stream in folded.dataflow.streams)
    return len(folded.dataflow.engines) + beside


def _capacities(folded: FoldedDataflow, problem: RateProblem) -> Depths:
    """Return the words that FINN's FIFOs hold while it simulates: a frame's, on both sides of a converter."""
    streams = {stream.channel: stream for stream in folded.dataflow.streams}
    return {
        fifo.name: max(
            fifo.least_words, problem.writes(fifo).words * (2 if _converts(streams[fifo.name], folded) else 1)
        )
        for fifo in problem.fifos
    }


def _converts(stream: Stream, folded: FoldedDataflow) -> bool:
    if stream.from_outside or stream.to_outside:
        return False
    source = folded.options[stream.source].output_widths_bits[stream.source_port]
    return source != folded.options[stream.target].input_widths_bits[stream.target_port]
