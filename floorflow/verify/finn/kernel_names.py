"""What nodes will be called that FINN has put into kernels and not named yet.

CreateDataflowPartition leaves the names of the whole graph. FINN's build then numbers the kernels by levels, puts FIFOs
in front of what asks for one where a kernel begins, and counts each kind inside from 0 (VitisBuild and ZynqBuild).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import networkx as nx

from floorflow.verify.finn.built_nodes import NoBuild, Node

_SHALLOW = 2
"""Words of a FIFO that FINN does not insert."""


def named_as_built(kernels: Mapping[str, Sequence[Node]], numbers: Mapping[str, int]) -> list[Node]:
    """Return the nodes of all kernels, by file, with the kernels and names that the linked design will have.

    ``numbers`` are those that the graph of kernels gives the files; if there is none the streams tell.

    Raises
    ------
    NoBuild
        If the streams do not tell which kernel comes first.

    """
    known = numbers or _numbers_by_levels(kernels)
    found: list[Node] = []
    for file, nodes in kernels.items():
        counts = Counter({"StreamingFIFO_rtl": _inserted(nodes)})
        for node in nodes:
            found.append(replace(node, kernel=known[file], name=f"{node.kind}_{counts[node.kind]}"))
            counts[node.kind] += 1
    return found


def _numbers_by_levels(kernels: Mapping[str, Sequence[Node]]) -> dict[str, int]:
    """Return the place of each kernel behind those that it reads from, if there is one order of them alone."""
    made = {tensor: file for file, nodes in kernels.items() for node in nodes for tensor in node.outputs}
    read = [(made[t], file) for file, nodes in kernels.items() for n in nodes for t in n.inputs if t in made]
    graph: nx.DiGraph = nx.DiGraph([(source, file) for source, file in read if source != file])
    graph.add_nodes_from(kernels)
    if not nx.is_directed_acyclic_graph(graph):
        raise NoBuild("the kernels wait for each other in a circle")
    levels = [sorted(level) for level in nx.topological_generations(graph)]
    beside = next((level for level in levels if len(level) > 1), None)
    if beside:
        raise NoBuild(
            f"nodes are not named by their kernels yet, and which of {beside[0]} and {beside[1]} FINN numbers first "
            "only its graph of kernels tells; keep it beside their folder, or let the build go on"
        )
    return {level[0]: place for place, level in enumerate(levels)}


def in_order(kernels: Sequence[Any]) -> list[Any]:
    """Return the nodes of a graph of kernels by levels, as FINN numbers them; nothing before what it reads from."""
    made = {tensor: place for place, node in enumerate(kernels) for tensor in node.output}
    joins = [(made[t], place) for place, node in enumerate(kernels) for t in node.input if t in made]
    graph: nx.DiGraph = nx.DiGraph(joins)
    graph.add_nodes_from(range(len(kernels)))
    if not nx.is_directed_acyclic_graph(graph):
        return list(kernels)
    return [kernels[place] for level in nx.topological_generations(graph) for place in sorted(level)]


def _inserted(nodes: Sequence[Node]) -> int:
    """Return how many FIFOs FINN's build will put where a kernel begins, ahead of all that it has."""
    made = {tensor for node in nodes for tensor in node.outputs}
    count = 0
    for node in nodes:
        if node.is_a("StreamingFIFO") or node.is_a("IODMA"):
            continue
        depths = node.attributes.get("inFIFODepths", [_SHALLOW])
        for port, tensor in zip(node.ports, node.inputs, strict=True):
            count += tensor not in made and depths[min(port, len(depths) - 1)] > _SHALLOW
    return count
