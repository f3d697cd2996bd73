"""When FINN's sliding windows read and write, in the terms of `floorflow.rates`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.backends.finn.kinds.window import Pair, WindowUnit
from floorflow.rates import Actor, moves


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

    It reads all pixels up to the end of the first window, then sends window after window, a tap a cycle. Meanwhile it
    reads on, a word a cycle, as far as the buffer has room once what no later window needs is gone. Where that is not
    enough for the next window it reads without sending. Pixels that no window needs come last. A depthwise window with
    a stride pauses after each window, as FINN's estimate has it.
    """
    (rows, columns), (stride_h, stride_w), width = unit.output, unit.stride, unit.image[1]
    taps, pixels, room = unit.kernel[0] * unit.kernel[1], unit.image[0] * width, unit.buffer_words // unit.folds
    starts = (np.arange(rows)[:, None] * stride_h * width + np.arange(columns)[None, :] * stride_w).ravel()
    span = (unit.kernel[0] - 1) * unit.dilation[0] * width + (unit.kernel[1] - 1) * unit.dilation[1] + 1
    following = [*starts[1:].tolist(), pixels]
    steps, read, sent, have = [span], [span], [0], span
    for after in following:
        last = after == pixels
        ahead = min(after + room, pixels) - have
        during = max(0, min(ahead, taps))
        missing = 0 if last else max(0, after + span - have - during)
        steps += [taps, missing] if missing else [taps]
        read += [during, missing] if missing else [during]
        sent += [taps, 0] if missing else [taps]
        have += during + missing
    if have < pixels:
        steps, read, sent = [*steps, pixels - have], [*read, pixels - have], [*sent, 0]
    folds = unit.folds
    pause = (unit.stride[1] - 1) * (folds - 1) if unit.depthwise else 0
    pauses = np.where(np.array(sent) > 0, pause, 0)
    return Actor(
        name, np.array(steps) * folds + pauses, (moves(np.array(read) * folds),), (moves(np.array(sent) * folds),)
    )  # fmt: skip
