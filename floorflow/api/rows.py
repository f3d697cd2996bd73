"""A plan as rows: one flat dictionary an engine, a channel or a module, as ``pandas.DataFrame`` takes them.

All that reads fields of plan.json for the API stands here and in `told`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floorflow.schema import FoldedEntry, PhaseEntry, Plan

Row = dict[str, Any]


def engine_rows(plan: Plan) -> Iterator[Row]:
    """Yield each engine of each phase with its place, cycles a frame, resources and folding."""
    folded_engines = [folded for phase in plan.phases for folded in phase.engines.values()]
    attributes = sorted({name for folded in folded_engines for name in folded.attributes})
    for phase in plan.phases:
        modules = {engine: module.name for module in phase.modules for engine in module.engines}
        for network, name, folded in _folded(phase):
            engine = plan.engines[name]
            yield {
                "engine": name,
                "network": network,
                "phase": phase.name,
                "kind": engine.kind,
                "operation": engine.operation,
                "module": modules[name],
                **_place(plan, phase, modules[name]),
                "cycles": folded.cycles,
                **folded.resources.model_dump(),
                "weight_bits": engine.weight_bits,
                "input_bits": engine.input_bits,
                "output_bits": engine.output_bits,
                **{attribute: folded.attributes.get(attribute) for attribute in attributes},
            }


def _folded(phase: PhaseEntry) -> Iterator[tuple[str, str, FoldedEntry]]:
    for part in phase.networks:
        for name, folded in part.folding.engines.items():
            yield part.network, name, folded


def channel_rows(plan: Plan) -> Iterator[Row]:
    """Yield each stream with its widths, FIFO, converter, the registers on its way, and what that costs."""
    for phase in plan.phases:
        for channel in phase.channels:
            row = channel.model_dump(exclude={"name", "converter_resources", "fifo_resources", "crossing_resources"})
            resources = row.pop("resources")
            yield {"channel": channel.name, "phase": phase.name, **row, **resources}


def module_rows(plan: Plan) -> Iterator[Row]:
    """Yield each module with its engines, slot, resources, and pblock in columns and CLB rows of the device."""
    for phase in plan.phases:
        pblocks = {name: entry for held in phase.floorplan.values() for name, entry in held.pblocks.items()}
        for module in phase.modules:
            yield {
                "module": module.name,
                "phase": phase.name,
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
