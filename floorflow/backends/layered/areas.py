"""Area by structure, for hardware that a tool has no model of: bits held and bits that change, nothing measured.

Source: the primitives of UG474, UG574 and UG573: a LUT holds 64 bits or a shift register of 32, or adds a bit; a block
of 18 Kb is 36 bits by 512 to 1 by 16,384.
"""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from abc import abstractmethod
from collections.abc import Iterable
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Costs
from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.resources import Resources

Ints = NDArray[np.int64]

CONTROL_LUT, CONTROL_FF = 100, 120
"""Of a module's state machine and its handshakes: about what loop counters and valid bits take, not measured."""
QUEUE_LUT, QUEUE_FF = 20, 20
"""Of a FIFO's pointers and flags, as above."""
DEEPEST_IN_LUTS = 64
"""Words up to which memories lie in LUTs."""
SHIFT_BITS = 32
_ASPECTS = ((36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384))


def divisors(number: int) -> list[int]:
    """Return the divisors of a number, ascending."""
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def blocks(width_bits: Ints | int, depth_words: Ints | int) -> Ints:
    """Return the fewest blocks of 18 Kb that hold so many words so wide, in one aspect."""
    width, depth = np.broadcast_arrays(np.asarray(width_bits), np.asarray(depth_words))
    counts = [-(-width // bits) * -(-depth // words) for bits, words in _ASPECTS]
    return np.asarray(np.min(counts, axis=0), dtype=np.int64)


def shift_luts(width_bits: int, depth_words: int) -> int:
    """Return the LUTs of a shift register."""
    return width_bits * -(-depth_words // SHIFT_BITS)


def fifo(width_bits: int, depth_words: int) -> Resources:
    """Price a FIFO: shift registers, read without a register, up to `DEEPEST_IN_LUTS` words, else blocks."""
    if depth_words <= DEEPEST_IN_LUTS:
        return Resources(lut=QUEUE_LUT + shift_luts(width_bits, depth_words), ff=QUEUE_FF)
    return Resources(lut=QUEUE_LUT, ff=QUEUE_FF + width_bits, bram18=int(blocks(width_bits, depth_words)))


class LayerCosts(Costs):
    """A cost model of layers that are folded each by itself."""

    @abstractmethod
    def options_of(self, engine: Engine) -> Iterable[Option]:
        """Return the legal foldings of an engine with what they cost."""

    def groups(self, dataflow: Dataflow) -> tuple[OptionGroup, ...]:
        return tuple(OptionGroup((e.name,), tuple((o,) for o in self.options_of(e))) for e in dataflow.engines)

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return fifo(width_bits, depth_words)


class EqualWidths(LayerCosts):
    """A cost model of engines that leave no choice of widths."""

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        """Price no converter: there is none."""
        return Resources()

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return input_bits == output_bits

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        """Return no kind: there is no converter."""
        return ""
