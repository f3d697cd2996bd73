"""FINN's rules for kernels: which nodes share one, in what order kernels stand, and what their nodes are called."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from floorflow.backends.finn.step.graph import BuiltNode

PREFIX = "StreamingDataflowPartition_"
_NAMED = re.compile(rf"^{PREFIX}(\d+)_(.+)$")
_NUMBERED = re.compile(r"^(.+)_(\d+)$")


class NotBuildable(ValueError):  # noqa: N818 - what it says is no mistake of the program
    """FINN cannot build these kernels, or it cannot be told which they are; the text says why."""


def has_control_port(node: BuiltNode) -> bool:
    """Whether FINN gives a node an AXI-lite port: parameters written at run time, a size set at run time."""
    attributes = node.attributes
    written = bool(attributes.get("runtime_writeable_weights", 0) == 1)
    decoupled = bool(attributes.get("mem_mode", "internal_decoupled") == "internal_decoupled")
    if node.family in ("MVAU", "VVAU"):
        return written and decoupled
    if node.family == "Thresholding":
        return written and (node.op_type.endswith("_rtl") or decoupled)
    if node.family in ("ConvolutionInputGenerator", "FMPadding"):
        return bool(attributes.get("dynamic_mode", 0) == 1)
    external = attributes.get("mem_mode") == "external"
    return node.family in ("CheckSum", "TLastMarker") or (node.family == "Lookup" and bool(external))


def partition_ids(nodes: Sequence[BuiltNode], slr: Mapping[BuiltNode, int], *, plus: bool) -> dict[BuiltNode, int]:
    """Return the partition id that FINN's Floorplan gives each node, for nodes in the graph's order.

    A node joins a node before it that lies in the same SLR; DMA engines come first, each alone. FINN main looks at all
    nodes before it and the last one counts, and what follows an AXI-lite port starts anew; in FINN+ the first match
    counts and the node with the port itself starts anew (``Floorplan.apply`` of both).
    """
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    ids: dict[BuiltNode, int] = {}
    count = 0
    for node in nodes:
        if node.is_dma:
            ids[node], count = count, count + 1
    for node in nodes:
        if node.is_dma:
            continue
        before = _before(node, maker)
        if before is None:
            ids[node], count = count, count + 1
            continue
        ids[node], count = (_plus if plus else _main)(node, before, ids, slr, count)
    return ids


def _before(node: BuiltNode, maker: Mapping[str, BuiltNode]) -> list[BuiltNode] | None:
    """Return the nodes before one, once each, and None if it takes its first input from outside or a DMA engine."""
    first = maker.get(node.inputs[0]) if node.inputs else None
    if first is None or first.is_dma:
        return None
    return [maker[tensor] for tensor in node.inputs if tensor in maker]


def _main(
    node: BuiltNode, before: Sequence[BuiltNode], ids: Mapping[BuiltNode, int], slr: Mapping[BuiltNode, int], count: int
) -> tuple[int, int]:
    found = count
    for other in before:
        if slr[other] == slr[node] and not has_control_port(other):
            found = ids.get(other, 0)
        else:
            found, count = count, count + 1
    return found, count


def _plus(
    node: BuiltNode, before: Sequence[BuiltNode], ids: Mapping[BuiltNode, int], slr: Mapping[BuiltNode, int], count: int
) -> tuple[int, int]:
    if not has_control_port(node):
        for other in before:
            if slr[other] == slr[node]:
                return ids.get(other, 0), count
    return count, count + 1


def check_acyclic(nodes: Sequence[BuiltNode], ids: Mapping[BuiltNode, int]) -> None:
    """Refuse partitions that depend on each other in a circle.

    Raises
    ------
    NotBuildable
        Names the nodes of one that FINN would refuse as "cycle-free graph violated".

    """
    waits = waiting_for(nodes, ids)
    while True:
        ready = [number for number, others in waits.items() if not others & waits.keys()]
        if not ready:
            break
        for number in ready:
            del waits[number]
    if waits:
        number = min(waits)
        inside = [node.name for node in nodes if ids[node] == number and not node.passes]
        text = ", ".join(inside[:4]) or "FIFOs and converters alone"
        raise NotBuildable(
            f"a kernel with {text} would wait for itself, which FINN refuses (cycle-free graph violated)"
        )


def kernel_order(nodes: Sequence[BuiltNode], ids: Mapping[BuiltNode, int]) -> dict[int, int]:
    """Return the number that FINN gives the kernel of each partition id, for nodes in the graph's order.

    PartitionFromLambda takes the ids one after the other, puts the node of each where its first input comes in from
    outside and removes the members; then qonnx sorts the kernels by levels, and they are named in order.
    """
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    parent: list[Any] = list(nodes)
    # The very expression of PartitionFromLambda, whose order is that of a set: not ascending where ids have gaps.
    for number in set([ids[node] for node in nodes]):  # noqa: C403
        start = 0
        for node in parent:
            if start or not isinstance(node, BuiltNode) or ids[node] != number:
                continue
            if any(tensor not in maker or ids[maker[tensor]] != number for tensor in node.inputs):
                start = parent.index(node)
        parent.insert(start, number)
        parent = [node for node in parent if not isinstance(node, BuiltNode) or ids[node] != number]
    waits = waiting_for(nodes, ids)
    level: dict[int, int] = {}
    while len(level) < len(parent):
        ready = [number for number in parent if number not in level and waits[number] <= level.keys()]
        if not ready:
            raise NotBuildable("kernels wait for each other in a circle")
        level |= {number: 1 + max((level[other] for other in waits[number]), default=-1) for number in ready}
    parent.sort(key=level.__getitem__)
    return {number: place for place, number in enumerate(parent)}


def waiting_for(nodes: Sequence[BuiltNode], ids: Mapping[BuiltNode, int]) -> dict[int, set[int]]:
    """Return which kernels each kernel reads from."""
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    waits: dict[int, set[int]] = {number: set() for number in ids.values()}
    for node in nodes:
        waits[ids[node]] |= {ids[maker[tensor]] for tensor in node.inputs if tensor in maker} - {ids[node]}
    return waits


def kernel_number(nodes: Sequence[BuiltNode]) -> int | None:
    """Return the number of a built kernel by the names of its nodes; None if they are not named by a kernel yet.

    Raises
    ------
    NotBuildable
        If they are named by several.

    """
    found = {match[1] if (match := _NAMED.match(node.name)) else None for node in nodes}
    if len(found) > 1:
        names = [node.name for node in nodes]
        raise NotBuildable(f"the nodes of one kernel are named by several: {names[0]} and others")
    (number,) = found
    return None if number is None else int(number)


def local_names(nodes: Sequence[BuiltNode]) -> dict[BuiltNode, str]:
    """Return what each node of a kernel is called inside, in the kernel's order: counted by op type from 0.

    VitisBuild and ZynqBuild insert FIFOs into each kernel once more before they number: one at each input whose first
    node is no FIFO or DMA engine and asks for more than two words, and between two nodes that have none.
    """
    counts: Counter[str] = Counter()
    made = {tensor: node for node in nodes for tensor in node.outputs}
    fifos = sum(_asks_for_fifo(node, port, tensor, made) for node in nodes for port, tensor in enumerate(node.inputs))
    names = {}
    if fifos:
        counts["StreamingFIFO_rtl"] = fifos
    for node in nodes:
        names[node] = f"{node.op_type}_{counts[node.op_type]}"
        counts[node.op_type] += 1
    return names


def _asks_for_fifo(node: BuiltNode, port: int, tensor: str, made: Mapping[str, BuiltNode]) -> bool:
    if node.is_fifo or node.is_dma or tensor in made:
        return False
    depths = node.attributes.get("inFIFODepths", [2])
    position = node.positions[port] if node.positions else port
    return bool(depths[min(position, len(depths) - 1)] > 2)


def global_order(nodes: Sequence[BuiltNode]) -> list[BuiltNode]:
    """Return nodes of several files in the order of the graph that they were cut from.

    SortGraph left that in levels; inside a level, and against it, FINN's own numbers by op type tell.

    Raises
    ------
    NotBuildable
        If the nodes wait for each other in a circle.

    """
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    level: dict[BuiltNode, int] = {}
    waiting = list(nodes)
    while waiting:
        ready = [node for node in waiting if all(maker[t] in level for t in node.inputs if t in maker)]
        if not ready:
            raise NotBuildable(f"node '{waiting[0].name}' waits for its own output")
        depth = {node: 1 + max((level[maker[t]] for t in node.inputs if t in maker), default=-1) for node in ready}
        level |= depth
        waiting = [node for node in waiting if node not in level]
    return sorted(nodes, key=lambda node: (level[node], _number(node)))


def _number(node: BuiltNode) -> int:
    match = _NUMBERED.match(node.name)
    return int(match[2]) if match else 0


def inner_name(node: BuiltNode) -> str:
    """Return a node's name inside its kernel, or its name in the graph if no kernel has named it."""
    match = _NAMED.match(node.name)
    return match[2] if match else node.name
