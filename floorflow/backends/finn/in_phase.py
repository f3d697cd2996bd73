"""What runs of each network in a phase, as FINN's files need it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from floorflow.facts import ChannelEntry, EngineEntry, FoldedEntry, NetworkEntry, PhaseEntry, Plan


@dataclass(frozen=True)
class NetworkInPhase:
    """What runs of a network in a phase."""

    plan: Plan
    network: NetworkEntry
    phase: PhaseEntry

    @cached_property
    def engines(self) -> list[EngineEntry]:
        """The engines that run, in order."""
        folded = self.phase.network(self.network.name).folding.engines
        return [e for e in self.network.engines if self.plan.engine_id(self.network.name, e.name) in folded]

    @cached_property
    def id_of(self) -> dict[str, str]:
        """How the phase names the engines."""
        return {engine.name: self.plan.engine_id(self.network.name, engine.name) for engine in self.engines}

    @cached_property
    def folding(self) -> dict[str, FoldedEntry]:
        """The folding of each engine, by its name in the network."""
        folded = self.phase.network(self.network.name).folding.engines
        return {name: folded[identity] for name, identity in self.id_of.items()}

    @cached_property
    def channels(self) -> list[ChannelEntry]:
        """The channels with an end at an engine of the network."""
        inside = set(self.id_of.values())
        return [channel for channel in self.phase.channels if {channel.source, channel.target} & inside]


def networks_in(plan: Plan, phase: int) -> list[NetworkInPhase]:
    """Return what runs of each network in a phase."""
    entry = plan.phases[phase]
    return [NetworkInPhase(plan, plan.network(part.network), entry) for part in entry.networks]
