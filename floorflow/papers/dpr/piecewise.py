"""The paper's resource model (eq. 6): four planes over PE and SIMD, divided by a threshold of each, and their fit.

Each piece is ``xi x PE + rho x SIMD + v``. Of all pairs of thresholds that are powers of two the one of least mean
relative error is kept, the planes by least squares of relative errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil

import numpy as np

from floorflow.papers.dpr.paper_models import Bill, Model, PaperLayer
from floorflow.papers.dpr.problem import RESOURCES, UNITS, Floats, Ints

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
