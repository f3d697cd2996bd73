"""When FINN's engines read and write within a frame: each kind as actors for `floorflow.rates`.

The cycles of an actor are FINN's estimate (formulas of each kind) unless its text says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType

import numpy as np

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.kinds.pooling import pools_one_dimension
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.window import WindowUnit
from floorflow.backends.finn.rates.start_up import HLS_RESTART_CYCLES
from floorflow.backends.finn.rates.window_patterns import (
    Sampling,
    parallel_window,
    sampled,
    sliding_window,
)
from floorflow.dataflow.model import Engine, Option
from floorflow.errors import InputError
from floorflow.rates import Actor, moves, repeated

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
    pixels = traffic.reader.pixels()
    parts = np.array(traffic.inputs) // pixels
    starts = np.cumsum(parts) - parts
    reads = tuple(moves(int(part), int(start)) for part, start in zip(parts, starts, strict=True))
    words = int(parts.sum())
    return repeated(Actor(traffic.name, np.array([words]), reads, (moves(words),)), pixels)


def _split(traffic: Traffic) -> Actor:
    """Read every cycle; the outputs take turns in each pixel."""
    pixels = traffic.reader.pixels()
    parts = np.array(traffic.outputs) // pixels
    starts = np.cumsum(parts) - parts
    writes = tuple(moves(int(part), int(start)) for part, start in zip(parts, starts, strict=True))
    words = int(parts.sum())
    return repeated(Actor(traffic.name, np.array([words]), (moves(words),), writes), pixels)


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

    Raises
    ------
    InputError
        If the pattern of its kind is unknown.

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
