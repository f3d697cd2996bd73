"""A pipeline simulated cycle by cycle and word by word: the judge of the recurrences on arrays."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from floorflow.rates import Actor, Moves, RateProblem

DEADLOCK = Fraction(10**9)


@dataclass(frozen=True)
class Observed:
    interval_cycles: Fraction
    first_word_cycles: int | None = None
    first_frame_cycles: int | None = None


def words_at_steps(actor: Actor, moves: Moves) -> list[int]:
    words = [0] * actor.cycles
    for begin, count, first, stride in zip(actor.begins, moves.counts, moves.first, moves.stride, strict=True):
        for word in range(count):
            words[begin + first + stride * word] += 1
    return words


class Queue:
    """``arrivals`` and ``returns``: the cycles from which words can be read and places used.

    ``inside``: cycles that each word still spends in the writer's pipeline of ``stages``.
    """

    def __init__(self, depth: int, latency: int, back: int, stages: int) -> None:
        self.latency, self.back, self.stages = latency - stages, back, stages
        self.inside: deque[int] = deque()
        self.arrivals: deque[int] = deque()
        self.returns: deque[int] = deque([0] * depth)


class Machine:
    """Actors stall at every step; all look at the queues as they were at the start of the cycle."""

    def __init__(self, problem: RateProblem, depths: Mapping[str, int]) -> None:
        self.actors = problem.actors
        self.queues = [
            Queue(depths[f.name], f.latency_cycles, f.return_cycles, f.pipeline_cycles) for f in problem.fifos
        ]
        self.step = [0] * len(self.actors)
        self.frames = [0] * len(self.actors)
        self.reads: list[list[tuple[Queue, list[int], list[int]]]] = [[] for _ in self.actors]
        self.writes: list[list[tuple[Queue, list[int]]]] = [[] for _ in self.actors]
        for fifo, queue in zip(problem.fifos, self.queues, strict=True):
            source, target = (self.actors[problem.index[name]] for name in (fifo.source, fifo.target))
            needs = words_at_steps(target, target.reads[fifo.target_port])
            frees = words_at_steps(target, target.freed(fifo.target_port))
            self.reads[problem.index[fifo.target]].append((queue, needs, frees))
            written = words_at_steps(source, source.writes[fifo.source_port])
            self.writes[problem.index[fifo.source]].append((queue, written))
        self.sinks = [place for place, row in enumerate(self.writes) if not row]
        self.now = 0
        self.first_word: int | None = None

    def leave(self, place: int) -> bool:
        """Pass on what has come to the end of an engine's pipelines, or hold all of it; whether anything moves."""
        queues = [queue for queue, _ in self.writes[place] if queue.stages]
        leaving = [(queue, sum(1 for left in queue.inside if not left)) for queue in queues]
        if self.held(place):
            return False
        for queue, words in leaving:
            for _ in range(words):
                queue.inside.popleft()
                queue.returns.popleft()
                queue.arrivals.append(self.now + queue.latency)
            queue.inside = deque(left - 1 for left in queue.inside)
        return any(queue.inside for queue in queues) or any(words for _, words in leaving)

    def held(self, place: int) -> bool:
        rows = [(queue, sum(1 for left in queue.inside if not left)) for queue, _ in self.writes[place]]
        return not all(self.ready(queue.returns, words) for queue, words in rows)

    def can_step(self, place: int) -> bool:
        step = self.step[place]
        if self.held(place):
            return False
        for queue, needs, _ in self.reads[place]:
            count = needs[step]
            if not self.ready(queue.arrivals, count):
                return False
        rows = [(queue, written) for queue, written in self.writes[place] if not queue.stages]
        return all(self.ready(queue.returns, written[step]) for queue, written in rows)

    def ready(self, times: deque[int], count: int) -> bool:
        return not count or (len(times) >= count and times[count - 1] <= self.now)

    def cycle(self) -> bool:
        moving = [place for place in range(len(self.actors)) if self.can_step(place)]
        leaving = [self.leave(place) for place in range(len(self.actors))]
        for place in moving:
            step = self.step[place]
            for queue, needs, frees in self.reads[place]:
                for _ in range(needs[step]):
                    queue.arrivals.popleft()
                queue.returns.extend([self.now + queue.back] * frees[step])
                if needs[step] and self.first_word is None and place in self.sinks:
                    self.first_word = self.now + 1
            for queue, written in self.writes[place]:
                if queue.stages:
                    queue.inside.extend([queue.stages - 1] * written[step])
                    continue
                queue.arrivals.extend([self.now + queue.latency] * written[step])
                for _ in range(written[step]):
                    queue.returns.popleft()
            self.step[place] = step + 1
            if self.step[place] == self.actors[place].cycles:
                self.step[place] = 0
                self.frames[place] += 1
        self.now += 1
        times = [at for queue in self.queues for row in (queue.arrivals, queue.returns) for at in list(row)[-1:]]
        return bool(moving) or any(leaving) or any(at >= self.now for at in times)

    def state(self) -> tuple[object, ...]:
        rows = [row for queue in self.queues for row in (queue.arrivals, queue.returns)]
        inside = (tuple(queue.inside) for queue in self.queues)
        return (*self.step, *inside, *(tuple(max(0, at - self.now) for at in row) for row in rows))


def simulate(problem: RateProblem, depths: Mapping[str, int]) -> Observed:
    machine = Machine(problem, depths)
    seen: dict[tuple[object, ...], tuple[int, int]] = {}
    first_frame = None
    while True:
        frames = machine.frames[-1]
        if not machine.cycle():
            return Observed(DEADLOCK)
        if first_frame is None and all(machine.frames[place] for place in machine.sinks):
            first_frame = machine.now
        if machine.frames[-1] > frames:
            state = machine.state()
            if state in seen and first_frame is not None:
                now, count = seen[state]
                interval = Fraction(machine.now - now, machine.frames[-1] - count)
                return Observed(interval, machine.first_word, first_frame)
            seen[state] = (machine.now, machine.frames[-1])
