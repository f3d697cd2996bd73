"""Hand-written: turns an array into the words of a stream, for the simulation of a card.

    python floorflow_words.py ARRAY.npy WORDS.hex BITS WORDS_A_FRAME
    python floorflow_words.py CONTEXT.npz:TENSOR ...

ARRAY holds frames, its first axis, with channels last, as FINN's hardware takes them; CONTEXT.npz is what FINN writes
with verify_save_full_context. BITS are those of a word that are used. The first element of a word is in its lowest
bits, as in FINN's own packing; -1 of elements of one bit is 0.
"""

# ruff: noqa: T201 - a script

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


def words(array: Any, bits: int, words_a_frame: int) -> Iterator[int]:
    """Yield the words of all frames."""
    frames = array.reshape(array.shape[0], -1)
    each, left = divmod(frames.shape[1], words_a_frame)
    if left or not each or bits % each:
        raise ValueError(f"{frames.shape[1]} elements a frame are no {words_a_frame} words of {bits} bits")
    size = bits // each
    values = np.where(frames == -1, 0, frames) if size == 1 else frames
    if array.dtype.kind == "f" and size == 32 and (frames != np.floor(frames)).any():
        values = frames.astype(np.float32).view(np.int32)
    if (values != np.floor(values)).any() or values.min() < -(1 << size - 1) or values.max() >= 1 << size:
        raise ValueError(f"elements of {size} bits have the values {values.min()} to {values.max()}, or fractions")
    mask = (1 << size) - 1
    for row in values.astype(np.int64).reshape(-1, each).tolist():
        yield sum((value & mask) << size * place for place, value in enumerate(row))


def read(text: str) -> Any:
    """Return an array, or a tensor of FINN's context."""
    path, _, tensor = text.partition(".npz:")
    return np.load(f"{path}.npz")[tensor] if tensor else np.load(path)


def main(source: str, target: str, bits: str, words_a_frame: str) -> None:
    """Write the words."""
    made = [f"{word:x}" for word in words(read(source), int(bits), int(words_a_frame))]
    Path(target).write_text("\n".join(made) + "\n")
    print(f"{target}: {len(made)} words of {source}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (ValueError, OSError, KeyError, TypeError) as problem:
        sys.exit(f"floorflow_words.py: {problem}")
