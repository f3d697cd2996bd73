"""An audit as plain data: audit.json and ``--json``. docs/audit.md says what every field means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from floorflow import __version__
from floorflow.backends.builds import BuiltNode, Role
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, total
from floorflow.study.audit.audit import Audit, AuditedNode, fifo_nodes, sums

SCHEMA = "floorflow-audit/1"
_AROUND: tuple[Role, ...] = ("DMA",)


def as_dict(audit: Audit) -> dict[str, Any]:
    """Return everything that an audit found: no wall times, no host paths."""
    return {
        "schema": SCHEMA,
        "floorflow": __version__,
        "build": audit.folder,
        "network": audit.network,
        "target": _target(audit),
        "options": audit.options.model_dump(),
        "files": {
            role: {"file": one.file, "sha256": one.sha256, "others": list(one.others)}
            for role, one in audit.build.files.items()
        },
        "missing": list(audit.build.missing),
        "notes": [*audit.build.notes, *audit.notes],
        "versions": {name: {"told": each.value, "file": each.file} for name, each in audit.build.options.items()},
        "whole": _whole(audit),
        "around": _around(audit),
        "kinds": _kinds(audit),
        "nodes": [_node(one, audit) for one in audit.nodes],
        "fifos": _fifos(audit),
        "rates": _rates(audit),
        "latency": _latency(audit),
        "clock": _clock(audit),
        "unmatched": _unmatched(audit),
    }


def compared(built: Resources | None, predicted: Resources | None) -> dict[str, Any]:
    """Return amounts built and predicted, and the error: predicted less built, over built; None where it has none."""
    return {
        "built": None if built is None else built.as_dict(),
        "predicted": None if predicted is None else predicted.as_dict(),
        "error": None if built is None or predicted is None else errors(built, predicted),
    }


def errors(built: Resources, predicted: Resources) -> dict[str, float | None]:
    """Return the error of each resource as a share of what was built; None where nothing was."""
    pairs = zip(RESOURCE_NAMES, built.as_tuple(), predicted.as_tuple(), strict=True)
    return {name: round((said - was) / was, 4) if was else None for name, was, said in pairs}


def _target(audit: Audit) -> dict[str, Any]:
    target = audit.target
    silicon = None if target.silicon is None else target.silicon.as_dict()
    return {"name": target.name, "part": target.part, "how": target.how, "silicon": silicon}


def _whole(audit: Audit) -> dict[str, Any]:
    """Return the network by itself, and the design with all around it; the second needs the report's own sum."""
    built, predicted = _network(audit)
    band = audit.predicted_band
    around = _sum_around(audit)
    whole = predicted + around if around is not None and predicted is not None else None
    planned = audit.planned
    return {
        "network": compared(built, predicted),
        "network_as_planned": _amounts(planned),
        "network_band": None if band is None else [end.as_dict() for end in band],
        "design": compared(audit.build.whole, whole),
        "design_as_planned": None if around is None or planned is None else (planned + around).as_dict(),
    }


def _network(audit: Audit) -> tuple[Resources | None, Resources | None]:
    """Return what was built of the network, by its rows or else out of context, and what was predicted if anything."""
    built, predicted = sums(audit.network_nodes)
    priced = any(one.predicted is not None for one in audit.network_nodes)
    return built if _has_rows(audit) else audit.build.alone, predicted if priced else None


def _has_rows(audit: Audit) -> bool:
    return any(one.node.built is not None for one in audit.nodes)


def _around(audit: Audit) -> dict[str, Any]:
    """Return what stands around the network: DMA engines as the report has them, and the rest of the design."""
    dma = [one.node for one in audit.nodes if one.node.role in _AROUND]
    named = total(one.node.built or ZERO for one in audit.nodes) + _unmatched_sum(audit)
    inside = total(one.node.built or ZERO for one in audit.network_nodes) + _unmatched_sum(audit)
    whole, parts = audit.build.whole, audit.infrastructure
    return {
        **compared(None if whole is None or not _has_rows(audit) else whole - inside, _sum_around(audit)),
        "dma": [{"name": n.name, "width_bits": _stream_bits(n), "built": _amounts(n.built)} for n in dma],
        "shell": None if whole is None or not _has_rows(audit) else (whole - named).as_dict(),
        "infrastructure": None if parts is None else {name: use.as_dict() for name, use in parts.items()},
    }


def _sum_around(audit: Audit) -> Resources | None:
    return None if audit.infrastructure is None else total(audit.infrastructure.values())


def _stream_bits(node: BuiltNode) -> int | None:
    return node.output_bits if node.reads else node.input_bits


def _unmatched_sum(audit: Audit) -> Resources:
    return total(row.resources or ZERO for row in audit.build.unmatched)


def _amounts(resources: Resources | None) -> dict[str, int] | None:
    return None if resources is None else resources.as_dict()


def _kinds(audit: Audit) -> dict[str, Any]:
    """Return sums by kind; ``count``: nodes of the graph, ``rows``: how many the report has."""
    found = {}
    for kind in sorted({one.node.kind for one in audit.network_nodes}):
        nodes = [one for one in audit.network_nodes if one.node.kind == kind]
        built, predicted = sums(nodes)
        rows = sum(1 for one in nodes if one.node.built is not None)
        count = sum(1 for one in nodes if one.predicted is not None)
        amounts = compared(built if _has_rows(audit) else None, predicted if count else None)
        found[kind] = {"count": count, "rows": rows, **amounts}
    return found


def _node(one: AuditedNode, audit: Audit) -> dict[str, Any]:
    node, costs = one.node, audit.costs
    bands = {name: list(costs.band(node.kind, name)) for name in RESOURCE_NAMES} if costs.has_bands else None
    return {
        "name": node.name,
        "kind": node.kind,
        "role": node.role,
        "instance": node.instance,
        "rivals": list(node.rivals),
        "channel": node.channel,
        "folding": dict(one.folding),
        "width_bits": [node.input_bits, node.output_bits],
        "depth_words": node.depth_words,
        "memory": node.memory or None,
        **compared(node.built, one.predicted),
        "band": bands if one.predicted is not None else None,
        "doubt": None if one.doubt == (ZERO, ZERO) else [each.as_dict() for each in one.doubt],
        "in_band": _in_band(one, bands),
        "tool_estimate": _amounts(node.tool_estimate),
        "cycles": {"tool": node.tool_cycles, "floorflow": one.cycles},
    }


def _in_band(one: AuditedNode, bands: Mapping[str, list[float]] | None) -> dict[str, bool] | None:
    """Return whether what was built lies in the band of each resource that either side has."""
    if bands is None or one.node.built is None or one.predicted is None:
        return None
    built, said = one.node.built.as_dict(), one.predicted.as_dict()
    used = [name for name in RESOURCE_NAMES if built[name] or said[name]]
    less, more = (each.as_dict() for each in one.doubt)
    ends = {name: (said[name] * bands[name][0] - less[name], said[name] * bands[name][1] + more[name]) for name in used}
    return {name: ends[name][0] <= built[name] <= ends[name][1] for name in used}


def _fifos(audit: Audit) -> list[dict[str, Any]]:
    analysis = audit.analysis
    if analysis is None:
        return []
    nodes = fifo_nodes(audit)
    return [
        {
            "channel": channel.name,
            "width_bits": channel.width_bits,
            "built_words": analysis.built_words[channel.name],
            "needed_words": analysis.full.depths.get(channel.name),
            "planned_words": channel.fifo_depth_words,
            "nodes": [
                {"name": n.name, "width_bits": n.input_bits, "depth_words": n.depth_words} for n in nodes[channel.name]
            ],
        }
        for channel in analysis.channels
    ]


def _rates(audit: Audit) -> dict[str, Any]:
    """Return intervals in cycles, each None if it is not known."""
    analysis, simulated = audit.analysis, audit.build.simulation
    interval = None if simulated is None else simulated.interval_cycles
    slowest = max((one.cycles for one in audit.nodes if one.cycles is not None), default=None)
    planned = slowest if analysis is None else analysis.folded.interval_cycles
    sustained = None if analysis is None else analysis.throughput.interval_cycles
    expected = None if analysis is None else analysis.expected_cycles
    return {
        "tool_cycles": audit.build.tool_interval_cycles,
        "planned_cycles": planned,
        "sustained_cycles": sustained,
        "expected_cycles": expected,
        "simulated_cycles": None if interval is None else round(interval, 3),
        "simulated_frames": None if simulated is None else simulated.frames,
        "error": {
            name: None if interval is None or cycles is None else round((cycles - interval) / interval, 4)
            for name, cycles in (("planned", planned), ("sustained", sustained), ("expected", expected))
        },
        "deadlock": [] if analysis is None else [f"{row.fifo} ({row.state})" for row in analysis.throughput.deadlock],
        "not_analysed": "there is no graph" if analysis is None else analysis.throughput.not_analysed,
        "planned_fps": None if planned is None else audit.clock_mhz * 1e6 / planned,
        "note": _rate_note(audit),
    }


def _rate_note(audit: Audit) -> str:
    simulated = audit.build.simulation
    if simulated is None:
        return "nothing was simulated"
    if simulated.interval_cycles is None:
        return "one frame was simulated: that measures the latency alone, no interval"
    return f"simulated over {simulated.frames:,} frames"


def _latency(audit: Audit) -> dict[str, Any]:
    """Return cycles until the first frame is out."""
    simulated = audit.build.simulation
    predicted = None if audit.analysis is None else audit.analysis.throughput.first_frame_cycles
    measured = None if simulated is None else simulated.latency_cycles
    known = measured and predicted is not None
    return {
        "tool_cycles": audit.build.tool_latency_cycles,
        "predicted_cycles": predicted,
        "simulated_cycles": measured,
        "error": round(((predicted or 0) - (measured or 0)) / (measured or 1), 4) if known else None,
    }


def _clock(audit: Audit) -> dict[str, Any]:
    clock = audit.build.clock
    fmax = clock.fmax_mhz
    return {
        "used_mhz": audit.clock_mhz,
        "asked_mhz": clock.asked_mhz,
        "worst_slack_ns": clock.worst_slack_ns,
        "fmax_mhz": None if fmax is None else round(fmax, 2),
    }


def _unmatched(audit: Audit) -> dict[str, Any]:
    rows: Iterable[Any] = audit.build.unmatched
    absent = [one.node.name for one in audit.nodes if one.node.built is None] if _has_rows(audit) else []
    unpriced = [one.node.name for one in audit.network_nodes if one.predicted is None]
    return {
        "report": [{"instance": row.instance, "resources": _amounts(row.resources)} for row in rows],
        "graph": absent,
        "unpriced": unpriced,
        "in_doubt": [one.node.name for one in audit.nodes if one.node.rivals and one.node.built is not None],
    }
