"""What lies in a FIFO under a schedule, against a count word by word."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.rates import Actor
from floorflow.rates.occupancy import most_words
from floorflow.rates.precedence import space_precedences
from floorflow.rates.problem import Ints
from floorflow.rates.words import Words
from tests.rates.graphs import moves

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
