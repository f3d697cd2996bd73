"""Which row of post_synth_resources.json is which node of a build's graph."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from floorflow.backends.builds import BuiltNode, Role
from floorflow.backends.finn.reports.instances import node_of
from floorflow.backends.reports import Row
from floorflow.resources import Resources

ROLES: tuple[tuple[str, Role], ...] = (
    ("StreamingFIFO", "FIFO"),
    ("StreamingDataWidthConverter", "converter"),
    ("IODMA", "DMA"),
)
"""Nodes that FINN adds around the network and that pass data on, by the start of their names."""


def matched(nodes: Sequence[BuiltNode], rows: Sequence[Row]) -> tuple[tuple[BuiltNode, ...], tuple[Row, ...]]:
    """Return the nodes with their rows, and the rows that are no node.

    A row whose node the graph has not is still a FIFO, a converter or a DMA engine if FINN's name says so. A name
    without partition belongs to a row only if no other partition has a node of that name.
    """
    keys = [node_of(row.path) for row in rows]
    count = Counter(name for _, name in keys)
    places = {node_of((node.name,)): place for place, node in enumerate(nodes)}
    held = list(nodes)
    unmatched = []
    for row, (partition, name) in zip(rows, keys, strict=True):
        place = places.get((partition, name))
        if place is None and count[name] == 1:
            place = places.get((None, name))
        if place is not None and held[place].built is None:
            held[place] = replace(held[place], instance=row.instance, built=row.resources)
            continue
        beside = _beside_the_graph(row.path[-1], name, row.resources, row.instance)
        if beside is None:
            unmatched.append(row)
        else:
            held.append(beside)
    return tuple(held), tuple(unmatched)


def _beside_the_graph(name: str, plain: str, built: Resources | None, instance: str) -> BuiltNode | None:
    """Return a node that only the report has, which FINN adds around the network; None for anything else."""
    role = next((role for start, role in ROLES if plain.startswith(start)), None)
    if role is None:
        return None
    return BuiltNode(name, plain.rpartition("_")[0], role, instance=instance, built=built)


def numbered_as_built(nodes: Sequence[BuiltNode], rows: Iterable[Row]) -> tuple[tuple[BuiltNode, ...], tuple[str, ...]]:
    """Return FIFOs and converters under the names of the report where FINN numbered them anew, and a note on each kind.

    FINN splits deep FIFOs (``StreamingFIFO_rtl_7_2``) and counts all of a kind anew in the kernel. As many of a kind
    in the report as in the graph have the same order; otherwise nothing tells which is which, and the nodes of the
    graph stay without a row.
    """
    reported = _names_by_kind(name for _, name in (node_of(row.path) for row in rows))
    renamed: dict[str, str] = {}
    notes = []
    for kind, held in _by_kind(nodes).items():
        names = sorted(reported[kind], key=lambda name: int(name.rpartition("_")[2]))
        if not names or {node.name for node in held} <= set(names):
            continue
        if len(names) == len(held):
            renamed |= {node.name: name for node, name in zip(held, names, strict=True)}
            notes.append(f"{len(held)} {kind} were numbered anew when they were built: matched by their order")
        else:
            renamed |= {node.name: f"{node.name} (before the build)" for node in held}
            notes.append(
                f"the report has {len(names)} {kind}, the graph {len(held)} under other numbers: not matched one by one"
            )
    return tuple(replace(node, name=renamed.get(node.name, node.name)) for node in nodes), tuple(notes)


def _by_kind(nodes: Iterable[BuiltNode]) -> dict[str, list[BuiltNode]]:
    """Return FIFOs and converters by their op types; DMA engines are known by their kernels."""
    found: dict[str, list[BuiltNode]] = defaultdict(list)
    for node in nodes:
        if node.role in {"FIFO", "converter"}:
            found[node.kind].append(node)
    return found


def _names_by_kind(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        kind, _, number = name.rpartition("_")
        if number.isdecimal():
            found[kind].append(name)
    return found


_NODE = re.compile(r"(?P<kind>[A-Z]\w*?)_\d+(?:_\d+)?")
"""FINN's name of a node: its op type, and a number, or two where a FIFO was split."""


def node_rows_of(rows: Sequence[Row], design: str) -> tuple[Row, ...]:
    """Return the rows of Vivado's hierarchy that are FINN's nodes, and the whole under FINN's name of it.

    A node is the first cell on its path that has a node's name inside a partition, or in a design without partitions;
    what lies inside it is its own. All else is the shell, which is what is left of the whole.
    """
    partitioned = any(_in_partition(row.path) for row in rows)
    taken: set[tuple[str, ...]] = set()
    found = [Row((design,), row.resources) for row in rows if len(row.path) == 1][:1]
    for row in rows:
        inside = any(row.path[:depth] in taken for depth in range(1, len(row.path)))
        if inside or not _NODE.fullmatch(node_of(row.path)[1]) or (partitioned and not _in_partition(row.path)):
            continue
        taken.add(row.path)
        partition, name = node_of(row.path)
        plain = name if partition is None else f"StreamingDataflowPartition_{partition}_{name}"
        found.append(Row((plain,), row.resources))
    return tuple(found)


def _in_partition(path: Sequence[str]) -> bool:
    """Whether a cell is inside a partition, which itself has the name of a node."""
    partition, name = node_of(path)
    return partition is not None and not name.startswith("StreamingDataflowPartition_")


def reported_nodes(rows: Iterable[Row], foldings: Mapping[str, Mapping[str, Any]]) -> tuple[BuiltNode, ...]:
    """Return the nodes that a report names, with the foldings of final_hw_config.json, where there is no graph.

    A node that the configuration has and the report has not was dissolved by Vivado; without any row nothing tells.
    """
    nodes, named = [], set()
    for row in rows:
        _, name = node_of(row.path)
        match = _NODE.fullmatch(name)
        if match is None or len(row.path) != 1:
            continue
        named.add(name)
        nodes.append(_reported(name, match["kind"], foldings.get(name, {}), row))
    for name, folding in foldings.items():
        match = _NODE.fullmatch(name)
        if match is not None and name not in named:
            nodes.append(_reported(name, match["kind"], folding, None))
    return tuple(nodes)


def _reported(name: str, kind: str, folding: Mapping[str, Any], row: Row | None) -> BuiltNode:
    role: Role = next((role for start, role in ROLES if name.startswith(start)), "engine")
    told = {key: folding[key] for key in _FOLDED if key in folding}
    depth = folding.get("depth")
    return BuiltNode(
        name if row is None or role != "DMA" else row.instance,
        kind,
        role,
        depth_words=depth if role == "FIFO" and isinstance(depth, int) else None,
        memory=str(folding.get("ram_style", "")),
        instance=None if row is None else row.instance,
        built=None if row is None else row.resources,
        folding=told,
    )


_FOLDED = ("PE", "SIMD", "parallel_window", "resType", "mem_mode")
