"""Cuts that FINN's rule for kernels cannot build: a kernel would wait for itself, whatever SLR its FIFOs lie in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from floorflow.backends.finn.buildable import moves, waiting
from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.step.graph import joined
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound
from floorflow.backends.placed import Home, PlacedStream
from floorflow.dataflow.model import FoldedDataflow


def unbuildable_engines(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str
) -> tuple[str, ...]:
    """Return the engines of kernels that wait for each other in a circle; none where nothing joins or one SLR has all.

    FIFOs before sums are moved as they are when files are written.
    """
    targets = [stream.target for stream in streams]
    if len({place[1:] for place in home.values()}) < 2 or len(set(targets)) == len(targets):
        return ()
    data = _data(folded, streams, home, finn)
    nodes, of = made_nodes(data)
    graph = joined(nodes)
    bound = Bound(data, graph, of, tuple(streams_between(data["streams"], of, graph)))
    circle = waiting(bound, moves(bound))
    return tuple(name for name, node in of.items() if node in circle)


def _data(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str
) -> dict[str, Any]:
    """Return of floorflow_plan.json what kernels depend on."""
    engines = folded.dataflow.engines
    modules = {module: {"device": device, "slr": slr} for module, device, slr in home.values()}
    ends = {"in": modules[home[engines[0].name][0]], "out": modules[home[engines[-1].name][0]]}
    return {
        "finn": finn,
        "engines": [
            {
                "id": engine.name,
                "kind": engine.kind,
                "attributes": dict(engine.attributes),
                "folding": dict(folded.options[engine.name].folding),
                "module": home[engine.name][0],
            }
            for engine in engines
        ],
        "streams": [asdict(stream) for stream in streams],
        "modules": modules,
        "dma": ends,
    }
