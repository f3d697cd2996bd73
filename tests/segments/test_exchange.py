"""Exchanges never make an assignment worse, and on tiny networks come close to the best of all assignments."""

import random
from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from floorflow.errors import InfeasibleError, required
from floorflow.folding import FoldingSolution, fold_at_interval
from floorflow.segments import CutFound, CutRefused, Cuts, Exchange, Segments, Space, SpaceTable
from tests.random_family import heavy
from tests.segments.cases import random_segments
from tests.segments.test_cuts import drawn, in_parts, intervals_of, spaces_of

seeds = st.integers(0, 10**6)
Assignment = tuple[frozenset[int], ...]


def sets(answer: CutFound | CutRefused) -> Assignment:
    return tuple(frozenset(range(ends[0], ends[1] + 1)) if ends else frozenset() for ends in answer.parts)


def folds(segments: Segments, parts: Assignment, spaces: Sequence[Space], interval: int) -> bool:
    """Whether each space of an assignment, folded by itself, meets an interval."""
    for each, space in zip(parts, spaces, strict=True):
        names = tuple(name for part in sorted(each) for name in segments.order[part])
        try:
            answer = fold_at_interval(required(segments.of(names).problem(space)), interval) if each else None
        except InfeasibleError:
            return False
        if each and not isinstance(answer, FoldingSolution):
            return False
    return True


def assert_whole(segments: Segments, parts: Assignment) -> None:
    assert sorted(part for each in parts for part in each) == list(range(len(segments.order)))


def random_start(segments: Segments, spaces: Sequence[Space], rng: random.Random) -> Assignment:
    homes = [rng.randrange(len(spaces)) for _ in segments.order]
    return tuple(frozenset(p for p, home in enumerate(homes) if home == s) for s in range(len(spaces)))


def improved(exchange: Exchange, parts: Assignment, intervals: Sequence[int]) -> tuple[Assignment, int | None]:
    """Return the assignment of the shortest of ascending intervals that exchanges reach one by one, and that one."""
    reached = None
    for interval in reversed(intervals):
        found = exchange.at(parts, interval)
        if found is None:
            break
        parts, reached = found, interval
    return parts, reached


@heavy()
@given(seeds)
def test_an_exchange_never_makes_an_assignment_worse(seed: int) -> None:
    rng, segments, spaces = drawn(seed, 3)
    intervals = intervals_of(segments)
    start = random_start(segments, spaces, rng)
    better, reached = improved(Exchange(segments, spaces, SpaceTable(), most_refoldings=12), start, intervals)
    assert_whole(segments, better)
    met = next((t for t in intervals if folds(segments, start, spaces, t)), None)
    if reached is None:
        assert met is None
        return
    assert met is None or reached <= met
    assert folds(segments, better, spaces, reached)


@heavy()
@given(seeds)
def test_exchanges_equal_or_beat_the_best_contiguous_cut(seed: int) -> None:
    _, segments, spaces = drawn(seed, 3)
    intervals, table = intervals_of(segments), SpaceTable()
    cut = Cuts(segments, spaces, table).shortest(intervals)
    better, reached = improved(Exchange(segments, spaces, table, most_refoldings=12), sets(cut), intervals)
    assert_whole(segments, better)
    if isinstance(cut, CutFound):
        assert reached is not None
        assert reached <= cut.interval_cycles
        assert folds(segments, better, spaces, reached)


def every_assignment(segments: Segments, spaces: Sequence[Space]) -> Iterator[Assignment]:
    for homes in product(range(len(spaces)), repeat=len(segments.order)):
        yield tuple(frozenset(p for p, home in enumerate(homes) if home == s) for s in range(len(spaces)))


TINY = (0, 1, 3, 4, 5, 8, 11, 14)


def optimum(segments: Segments, spaces: Sequence[Space]) -> int | None:
    """Return the shortest interval of all assignments."""
    table, best = SpaceTable(), None
    for parts in every_assignment(segments, spaces):
        for interval in reversed([t for t in intervals_of(segments) if best is None or t < best]):
            used = [(each, space) for each, space in zip(parts, spaces, strict=True) if each]
            names = [tuple(name for part in sorted(each) for name in segments.order[part]) for each, _ in used]
            if not all(table.feasible(segments.of(n), s, interval) for n, (_, s) in zip(names, used, strict=True)):
                break
            best = interval
    return best


def test_exchanges_find_most_optima_of_tiny_networks() -> None:
    """Of the first eight networks of four to six parts; in three of them no contiguous cut is the optimum."""
    solved = beaten = 0
    for seed in TINY:
        segments = in_parts(random_segments(seed), seed)
        assert 4 <= len(segments.order) <= 6
        spaces, table = spaces_of(segments, random.Random(seed), 2), SpaceTable()
        best, intervals = optimum(segments, spaces), intervals_of(segments)
        cut = Cuts(segments, spaces, table).shortest(intervals)
        _, reached = improved(Exchange(segments, spaces, table), sets(cut), intervals)
        solved += reached == best
        beaten += isinstance(cut, CutRefused) or cut.interval_cycles != reached
    assert solved >= len(TINY) - 1
    assert beaten >= 3
