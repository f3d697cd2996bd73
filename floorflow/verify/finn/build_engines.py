"""Nodes of a build against the engines of the plan whose cells they are: kind, shape, folding and SLR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floorflow.verify.finn.built_nodes import Node
from floorflow.verify.judge import Row

Problem = tuple[str, str]
SHAPES = (
    *("MW", "MH", "Channels", "NumChannels", "IFMChannels", "ConvKernelDim", "IFMDim", "OFMDim", "Stride", "Kernel"),
    *("Dilation", "depthwise", "PoolDim", "ImgDim", "Padding", "OutImgDims", "Labels", "NumOutputStreams", "K", "Dim"),
    *("ChannelsPerStream", "NumEmbeddings", "numSteps", "KernelSize", "Function"),
)
"""Attributes that a layer gives its node, and no build changes."""


def node_problems(name: str, node: Node, row: Row) -> Iterator[Problem]:
    """Yield where the node of an engine's cell is not that engine as planned."""
    entry, folding = row["entry"], row["folding"]["attributes"]
    if node.kind != entry["kind"]:
        yield "build-engine-differs", f"{node.called} is {node.kind}, {name} of the plan {entry['kind']}"
        return
    wanted = {key: entry["attributes"][key] for key in SHAPES if key in entry["attributes"]} | folding
    for key, value in wanted.items():
        built = node.attributes.get(key)
        if built is not None and _items(built) != _items(value):
            message = f"{node.called} has {key} {built!r:.60}, {name} of the plan {value!r:.60}"
            yield "build-engine-differs", message
    yield from slr_problems(node, row)


def slr_problems(node: Node, row: Row) -> Iterator[Problem]:
    """Judge the SLR where there are several and the plan says which; a node in none becomes a kernel of its own."""
    built = node.attributes.get("slr", -1)
    if _has_slr(row) and built != row["slr"]:
        yield "build-slr-differs", f"{node.called} lies in SLR {built}, the plan has it in {row['slr']}"


def kernel_problems(nodes: Sequence[Node], rows: Mapping[str, Row]) -> Iterator[Problem]:
    """Judge that no kernel has nodes in two SLRs, and none of a plan over several SLRs lies in none."""
    if not any(_has_slr(row) for row in rows.values()):
        return
    slrs: dict[int | None, set[int]] = {}
    for node in nodes:
        slrs.setdefault(node.kernel, set()).add(int(node.attributes.get("slr", -1)))
    for kernel, found in slrs.items():
        if len(found) > 1 or -1 in found:
            yield "build-slr-differs", f"kernel {kernel} has nodes in SLRs {sorted(found)}"


def _has_slr(row: Row) -> bool:
    return bool(row["dies"] > 1 and row["style"] != "none")


def _items(value: Any) -> Any:
    """Return a list of one as its element, a list in any order of writing as it is."""
    if isinstance(value, list | tuple):
        return list(value) if len(value) != 1 else value[0]
    return value
