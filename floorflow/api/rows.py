"""A plan as rows: one flat dictionary an engine, a channel or a module, as ``pandas.DataFrame`` takes them.

All that reads fields of plan.json for the API stands here and in `told`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floorflow.schema import PhaseEntry, Plan

Row = dict[str, Any]


def engine_rows(plan: Plan) -> Iterator[Row]:
    """Yield each engine with its place, cycles a frame, resources and folding, under the back end's own names."""
    attributes = sorted(
        {key for phase in plan.phases for e in phase.folding.engines.values() for key in e.model_extra or {}}
    )
    for phase in plan.phases:
        modules = {engine: module.name for module in phase.modules for engine in module.engines}
        for network in plan.networks:
            for engine in network.engines:
                folded = phase.folding.engines[engine.name]
                yield {
                    "engine": engine.name,
                    "network": network.name,
                    "kind": engine.kind,
                    "operation": engine.operation,
                    "module": modules[engine.name],
                    **_place(plan, phase, modules[engine.name]),
                    "cycles": folded.cycles,
                    **folded.resources.model_dump(),
                    "weight_bits": engine.weight_bits,
                    "input_bits": engine.input_bits,
                    "output_bits": engine.output_bits,
                    **{key: (folded.model_extra or {}).get(key) for key in attributes},
                }


def channel_rows(plan: Plan) -> Iterator[Row]:
    """Yield each stream with its widths, FIFO, converter, the registers on its way, and what that costs."""
    for phase in plan.phases:
        for channel in phase.channels:
            row = channel.model_dump(exclude={"name", "converter_resources", "fifo_resources", "crossing_resources"})
            resources = row.pop("resources")
            yield {"channel": channel.name, **row, **resources}


def module_rows(plan: Plan) -> Iterator[Row]:
    """Yield each module with its engines, slot, resources, and pblock in columns and CLB rows of the device."""
    for phase in plan.phases:
        pblocks = {name: entry for held in phase.floorplan.values() for name, entry in held.pblocks.items()}
        for module in phase.modules:
            yield {
                "module": module.name,
                "engines": ", ".join(module.engines),
                "implementation": module.implementation,
                "reused": module.reused,
                **_place(plan, phase, module.name),
                **module.resources.model_dump(),
                **pblocks[module.name].rectangle.model_dump(),
            }


def _place(plan: Plan, phase: PhaseEntry, module: str) -> Row:
    slot = phase.partition.assignment[module]
    fpga = next(fpga.name for fpga in plan.platform.fpgas if any(own.name == slot for own in fpga.slots))
    return {"slot": slot, "fpga": fpga}


def summary(plan: Plan) -> Row:
    """Return a plan in a few figures."""
    phase = plan.phases[0]
    estimates = phase.estimates
    return {
        "platform": plan.platform.name,
        "fpgas": len(plan.platform.fpgas),
        "clock_mhz": estimates.clock_mhz,
        "phases": len(plan.phases),
        "networks": [
            {
                "network": network.name,
                "fps": estimates.fps,
                "sustained_fps": estimates.sustained_fps,
                "interval_cycles": estimates.cycles,
                "bound_cycles": plan.search.bound_cycles,
                "gap": plan.search.gap,
                "latency_us": estimates.latency_us,
                "bottleneck": estimates.bottleneck,
            }
            for network in plan.networks
        ],
        "fullest": _fullest(phase),
        "warnings": len(plan.warnings),
        "interrupted": plan.interrupted,
    }


def _fullest(phase: PhaseEntry) -> Row | None:
    shares = [
        (share, slot, resource)
        for slot, used in phase.partition.utilisation.items()
        for resource, share in used.items()
    ]
    share, slot, resource = max(shares, key=lambda held: held[0], default=(0.0, "", ""))
    return {"slot": slot, "resource": resource, "share": share} if slot else None
