"""A plan as rows: one flat dictionary an engine, a channel or a module, as ``pandas.DataFrame`` takes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floorflow.facts import FoldedEntry, PhaseEntry, Plan

Row = dict[str, Any]


def summary(plan: Plan) -> Row:
    """Return plan.json's summary, with rates by phase and by clock, the schedule, and what is hard to close."""
    from floorflow.facts.closing import closing

    figures = plan.summary.model_dump()
    for entry in figures["networks"]:
        parts = plan.parts(entry["network"])
        entry["bottleneck_phase"] = plan.slowest_phase(entry["network"]).name
        entry["phases"] = [
            {"phase": phase.name, "fps": part.estimates.believed_fps, "interval_cycles": part.interval_cycles}
            for phase, part in parts
        ]
        entry["clocks"] = [
            {"phase": phase.name, "clock_mhz": mhz, "fps": fps}
            for phase, part in parts
            for mhz, fps in part.estimates.clock_rates
        ]
    figures["closing"] = [
        {"phase": phase.name, **asdict(item)} for phase in plan.phases for item in closing(plan, phase)
    ]
    figures["longest"] = [
        {"phase": phase.name, "fpga": fpga, **row.model_dump(), "slices_built": phase.slices_built}
        for phase in plan.phases
        for fpga, rows in phase.longest.items()
        for row in rows
    ]
    return {**figures, "schedule": None if plan.schedule is None else plan.schedule.period}


def engine_rows(plan: Plan) -> Iterator[Row]:
    """Yield each engine of each phase with its place, cycles a frame, resources and folding.

    An attribute of the folding has its own name, behind ``folding_`` where the row has a column of that name already.
    """
    folded_engines = [folded for phase in plan.phases for folded in phase.engines.values()]
    attributes = sorted({name for folded in folded_engines for name in folded.attributes})
    for row, folded in _engine_rows(plan):
        columns = {_column(attribute, row, attributes): attribute for attribute in attributes}
        yield row | {column: folded.attributes.get(attribute) for column, attribute in columns.items()}


def _column(attribute: str, row: Row, attributes: Collection[str]) -> str:
    """Return the column of an attribute: none that the row has, nor another attribute's."""
    column = attribute
    while column in row or (column != attribute and column in attributes):
        column = f"folding_{column}"
    return column


def _engine_rows(plan: Plan) -> Iterator[tuple[Row, FoldedEntry]]:
    engines = plan.engines
    for phase in plan.phases:
        modules = {engine: module.name for module in phase.modules for engine in module.engines}
        for network, name, folded in _folded(plan, phase):
            engine = engines[name]
            row = {
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
            }
            yield row, folded


def _folded(plan: Plan, phase: PhaseEntry) -> Iterator[tuple[str, str, FoldedEntry]]:
    """Yield network, id and folding of a phase's engines, as the networks have them in order: plan.json sorts keys."""
    order = plan.engines
    for part in phase.networks:
        own = part.folding.engines
        yield from ((part.network, name, own[name]) for name in order if name in own)


def channel_rows(plan: Plan) -> Iterator[Row]:
    """Yield each stream with its widths, FIFO, converter, registers and slices, and what FIFO and converter cost."""
    for phase in plan.phases:
        for channel in phase.channels:
            parts = {f"{part}_resources" for part in ("converter", "fifo", "crossing", "slice")}
            row = channel.model_dump(exclude={"name", "slice_slots", "crossing_slots", *parts})
            resources = row.pop("resources")
            network = _network(plan, channel.ends[0].network)
            yield {"channel": channel.name, "network": network, "phase": phase.name, **row, **resources}


def module_rows(plan: Plan) -> Iterator[Row]:
    """Yield each module with its engines, slot, resources, and the box around its pblock in columns and CLB rows."""
    for phase in plan.phases:
        networks = {name: network for network, name, _ in _folded(plan, phase)}
        for module in phase.modules:
            yield {
                "module": module.name,
                "network": ", ".join(dict.fromkeys(networks[engine] for engine in module.engines)),
                "phase": phase.name,
                "engines": ", ".join(module.engines),
                "like": module.like,
                "implementation": module.implementation,
                "reused": module.reused,
                "why_not": module.why_not,
                **_place(plan, phase, module.name),
                **module.resources.model_dump(),
                **phase.pblocks[module.name].box.model_dump(),
            }


def _network(plan: Plan, prefix: str) -> str:
    """Return the network that names have before them; a plan of one network has none there."""
    return prefix or plan.networks[0].name


def _place(plan: Plan, phase: PhaseEntry, module: str) -> Row:
    slot = phase.partition.assignment[module]
    return {"slot": slot, "fpga": plan.fpga_of[slot]}
