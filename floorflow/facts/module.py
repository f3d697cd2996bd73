"""Modules: engines that share a pblock, which of them are made once, and which were joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from floorflow.errors import some
from floorflow.facts.floorplan import PblockEntry
from floorflow.facts.text import chance, table, wrapped
from floorflow.facts.values import Amounts, PlanModel
from floorflow.resources import RESOURCE_NAMES


class ModuleEntry(PlanModel):
    """Engines that share one pblock.

    ``like`` and ``implementation``: the first module of equal kinds, dimensions and folding, and the one that it is
    made with; ``why_not``: why it is not ``reused`` where others are like it.
    """

    name: str
    engines: list[str]
    like: str
    implementation: str
    reused: bool
    why_not: str
    resources: Amounts


class JoinedEntry(PlanModel):
    """A module whose parts, ``modules`` as they were clustered, share a pblock because rectangles did not fit."""

    module: str
    modules: Annotated[list[str], Field(min_length=2)]
    slot: str
    why: str


class PortEntry(PlanModel):
    """A stream port of an implementation."""

    channel: str
    direction: Literal["in", "out"]
    width_bits: int


class ImplementationEntry(PlanModel):
    """A module as it is made once: its window in columns and rows, and its ports."""

    name: str
    window: dict[str, int]
    ports: list[PortEntry]


_MOST_LAYERS = 3
"""Layers of a module that its row lists."""
_REASONS = {
    "for constants in logic": "part of",
    "for their FIFOs, converters or wires": "FIFOs",
    "for their windows": "window",
}
"""What a reason of `ModuleEntry.why_not` is about, by words that it holds."""


def modules(
    entries: Sequence[ModuleEntry],
    joined: Sequence[JoinedEntry],
    slot_of: Mapping[str, str],
    pblocks: Mapping[str, PblockEntry],
    layers_of: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return slot, resources and layers of each module, and which are several for which rectangles did not fit."""
    rows: list[tuple[str, ...]] = [("module", "slot", *RESOURCE_NAMES, "pblock fits", "engines", "of layers")]
    for module in entries:
        amounts, entry = module.resources.model_dump(), pblocks.get(module.name)
        likely = "-" if entry is None or entry.likelihood is None else chance(entry.likelihood)
        needs = [f"{amounts[r]:,}" for r in RESOURCE_NAMES]
        rows.append(
            (
                module.name,
                slot_of[module.name],
                *needs,
                likely,
                str(len(module.engines)),
                _layers(layers_of[module.name]),
            )
        )
    return [*table(rows, left=2), *wrapped([*map(_joined, joined), *_reuse(entries)])]


def _layers(names: Sequence[str]) -> str:
    """Write a module's layers: all of a few, else the first and the last."""
    distinct = [*dict.fromkeys(names)]
    return ", ".join(distinct) if len(distinct) <= _MOST_LAYERS else f"{distinct[0]} to {distinct[-1]}"


def _reuse(modules: Sequence[ModuleEntry]) -> Iterator[str]:
    """Tell, where modules are alike, how many circuits are made, and what keeps the others from being one."""
    count = len(modules)
    alike, made = (len({getattr(m, key) for m in modules}) for key in ("like", "implementation"))
    if alike == count:
        return
    yield (
        f"{count} modules of {alike} sorts, made as {made} implementations: reuse {1 - alike / count:.1%} by "
        f"kinds, dimensions and folding, {1 - made / count:.1%} truly"
    )
    reasons = Counter(sort for m in modules for sort, words in _REASONS.items() if words in m.why_not)
    if reasons:
        yield "modules that are made anew: " + ", ".join(f"{number} {sort}" for sort, number in reasons.items())


def _joined(entry: JoinedEntry) -> str:
    parts = f"{len(entry.modules)} modules ({some(entry.modules)})"
    return (
        f"{entry.module} is {parts} of {entry.slot} in one pblock, as pblocks of their own were not found: {entry.why}"
    )
