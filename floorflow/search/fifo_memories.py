"""Bounds that count FIFOs: what must wait at a join lies in some memory, and no other has room for it.

`StreamPrices` bounds a FIFO by the least of each resource over its memories, so that a FIFO that may be in LUTs or in
block RAM costs neither. Here the engine before such a FIFO has each of its foldings once for each memory of it, each
with what the FIFO takes there: where all memories are short, that shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from floorflow.channels import StreamPrices
from floorflow.channels.coupling_prices import DEEPER_WORDS
from floorflow.channels.realise import ChannelCosts, least_depth_words
from floorflow.channels.window_fill import waits
from floorflow.dataflow.model import Dataflow, Stream
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.folding import FoldingProblem
from floorflow.resources import RESOURCE_NAMES

MEMORIES = ("LUT", "BRAM18", "URAM")
"""What a FIFO may be made of, for the most part."""

_Array = NDArray[np.int64]


def with_memories(problem: FoldingProblem, dataflow: Dataflow, costs: ChannelCosts) -> FoldingProblem:
    """Return a problem in which FIFOs at joins have a choice of memories; it is feasible if the given one's plans are.

    Where several such FIFOs follow one group of engines, that holds for the one with most bits; the others cost the
    least of each resource, as before.
    """
    home = {engine: position for position, group in enumerate(problem.groups) for engine in group.engines}
    chosen = _largest(dataflow, home)
    if not chosen:
        return problem
    groups = tuple(_repeated(group) if at in chosen else group for at, group in enumerate(problem.groups))
    tables = [StreamPrices(costs, prices=_preferring(memory)) for memory in MEMORIES]
    part = replace(dataflow, streams=tuple(dataflow.streams[place] for place, _ in chosen.values()))
    priced = [table.couplings(part, problem.groups) for table in tables]
    couplings = [_with_repeats(coupling, chosen) for coupling in problem.couplings]
    for number, (place, wait) in enumerate(chosen.values()):
        old, stream = problem.couplings[place], dataflow.streams[place]
        deep = _are_deep(problem.groups, stream, old, wait)
        uses = [np.where(deep[..., None], of[number].use, old.use) for of in priced]
        couplings[place] = _with_choice(couplings[place], old, uses)
    return replace(problem, groups=groups, couplings=tuple(couplings))


def _largest(dataflow: Dataflow, home: Mapping[str, int]) -> dict[int, tuple[int, Fraction]]:
    """Return by group the stream, by place, behind it that holds most at a join, and the share of a frame that waits."""
    shares, found = waits(dataflow), dict[int, tuple[int, Fraction]]()
    bits = [stream.elements * stream.element_bits * shares.get(stream, Fraction(0)) for stream in dataflow.streams]
    for place, stream in enumerate(dataflow.streams):
        at = home.get(stream.source)
        if at is not None and bits[place] > (bits[found[at][0]] if at in found else 0) and stream.target in home:
            found[at] = place, shares[stream]
    return found


def _repeated(group: OptionGroup) -> OptionGroup:
    """Return a group with each row once for each memory."""
    return OptionGroup(group.engines, group.rows.take(np.repeat(np.arange(len(group.rows)), len(MEMORIES))))


def _preferring(memory: str) -> tuple[float, ...]:
    """Return prices at which a FIFO is made of one memory as far as it can be."""
    return tuple(0.0 if name == "FF" else 1e-6 if name == memory else 1.0 for name in RESOURCE_NAMES)


def _are_deep(groups: tuple[OptionGroup, ...], stream: Stream, old: Coupling, wait: Fraction) -> NDArray[np.bool_]:
    """Return, (n_source_classes, n_target_classes), where a FIFO is so deep that a deeper one never takes less."""
    ends = (
        (old.source, stream.source, stream.source_port, old.source_class, True),
        (old.target, stream.target, stream.target_port, old.target_class, False),
    )
    widths = []
    for at, engine, port, classes, outputs in ends:
        options = groups[at].options_of(engine)
        of_class = np.zeros(int(classes.max()) + 1, dtype=np.int64)
        of_class[classes] = options.widths_bits[port + options.inputs if outputs else port]
        widths.append(of_class)
    wider = np.maximum(widths[0][:, None], widths[1][None, :])
    depths = {width: least_depth_words(stream, width, wait) for width in np.unique(wider).tolist()}
    return np.vectorize(lambda width: depths[width] >= DEEPER_WORDS, otypes=[np.bool_])(wider)


def _with_repeats(coupling: Coupling, chosen: Mapping[int, object]) -> Coupling:
    """Return a coupling between groups whose rows are repeated."""
    source = np.repeat(coupling.source_class, len(MEMORIES) if coupling.source in chosen else 1)
    target = np.repeat(coupling.target_class, len(MEMORIES) if coupling.target in chosen else 1)
    return replace(coupling, source_class=source, target_class=target)


def _with_choice(coupling: Coupling, old: Coupling, uses: list[_Array]) -> Coupling:
    """Return a coupling whose source's rows, repeated already, tell the memory of the FIFO."""
    count = len(MEMORIES)
    memory = np.arange(len(coupling.source_class)) % count
    use = np.stack(uses, axis=1).reshape(-1, *old.use.shape[1:])
    use[np.repeat(old.use >= UNBUILDABLE, count, axis=0)] = UNBUILDABLE
    at_source = None
    if old.at_source is not None:
        at_source = use - np.repeat(old.use - old.at_source, count, axis=0)
    return replace(coupling, source_class=coupling.source_class * count + memory, use=use, at_source=at_source)
