"""The data file's resource models of the paper's layers: M1, additive, and M2, a product with memories.

M1 is fitted to the published points: LUT and FF are ``v + xi P + rho S``, BRAM is ``v + beta (P - 1) + g1 (min(S, th) -
1) + g2 max(0, S - th)``. M2 follows the generated hardware: logic by ``P S``, and memories of weights (one a PE),
thresholds (one a PE and threshold), the sliding window (K + 1 rows) and FIFOs. In BRAM their depth is a power of two.
A memory of more than 1,024 bits is in BRAM, a smaller one in LUTs; ``M2free`` may put a layer's weights in LUTs too,
and all its other memories.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import ceil
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from floorflow.papers.dpr.problem import RESOURCES, UNITS, Floats, Ints, Layer

BRAM18_SHAPES = ((16384, 1), (8192, 2), (4096, 4), (2048, 9), (1024, 18), (512, 36))
"""Depth and width of a block of 18 Kb (UG473)."""
LUT_DEPTH = 64
"""Words of one bit that a LUT holds."""
BITS_IN_LUTS = 1024
"""What HLS puts in LUTs unless told."""
Bill = tuple[int, int, int, int, int]
"""LUT, BRAM (thousandths), DSP, FF, URAM: a row of `Layer.use`."""


def _whole(value: Any) -> Any:
    """Pass a number written as 256 or 256.0; a Decimal with a fraction is no whole number."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _exact(value: Any) -> Any:
    """Pass numbers as they are written; texts and booleans are none."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("a number is expected")  # noqa: TRY004  (pydantic reports ValueErrors)
    return Decimal(value)


Count = Annotated[int, BeforeValidator(_whole), Field(gt=0, le=2**40, strict=True)]
Amount = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=2**40, strict=True)]
Number = Annotated[Decimal, BeforeValidator(_exact), Field(ge=0, le=2**40, allow_inf_nan=False)]
Coefficient = Annotated[Decimal, BeforeValidator(_exact), Field(ge=-(2**40), le=2**40, allow_inf_nan=False)]
Sigma = Annotated[Decimal, BeforeValidator(_exact), Field(gt=0, le=1)]


class FileModel(BaseModel):
    """A part of a case's file; fields that are not known are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PaperLayer(FileModel):
    """A layer's dimensions, as the data file has them; a dense layer has one pixel and no sliding window."""

    name: str = Field(min_length=1)
    type: Literal["conv", "fc"]
    K: Count | None = None
    IFM: Count | None = None
    OFM: Count | None = None
    IC: Count | None = None
    MW: Count
    MH: Count
    iops: Count
    stock: dict[str, tuple[Count, Count]] = {}

    @model_validator(mode="after")
    def _conv_has_dimensions(self) -> "PaperLayer":
        if self.type == "conv":
            lacking = [name for name in ("K", "IFM", "OFM", "IC") if getattr(self, name) is None]
            if lacking:
                raise ValueError(f"a conv has {', '.join(lacking)} too")
        return self

    @property
    def is_conv(self) -> bool:
        """Whether it is no dense layer."""
        return self.type == "conv"

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Kernel, rows in and out, channels in; a dense layer is a convolution of one pixel over all of its inputs."""
        return self.K or 1, self.IFM or 1, self.OFM or 1, self.IC or self.MW

    def matrix_cycles(self, pe: int, simd: int) -> int:
        """Return the matrix unit's cycles (eq. 3)."""
        return -(-self.iops // (pe * simd))

    def window_cycles(self, simd: int) -> int:
        """Return the sliding window's cycles as FINN estimates them (ConvolutionInputGenerator), 0 of a dense layer."""
        if not self.is_conv:
            return 0
        kernel, rows_in, rows_out, channels = self.sizes
        steps = -(-channels // simd)
        a_row = max(rows_out * kernel**2 * steps, rows_in * steps)
        return rows_in * kernel * steps + rows_out * a_row


class _Linear(FileModel):
    v: Coefficient
    xi: Coefficient
    rho: Coefficient


class _LinearBram(FileModel):
    v: tuple[Coefficient, ...]
    beta: Coefficient
    g1: Coefficient
    g2: Coefficient
    th: Count


class AdditiveModel(FileModel):
    """M1 of one network."""

    LUT: _Linear
    FF: _Linear
    BRAM: _LinearBram
    DSP: Amount = 0

    def bills(self, number: int, _layer: PaperLayer, pe: int, simd: int) -> Iterator[Bill]:
        """Yield what a layer takes: LUT and FF rounded up, BRAM to a thousandth."""
        lut, ff = (ceil(one.v + one.xi * pe + one.rho * simd) for one in (self.LUT, self.FF))
        blocks = self.BRAM
        low, high = min(simd, blocks.th) - 1, max(0, simd - blocks.th)
        bram = blocks.v[number] + blocks.beta * (pe - 1) + blocks.g1 * low + blocks.g2 * high
        yield lut, ceil(bram * 1000), self.DSP, ff, 0


class Parameters(FileModel):
    """M2 of one network, by layer where it is a list: bits of weights, of inputs and outputs; logic by layer."""

    W: Count
    A: tuple[Count, ...]
    AO: tuple[Annotated[int, BeforeValidator(_whole), Field(gt=0, le=32, strict=True)], ...]
    tw: tuple[Count, ...]
    l0: Number
    lm: tuple[Number, ...]
    f0: Number
    fm: tuple[Number, ...]


@dataclass(frozen=True)
class ProductModel:
    """M2 of one network; ``fifos[i]`` are depth and width in bits behind layer i. ``free``: M2free."""

    given: Parameters
    fifos: Mapping[int, Sequence[tuple[int, int]]]
    free: bool

    def bills(self, number: int, layer: PaperLayer, pe: int, simd: int) -> Iterator[Bill]:
        """Yield what a layer takes with each choice of where its memories are."""
        lut = self.given.l0 + self.given.lm[number] * pe * simd
        ff = ceil(self.given.f0 + self.given.fm[number] * pe * simd)
        memories = list(self._memories(number, layer, pe, simd))
        for weights_in_luts, others_in_luts in product((False, True), repeat=2) if self.free else ((False, False),):
            luts, blocks = lut, 0
            for kind, (count, depth, width) in enumerate(memories):
                in_luts = others_in_luts if kind else weights_in_luts
                if in_luts or _power_of_two(depth) * width <= BITS_IN_LUTS:
                    luts += count * -(-depth // LUT_DEPTH) * width
                else:
                    blocks += count * bram18(_power_of_two(depth), width)
            yield ceil(luts), 500 * blocks, 0, ff, 0

    def _memories(self, number: int, layer: PaperLayer, pe: int, simd: int) -> Iterator[tuple[int, int, int]]:
        """Yield how many memories of what depth and width in bits a layer has, kind by kind, weights first."""
        weights = -(-layer.MW * layer.MH // (pe * simd))
        yield pe, weights, simd * self.given.W
        if number < len(self.given.tw):
            levels = 2 ** self.given.AO[number] - 1
            yield pe * levels, -(-layer.MH // pe), self.given.tw[number]
        if layer.is_conv:
            kernel, rows_in, _, channels = layer.sizes
            words = -(-rows_in * channels // simd)
            yield kernel + 1, words, simd * self.given.A[number]
        yield from ((1, depth, width) for depth, width in self.fifos.get(number, ()))


Model = AdditiveModel | ProductModel


def bram18(depth: int, width: int) -> int:
    """Return the blocks of 18 Kb of a memory in the shape that needs fewest."""
    return min(-(-depth // d) * -(-width // w) for d, w in BRAM18_SHAPES)


def _power_of_two(least: int) -> int:
    return 1 << max(0, (least - 1).bit_length())


def layer_with_options(
    number: int, layer: PaperLayer, foldings: Sequence[tuple[int, int]], model: "AnyModel", *, window: bool
) -> Layer:
    """Return a layer with all foldings; ``window``: its cycles are FINN's, with the sliding window."""
    rows = [
        (pe, simd, max(layer.matrix_cycles(pe, simd), layer.window_cycles(simd) if window else 0), *bill)
        for pe, simd in foldings
        for bill in model.bills(number, layer, pe, simd)
    ]
    table = np.array(rows, dtype=np.int64)
    return Layer(layer.name, table[:, :2], table[:, 2], table[:, 2], table[:, 3:])


ROUNDING = 1e-6
"""Of a unit: planes through whole numbers are fitted in floating point."""


@dataclass(frozen=True, eq=False)
class Piecewise:
    """Thresholds of PE and SIMD, and (xi, rho, v) of the pieces 1 to 4, (4, 3)."""

    pe_threshold: int
    simd_threshold: int
    planes: Floats

    def __call__(self, pe: Ints, simd: Ints) -> Floats:
        """Return the amounts at foldings, no less than nothing."""
        piece = (pe > self.pe_threshold) + 2 * (simd > self.simd_threshold)
        xi, rho, v = self.planes[piece].T
        return np.asarray(np.maximum(0.0, xi * pe + rho * simd + v), dtype=np.float64)

    def error(self, pe: Ints, simd: Ints, amounts: Floats) -> float:
        """Return the mean relative error, of one at least of an amount below one."""
        return float(np.mean(np.abs(self(pe, simd) - amounts) / np.maximum(1.0, np.abs(amounts))))


def fitted(pe: Ints, simd: Ints, amounts: Floats) -> Piecewise:
    """Return the model of least mean relative error of profiled foldings."""
    pairs = product(_thresholds(pe), _thresholds(simd))
    models = (_with_thresholds(pe, simd, amounts, first, second) for first, second in pairs)
    return min(models, key=lambda model: (model.error(pe, simd, amounts), model.pe_threshold, model.simd_threshold))


def _thresholds(values: Ints) -> list[int]:
    return [2**k for k in range(max(1, int(values.max()).bit_length()))]


def _with_thresholds(pe: Ints, simd: Ints, amounts: Floats, pe_threshold: int, simd_threshold: int) -> Piecewise:
    planes = np.zeros((4, 3))
    whole = _plane(pe, simd, amounts)
    for number in range(4):
        inside = ((pe > pe_threshold) == bool(number & 1)) & ((simd > simd_threshold) == bool(number & 2))
        # A piece of fewer than three points is no plane of its own.
        planes[number] = _plane(pe[inside], simd[inside], amounts[inside]) if inside.sum() >= 3 else whole
    return Piecewise(pe_threshold, simd_threshold, planes)


def _plane(pe: Ints, simd: Ints, amounts: Floats) -> Floats:
    weights = 1 / np.maximum(1.0, np.abs(amounts))
    rows = np.column_stack([pe, simd, np.ones_like(pe)]) * weights[:, None]
    return np.asarray(np.linalg.lstsq(rows, amounts * weights, rcond=None)[0], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PiecewiseModel:
    """Eq. 6 of every layer and resource, fitted to what another model says of the foldings in powers of two."""

    layers: tuple[tuple[Piecewise, ...], ...]
    errors: tuple[tuple[float, ...], ...]
    """Mean relative errors, by layer and resource."""

    def bills(self, number: int, _layer: PaperLayer, pe: int, simd: int) -> Iterator[Bill]:
        """Yield what a layer takes, rounded up."""
        at = np.array([pe]), np.array([simd])
        lut, bram, dsp, ff, uram = (ceil(float(plane(*at)[0]) - ROUNDING) for plane in self.layers[number])
        yield lut, bram, dsp, ff, uram


AnyModel = Model | PiecewiseModel


def fit_model(
    model: Model, layers: Sequence[PaperLayer], values: tuple[Sequence[int], Sequence[int]]
) -> PiecewiseModel:
    """Return eq. 6 fitted to a model at all pairs of PE and SIMD; of several choices of memories the first is meant."""
    pe, simd = (np.array(column, dtype=np.int64) for column in zip(*product(*values), strict=True))
    planes, errors = [], []
    for number, layer in enumerate(layers):
        bills = [next(model.bills(number, layer, *pair)) for pair in zip(pe.tolist(), simd.tolist(), strict=True)]
        amounts = np.array(bills, dtype=np.float64)
        found = [fitted(pe, simd, amounts[:, column]) for column in range(len(RESOURCES))]
        planes.append(tuple(found))
        scaled = (
            (one.planes / unit, amounts[:, t] / unit) for t, (one, unit) in enumerate(zip(found, UNITS, strict=True))
        )
        errors.append(
            tuple(
                Piecewise(one.pe_threshold, one.simd_threshold, plane).error(pe, simd, amount)
                for one, (plane, amount) in zip(found, scaled, strict=True)
            )
        )
    return PiecewiseModel(tuple(planes), tuple(errors))
