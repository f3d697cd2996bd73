"""Streams of a build against the channels of the plan: where they lead, their converters and FIFOs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floorflow.verify.finn.built_nodes import Node, Way, ways
from floorflow.verify.judge import Row

Problem = tuple[str, str]
PORTED = ("Concat", "Split")
"""Kinds of whose ports each has a meaning of its own."""


def stream_problems(
    channels: Sequence[Mapping[str, Any]], rows: Mapping[str, Row], nodes: Sequence[Node], engines: Mapping[str, Node]
) -> Iterator[Problem]:
    """Yield where streams between the engines' nodes are not the plan's, each of which must be one of the build's."""
    name_of = {node: name for name, node in engines.items()}
    free: dict[tuple[str | None, str | None], list[Way]] = {}
    for built in ways(nodes):
        ends = [None if end is None else name_of.get(end, end.called) for end in (built.source, built.target)]
        free.setdefault((ends[0], ends[1]), []).append(built)
    for channel in channels:
        source, target = (channel[end] if channel[end] in rows else None for end in ("source", "target"))
        candidates = free.get((source, target), [])
        way = next((way for way in candidates if _fits(channel, way)), None)
        if way is None:
            yield "build-stream-differs", f"the build has no stream {channel['name']}"
            continue
        candidates.remove(way)
        yield from _fifo_problems(channel, way)
    for (source, target), left in free.items():
        if left and (source is not None or target is not None):
            yield "build-stream-differs", f"the plan has no stream {source or 'host'} -> {target or 'host'}"


def _fits(channel: Mapping[str, Any], way: Way) -> bool:
    """Whether ports agree where they have a meaning, and there is a converter where one is planned."""
    for end, node in (("source", way.source), ("target", way.target)):
        ported = node is not None and any(kind in node.kind for kind in PORTED)
        if ported and getattr(way, f"{end}_port") != channel[f"{end}_port"]:
            return False
    planned = channel["converter"] is not None
    if any(node.is_transparent for node in way.between):
        return True  # FINN+ converts widths around a node that only passes words on
    return planned == any(node.is_a("StreamingDataWidthConverter") for node in way.between)


def _fifo_problems(channel: Mapping[str, Any], way: Way) -> Iterator[Problem]:
    """Judge the depth, which FINN may split over several FIFOs, and the memory of a FIFO that it did not split."""
    fifos = [node for node in way.between if node.is_a("StreamingFIFO")]
    depths = [int(node.attributes.get("depth", 0)) for node in fifos]
    if sum(depths) < max(2, channel["fifo_depth"]):
        message = f"the FIFOs of {channel['name']} hold {depths} words, the plan has {channel['fifo_depth']}"
        yield "build-fifo-differs", message
    wanted = 1 + (channel["converter"] is not None) + channel["slices"]
    if channel["slices"] and (len(fifos) < wanted or depths.count(2) < channel["slices"]):
        message = (
            f"the FIFOs of {channel['name']} hold {depths} words, the plan has {channel['slices']} slices beside one"
        )
        yield "build-slice-missing", message
    style = channel["fifo_style"]
    memories = [node.attributes.get("ram_style", style) for node in fifos]
    if style in ("distributed", "block", "ultra") and fifos and style not in memories:
        yield "build-fifo-differs", f"the FIFO of {channel['name']} is {memories}, the plan has {style}"
