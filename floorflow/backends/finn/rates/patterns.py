"""When FINN's engines read and write within a frame: each kind as actors for `floorflow.rates`.

The cycles of an actor are FINN's estimate (formulas of each kind) unless its text says otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType

import numpy as np

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.pooling import pools_one_dimension
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.window import Pair, WindowUnit
from floorflow.backends.finn.rates.start_up import HLS_RESTART_CYCLES
from floorflow.dataflow.model import Engine, Option
from floorflow.errors import InputError
from floorflow.rates import Actor, moves, repeated
from floorflow.rates.problem import Moves

FRAME_GAP_CYCLES = 2
"""From the last tap of a frame until the first pixel of the next is read."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Windows over an image, all as (height, width); ``reach`` is the size of the dilated kernel."""

    image: Pair
    output: Pair
    stride: Pair
    reach: Pair


def sampled(name: str, windows: Sampling, folds: int) -> Actor:
    """Return an actor that reads every cycle and writes a pixel, ``folds`` words, with the last of each window."""
    image, output = windows.image, windows.output
    rows = np.arange(output[0])[:, None] * windows.stride[0] + windows.reach[0] - 1
    columns = np.arange(output[1])[None, :] * windows.stride[1] + windows.reach[1] - 1
    last = (rows * image[1] + columns).ravel() + 1
    steps = np.diff(last, prepend=0) * folds
    rest = (image[0] * image[1] - int(last[-1])) * folds
    written = np.full(steps.size, folds)
    first = steps - folds
    if rest:
        steps, written, first = np.append(steps, rest), np.append(written, 0), np.append(first, 0)
    return Actor(name, steps, (moves(steps),), (moves(written, first),))


def parallel_window(name: str, unit: WindowUnit) -> Actor:
    """Return a window held in registers: it reads every cycle and writes whole windows (FINN's parallel style)."""
    (kernel_h, kernel_w), (dilation_h, dilation_w) = unit.kernel, unit.dilation
    reach = (kernel_h - 1) * dilation_h + 1, (kernel_w - 1) * dilation_w + 1
    return sampled(name, Sampling(unit.image, unit.output, unit.stride, reach), unit.folds)


def sliding_window(name: str, unit: WindowUnit) -> Actor:
    """Return a window over a buffer (FINN's default style).

    Window after window goes out, a tap a cycle, each as soon as its pixel is in. Meanwhile pixels are read, a word a
    cycle, as far as the buffer has room once what no later window needs is gone. Pixels that no window needs come
    last. Nothing of the next frame is read before the last tap is out, which two cycles tell (swg_template_default.sv:
    Fetching_done, Write_cmd). A depthwise window sends fold after fold of its taps, so that all its pixels must be in;
    with a stride it pauses after each, as FINN's estimate has it.
    """
    bursts = _depthwise_bursts(unit) if unit.depthwise else _bursts(unit)
    steps, read, sent, first = (np.array(column) for column in zip(*bursts, strict=True))
    folds = unit.folds
    pause = (unit.stride[1] - 1) * (folds - 1) if unit.depthwise else 0
    cycles = steps * folds + np.where(sent > 0, pause, 0)
    cycles[-1] += 0 if unit.depthwise or not sent[-1] else FRAME_GAP_CYCLES
    return Actor(name, cycles, (moves(read * folds),), (moves(sent * folds, first * folds),))


Burst = tuple[int, int, int, int]
"""Steps, pixels read from the first of them on, taps sent, and the step of the first tap; each step a pixel's folds."""


def _windows(unit: WindowUnit) -> list[tuple[int, int]]:
    """Return the first pixel of each window, and that of the next; behind the last window the pixels of the image."""
    (rows, columns), (stride_h, stride_w), width = unit.output, unit.stride, unit.image[1]
    starts = (np.arange(rows)[:, None] * stride_h * width + np.arange(columns)[None, :] * stride_w).ravel().tolist()
    return list(zip(starts, [*starts[1:], unit.image[0] * width], strict=True))


def _bursts(unit: WindowUnit) -> list[Burst]:
    (kernel_h, kernel_w), (dilation_h, dilation_w), width = unit.kernel, unit.dilation, unit.image[1]
    pixels, room, span = unit.image[0] * width, unit.buffer_words // unit.folds, unit.span
    bursts: list[Burst] = []
    have = 0
    for start, after in _windows(unit):
        complete = have >= start + span
        # A window that is not all there goes out by rows of the kernel.
        for row in [kernel_h - 1] if complete else range(kernel_h):
            taps = kernel_h * kernel_w if complete else kernel_w
            missing = max(0, start + row * dilation_h * width + (kernel_w - 1) * dilation_w + 1 - have)
            steps = max(taps, missing)
            # Room is made by the next window, and behind the last one by the taps that are out.
            kept = start + row * dilation_h * width if after == pixels else after
            read = max(missing, min(steps, min(kept + room, pixels) - have))
            bursts.append((steps, read, taps, steps - taps))
            have += read
    rest = pixels - have
    return [*bursts, (rest, rest, 0, 0)] if rest else bursts


def _depthwise_bursts(unit: WindowUnit) -> list[Burst]:
    taps, pixels, room = unit.kernel[0] * unit.kernel[1], unit.image[0] * unit.image[1], unit.buffer_words // unit.folds
    span = unit.span
    bursts: list[Burst] = [(span, span, 0, 0)]
    have = span
    for _, after in _windows(unit):
        last = after == pixels
        ahead = min(after + room, pixels) - have
        during = max(0, min(ahead, taps))
        missing = 0 if last else max(0, after + span - have - during)
        bursts += [(taps, during, taps, 0), (missing, missing, 0, 0)] if missing else [(taps, during, taps, 0)]
        have += during + missing
    rest = pixels - have
    return [*bursts, (rest, rest, 0, 0)] if rest else bursts


NOT_RESTARTED = ("IODMA_hls",)
"""HLS engines whose start of a frame is the memory's to tell."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """One folded engine and the words a frame at its ports."""

    name: str
    reader: Reader
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def _streaming(traffic: Traffic) -> Actor:
    """Read a word of each input and write one to each output every cycle."""
    words = traffic.inputs[0]
    through = moves(words)
    return Actor(traffic.name, np.array([words]), (through,) * len(traffic.inputs), (through,) * len(traffic.outputs))


def _operands(traffic: Traffic) -> Actor:
    """Read a word of each operand and write one every cycle; an operand of one pixel is read with the first alone."""
    written = traffic.outputs[0]
    first = min(traffic.inputs)
    if first == written:
        return _streaming(traffic)
    steps = [first, written - first]
    reads = tuple(moves([first, words - first]) for words in traffic.inputs)
    return Actor(traffic.name, np.array(steps), reads, (moves(steps),))


def _matrix_vector(traffic: Traffic) -> Actor:
    """Read a pixel's words in the first fold, one a cycle, and write one word at the end of each fold."""
    reader = traffic.reader
    fold, folds = reader.integer("MW") // reader.integer("SIMD"), reader.integer("MH") // reader.integer("PE")
    if folds == 1:
        return _reducing(traffic)
    pixels = reader.pixels()
    if fold == 1:
        steps, read, written = [folds], moves([1]), moves([folds])
    else:
        steps, read = [fold, fold * (folds - 1)], moves([fold, 0])
        written = moves([1, folds - 1], fold - 1, fold)
    return repeated(Actor(traffic.name, np.array(steps), (read,), (written,)), pixels)


def _reducing(traffic: Traffic) -> Actor:
    """Read a word every cycle and write one after each group of them: depthwise units, pools."""
    read, written = traffic.inputs[0], traffic.outputs[0]
    group = read // written
    return Actor(traffic.name, np.array([read]), (moves(read),), (moves(written, group - 1, group),))


def _window(traffic: Traffic) -> Actor:
    """Slide a window; the hls variant is taken to move words as the rtl one does."""
    unit = kind_of("ConvolutionInputGenerator_rtl").unit(traffic.reader.attributes)
    if not isinstance(unit, WindowUnit):
        raise InputError(f"{traffic.name}: {traffic.reader.op_type} is no sliding window")
    return parallel_window(traffic.name, unit) if unit.parallel else sliding_window(traffic.name, unit)


def _padding(traffic: Traffic) -> Actor:
    """Write every cycle, and read where the word is not padding."""
    reader = traffic.reader
    (height, width), folds = reader.pair("ImgDim"), reader.integer("NumChannels") // reader.integer("SIMD")
    top, left, bottom, right = reader.sizes("Padding")
    padding, row = (left + right) * folds, (width + left + right) * folds
    steps = np.array([top * row + left * folds, *[width * folds + padding] * height])
    steps[-1] += bottom * row - left * folds
    read = [0, *[width * folds] * height]
    if not steps[0]:
        steps, read = steps[1:], read[1:]
    return repeated(Actor(traffic.name, steps, (moves(read),), (moves(steps),)), reader.pixels())


def _pixel_padding(traffic: Traffic) -> Actor:
    """Write every cycle; read a pixel, then write zeros up to the next."""
    reader = traffic.reader
    (height, width), (stride_h, stride_w) = reader.pair("ImgDim"), reader.pair("Stride")
    folds = reader.integer("NumChannels") // reader.integer("SIMD")
    gaps = np.full((height, width), stride_w)
    gaps[:, -1] = 1
    steps = gaps.ravel() * folds
    out_width = width + (width - 1) * (stride_w - 1)
    steps[width - 1 : -1 : width] += (stride_h - 1) * out_width * folds
    read = moves(np.full(steps.size, folds))
    return repeated(Actor(traffic.name, steps, (read,), (moves(steps),)), reader.pixels())


def _max_pool(traffic: Traffic) -> Actor:
    """Read the rows of a row of tiles (in 1D: one tile), then write their maxima."""
    reader = traffic.reader
    if pools_one_dimension(reader):
        pool, groups = max(reader.pair("PoolDim")), max(reader.pair("ImgDim"))
        folds = traffic.inputs[0] // groups
        tiles = traffic.outputs[0] // folds
        read = np.full(tiles, pool * folds)
        read[-1] += traffic.inputs[0] - tiles * pool * folds
        written = np.full(tiles, folds)
    else:
        (height, width), pool = reader.pair("ImgDim"), reader.pair("PoolDim")[1]
        read, written = np.full(height // pool, pool * width), np.full(height // pool, width // pool)
    return Actor(traffic.name, read + written, (moves(read),), (moves(written, read),))


def _global_pool(traffic: Traffic) -> Actor:
    """Write the sums when the whole frame is read."""
    frames = prod(traffic.reader.sizes("numInputVectors", (1,))[:-2]) or 1
    read, written = traffic.inputs[0] // frames, traffic.outputs[0] // frames
    actor = Actor(traffic.name, np.array([read + written]), (moves(read),), (moves(written, read),))
    return repeated(actor, frames)


def _label_select(traffic: Traffic) -> Actor:
    """Write the best labels when all values of a frame are read; the last value and the first label share a cycle."""
    read, written = traffic.inputs[0], traffic.outputs[0]
    return Actor(traffic.name, np.array([read + written - 1]), (moves(read),), (moves(written, read - 1),))


def _concat(traffic: Traffic) -> Actor:
    """Read a word of all inputs at once (FINN main), or from one input after another in each pixel (dev)."""
    if not traffic.reader.has("ChannelsPerStream"):
        return _streaming(traffic)
    moved, words, pixels = _turns(traffic, traffic.inputs)
    return repeated(Actor(traffic.name, np.array([words]), moved, (moves(words),)), pixels)


def _split(traffic: Traffic) -> Actor:
    """Read every cycle; the outputs take turns in each pixel."""
    moved, words, pixels = _turns(traffic, traffic.outputs)
    return repeated(Actor(traffic.name, np.array([words]), (moves(words),), moved), pixels)


def _turns(traffic: Traffic, ports: tuple[int, ...]) -> tuple[tuple[Moves, ...], int, int]:
    """Return what ports with so many words a frame move in a pixel, one after another, all words, and the pixels."""
    pixels = traffic.reader.pixels()
    parts = np.array(ports) // pixels
    starts = np.cumsum(parts) - parts
    moved = tuple(moves(int(part), int(start)) for part, start in zip(parts, starts, strict=True))
    return moved, int(parts.sum()), pixels


def _expanding(traffic: Traffic) -> Actor:
    """Write every cycle, and read a word before each group of them."""
    read, written = traffic.inputs[0], traffic.outputs[0]
    return Actor(traffic.name, np.array([written]), (moves(read, 0, written // read),), (moves(written),))


def _transfer(traffic: Traffic) -> Actor:
    """Move a word of the narrower side every cycle (dma.h and a width converter in one dataflow region).

    What the memory makes it wait for is not known here. Widths that do not divide each other meet at the frame's end.
    """
    read, written = traffic.inputs[0], traffic.outputs[0]
    if written % read == 0:
        return _expanding(traffic)
    if read % written == 0:
        return _reducing(traffic)
    steps = max(read, written)
    last = moves(written, max(0, steps - written)) if written < read else moves(written)
    return Actor(traffic.name, np.array([steps]), (moves(read),), (last,))


def _upsample(traffic: Traffic) -> Actor:
    """Read a row while it is written for the first time, a pixel for each run of equal ones; repeat it from memory."""
    reader = traffic.reader
    if reader.has("HO"):
        height, width = reader.integer("HI"), reader.integer("WI")
        times_h, times_w = reader.integer("HO") // height, reader.integer("WO") // width
    elif reader.integer("DimMode", 0) == 1:
        height, width, times_h, times_w = reader.integer("IFMDim"), 1, reader.integer("OFMDim"), 1
        times_h //= height
    else:
        height = width = reader.integer("IFMDim")
        times_h = times_w = reader.integer("OFMDim") // width
    folds = traffic.inputs[0] // (height * width)
    steps, read = np.full((height, width), times_w * folds), np.full(height * width, folds)
    steps[:, -1] += (times_h - 1) * width * times_w * folds
    rows = steps.ravel()
    return Actor(traffic.name, rows, (moves(read),), (moves(rows),))


def _down_sample(traffic: Traffic) -> Actor:
    """Read every cycle and write every ``Stride``-th pixel of every ``Stride``-th row."""
    reader = traffic.reader
    side, stride = reader.integer("ImgDim"), reader.integer("Stride")
    folds = reader.integer("NumChannels") // reader.integer("SIMD")
    image = (1, side) if reader.integer("is1D", 0) == 1 else (side, side)
    output = ((image[0] - 1) // stride + 1, (image[1] - 1) // stride + 1)
    actor = sampled(traffic.name, Sampling(image, output, (stride, stride), (1, 1)), folds)
    return repeated(actor, reader.pixels())


_PATTERNS: Mapping[str, Callable[[Traffic], Actor]] = MappingProxyType(
    {
        "MVAU": _matrix_vector,
        "VVAU": _reducing,
        "Pool": _reducing,
        "ConvolutionInputGenerator": _window,
        "Thresholding": _streaming,
        "AddStreams": _streaming,
        "StreamingEltwise": _streaming,
        "DuplicateStreams": _streaming,
        "ChannelwiseOp": _streaming,
        "StreamingMaxPool": _max_pool,
        "GlobalAccPool": _global_pool,
        "LabelSelect": _label_select,
        "FMPadding": _padding,
        "FMPadding_Pixel": _pixel_padding,
        "UpsampleNearestNeighbour": _upsample,
        "DownSampler": _down_sample,
        "StreamingConcat": _concat,
        "StreamingSplit": _split,
        "Lookup": _expanding,
        "Reshape": _streaming,
        "IODMA": _transfer,
        "CheckSum": _streaming,
        "TLastMarker": _streaming,
    }
)


def actor_of(engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
    """Return the actor of one folded engine; ``inputs`` and ``outputs`` are the words a frame at its ports.

    Raises InputError if the pattern of its kind is unknown.
    """
    kind = engine.kind.rpartition("_")[0]
    pattern = _operands if kind.startswith("Elementwise") else _PATTERNS.get(kind)
    if pattern is None:
        known = ", ".join(sorted(_PATTERNS))
        raise InputError(f"{engine.name}: when {engine.kind} reads and writes is unknown", hint=f"known are {known}")
    actor = pattern(Traffic(engine.name, Reader(engine.kind, {**engine.attributes, **option.folding}), inputs, outputs))
    return _restarting(actor) if engine.kind.endswith("_hls") and engine.kind not in NOT_RESTARTED else actor


def _restarting(actor: Actor) -> Actor:
    """Let the loop of an HLS function run empty and start anew behind each frame: nothing is read meanwhile."""
    steps = actor.steps.copy()
    steps[-1] += HLS_RESTART_CYCLES
    return replace(actor, steps=steps)
