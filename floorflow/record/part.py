"""What is recorded: the finished search of each network in a phase, and what they have in common there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from floorflow.placement import PlacementSolution
from floorflow.search.candidate import Candidate
from floorflow.search.context import PlanningContext
from floorflow.search.search import SearchResult
from floorflow.stats import SolveStats

MAIN = "main"
"""Name of the one phase of a plan in which nothing is swapped."""


@dataclass(frozen=True)
class Part:
    """What runs of a network in a phase. ``prefix``, ``net/`` or empty, stands before the names of its engines.

    ``measured``: the engines (by name) whose resources are no estimates.
    """

    network: str
    context: PlanningContext
    result: SearchResult
    prefix: str = ""
    measured: Collection[str] = field(default=())

    @property
    def candidate(self) -> Candidate:
        """The design that was found."""
        return self.result.candidate

    @property
    def frames_per_s(self) -> float:
        """Rate of the engines."""
        return self.context.platform.clock_mhz * 1e6 / self.candidate.interval_cycles

    def id(self, end: str) -> str:
        """Return how the plan's phases name an engine, or an end outside."""
        return self.prefix + end

    def channel_name(self, name: str) -> str:
        """Return how the plan names a channel of the candidate."""
        return "->".join(self.id(end) for end in name.split("->"))


@dataclass(frozen=True)
class PhaseRun:
    """A phase: its networks, and the one partition and the floorplans, by FPGA, that hold all their modules."""

    name: str
    parts: tuple[Part, ...]
    partition_cost: int
    partition_stats: SolveStats
    placements: Mapping[str, PlacementSolution]

    @property
    def context(self) -> PlanningContext:
        """What all networks share: the platform, the request, its prices."""
        return self.parts[0].context


def alone(part: Part) -> PhaseRun:
    """Return the phase of a network that has the platform to itself, all the time."""
    candidate = part.candidate
    cost = candidate.problem.cost(candidate.partition.slot_of)
    return PhaseRun(MAIN, (part,), cost, candidate.partition.stats, part.result.placements)
