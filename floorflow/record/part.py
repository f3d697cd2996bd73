"""What is recorded: the finished search of each network in a phase, and what they have in common there."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from floorflow.backends.clock import LikelyClock
from floorflow.errors import InputError
from floorflow.facts.names import underscored
from floorflow.placement.problem import PlacementSolution
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Evenness, SearchResult
from floorflow.search.candidate.preparing import clock_target
from floorflow.search.candidate.slot_problem import Use, module_uses
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
    renamed: Mapping[str, str] = field(default_factory=dict)
    """What the plan calls engines and buffers, by the candidate's names, where these are of a phase alone."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Where it stands for several networks: frames a second of each, by what its names begin with."""

    @property
    def candidate(self) -> Candidate:
        """The design that was found."""
        return self.result.candidate

    @property
    def frames_per_s(self) -> float:
        """Rate of the engines."""
        return self.context.platform.clock_mhz * 1e6 / self.candidate.interval_cycles

    def frames_per_s_of(self, end: str) -> float:
        """Return the rate at which frames pass an end of a stream."""
        own = (rate for prefix, rate in self.rates.items() if end.startswith(prefix))
        return next(own) if self.rates else self.frames_per_s

    @cached_property
    def likely_clock(self) -> LikelyClock | None:
        """Which clock the back end says that the folded engines are likely to reach where they lie."""
        target = clock_target(self.context.platform, set(self.candidate.slot_of.values()))
        return self.context.backend.likely_clock(self.candidate.folded, target)

    def id(self, end: str) -> str:
        """Return how the plan's phases name an engine, or an end outside."""
        return self.prefix + self.renamed.get(end, end)

    def module(self, name: str) -> str:
        """Return how the plan names a module: below its network's name if there are several, in letters, digits, _."""
        name = self.told(name)
        return underscored(f"{self.prefix[:-1]}__{name}") if self.prefix else name

    def channel_name(self, name: str) -> str:
        """Return how the plan names a channel of the candidate."""
        ends = (end.rpartition(".") for end in name.split("->"))
        return "->".join(f"{self.id(end)}.{port}" for end, _, port in ends)

    def told(self, text: str) -> str:
        """Return a text with the engines by the plan's names."""
        return self._names.sub(lambda found: self.renamed[found[0]], text) if self.renamed else text

    @cached_property
    def _names(self) -> re.Pattern[str]:
        """Any of the names that the plan does not take over."""
        names = sorted(self.renamed, key=lambda name: (-len(name), name))
        return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, names))})(?![0-9])")


@dataclass(frozen=True)
class PhaseRun:
    """A phase: its networks, and the one partition and the floorplans, by FPGA, that hold all their modules.

    Floorplans name modules as the plan does (`Part.module`).

    Raises InputError if two modules would have one name in the plan.
    """

    name: str
    parts: tuple[Part, ...]
    partition_cost: int
    partition_stats: SolveStats
    placements: Mapping[str, PlacementSolution]
    fullness: SolveStats
    """Of the largest share of any slot's limit."""
    evenness: Evenness | None = None
    """What that costs in crossings."""
    region: str | None = None
    """That it is loaded into, once ``loads_after`` has run there."""
    loads_after: str | None = None
    whole: Part | None = None
    """All networks as one, where they were planned together: their modules may be shared."""

    @property
    def wholes(self) -> tuple[Part, ...]:
        """What modules and channels are taken from: all networks as one, or each by itself."""
        return self.parts if self.whole is None else (self.whole,)

    def __post_init__(self) -> None:
        """Refuse networks whose modules the plan could not tell apart."""
        counts = Counter(part.module(m.name) for part in self.wholes for m in part.candidate.modules)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            names = ", ".join(part.network for part in self.parts)
            hint = "give networks names that differ in letters or digits"
            raise InputError(
                f"phase {self.name}: networks {names}: {len(twice)} modules such as {twice[0]} "
                "would have the name of another",
                hint=hint,
            )

    @property
    def context(self) -> PlanningContext:
        """What all networks share: the platform, the request, its prices."""
        return self.parts[0].context


def alone(part: Part, name: str = MAIN) -> PhaseRun:
    """Return the phase of a network that has the platform to itself."""
    candidate = part.candidate
    slot_of = candidate.partition.slot_of
    cost = candidate.problem.crossing_cost(slot_of)
    stats = candidate.problem.of_crossings(candidate.partition.stats, slot_of)
    placements = {
        fpga: replace(placed, regions={part.module(name): region for name, region in placed.regions.items()})
        for fpga, placed in part.result.placements.items()
    }
    found = part.result
    return PhaseRun(name, (part,), cost, stats, placements, found.fullness.slots, found.evenness)


def uses_of_part(part: Part) -> Mapping[str, Use]:
    """Return what each module of a network in a phase needs, by kind; modules go by the candidate's names."""
    candidate = part.candidate
    return module_uses(
        candidate.modules, candidate.folded, candidate.channels, part.context.costs, frozenset(part.measured)
    )
