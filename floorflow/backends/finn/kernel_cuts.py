"""Cuts that FINN cannot build: a kernel would wait for itself, whatever SLR its FIFOs lie in, or not be linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

from floorflow.backends.finn.buildable import moves, waiting
from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.step.graph import joined
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound, own_kernels
from floorflow.backends.placed import Home, PlacedStream
from floorflow.dataflow.model import FoldedDataflow

MOST_LINKED_BITS = 4088
"""The widest stream, in whole bytes, that v++ joins two kernels by.

It refuses 4,096 bits itself: "unsupported data width 4096 for direct connection" (FINN issue 1276; 355 for 8,192).
"""


def unbuildable_engines(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str
) -> tuple[str, ...]:
    """Return the engines of kernels that wait for each other in a circle; none where nothing joins or one SLR has all.

    FIFOs before sums are moved as they are when files are written.
    """
    targets = [stream.target for stream in streams]
    if len({place[1:] for place in home.values()}) < 2 or len(set(targets)) == len(targets):
        return ()
    bound = _bound(folded, streams, home, finn)
    circle = waiting(bound, moves(bound))
    return tuple(name for name, node in bound.nodes.items() if node in circle)


def unlinkable_streams(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], shells: Sequence[str], finn: str
) -> dict[str, tuple[int, int]]:
    """Return the streams that v++ does not link between two kernels, DMA engines among them: bits, and the most."""
    wide = [s for s in streams if max(_padded(s.source_width), _padded(s.target_width)) > MOST_LINKED_BITS]
    if not wide or not any(shells):
        return {}
    bound = _bound(folded, streams, home, finn)
    bound = replace(bound, plan={**bound.plan, "moved": moves(bound)})
    ids, found = own_kernels(bound), {}
    device = {engine: place[1] for engine, place in home.items()}
    for stream, link in bound.links:
        ends = [device[stream[end]] for end in ("source", "target") if stream[end] is not None]
        nodes = [node for node in (link.source, *link.chain, link.target) if node is not None]
        width = int(stream["source_width"])
        for before, after in pairwise(nodes):
            width = int(stream["target_width"]) if before.is_converter else width
            # Over a link of two cards goes what its own core takes, not what v++ joins.
            if (
                ids[before] != ids[after]
                and len({*ends}) == 1
                and shells[ends[0]]
                and _padded(width) > MOST_LINKED_BITS
            ):
                found[str(stream["name"])] = (_padded(width), MOST_LINKED_BITS)
    return found


def _padded(bits: int) -> int:
    """Return the bits of a stream as FINN's ports have them: whole bytes."""
    return -(-bits // 8) * 8


def _bound(folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str) -> Bound:
    """Return FINN's graph of placed engines as foreseen."""
    data = _data(folded, streams, home, finn)
    nodes, of = made_nodes(data)
    graph = joined(nodes)
    return Bound(data, graph, of, tuple(streams_between(data["streams"], of, graph)))


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
