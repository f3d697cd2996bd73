"""Method ``annealing``, simulated annealing over cuts and foldings: SAMO's Algorithm 1.

A state is a design; a move changes one node's option, or puts or takes one cut. Nodes whose foldings are tied to the
change follow: they keep what they can of their own folding. Only states that keep all rules are accepted; a start that
breaks some is first brought to keep them, by accepting what breaks in fewer partitions.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, replace
from math import exp, inf

import numpy as np

from floorflow.papers.samo.problem import Design, Node, ScheduleAnswer, ScheduleProblem, matches
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class AnnealingSchedule:
    """Temperatures from ``start`` down to ``end`` by ``factor``, ``moves`` at each, then ``hold`` moves at the last.

    ``scaled``: temperatures are thousandths of the state's cost; else units of the objective as SAMO has it, us for
    latency and images a us for throughput. ``cut_share`` of the moves change cuts. ``cools_always``: even where a move
    was not legal.
    """

    start: float
    end: float
    factor: float
    moves: int
    hold: int = 0
    scaled: bool = False
    cut_share: float = 0.25
    cools_always: bool = True
    most_moves: int = 200_000


PUBLISHED = AnnealingSchedule(1000, 1, 0.98, 10, hold=20_000)
"""Algorithm 1 as section V states its parameters; instead of a time it holds for a number of moves."""
CODED = AnnealingSchedule(1000, 0.1, 0.995, 100, cut_share=0.1, cools_always=False)
"""SAMO's code: K = k T with k = 100, T from 10 to 0.001, 100 changes a step; stopped at ``most_moves``."""
SCALED = AnnealingSchedule(1000, 1, 0.98, 30, hold=20_000, scaled=True)
"""The published temperatures, as thousandths of the cost: otherwise throughput is a random walk (README of SAMO)."""


MOVES_A_NODE, MOST_MOVES = 2, 120
"""Moves at each temperature: more where there is more to move, up to a limit."""


def solve(problem: ScheduleProblem, seed: int = 0) -> ScheduleAnswer:
    """Return the best state that one run meets; proves nothing."""
    moves = min(max(SCALED.moves, MOVES_A_NODE * len(problem.nodes)), MOST_MOVES)
    return answer(problem, replace(SCALED, moves=moves), seed, "annealing")


@dataclass(frozen=True)
class Annealed:
    """The best state that was seen and the one that was left, with their costs in us; infinite: none was legal."""

    best: Design
    best_us: float
    last_us: float


def anneal(problem: ScheduleProblem, schedule: AnnealingSchedule, seed: int) -> Annealed:
    """Anneal once; equal seeds give equal answers."""
    return _Annealing(problem, schedule, seed).run()


def answer(problem: ScheduleProblem, schedule: AnnealingSchedule, seed: int, method: str) -> ScheduleAnswer:
    """Anneal once and return the best state that was seen."""
    found = anneal(problem, schedule, seed)
    if found.best_us == inf:
        return ScheduleAnswer(None, SolveStats(method, "heuristic"), "no state that keeps all rules was met")
    return ScheduleAnswer(found.best, SolveStats(method, "heuristic", found.best_us))


class _Choices:
    """A node's options in plain lists, and by folding."""

    def __init__(self, node: Node) -> None:
        self.foldings = [tuple(row) for row in node.foldings.tolist()]
        self.cycles, self.use = node.cycles.tolist(), node.use.tolist()
        self.by_side: tuple[dict[int, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for row, folding in enumerate(self.foldings):
            for side in (0, 1):
                self.by_side[side][folding[side]].append(row)
        self.narrowest = min(range(len(self.foldings)), key=lambda row: (np.prod(self.foldings[row]), row))

    def nearest(self, row: int, side: int, folding: int) -> int | None:
        """Return the option with a folding at a side that is most like another one; None without any."""
        own = self.foldings[row]
        rows = self.by_side[side].get(folding)
        if not rows:
            return None
        return min(
            rows, key=lambda r: (abs(self.foldings[r][1 - side] - own[1 - side]), abs(self.foldings[r][2] - own[2]))
        )


class _Annealing:
    def __init__(self, problem: ScheduleProblem, schedule: AnnealingSchedule, seed: int) -> None:
        self.problem, self.schedule = problem, schedule
        self.random = random.Random(seed)
        self.choices = [_Choices(node) for node in problem.nodes]
        count = len(problem.nodes)
        self.behind: list[list[int]] = [[] for _ in range(count)]
        self.before: list[list[int]] = [[] for _ in range(count)]
        for a, b in problem.edges:
            self.behind[a].append(b)
            self.before[b].append(a)
        self.places = [border - 1 for border in problem.borders[1:-1]]
        self.rows = [choices.narrowest for choices in self.choices]
        self.cuts = set(self.places)
        self._known: dict[tuple[int, ...], float] = {}

    def run(self) -> Annealed:
        """Cool down, then hold."""
        schedule = self.schedule
        parts = self._parts(self.cuts)
        us = {part: self._us(part, self.rows) for part in parts}
        self.cost = self._cost(us)
        self.us = us
        self._best()
        temperature, moves = schedule.start, 0
        while temperature > schedule.end and moves < schedule.most_moves:
            legal = False
            for _ in range(schedule.moves):
                legal = self._move(temperature) or legal
            moves += schedule.moves
            temperature *= schedule.factor if legal or schedule.cools_always else 1
        for _ in range(schedule.hold):
            self._move(schedule.end)
        illegal, cost = self.cost
        return Annealed(self.best, self.best_us, inf if illegal else cost)

    best_us = inf

    def _best(self) -> None:
        illegal, cost = self.cost
        if self.best_us == inf or (not illegal and cost < self.best_us):
            self.best = Design(tuple(sorted(self.cuts)), tuple(self.rows))
            self.best_us = inf if illegal else cost

    def _move(self, temperature: float) -> bool:
        """Try one change; say whether it was legal."""
        changed = self._changed()
        if changed is None:
            return False
        rows, cuts, touched = changed
        us = {part: known for part, known in self.us.items() if part not in touched[0]}
        for part in touched[1]:
            us[part] = self._us(part, rows)
        cost = self._cost(us)
        legal = cost[0] <= self.cost[0]
        if legal and (cost[0] < self.cost[0] or self._accepts(self.cost[1], cost[1], temperature)):
            self.rows, self.cuts, self.us, self.cost = rows, cuts, us, cost
            self._best()
        return legal

    def _accepts(self, before: float, after: float, temperature: float) -> bool:
        """Say whether a cost in us is accepted after another (eq. 11)."""
        if self.schedule.scaled:
            worse = 1000 * (after - before) / max(before, 1e-12)
        elif self.problem.objective == "latency":
            worse = after - before
        else:
            worse = self.problem.batch / max(before, 1e-12) - self.problem.batch / max(after, 1e-12)
        return exp(min(0.0, -worse / temperature)) >= self.random.random()

    def _changed(self) -> tuple[list[int], set[int], tuple[set[tuple[int, int]], set[tuple[int, int]]]] | None:
        """Return a state next to this one, the partitions that it no longer has and those that are to be judged."""
        rows, cuts = list(self.rows), self.cuts
        if self.places and self.random.random() < self.schedule.cut_share:
            place = self.random.choice(self.places)
            cuts = cuts ^ {place}
            old, new = set(self._parts(self.cuts)), set(self._parts(cuts))
            if place not in cuts and not self._matched(rows, cuts, place):
                return None
            moved = {self._part_of(place, cuts)} if place not in cuts else set()
            return rows, cuts, (old - new, (new - old) | moved)
        node = self.random.randrange(len(rows))
        rows[node] = self.random.randrange(len(self.choices[node].foldings))
        part = self._part_of(node, cuts)
        if not self._propagated(rows, node, part):
            return None
        return rows, cuts, ({part}, {part})

    def _parts(self, cuts: set[int]) -> list[tuple[int, int]]:
        return self.problem.partitions(sorted(cuts))

    def _part_of(self, node: int, cuts: set[int]) -> tuple[int, int]:
        return next(part for part in self._parts(cuts) if part[0] <= node <= part[1])

    def _matched(self, rows: list[int], cuts: set[int], place: int) -> bool:
        """Let foldings follow over a border that is no cut any more; say whether they can."""
        part = self._part_of(place, cuts)
        return all(self._propagated(rows, a, part) for a in self._across(place, part))

    def _across(self, place: int, part: tuple[int, int]) -> list[int]:
        return sorted({a for a, b in self.problem.edges if part[0] <= a <= place < b <= part[1]})

    def _propagated(self, rows: list[int], start: int, part: tuple[int, int]) -> bool:
        """Change options of a partition until equal foldings are equal, from one node on; say whether that is done."""
        waiting, steps = [start], 0
        while waiting:
            node = waiting.pop()
            steps += 1
            if steps > 4 * (part[1] - part[0] + 1):
                return False
            inputs, output, _ = self.choices[node].foldings[rows[node]]
            ends = [(node, other, (0, output)) for other in self.behind[node] if other <= part[1]]
            ends += [(other, other, (1, inputs)) for other in self.before[node] if other >= part[0]]
            # What a node feeds comes first, then what feeds it; each takes an option that suits.
            if not all(self._suits(self.problem.nodes[at], other, end, rows, waiting) for at, other, end in ends):
                return False
        return True

    def _suits(self, source: Node, other: int, wanted: tuple[int, int], rows: list[int], waiting: list[int], /) -> bool:
        """Give the node at a stream's other end an option that suits, by side and folding; say whether it has one."""
        side, folding = wanted
        if matches(source, self.choices[other].foldings[rows[other]][side], folding):
            return True
        row = self.choices[other].nearest(rows[other], side, folding) if source.equal_folding else None
        if row is None:
            return False
        rows[other] = row
        waiting.append(other)
        return True

    def _us(self, part: tuple[int, int], rows: list[int]) -> float:
        """Return the us of a partition; infinite if it breaks a rule."""
        first, last = part
        key = (first, *rows[first : last + 1])
        if key not in self._known:
            if len(self._known) > 50_000:
                self._known.clear()
            self._known[key] = self._judged(first, last, rows)
        return self._known[key]

    def _judged(self, first: int, last: int, rows: list[int]) -> float:
        own = [(self.choices[n], rows[n]) for n in range(first, last + 1)]
        use = [choices.use[row] for choices, row in own]
        if any(sum(column) > limit for column, limit in zip(zip(*use, strict=True), self.problem.limits, strict=True)):
            return inf
        cycles = max(choices.cycles[row] for choices, row in own)
        if not self.problem.moved_megabits(first, last) < 1000 * self.problem.bandwidth_gbit_s * (
            cycles * self.problem.cycles_scale
        ):
            return inf
        return self.problem.microseconds(cycles) if self._rules_kept(first, last, rows) else inf

    def _rules_kept(self, first: int, last: int, rows: list[int]) -> bool:
        for a in range(first, last + 1):
            for b in self.behind[a]:
                if b <= last:
                    ends = self.choices[a].foldings[rows[a]][1], self.choices[b].foldings[rows[b]][0]
                    if not matches(self.problem.nodes[a], *ends):
                        return False
        return True

    def _cost(self, us: dict[tuple[int, int], float]) -> tuple[int, float]:
        """Return how many partitions break a rule, and the cost of the others with reconfiguration."""
        legal = [each for each in us.values() if each < inf]
        return len(us) - len(legal), sum(legal) + (len(us) - 1) * self.problem.reconfiguration_us
