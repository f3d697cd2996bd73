"""What runs of each network in a phase of a plan, and where its files lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from floorflow.facts import NetworkEntry, Plan


class Layer(Protocol):
    """What files tell of an engine: one of a plan, or of a folding that is in none."""

    @property
    def name(self) -> str:
        """The engine's name."""

    @property
    def kind(self) -> str:
        """The back end's class of layers."""

    @property
    def operation(self) -> str:
        """The operation that it computes."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """What is known of it before folding."""

    @property
    def weight_bits(self) -> int:
        """Bits of a weight."""

    @property
    def output_bits(self) -> int:
        """Bits of an element of its result."""


Layers = tuple[tuple[Layer, Mapping[str, Any]], ...]
"""Engines in order, each with its folding."""


@dataclass(frozen=True)
class Running:
    """A network in a phase: its engines in order, with how they are folded, and the folder of its files."""

    network: NetworkEntry
    engines: Layers
    folder: str


def running(plan: Plan, phase: int) -> Iterator[Running]:
    """Yield what runs of each network in a phase."""
    backend = plan.options.backend
    for part in plan.phases[phase].networks:
        network, folded = plan.network(part.network), part.folding.engines
        ids = {engine.name: plan.engine_id(network.name, engine.name) for engine in network.engines}
        engines = tuple((e, folded[ids[e.name]].attributes) for e in network.engines if ids[e.name] in folded)
        folder = backend if len(plan.networks) == 1 else f"{backend}/{network.name}"
        yield Running(network, engines, folder)


def parallel_rows(named: Mapping[str, tuple[int, int]]) -> tuple[tuple[str, int, int], ...]:
    """Return rows of parallelism: name, value and most, of what can be more than one."""
    return tuple((name, value, most) for name, (value, most) in named.items())
