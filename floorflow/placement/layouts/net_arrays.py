"""Nets as arrays: between modules, and from modules to pins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from floorflow.placement.problem import PlacementProblem

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class NetArrays:
    """Summed widths of wires, by module index.

    ``bits`` (n, n): between two modules, symmetric, diagonal 0. ``pins`` (p, 2): twice column and row of each pin.
    ``pin_bits`` (n, p): from a module to a pin. ``pairs`` (2, m) are the modules with wires between them and
    ``pair_bits`` (m,) their widths, each pair once. ``ends`` (2, k) and ``end_bits`` (k,) are the same with the wires
    to pins, which count as if they stood behind the modules.
    """

    bits: IntArray
    pins: IntArray
    pin_bits: IntArray
    pairs: IntArray
    pair_bits: IntArray
    ends: IntArray
    end_bits: IntArray

    @classmethod
    def of(cls, bits: IntArray, pins: IntArray, pin_bits: IntArray) -> NetArrays:
        """Return what follows from these three."""
        pairs = np.array(np.nonzero(np.triu(bits)), dtype=np.int64)
        pair_bits = bits[tuple(pairs)]
        module, pin = np.nonzero(pin_bits)
        every = np.concatenate((pairs, np.stack((module, pin + len(bits)))), axis=1)
        return cls(bits, pins, pin_bits, pairs, pair_bits, every, np.append(pair_bits, pin_bits[module, pin]))

    @cached_property
    def _weights(self) -> npt.NDArray[np.float64]:
        return self.end_bits.astype(np.float64)

    def twice_wire(self, places: npt.NDArray[np.float64]) -> float:
        """Return twice the wirelength of all ends at places (modules + pins, 2), given doubled."""
        first, second = self.ends
        return float(self._weights @ np.abs(places[first] - places[second]).sum(axis=1))


def net_arrays(problem: PlacementProblem) -> NetArrays:
    """Return the summed widths of a problem's wires; pins in order of their position."""
    count = len(problem.modules)
    pins = sorted({wire.pin for wire in problem.wires if wire.pin is not None})
    index_of_pin = {pin: index for index, pin in enumerate(pins)}
    bits, pin_bits = np.zeros((count, count), dtype=np.int64), np.zeros((count, len(pins)), dtype=np.int64)
    for wire in problem.wires:
        ends = [problem.index_of[name] for name in wire.modules]
        if wire.pin is not None:
            pin_bits[ends[0], index_of_pin[wire.pin]] += wire.width_bits
        elif ends[0] != ends[1]:
            bits[ends, ends[::-1]] += wire.width_bits
    places = np.array([(pin.x2, pin.y2) for pin in pins], dtype=np.int64).reshape(-1, 2)
    return NetArrays.of(bits, places, pin_bits)
