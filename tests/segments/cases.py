"""Random and example networks with priced options, random parts of them, and what a part makes if it stands alone."""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import reject

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.channels import StreamPrices, couplings
from floorflow.dataflow.fifo import FifoChoice
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.errors import InfeasibleError, required
from floorflow.folding import FoldingProblem, fitting
from floorflow.resources import Resources
from floorflow.segments import Segments, Space
from floorflow.segments.problems import Places
from floorflow.technology import technology_of
from tests.random_models import random_chain, random_graph

TECHNOLOGY = technology_of("xczu7ev-ffvc1156-2-e")
SILICON = Resources(230400, 460800, 624, 96, 1728)
"""Of a ZCU104."""
COSTS = CostTable(TECHNOLOGY)


@dataclass
class CountedCosts:
    """FINN's prices, and how often each was asked for."""

    asked: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return COSTS.fifo_resources(width_bits, depth_words)

    def fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        self.asked["fifo", width_bits, depth_words] += 1
        return COSTS.fifo_choices(width_bits, depth_words)

    def end_fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        return self.fifo_choices(width_bits, depth_words)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        self.asked["converter", input_bits, output_bits] += 1
        return COSTS.converter_resources(input_bits, output_bits)

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return COSTS.convertible(input_bits, output_bits)

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return COSTS.converter_kind(input_bits, output_bits)


@lru_cache(maxsize=64)
def random_network(seed: int) -> Dataflow:
    """Lower a random chain or graph."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes((random_chain if seed % 3 == 0 else random_graph)(seed).SerializeToString())
        return lowered(path)


def lowered(path: Path) -> Dataflow:
    return read_source(path).lower(TECHNOLOGY)


def segments_of(dataflow: Dataflow) -> Segments:
    return Segments(dataflow, COSTS.groups(dataflow), StreamPrices(COSTS).couplings)


def random_segments(seed: int) -> Segments:
    """Return those of a random network; not of one whose engines have no folding."""
    try:
        return segments_of(random_network(seed))
    except InfeasibleError:
        reject()


def random_part(segments: Segments, rng: random.Random, *, contiguous: bool) -> tuple[str, ...]:
    """Return the engines of some groups, in any order."""
    groups = range(len(segments.groups))
    first, last = sorted(rng.choices(groups, k=2))
    chosen = groups[first : last + 1] if contiguous else rng.sample(groups, rng.randint(1, len(groups)))
    engines = [engine for position in chosen for engine in segments.groups[position].engines]
    rng.shuffle(engines)
    return tuple(engines)


def alone(dataflow: Dataflow, engines: Collection[str], space: Space) -> FoldingProblem:
    """Return the folding problem of a network that is a part of another, and knows nothing of it."""
    dataflow = only(dataflow, engines)
    groups = tuple(
        required(fitting(group, space.places)) if space.places else group for group in COSTS.groups(dataflow)
    )
    return FoldingProblem(groups, space.budget, space.silicon, couplings(dataflow, groups, COSTS))


def only(dataflow: Dataflow, engines: Collection[str]) -> Dataflow:
    """Return a network of some engines, in which the host stands for all others."""
    streams, ends = [], count()
    for stream in dataflow.streams:
        if stream.source in engines or stream.target in engines:
            source = stream.source if stream.source in engines else f"host:in{next(ends)}"
            target = stream.target if stream.target in engines else f"host:out{next(ends)}"
            streams.append(replace(stream, source=source, target=target))
    chosen = tuple(engine for engine in dataflow.engines if engine.name in engines)
    return Dataflow("part", chosen, tuple(streams), unspecialised=dataflow.unspecialised)


def same_coupling(one: Coupling, other: Coupling) -> bool:
    arrays = ((one.source_class, other.source_class), (one.target_class, other.target_class), (one.use, other.use))
    ends = (one.source, one.target) == (other.source, other.target)
    return ends and all(a.shape == b.shape and np.array_equal(a, b) for a, b in arrays)


def same_group(one: OptionGroup, other: OptionGroup) -> bool:
    pairs = zip(one.engines, other.engines, strict=True)
    tables = [(one.options_of(a), other.options_of(b)) for a, b in pairs]
    return one.engines == other.engines and all(
        np.array_equal(a.numbers, b.numbers) and list(a) == list(b) for a, b in tables
    )


def budgets(problem: FoldingProblem) -> Iterator[Resources]:
    """Yield the use of the least of everything at all rows, and a few times as much: some of it binds."""
    least = np.sum([group.use.min(axis=0) for group in problem.groups], axis=0)
    for factor in (1, 2, 5):
        yield Resources(*(int(amount) * factor + 8 for amount in least))


def tight_places(problem: FoldingProblem) -> Places:
    """Return two places: each engine's smallest folding, and its smallest without LUTs counted, fits one of them."""
    use = [group.engine_use for group in problem.groups]
    small = np.max([each[each[:, :, 0].sum(axis=1).argmin()].max(axis=0) for each in use], axis=0)
    lean = np.max([each[each[:, :, 1:].sum(axis=(1, 2)).argmin()].max(axis=0) for each in use], axis=0)
    return ("small", Resources(*small.tolist())), ("lean", Resources(*lean.tolist()))


def some_intervals(problem: FoldingProblem) -> Sequence[int]:
    """Return the first and the last of a problem's intervals, and two between."""
    intervals = problem.intervals()
    return [intervals[position * (len(intervals) - 1) // 3] for position in range(4)]
