"""The large memories of a network in a phase: where each lies, and what it would take elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from floorflow.channels import choices_of
from floorflow.dataflow.model import Attributes, Option, renamings
from floorflow.dataflow.options import OptionTable
from floorflow.facts.memory import MemoryEntry
from floorflow.record.part import Part
from floorflow.resources import Resources, scarcity

LARGE_BITS = 8 * 18_432
"""What eight block RAMs of 18 Kbit hold: smaller memories decide little."""


def memories(part: Part) -> list[MemoryEntry]:
    """Return the large memories, those of weights first, each kind in the network's order."""
    return [*_weights(part), *_fifos(part)]


def _weights(part: Part) -> Iterator[MemoryEntry]:
    context, folded = part.context, part.candidate.folded
    earlier = {new: old for old, new in renamings(context.dataflow, folded.dataflow).items()}
    tables = {name: group.options_of(name) for group in context.problem.groups for name in group.engines}
    for engine in folded.dataflow.engines:
        option = folded.options[engine.name]
        memory = context.backend.weight_memory(engine, option)
        if memory is not None and memory.bits >= LARGE_BITS:
            alike = _alike(tables[earlier[engine.name]], option, context.backend.memory_attributes)
            styles = [(context.backend.weight_memory(engine, other), other.resources) for other in alike]
            others = [(found.style, use) for found, use in styles if found is not None]
            chosen = (memory.style, option.resources)
            yield _entry(part.id(engine.name), "weights", memory.bits, chosen, _cheapest(part, others))


def _alike(table: OptionTable, option: Option, attributes: tuple[str, ...]) -> Iterator[Option]:
    """Yield the foldings that differ from one only in where weights lie."""
    own = OptionTable.of([option])
    same = (table.cycles == option.cycles) & (table.widths_bits == own.widths_bits).all(axis=0)
    for row in np.flatnonzero(same).tolist():
        other = table[row]
        if other.kind == option.kind and _without(other.folding, attributes) == _without(option.folding, attributes):
            yield other


def _without(folding: Attributes, attributes: tuple[str, ...]) -> Attributes:
    return {name: value for name, value in folding.items() if name not in attributes}


def _fifos(part: Part) -> Iterator[MemoryEntry]:
    costs = part.context.costs
    for channel in part.candidate.channels:
        bits = channel.width_bits * channel.fifo_depth_words
        choices = choices_of(channel.stream, channel.width_bits, channel.fifo_depth_words, costs)
        if bits >= LARGE_BITS:
            others = [(choice.style, choice.resources) for choice in choices]
            chosen = (channel.fifo_style, channel.fifo_resources)
            yield _entry(part.channel_name(channel.name), "fifo", bits, chosen, _cheapest(part, others))


def _cheapest(part: Part, others: list[tuple[str, Resources]]) -> Mapping[str, Resources]:
    """Return the least scarce use of every style."""
    silicon = part.context.platform.silicon
    found: dict[str, Resources] = {}
    for style, use in sorted(others, key=lambda other: scarcity(other[1], silicon)):
        found.setdefault(style, use)
    return found


def _entry(
    name: str, kind: str, bits: int, chosen: tuple[str, Resources], others: Mapping[str, Resources]
) -> MemoryEntry:
    style, use = chosen
    choices = [{"style": other, "resources": own} for other, own in sorted(others.items()) if other != style]
    return MemoryEntry.model_validate(
        {"name": name, "kind": kind, "bits": bits, "style": style, "resources": use, "others": choices}
    )
