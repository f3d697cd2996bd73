"""The order of lowered engines: that of qonnx's SortGraph, by which FINN numbers them."""

from __future__ import annotations

from dataclasses import replace

from floorflow.backends.finn.names import numbered
from floorflow.dataflow.model import Dataflow, is_outside


def in_levels(dataflow: Dataflow) -> Dataflow:
    """Return the engines level by level, those of a level as they were, numbered anew; the same object if none moves.

    An engine's level is one more than the highest of those it reads from. On parallel branches engines then stand side
    by side: a projection's window directly behind the first one of the other branch.
    """
    level: dict[str, int] = {}
    before: dict[str, list[str]] = {engine.name: [] for engine in dataflow.engines}
    for stream in dataflow.streams:
        if not is_outside(stream.source) and not is_outside(stream.target):
            before[stream.target].append(stream.source)
    for name, sources in before.items():
        level[name] = 1 + max((level[source] for source in sources), default=-1)
    engines = sorted(dataflow.engines, key=lambda engine: level[engine.name])
    if engines == list(dataflow.engines):
        return dataflow
    names = dict(zip((e.name for e in engines), numbered(engine.kind for engine in engines), strict=True))
    return replace(
        dataflow,
        engines=tuple(replace(engine, name=names[engine.name]) for engine in engines),
        streams=tuple(
            replace(
                stream, source=names.get(stream.source, stream.source), target=names.get(stream.target, stream.target)
            )
            for stream in dataflow.streams
        ),
    )
