"""A phase of a plan with all that its report is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from floorflow.facts.extras import Extras
from floorflow.facts.links import Links
from floorflow.facts.network import EngineEntry
from floorflow.facts.partition import LoadEntry, SlotUse
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.plan import Plan
from floorflow.facts.platform import PlatformFacts
from floorflow.request import limits_of, pblock_limit
from floorflow.resources import Resources, total


class PlanTexts(Protocol):
    """What the report asks of a plan's back end; a phase goes by its number."""

    def cost_model(self, plan: Plan, /) -> str:
        """Return in words what the plan's resources are."""

    def steps(self, plan: Plan, phase: int, free: Resources, /) -> Iterable[str]:
        """Return what to try next in a phase that leaves so much of all limits."""

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what in the network would shorten engines that are folded as wide as can be, or nothing."""

    @property
    def folding_limit(self) -> str:
        """What may stop a wider folding beside the slots, as a verb with its object."""

    @property
    def start_ups(self) -> str:
        """What lengthens the interval where FIFOs are small, as a clause."""

    @property
    def fifo_depths(self) -> str:
        """Where the user gives the depths of FIFOs."""


@dataclass(frozen=True)
class Context:
    """A phase with its plan, the platform's facts, the back end's words and, once they are worked out, extras."""

    plan: Plan
    phase: PhaseEntry
    platform: PlatformFacts
    backend: PlanTexts
    extras: Extras | None = None

    def longer(self, part: PhaseNetworkEntry) -> str:
        """Return what makes the interval of a network longer than that of its engines, as a clause."""
        cycles, link = Links(self.plan.platform, self.phase).slowest(part, self.plan.summary.clock_mhz)
        return f"link {link} takes as long for" if cycles else self.backend.start_ups

    @cached_property
    def names(self) -> dict[str, str]:
        """What the report calls engines and streams, by their ids: with the layers they are of."""
        layers = {engine: self.plan.layer_of(engine) for engine in self.phase.engines}
        names = {engine: f"{engine} ({layer})" if layer else engine for engine, layer in layers.items()}
        for stream in self.phase.channels:
            at = filter(None, map(layers.get, (stream.source, stream.target)))
            told = " to ".join(dict.fromkeys(at))
            names[stream.name] = f"{stream.name} ({told})" if told else stream.name
        return names

    @cached_property
    def slots(self) -> tuple[SlotUse, ...]:
        """The use of every slot, crossing registers and slices included, in the platform's order."""
        options, phase = self.plan.options, self.phase
        available = {s.name: s.available.resources - phase.beside(s.name) for s in self.plan.slots_in(phase)}
        drawable, used, caps = self.platform.free, phase.partition.utilisation, options.cap.as_dict()
        if phase.region is not None:
            drawable = {name: supply.least(available[name]) for name, supply in drawable.items()}
        return tuple(
            SlotUse(n, phase.demand(n), limits_of(options, have), pblock_limit(options, drawable[n]), used[n], caps)
            for n, have in available.items()
        )

    @cached_property
    def demand(self) -> Resources:
        """What all modules and crossing registers need."""
        return total(slot.demand for slot in self.slots)

    @cached_property
    def limit(self) -> Resources:
        """What all slots allow."""
        return total(slot.limit for slot in self.slots)

    @property
    def more_fpgas(self) -> int | None:
        """One FPGA more than there are, if the board can be linked so far."""
        count = len(self.plan.platform.fpgas)
        return count + 1 if count < self.platform.most_fpgas else None

    def loads(self, kind: str) -> list[LoadEntry]:
        """Boundaries or links, the fullest first."""
        found = [load for load in self.phase.partition.loads if load.kind == kind]
        return sorted(found, key=lambda load: load.share, reverse=True)

    def by_network(self, lines: Callable[[PhaseNetworkEntry], list[str]]) -> list[str]:
        """Return the lines of each network in the phase, under its name if the plan has several."""
        if len(self.plan.networks) == 1:
            return lines(self.phase.networks[0])
        own = {part.network: lines(part) for part in self.phase.networks}
        return [line for name, each in own.items() if each for line in (f"{name}:", *(f"  {text}" for text in each))]
