"""When FINN's sliding windows read and write, in the terms of `floorflow.rates`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorflow.backends.finn.kinds.window import Pair, WindowUnit
from floorflow.rates import Actor, moves

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


def _span(unit: WindowUnit) -> int:
    """Return the pixels from the first to the last of a window."""
    return (unit.kernel[0] - 1) * unit.dilation[0] * unit.image[1] + (unit.kernel[1] - 1) * unit.dilation[1] + 1


def _bursts(unit: WindowUnit) -> list[Burst]:
    (kernel_h, kernel_w), (dilation_h, dilation_w), width = unit.kernel, unit.dilation, unit.image[1]
    pixels, room, span = unit.image[0] * width, unit.buffer_words // unit.folds, _span(unit)
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
    span = _span(unit)
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
