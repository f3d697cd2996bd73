"""When engines read and write: the bursts of a frame, as docs/rates.md has them."""

import numpy as np

from floorflow.dataflow.model import Engine, Option
from floorflow.rates import Actor, moves, repeated


def actor(engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
    """Return the bursts of a folded engine, whose ports move so many words a frame."""
    if engine.kind == "Filter":
        return _filter(engine, option, inputs[0])
    if engine.kind == "LineBuffer":
        return _buffer(engine, option, inputs[0])
    each = np.ones(option.cycles, dtype=int)
    return Actor(engine.name, each, (moves(each),) * len(inputs), (moves(each),) * len(outputs))


def _filter(engine: Engine, option: Option, words: int) -> Actor:
    """A pixel's words come in during the first outputs, and an output goes out at the end of its sums."""
    pixels = engine.attributes["rows"] * engine.attributes["columns"]
    sums = words // pixels
    steps = option.cycles // pixels
    reads = np.array([sums] + [0] * (steps // sums - 1))
    each = np.full(steps // sums, sums)
    pixel = Actor(engine.name, each, (moves(reads),), (moves(np.ones_like(each), sums - 1),))
    return repeated(pixel, pixels)


def _buffer(engine: Engine, option: Option, words: int) -> Actor:
    """Words come in from the first step on, and go out in the last ones: rows below the image are empty."""
    steps = np.ones(option.cycles, dtype=int)
    step = np.arange(option.cycles)
    return Actor(engine.name, steps, (moves(step < words),), (moves(step >= option.cycles - words),))
