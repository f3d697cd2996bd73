"""FINN's own configuration files: styles and folding for ``ApplyConfig``, and the floorplan for ``Floorplan``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from floorflow.schema import FoldedEntry, Plan, finn_attribute

PREFERENCE = "preferred_impl_style"
"""FINN's attribute of an engine that is hls or rtl against FINN's own choice."""


def folding_config(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return folding_config.json: every engine's folding under FINN's attribute names."""
    config: dict[str, dict[str, Any]] = {"Defaults": {}}
    for name, entry in plan.phases[0].folding.engines.items():
        chosen = entry.model_extra or {}
        config[name] = {finn_attribute(key): value for key, value in chosen.items()}
    return config


def specialize_layers_config(plan: Plan) -> dict[str, dict[str, Any]] | None:
    """Return specialize_layers_config.json: the layers that are hls or rtl against FINN's own choice; None if none is.

    FINN reads it before it makes engines: layers are numbered by generic op type, hls and rtl together.
    """
    config: dict[str, dict[str, Any]] = {"Defaults": {}}
    counts: Counter[str] = Counter()
    for engine in (e for network in plan.networks for e in network.engines):
        layer = engine.kind.rpartition("_")[0]
        if PREFERENCE in engine.attributes:
            config[f"{layer}_{counts[layer]}"] = {PREFERENCE: engine.attributes[PREFERENCE]}
        counts[layer] += 1
    return config if len(config) > 1 else None


def floorplan(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return floorplan.json: SLR, device and partition (kernel) number of every engine.

    FINN's rule (transformation/fpgadataflow/floorplan.py): a node keeps its predecessor's partition if it lies in the
    same SLR and the predecessor has no AXI-lite port (weights that are written at run time), the last predecessor
    first; else it starts a new one. Here it does so too where keeping one would make partitions depend on each other
    in a cycle, which FINN refuses, and where another predecessor in that partition has such a port. The input DMA
    engines come before all.
    """
    phase = plan.phases[0]
    slot_of = {e: phase.partition.assignment[m.name] for m in phase.modules for e in m.engines}
    before = _predecessors(plan)
    ids: dict[str, int] = {}
    graph = nx.DiGraph()
    fresh = sum(channel.source.startswith("host:") for channel in phase.channels)
    for engine in (e.name for network in plan.networks for e in network.engines):
        sources = before.get(engine, [])
        closed = {ids[source] for source in sources if _has_axilite(phase.folding.engines[source])}
        near = [ids[source] for source in reversed(sources) if slot_of[source] == slot_of[engine]]
        open_ids = [number for number in near if number not in closed]
        ids[engine] = next((i for i in open_ids if _stays_acyclic(graph, i, [ids[s] for s in sources])), fresh)
        fresh += ids[engine] == fresh
        graph.add_edges_from((ids[source], ids[engine]) for source in sources if ids[source] != ids[engine])
    return {"Defaults": {}} | {name: _place(slot_of[name], number) for name, number in ids.items()}


def _stays_acyclic(graph: nx.DiGraph, number: int, inputs: Sequence[int]) -> bool:
    """Whether a node with these input partitions may join one: none of the others depends on it."""
    others = {other for other in inputs if other != number}
    return not any(number in graph and other in graph and nx.has_path(graph, number, other) for other in others)


def local_names(plan: Plan, partition_ids: Mapping[str, int]) -> dict[str, str]:
    """Return every engine's name inside its own partition.

    FINN builds each partition as a kernel of its own and names its nodes anew, counting per op type from 0 in
    topological order (GiveUniqueNodeNames in VitisBuild and ZynqBuild).
    """
    counts: dict[tuple[int, str], int] = {}
    names = {}
    for engine in (e for network in plan.networks for e in network.engines):
        key = partition_ids[engine.name], engine.kind
        counts[key] = counts.get(key, -1) + 1
        names[engine.name] = f"{engine.kind}_{counts[key]}"
    return names


def _predecessors(plan: Plan) -> dict[str, list[str]]:
    before: dict[str, list[str]] = {}
    for channel in plan.phases[0].channels:
        if not channel.source.startswith("host:"):
            before.setdefault(channel.target, []).append(channel.source)
    return before


def _has_axilite(entry: FoldedEntry) -> bool:
    return bool((entry.model_extra or {}).get("runtime_writeable_weights", 0))


def _place(slot: str, partition_id: int) -> dict[str, Any]:
    fpga, slr = slot.split(".")
    return {
        "slr": int(slr.removeprefix("SLR")),
        "partition_id": partition_id,
        "device_id": int(fpga.removeprefix("fpga")),
        "mem_port": "",
    }
