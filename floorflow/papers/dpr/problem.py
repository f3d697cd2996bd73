"""The chunk problem on given options: which layers share a slot's configuration, how each is folded, on which slots.

Source: Seyoum et al., Spatio-Temporal Optimization of Deep Neural Networks for Reconfigurable FPGA SoCs. A batch runs
through one chunk after another; between two of them a slot is reconfigured. Amounts are whole numbers: cycles, and
resources in the units of `UNITS`, so that sums are exact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from floorflow.segments.paths import Step, timeline
from floorflow.stats import SolveStats

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RESOURCES = ("LUT", "BRAM", "DSP", "FF", "URAM")
"""Columns of resources, in order; BRAM in blocks of 36 Kb."""
UNITS = (1, 1000, 1, 1, 1)
"""How many units of a column are one of the resource: BRAM in thousandths, as the data file rounds it."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer, or several that stay together, with its options; row r folds by ``foldings[r]``.

    ``total_cycles`` is what an image takes through it, of which `cycles` is the slowest part; the two are equal for a
    single layer. ``bits_behind`` are those of one image on all streams that cross a cut behind it.
    """

    name: str
    foldings: Ints
    """(n_options, any): PE and SIMD, of each of its engines in turn."""
    cycles: Ints
    total_cycles: Ints
    use: Ints
    """(n_options, n_resources), in units."""
    bits_behind: int = 0
    cut_behind: bool = True


@dataclass(frozen=True)
class Load:
    """How long a region takes to load: linear in its share of the device, microseconds."""

    us_per_area: float
    offset_us: float

    def us(self, area: Fraction) -> float:
        """Return the time of a region of so large a share."""
        return self.us_per_area * float(area) + self.offset_us


@dataclass(frozen=True, eq=False)
class ChunkProblem:
    """Layers in order, what the device has, and what a batch is.

    ``fixed`` is what each chunk needs besides its layers; ``memory_gbs`` None: traffic at chunk boundaries is free, as
    in the paper.
    """

    layers: tuple[Layer, ...]
    device: tuple[int, ...]
    """Resources of the whole device, in RESOURCES' own blocks."""
    load: Load
    batch: int
    clock_mhz: float
    fixed: tuple[int, ...] = (0,) * len(RESOURCES)
    """In units."""
    memory_gbs: float | None = None
    input_bits: int = 0
    """Bits of one image."""

    @cached_property
    def borders(self) -> tuple[int, ...]:
        """Where chunks may begin and end: 0, behind layers with ``cut_behind``, and the number of layers."""
        inner = (number + 1 for number, layer in enumerate(self.layers[:-1]) if layer.cut_behind)
        return (0, *inner, len(self.layers))

    def limits(self, area: Fraction) -> Ints:
        """Return what a chunk's layers may use of a slot of a share of the device: ``floor(area x R_t)``."""
        caps = [floor(area * have) * unit for have, unit in zip(self.device, UNITS, strict=True)]
        return np.array(caps, dtype=np.int64) - np.array(self.fixed, dtype=np.int64)

    def traffic_cycles(self, first: int, behind: int) -> int:
        """Return the cycles that a chunk's reads and writes of one image take at the memory's bandwidth."""
        if self.memory_gbs is None:
            return 0
        bits = (self.layers[first - 1].bits_behind if first else self.input_bits) + self.layers[behind - 1].bits_behind
        return ceil(bits * self.clock_mhz / (self.memory_gbs * 8000))

    def chunk_cycles(self, slowest: int, total: int, traffic: int) -> int:
        """Return a batch's cycles through a chunk: eq. 5, each image no sooner than the memory moves it."""
        return (self.batch - 1) * max(slowest, traffic) + max(total, traffic)

    def us(self, cycles: float) -> float:
        """Return cycles as microseconds."""
        return cycles / self.clock_mhz

    def area(self, use: Ints) -> float:
        """Return the parts of the device's resources that a chunk's layers and what is fixed take, summed."""
        whole = np.array([have * unit for have, unit in zip(self.device, UNITS, strict=True)])
        return float(np.sum((use + np.array(self.fixed)) / np.maximum(whole, 1)))

    def in_one_chunk(self) -> "ChunkProblem":
        """Return the problem without any place to cut."""
        return replace(self, layers=tuple(replace(layer, cut_behind=False) for layer in self.layers))


@dataclass(frozen=True)
class Regions:
    """The regions' shares of the device; chunk j of a cut network runs in region j modulo their number.

    ``whole`` is the share that an uncut network has.
    """

    whole: Fraction
    sizes: tuple[Fraction, ...]

    @classmethod
    def equal(cls, area: Fraction, count: int = 1) -> "Regions":
        """Return equal regions that share an area."""
        return cls(area, (area / count,) * count)


@dataclass(frozen=True)
class Chunk:
    """Layers ``first`` to before ``behind``, an option of each, and the cycles that a batch takes."""

    first: int
    behind: int
    rows: tuple[int, ...]
    cycles: int


@dataclass(frozen=True)
class ChunkAnswer:
    """What a method found. ``stats.objective`` and ``bound`` are microseconds; ``reason``: why there is no design."""

    chunks: tuple[Chunk, ...] | None
    regions: Regions
    stats: SolveStats
    reason: str = ""


def use_of(problem: ChunkProblem, chunk: Chunk) -> Ints:
    """Return the summed resources of a chunk's layers, in units."""
    layers = problem.layers[chunk.first : chunk.behind]
    rows = zip(layers, chunk.rows, strict=True)
    return np.asarray(sum(layer.use[row] for layer, row in rows), dtype=np.int64)


def cycles_of(problem: ChunkProblem, first: int, rows: Sequence[int]) -> int:
    """Return the cycles of a batch through the layers from ``first`` on with an option of each."""
    layers = problem.layers[first : first + len(rows)]
    slowest = max(int(layer.cycles[row]) for layer, row in zip(layers, rows, strict=True))
    total = sum(int(layer.total_cycles[row]) for layer, row in zip(layers, rows, strict=True))
    return problem.chunk_cycles(slowest, total, problem.traffic_cycles(first, first + len(rows)))


def in_units(amounts: Mapping[str, float]) -> tuple[int, ...]:
    """Return amounts by name in units, rounded up."""
    scaled = (Fraction(str(amounts.get(name, 0))) * unit for name, unit in zip(RESOURCES, UNITS, strict=True))
    return tuple(ceil(amount) for amount in scaled)


def loads_us(problem: ChunkProblem, regions: Regions) -> tuple[float, ...]:
    """Return how long each region takes to load."""
    return tuple(problem.load.us(size) for size in regions.sizes)


def steps_of(problem: ChunkProblem, answer: ChunkAnswer) -> tuple[Step, ...]:
    """Return when the chunks of an answer load and run; none without a design."""
    runs_us = [problem.us(chunk.cycles) for chunk in answer.chunks or ()]
    return timeline(loads_us(problem, answer.regions), runs_us) if runs_us else ()
