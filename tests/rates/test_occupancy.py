"""What lies in a FIFO under a schedule, against a count word by word."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.rates import Actor, Fifo, RateProblem, peak_words, size
from floorflow.rates.precedence import space_precedences
from floorflow.rates.problem import Ints
from floorflow.rates.words import Words, most_words
from tests.rates.graphs import moves, random_problem
from tests.rates.stepping import Machine

Side = tuple[Words, Ints, int]
"""The words of one end of a FIFO, the waits of its bursts, and the cycles that a frame takes it with these."""


@st.composite
def sides(draw: st.DrawFn, words: int) -> Side:
    """Bursts with words at any stride, some without, and waits between them."""
    cuts = sorted(draw(st.lists(st.integers(0, words), max_size=4)))
    counts = [high - low for low, high in zip([0, *cuts], [*cuts, words], strict=True)]
    rows = [(n, draw(st.integers(0, 3)) if n else 0, draw(st.integers(0, 4))) for n in counts]
    spare = [draw(st.integers(0, 3)) for _ in rows]
    steps = [first + stride * max(0, n - 1) + 1 + more for (n, first, stride), more in zip(rows, spare, strict=True)]
    actor = Actor("end", np.array(steps, dtype=np.int64), (moves(rows),))
    waits = np.cumsum([draw(st.integers(0, 5)) for _ in rows], dtype=np.int64) + draw(st.integers(-30, 30))
    return Words.of(actor, actor.reads[0]), waits, int(waits[-1] - waits[0]) + actor.cycles


@st.composite
def schedules(draw: st.DrawFn) -> tuple[Side, Side, int, int]:
    """Both ends of a FIFO, the cycles until a place is free again, and the period."""
    words = draw(st.integers(1, 9))
    writer, reader = draw(sides(words)), draw(sides(words))
    return writer, reader, draw(st.integers(1, 4)), max(writer[2], reader[2]) + draw(st.integers(0, 6))


def times(side: Side) -> list[int]:
    """Return when each word of frame 0 moves."""
    words, waits, _ = side
    number = np.arange(words.total)
    burst = words.burst_of(number)
    moved: list[int] = (waits[burst] + words.step_of(number, burst)).tolist()
    return moved


@given(schedules())
def test_it_is_what_a_count_word_by_word_finds(schedule: tuple[Side, Side, int, int]) -> None:
    writer, reader, back, period = schedule
    freed = times(reader)
    most = max(
        word + 1 - sum((at - back - free) // period + 1 for free in freed) for word, at in enumerate(times(writer))
    )
    assert most_words(writer[0], reader[0], (writer[1], reader[1]), back, period) == most


@given(schedules())
def test_it_is_the_least_depth_that_keeps_the_schedule(schedule: tuple[Side, Side, int, int]) -> None:
    writer, reader, back, period = schedule
    waits = writer[1], reader[1]

    def keeps(depth: int) -> bool:
        rows = space_precedences((0, 1), writer[0], reader[0], depth, back)
        late = [waits[1][r.tail_bursts] + r.weights - r.frames * period for r in rows]
        return all((waits[0][r.head_bursts] >= asked).all() for r, asked in zip(rows, late, strict=True))

    depth = most_words(writer[0], reader[0], waits, back, period)
    if depth >= 1:
        assert keeps(depth)
    if depth > 1:
        assert not keeps(depth - 1)


@given(schedules())
def test_words_are_counted_at_any_time(schedule: tuple[Side, Side, int, int]) -> None:
    (words, waits, _), _, _, period = schedule
    moved = times((words, waits, 0))
    asked = np.arange(-2 * period, 2 * period)
    expected = [sum((at - each) // period + 1 for each in moved) for at in asked.tolist()]
    assert words.moving.moved_until(waits, asked, period).tolist() == expected


class Run(Machine):
    """A pipeline stepped word by word until its sources have sent so many frames; what each FIFO held at most."""

    def __init__(self, problem: RateProblem, depths: dict[str, int], frames: int) -> None:
        super().__init__(problem, depths)
        self.most, self.of_queue = frames, [depths[fifo.name] for fifo in problem.fifos]
        self.held_most = [0] * len(self.queues)

    def can_step(self, place: int) -> bool:
        return self.frames[place] < self.most and super().can_step(place)

    def cycle(self) -> bool:
        moved = super().cycle()
        for number, (queue, depth) in enumerate(zip(self.queues, self.of_queue, strict=True)):
            free = sum(1 for at in queue.returns if at < self.now)
            self.held_most[number] = max(self.held_most[number], depth - free)
        return moved


@pytest.mark.parametrize("room", [1, 3], ids=["a frame's words", "more than is ever there"])
@pytest.mark.parametrize("seed", range(12))
def test_frames_fill_fifos_as_they_do_word_by_word(seed: int, room: int) -> None:
    problem, frames = random_problem(seed).single_steps(), 3
    depths = {fifo.name: room * problem.writes(fifo).words for fifo in problem.fifos}
    run = Run(problem, depths, frames)
    while run.cycle():
        pass
    found = peak_words(problem, depths, frames)
    assert list(found.values()) == run.held_most


def test_before_a_slow_engine_piles_up_what_a_fast_one_sends_ahead() -> None:
    words, slow = 20, 5
    fast = Actor("fast", np.array([1] * words), (), (moves([(1, 0, 1)] * words),))
    lazy = Actor("slow", np.array([slow] * words), (moves([(1, 0, 1)] * words),))
    problem = RateProblem((fast, lazy), (Fifo("f", "fast", "slow", 8),))
    ample = peak_words(problem, {"f": 2 * words}, 2)["f"]
    assert ample == 2 * words - ceil((2 * words - 2) / slow)  # it begins a cycle late
    assert peak_words(problem, {"f": words}, 2)["f"] == words
    assert peak_words(problem.fed(spacing_cycles=slow), {"f": words}, 2)["f"] == 1
    paused = peak_words(problem.fed(pause_cycles=(slow - 1) * words), {"f": words}, 2)["f"]
    assert paused == words - ceil((words - 2) / slow)
    assert size(problem).depths["f"] < ample
