"""Weights as constants of a circuit: what is left of a product when its weight never changes.

At a reuse factor of 1 hls4ml's weights are constants. HLS leaves out products with 0, and writes others as sums of
shifted data: one for each digit of the weight's canonical signed-digit form (Reitwiesner, 1960). Of three digits and
more it makes a DSP where data is wide enough. Counted so, the DSPs of a jet tagger built at 13, 16, 19, 22 and 25 bits
come out within 9, 1, 2, 3 and 3% (docs/hls4ml.md).
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, floor, log2, prod

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from floorflow.network.onnx_file import Node, OnnxFile

Ints = NDArray[np.int64]
DEFAULT_FRACTION = 10
"""Fractional bits of hls4ml's own default, ``fixed<16,6>``."""
_QUANTISERS = ("Quant", "IntQuant", "BipolarQuant")
_USUAL_WEIGHT = 0.2
"""Standard deviation of the weights of a trained layer of some tens to hundreds of inputs (He et al., 2015)."""
_MOST_DRAWN = 1 << 16
MOST_WEIGHTS = 1 << 20
"""Weights of a layer whose values are looked at: nobody makes circuits of more constants."""
_PASSING = ("Transpose", "Reshape", "Squeeze", "Unsqueeze")
"""Operators that move weights and change none."""


@dataclass(frozen=True)
class Constants:
    """How many weights are not 0, have exactly two digits, have three and more; and all digits together."""

    nonzero: int
    two: int
    many: int
    digits: int

    @classmethod
    def of(cls, values: Ints) -> "Constants":
        """Count the digits of integers."""
        digits = _digits(values)
        return cls(int((digits > 0).sum()), int((digits == 2).sum()), int((digits > 2).sum()), int(digits.sum()))

    @classmethod
    def unknown(cls, weights: int, bits: int, fraction: int | None = None) -> "Constants":
        """Return what to expect of weights that nobody knows, spread as trained ones mostly are.

        They are normal: a quarter of the range wide in a quantiser's integers, 0.2 wide with ``fraction`` bits behind
        the point.
        """
        deviation = 2.0 ** (bits - 3) if fraction is None else _USUAL_WEIGHT * 2.0**fraction
        return cls(*(ceil(weights * each) for each in _shares(bits, max(deviation, 1.0))))


def _digits(values: Ints) -> Ints:
    """Return the nonzero digits of the canonical signed-digit form: those of x ^ 3x."""
    size = np.abs(values).astype(np.int64)
    rest, found = size ^ (3 * size), np.zeros_like(size)
    while rest.any():
        found += rest & 1
        rest >>= 1
    return found


@cache
def _shares(bits: int, deviation: float) -> tuple[float, float, float, float]:
    most = min(2 ** (bits - 1) - 1, ceil(4 * deviation))
    every = np.unique(np.linspace(-most - 1, most, _MOST_DRAWN).astype(np.int64))
    digits = _digits(every)
    chance = np.exp(-0.5 * (every / deviation) ** 2)
    chance /= chance.sum()
    shares = ((digits > 0), (digits == 2), (digits > 2), digits)
    return tuple(float((chance * each).sum()) for each in shares)  # type: ignore[return-value]


def fraction_bits(values: NDArray[np.float64], bits: int) -> int:
    """Return the fractional bits with which a type of so many bits holds the largest weight."""
    largest, least = float(values.max(initial=0)), -float(values.min(initial=0))
    # A signed type ends one step short of its power of two above, and at it below.
    above = floor(log2(largest)) + 1 if largest > 0 else 0
    below = ceil(log2(least)) if least > 0 else above
    return bits - 1 - max(above if largest > 0 else below, below)


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a node: as they are, or, behind a quantiser, its integers (``scaled``)."""

    values: NDArray[np.float64]
    scaled: bool

    def constants(self, bits: int, fraction: int) -> Constants:
        """Return the constants in a type of ``bits``, cut off as hls4ml's default cuts (AP_TRN); scaled ones stay."""
        least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        if self.scaled and bits == 1:
            return Constants.of(np.where(self.values < 0, -1, 1))
        if self.scaled:
            return Constants.of(np.clip(np.rint(self.values), least, most).astype(np.int64))
        cut = np.floor(self.values * 2.0**fraction)
        return Constants.of(np.clip(cut, least, most).astype(np.int64))


def weights_of(file: OnnxFile) -> dict[str, Weights]:
    """Return the weights of each layer by its node's name; none where they lie outside of the file or are computed."""
    makers = {output: node for node in file.nodes for output in node.outputs}
    found = {}
    for node in file.nodes:
        if node.op_type in ("Conv", "MatMul", "Gemm"):
            known = [each for name in node.inputs[:2] if (each := _weights(name, file, makers)) is not None]
            if known:
                found[node.name] = known[-1]
    return found


def _weights(name: str, file: OnnxFile, makers: dict[str, Node]) -> Weights | None:
    scale: NDArray[np.float64] | None = None
    while (node := makers.get(name)) is not None:
        if node.op_type in _QUANTISERS and scale is None:
            scale = _values(node.inputs[1], file) if len(node.inputs) > 1 else None
            if scale is None:
                return None
        elif node.op_type not in _PASSING:
            return None
        name = node.inputs[0]
    values = _values(name, file)
    if values is None:
        return None
    if scale is None:
        return Weights(values, scaled=False)
    try:
        return Weights(values / scale, scaled=True)
    except ValueError:
        return None


def _values(name: str, file: OnnxFile) -> NDArray[np.float64] | None:
    tensor = file.initialisers.get(name)
    if tensor is None or tensor.data_location == TensorProto.EXTERNAL or prod(tensor.dims) > MOST_WEIGHTS:
        return None
    try:
        return np.asarray(numpy_helper.to_array(tensor), dtype=np.float64)
    except (TypeError, ValueError, KeyError):  # damaged, or of a type without values: its shape is read elsewhere
        return None
