"""FINN's own configuration files: folding for ``ApplyConfig`` and the floorplan for ``Floorplan``."""

from __future__ import annotations

from typing import Any

from floorflow.plan import FoldedEntry, Plan, finn_attribute


def folding_config(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return folding_config.json: every engine's folding under FINN's attribute names."""
    config: dict[str, dict[str, Any]] = {"Defaults": {}}
    for name, entry in plan.phases[0].folding.engines.items():
        chosen = entry.model_extra or {}
        config[name] = {finn_attribute(key): value for key, value in chosen.items()}
    return config


def floorplan(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return floorplan.json: SLR, device and partition id of every engine.

    Partition ids follow FINN's rule (transformation/fpgadataflow/floorplan.py): each DMA engine has its own, the
    first node after one starts another, and a node keeps its predecessor's id if it lies in the same SLR and the
    predecessor has no AXI-lite port (weights that are written at run time); the last predecessor decides.
    """
    phase = plan.phases[0]
    slot_of = {e: phase.partition.assignment[m.name] for m in phase.modules for e in m.engines}
    before = _predecessors(plan)
    host_inputs = sum(channel.source.startswith("host:") for channel in phase.channels)
    ids: dict[str, int] = {}
    fresh = host_inputs  # FINN numbers the input DMA engines first
    for engine in (e.name for network in plan.networks for e in network.engines):
        inherited = [
            ids[source]
            for source in before.get(engine, [])
            if slot_of[source] == slot_of[engine] and not _has_axilite(phase.folding.engines[source])
        ]
        if inherited:
            ids[engine] = inherited[-1]
        else:
            ids[engine] = fresh
            fresh += 1
    return {"Defaults": {}} | {name: _place(slot_of[name], number) for name, number in ids.items()}


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
