"""Which layers follow each other: the pairs whose rates the coarse-grained floorplanning paper wants balanced."""

from __future__ import annotations

from floorflow.dataflow.model import Dataflow

_LAYERS = ("MVAU", "VVAU")


def layer_pairs(dataflow: Dataflow) -> tuple[tuple[str, str], ...]:
    """Return consecutive layers by engine name: those between which no other layer lies, windows and pools aside."""
    after: dict[str, list[str]] = {engine.name: [] for engine in dataflow.engines}
    for source, target in dataflow.engine_pairs:
        after[source].append(target)
    layers = {engine.name for engine in dataflow.engines if engine.kind.startswith(_LAYERS)}
    reach: dict[str, tuple[str, ...]] = {}
    # Engines are in topological order: what follows one is known before it.
    for engine in reversed(dataflow.engines):
        found: dict[str, None] = {}
        for name in after[engine.name]:
            found |= dict.fromkeys((name,) if name in layers else reach[name])
        reach[engine.name] = tuple(found)
    return tuple((name, other) for name in reach if name in layers for other in reach[name])[::-1]
