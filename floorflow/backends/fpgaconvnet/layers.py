"""fpgaConvNet's layers by the models of ``fpgaconvnet-model`` 0.1.4, as SAMO (c562238) reads them, at 16 bits.

A layer is hardware modules, each with a regression for LUT and FF, copied as often as the foldings ask for: sliding
window, fork, dot product, accumulation, glue, bias and weight memories. Cycles are an image's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.layered.areas import divisors
from floorflow.dataflow.model import Role


@dataclass(frozen=True)
class Kind:
    """How an engine of a type groups with others, what people call it, and its type in fpgaConvNet's files."""

    role: Role
    label: str
    proto_type: str
    op_type: str = ""


KINDS: Mapping[str, Kind] = {
    "ConvolutionLayer": Kind("core", "conv", "CONVOLUTION", "dense"),
    "InnerProductLayer": Kind("core", "dense", "INNER_PRODUCT"),
    "PoolingLayer": Kind("core", "pool", "POOLING"),
    "ReLULayer": Kind("behind", "relu", "RELU", "ReLU"),
    "EltWiseLayer": Kind("front", "add", "ELTWISE", "add"),
    "SplitLayer": Kind("behind", "split", "SPLIT"),
}
SQUEEZE = "SqueezeLayer"
"""What joins streams of different foldings."""
WITH_WEIGHTS = frozenset({"ConvolutionLayer", "InnerProductLayer"})


Floats = NDArray[np.float64]
BITS = 16


@dataclass(frozen=True)
class Layer:
    """A layer: feature maps in and out, square kernel, ``padding`` rows and columns in all, whether it has a bias."""

    op: str
    channels_in: int
    channels_out: int
    rows_in: int
    columns_in: int
    rows_out: int
    columns_out: int
    kernel: int = 1
    groups: int = 1
    padding: tuple[int, int] = (0, 0)
    has_bias: bool = True


@dataclass(frozen=True)
class Foldings:
    """Coarse-in, coarse-out and fine of n options, each (n,)."""

    coarse_in: Floats
    coarse_out: Floats
    fine: Floats


def options(layer: Layer) -> Floats:
    """Return every option: input, output and kernel folding, cycles, LUT, DSP, BRAM18 and FF, (n, 8)."""
    folded = layer.op in {"ConvolutionLayer", "InnerProductLayer"}
    fine = divisors(layer.kernel**2) if layer.op == "ConvolutionLayer" else [1]
    triples = [
        (a, b, k)
        for a in divisors(layer.channels_in)
        for b in (divisors(layer.channels_out) if folded else [a])
        for k in fine
    ]
    foldings = Foldings(*np.array(triples, dtype=np.float64).T)
    cycles, use = {
        "ConvolutionLayer": _convolution,
        "InnerProductLayer": _dense,
        "PoolingLayer": _pool,
        "ReLULayer": _streaming,
        "EltWiseLayer": _streaming,
        "SplitLayer": _streaming,
    }[layer.op](layer, foldings)
    return np.column_stack([np.array(triples, dtype=np.float64), cycles, use])


def _convolution(layer: Layer, f: Foldings) -> tuple[Floats, Floats]:
    c, out = layer.channels_in / f.coarse_in, layer.channels_out / f.coarse_out
    copies = f.coarse_in * f.coarse_out
    use = _window(layer, c) * f.coarse_in[:, None]
    use += np.where(
        (f.coarse_out > 1)[:, None], _fork(c * layer.rows_out * layer.columns_out) * f.coarse_in[:, None], 0
    )
    dot = _use(f.coarse_in, np.floor(109.154565 * f.fine + 70.8837748 * out), f.fine, 0, np.ceil(np.log2(out)))
    use += dot * copies[:, None]
    n = layer.channels_in * layer.kernel**2 / (f.fine * f.coarse_in)
    accumulate = _accumulate(out, n, layer.columns_out, layer.rows_out) * copies[:, None]
    accumulate[:, 2] = f.coarse_out * _blocks(np.floor(out / layer.groups))
    use += np.where((c > 1)[:, None], accumulate, 0)
    use += _glue(f.coarse_in)
    if not layer.has_bias:
        bias = _accumulate(np.full_like(out, layer.channels_out), np.ones_like(out), layer.columns_out, layer.rows_out)
        bias[:, 1] = 1
        use += bias * f.coarse_out[:, None]
    words = layer.channels_out * layer.channels_in * layer.kernel**2
    weights = np.floor(words / (layer.groups * f.fine * copies))
    use[:, 2] += copies * f.fine * _blocks(weights) + f.coarse_out * _blocks(out)
    return _convolution_cycles(layer, f, c, out), use


def _convolution_cycles(layer: Layer, f: Foldings, c: Floats, out: Floats) -> Floats:
    """Return an image's cycles: of the dot products, or of the windows where these are slower."""
    h = layer.rows_out * layer.columns_out / (layer.rows_in * layer.columns_in)
    z = layer.groups * f.fine * f.coarse_in / (layer.channels_in * layer.kernel**2)
    v = np.minimum(1, np.minimum(1 / z, out * h))
    products = layer.rows_out * layer.columns_out * layer.channels_out / (f.coarse_out * v * z)
    padded = (layer.rows_in + layer.padding[0]) * (layer.columns_in + layer.padding[1])
    return np.maximum(products, c * padded * out * h / v)


def _dense(layer: Layer, f: Foldings) -> tuple[Floats, Floats]:
    pixels = layer.rows_in * layer.columns_in
    c, out, copies = layer.channels_in / f.coarse_in, layer.channels_out / f.coarse_out, f.coarse_in * f.coarse_out
    use = _fork(c * pixels) * f.coarse_in[:, None]
    wide = np.log2(out)
    one = np.ones_like(out)
    use += _use(one, np.floor(463.163765 * wide), one, 0, np.floor(658.850578 * wide)) * copies[:, None]
    accumulate = _accumulate(out, pixels * c, 1, 1) * copies[:, None]
    accumulate[:, 2] = f.coarse_out * _blocks(np.floor(out))
    use += np.where((pixels * c > 1)[:, None], accumulate, 0)
    use += _glue(f.coarse_in)
    if not layer.has_bias:
        bias = _accumulate(np.full_like(out, layer.channels_out), one, 1, 1)
        bias[:, 1] = 1
        use += bias * f.coarse_out[:, None]
    weights = np.floor(layer.channels_out * pixels * layer.channels_in / copies)
    use[:, 2] += copies * _blocks(weights) + f.coarse_out * _blocks(out * pixels)
    return pixels * layer.channels_in * layer.channels_out / copies, use


def _pool(layer: Layer, f: Foldings) -> tuple[Floats, Floats]:
    c = layer.channels_in / f.coarse_in
    own = _use(c, np.floor(267.444956 * layer.kernel) * np.ones_like(c), 0, 0, int(447.798317 * layer.kernel))
    return layer.rows_in * layer.columns_in * c, (_window(layer, c) + own) * f.coarse_in[:, None]


def _streaming(layer: Layer, f: Foldings) -> tuple[Floats, Floats]:
    return layer.rows_in * layer.columns_in * layer.channels_in / f.coarse_in, np.zeros((len(f.coarse_in), 4))


def _use(like: Floats, lut: Floats | float, dsp: Floats | float, bram: Floats | float, ff: Floats | float) -> Floats:
    """Return resources in the order of an option's columns, (n, 4)."""
    return np.stack(
        [np.broadcast_to(np.asarray(part, dtype=np.float64), like.shape) for part in (lut, dsp, bram, ff)], 1
    )


def _window(layer: Layer, c: Floats) -> Floats:
    """Return one sliding window's: line buffers of the padded width, and buffers of the window."""
    k = layer.kernel
    if k == 1:
        return np.zeros((len(c), 4))
    lut = int(2.82372695 * BITS * k * k + 189.28067 * (k - 1))
    ff = int(2.2412811 * BITS * k * k + 268.991229 * (k - 1))
    lines = (k - 1) * _line((layer.columns_in + layer.padding[1]) * c + 1)
    return _use(c, lut, 0, lines + k * (k - 1) * _line(c + 1), ff)


def _line(depth: Floats) -> Floats:
    """Return the blocks of a buffer that is read and written at once."""
    return np.select([depth <= 1000, depth <= 2000, depth <= 4000, depth <= 8000], [1.0, 2.0, 4.0, 8.0], 16.0)


def _blocks(depth: Floats) -> Floats:
    """Return the blocks of a memory of so many words."""
    return np.ceil(depth / 1000)


def _fork(words: Floats) -> Floats:
    length = np.ceil(np.log2(words))
    return _use(words, np.floor(0.810999165 * length), 0, 0, np.floor(1.34115984 * length))


def _accumulate(out: Floats, n: Floats, columns: int, rows: int) -> Floats:
    lut = 0.0200921713 * out + 8.07814484 * BITS + 0.0230145934 * columns + 0.00384002417 * rows + 0.0474393542 * n
    ff = 0.0168222996 * out + 9.64255867 * BITS + 0.0025609528 * columns + 0.062333218 * n
    return _use(out, np.floor(lut), 0, 0, np.floor(ff))


def _glue(coarse_in: Floats) -> Floats:
    both = _use(coarse_in, np.floor(733.754996 * coarse_in), 0, 0, np.floor(648.938316 * coarse_in))
    return np.where((coarse_in > 1)[:, None], both, 0)
