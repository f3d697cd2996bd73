"""Link kernels as a plan has them: the streams of each end of a cable, how deep their FIFOs are, and what it takes.

Of the kind of link that they are for: ``aurora-100g`` between Alveo cards. How they are made: `floorflow.emit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

from floorflow.facts.values import Amounts, PlanModel
from floorflow.resources import Resources
from floorflow.technology import way_us

WORD_BITS = 512
"""Of a link: AuroraFlow's FIFO_WIDTH of 64 bytes."""
BEAT_CYCLES = 64
"""A header is sent at the latest so long after the last one: what was read is told no later."""
SEND_WORDS = 64
"""Of a FIFO to send: a packet."""
LEAST_WORDS, MOST_WORDS = 512, 16384
"""Of a FIFO to receive: block memory is 512 deep where it is widest."""
SPARE_WORDS = 8
"""Of a FIFO to receive, no credit is given for: what AMD's macro holds beside its memory, and words just counted."""
MOST_STREAMS = (WORD_BITS - 48) // 16
"""In one direction: a header tells of each how much of it was read, beside 48 bits of its own."""
ITEM_BITS = WORD_BITS + int(log2(WORD_BITS // 8))
"""Of a word in a FIFO: with the number of its last byte."""
_OWN_FF, _OWN_LUT = 457, 600
_SENDER_FF, _SENDER_LUT = ITEM_BITS, 500
_STREAM_FF, _FIFO_LUT = 108, 60
_HELD_LUT, _SHIFTED_LUT = 1.2, 3.2
"""A bit that is held of a stream, whose words lie at fixed places of a link's word, or at any byte or power of two."""


@dataclass(frozen=True)
class LinkStream:
    """A stream over a link: bits as its ports have them, whole bytes, and words of the receiver's FIFO for it."""

    name: str
    bits: int
    words: int


@dataclass(frozen=True)
class LinkKernel:
    """One end of a link: the streams that it sends and those that it receives, in the order of its ports."""

    name: str
    sends: tuple[LinkStream, ...]
    receives: tuple[LinkStream, ...]


def receive_words(gbps: float, latency_us: float) -> int:
    """Return how deep a receiver's FIFO is so that its credits let a stream send so much.

    A word's place is free for another after the way there and back.
    """
    needed = ceil(gbps * 1e3 / WORD_BITS * 2 * way_us(latency_us)) + SPARE_WORDS
    return min(MOST_WORDS, max(LEAST_WORDS, 1 << (needed - 1).bit_length()))


def memory_bits(kernel: LinkKernel) -> int:
    """Return the bits of a kernel's FIFOs."""
    return ITEM_BITS * (SEND_WORDS * len(kernel.sends) + sum(one.words for one in kernel.receives))


def cost(kernel: LinkKernel) -> Resources:
    """Return what a kernel takes; flip-flops and bits of memory as pyosys counts them, LUTs as it maps them (tests).

    AMD's macro counts with the flip-flops of its stand-in in the tests: counters in two codes, synchronisers, a word.
    """
    ff, lut, blocks = _OWN_FF, _OWN_LUT, 0
    ff, lut = (ff + _SENDER_FF, lut + _SENDER_LUT) if kernel.sends else (ff, lut)
    for one in (*kernel.sends, *kernel.receives):
        held = WORD_BITS + one.bits - _unit(one.bits)
        ff += held + ITEM_BITS + _STREAM_FF
        lut += ceil(held * (_SHIFTED_LUT if _unit(one.bits) < min(one.bits, WORD_BITS) else _HELD_LUT)) + _FIFO_LUT
    # LUTs as memory hold 7 bits of 64 words in 8.
    lut += len(kernel.sends) * ceil(ITEM_BITS / 7) * 8
    for one in kernel.receives:
        # As wide as a RAMB36 is where it is 512 deep, half as wide from there on.
        wide, deep = (72, 512) if one.words <= 512 else (36, 1024)
        blocks += ceil(ITEM_BITS / wide) * ceil(one.words / deep)
    return Resources(lut=lut, ff=ff, bram18=2 * blocks)


def _unit(bits: int) -> int:
    """Return the bits that a stream is packed by: the largest power of two that divides word and stream."""
    return min(bits & -bits, WORD_BITS)


class LinkKernelEntry(PlanModel):
    """A link kernel of a phase, in the slot where its cable ends: the channels that it sends and receives."""

    name: str
    slot: str
    sends: list[str]
    receives: list[str]
    resources: Amounts


def link_stream(name: str, width_bits: int, gbps: float, latency_us: float) -> LinkStream:
    """Return a stream over a link of that latency as its kernels have it: whole bytes, and room for a round trip."""
    return LinkStream(name, -(-width_bits // 8) * 8, receive_words(gbps, latency_us))
