"""The graph of actors and FIFOs with its precedences ready: who is beside which FIFO, and in which order data flows.

How much an analysis of it may do is a count of steps, the same on every machine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import networkx as nx

from floorflow.errors import InputError, LimitError, Refusal
from floorflow.rates.precedence import Precedences, data_precedences, space_precedences
from floorflow.rates.problem import RateProblem
from floorflow.rates.words import Words
from floorflow.stats import count

Depths = Mapping[str, int]
"""Depth of every FIFO in words, by name."""
STEP_S = 1e-8
"""Work of a step."""
UPDATE_STEPS = 1_000
"""Steps that an update of one actor counts beside one for each of its bursts: about what a call costs."""


@dataclass
class StepLimit:
    """Steps that are left of ``limit``. Near the shortest interval of given depths waits can grow one by one."""

    limit: int
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.limit

    def spend(self, bursts: int) -> None:
        """Count one update of so many bursts.

        LimitError if the limit is passed.
        """
        count(STEP_S * (UPDATE_STEPS + bursts))
        self.left -= UPDATE_STEPS + bursts
        if self.left < 0:
            stopped = Refusal("analysis steps", "steps", allowed=self.limit)
            raise LimitError(str(stopped), hint="take deeper FIFOs, or a coarser folding", refusals=(stopped,))


@dataclass(frozen=True, eq=False)
class FifoGraph:
    """The constraints of a problem, and how much may be done on it. FIFOs and actors are numbered as in the problem."""

    problem: RateProblem
    work: StepLimit | None = None

    def spend(self, bursts: int) -> None:
        """Count one update of so many bursts, where work is limited."""
        if self.work is not None:
            self.work.spend(bursts)

    @cached_property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """Source and target actor of each FIFO."""
        index = self.problem.index
        return tuple((index[fifo.source], index[fifo.target]) for fifo in self.problem.fifos)

    @cached_property
    def consumed(self) -> tuple[tuple[int, ...], ...]:
        """FIFOs that each actor reads."""
        return self._beside(1)

    @cached_property
    def produced(self) -> tuple[tuple[int, ...], ...]:
        """FIFOs that each actor writes."""
        return self._beside(0)

    def _beside(self, side: int) -> tuple[tuple[int, ...], ...]:
        beside: list[list[int]] = [[] for _ in self.problem.actors]
        for fifo, ends in enumerate(self.ends):
            beside[ends[side]].append(fifo)
        return tuple(tuple(row) for row in beside)

    @cached_property
    def written(self) -> tuple[Words, ...]:
        """When words enter each FIFO."""
        actors = self.problem.actors
        pairs = zip(self.problem.fifos, self.ends, strict=True)
        return tuple(Words.of(actors[source], actors[source].writes[f.source_port]) for f, (source, _) in pairs)

    @cached_property
    def needed(self) -> tuple[Words, ...]:
        """When words must have arrived."""
        actors = self.problem.actors
        pairs = zip(self.problem.fifos, self.ends, strict=True)
        return tuple(Words.of(actors[target], actors[target].reads[f.target_port]) for f, (_, target) in pairs)

    @cached_property
    def freed(self) -> tuple[Words, ...]:
        """When places become free."""
        actors = self.problem.actors
        rows = zip(self.problem.fifos, self.ends, self.needed, strict=True)
        # Most places are free once their word is read: what is worked out of those words is then worked out once.
        return tuple(
            Words.of(actors[target], actors[target].freed(f.target_port)) if actors[target].frees else needed
            for f, (_, target), needed in rows
        )

    @cached_property
    def data(self) -> tuple[Precedences, ...]:
        """Constraints from writer to reader."""
        rows = zip(self.problem.fifos, self.ends, self.written, self.needed, strict=True)
        return tuple(
            data_precedences(ends, written, needed, fifo.latency_cycles) for fifo, ends, written, needed in rows
        )

    def space(self, fifo: int, depth_words: int) -> tuple[Precedences, ...]:
        """Return the constraints from reader back to writer at a depth."""
        row = self.problem.fifos[fifo]
        if depth_words < 1:
            raise InputError(f"FIFO {row.name}: depth is {depth_words} words, expected at least 1")
        return space_precedences(self.ends[fifo], self.written[fifo], self.freed[fifo], depth_words, row.place_cycles)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Largest number of FIFOs of free depth on a path to each actor; a fixed FIFO ties its ends to one level."""
        team = self._team_of
        graph = nx.DiGraph((team[a], team[b]) for a, b in self._ends_of(fixed=False))
        graph.add_nodes_from(team)
        if not nx.is_directed_acyclic_graph(graph):
            raise InputError("the FIFOs of a rate problem run in a circle; fix the depth of one that closes it")
        level = {name: number for number, names in enumerate(nx.topological_generations(graph)) for name in names}
        return tuple(level[name] for name in team)

    @cached_property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """Actors joined by FIFOs of fixed depth, each actor in one team."""
        return tuple(sorted(tuple(sorted(team)) for team in nx.connected_components(self._fixed)))

    @cached_property
    def _fixed(self) -> nx.Graph:
        graph = nx.Graph(self._ends_of(fixed=True))
        graph.add_nodes_from(range(len(self.problem.actors)))
        return graph

    @cached_property
    def _team_of(self) -> tuple[int, ...]:
        """The least actor of each one's team."""
        least = {actor: team[0] for team in self.teams for actor in team}
        return tuple(least[actor] for actor in range(len(least)))

    def _ends_of(self, *, fixed: bool) -> Iterator[tuple[int, int]]:
        """Yield the ends of the FIFOs whose depth is fixed, or is not."""
        pairs = zip(self.problem.fifos, self.ends, strict=True)
        return (ends for fifo, ends in pairs if (fifo.depth_words is not None) == fixed)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Actors from the sources on."""
        return tuple(sorted(range(len(self.levels)), key=lambda actor: (self.levels[actor], actor)))

    def ample(self, fifo: int) -> int:
        """Return a depth that cannot bind: its fixed one, or frames enough for each level to run after the one before.

        If every level starts a frame one period and the longest path to it and back (no longer than another) after the
        level before it, each word's place is free again after two periods a level and one for the frame itself.
        """
        fixed = self.problem.fifos[fifo].depth_words
        source, target = self.ends[fifo]
        frames = 2 * (self.levels[target] - self.levels[source]) + 2
        return fixed if fixed is not None else frames * self.written[fifo].total

    def complete(self, depths: Depths) -> tuple[int, ...]:
        """Return the depth of every FIFO, fixed ones included.

        InputError if a depth is missing.
        """
        chosen = []
        for fifo in self.problem.fifos:
            depth = fifo.depth_words if fifo.depth_words is not None else depths.get(fifo.name)
            if depth is None:
                raise InputError(f"FIFO {fifo.name}: no depth is given; expected a number of words")
            chosen.append(depth)
        return tuple(chosen)
