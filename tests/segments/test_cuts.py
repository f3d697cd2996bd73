"""Cuts are exact: brute force over all contiguous cuts finds no other interval, on chains and on residual graphs."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.channels import StreamPrices
from floorflow.errors import InfeasibleError, required
from floorflow.folding import FoldingSolution, fold_at_interval
from floorflow.resources import Resources
from floorflow.segments import (
    CutFound,
    CutHops,
    CutRefused,
    Cuts,
    Hops,
    Segment,
    Segments,
    Space,
    SpaceTable,
    orders_of,
    parts_of,
)
from tests.plans import EXAMPLES
from tests.random_family import heavy
from tests.segments.cases import COSTS, SILICON, lowered, random_segments
from tests.segments.test_table import capricious_segments

seeds = st.integers(0, 10**6)
Ends = tuple[int, ...]


def in_parts(segments: Segments, order: int = 0) -> Segments:
    """Return the segments of the same network by parts, in one of their orders."""
    dataflow, groups = segments.dataflow, segments.groups
    orders = orders_of(dataflow, parts_of(dataflow, groups))
    return Segments(dataflow, groups, StreamPrices(COSTS).couplings, orders[order % len(orders)])


def spaces_of(segments: Segments, rng: random.Random, most: int = 4) -> list[Space]:
    """Return spaces that hold the network together if it is folded little, alike or not."""
    least = np.sum([group.use.min(axis=0) for group in segments.groups], axis=0)
    count = rng.randint(2, most)
    shares = [rng.choice((1.0, 1.0, 0.5, 1.6)) for _ in range(count)]
    factor = rng.choice((1.2, 2, 4)) / sum(shares)
    budgets = [Resources(*(int(amount * factor * share) + 40 for amount in least)) for share in shares]
    return [Space(b, SILICON, ((f"s{i}", b),) if rng.random() < 0.7 else ()) for i, b in enumerate(budgets)]


def drawn(seed: int, most: int) -> tuple[random.Random, Segments, list[Space]]:
    """Return a random network by its parts, spaces for it, and what draws on."""
    rng, segments = random.Random(seed), in_parts(random_segments(seed), seed)
    return rng, segments, spaces_of(segments, rng, most)


def intervals_of(segments: Segments) -> tuple[int, ...]:
    return required(segments.whole.problem(Space(SILICON, SILICON))).intervals()


class Brute:
    """Every contiguous cut, each segment folded by itself."""

    def __init__(self, segments: Segments, spaces: Sequence[Space]) -> None:
        self.segments, self.spaces = segments, spaces
        self.known: dict[tuple[int, int, Space, int], bool] = {}

    def cuts(self) -> Iterator[Ends]:
        count = len(self.segments.order)
        for inner in combinations_with_replacement(range(count + 1), len(self.spaces) - 1):
            yield (0, *inner, count)

    def meets(self, cut: Ends, interval: int, passes: Callable[[int, int, int], bool] | None = None) -> bool:
        inner = [(p, place) for place, p in enumerate(cut[1:-1]) if 0 < p < cut[-1]]
        if passes is not None and not all(passes(p, place, interval) for p, place in inner):
            return False
        return all(self.folds(a, b, s, interval) for a, b, s in zip(cut, cut[1:], self.spaces, strict=False) if a < b)

    def folds(self, first: int, end: int, space: Space, interval: int) -> bool:
        key = first, end, space, interval
        if key not in self.known:
            try:
                answer = fold_at_interval(
                    required(self.segments.between(first, end - 1).problem(space)), interval, prove=False
                )
            except InfeasibleError:
                answer = None
            self.known[key] = isinstance(answer, FoldingSolution)
        return self.known[key]


def ends(found: CutFound) -> Ends:
    """Return the positions of a cut; what it leaves out or takes twice fails."""
    positions = [0]
    for taken in found.parts:
        assert taken is None or taken[0] == positions[-1] <= taken[1]
        positions.append(positions[-1] if taken is None else taken[1] + 1)
    return tuple(positions)


def assert_exact(cuts: Cuts, brute: Brute, interval: int, passes: Callable[[int, int, int], bool] | None) -> None:
    answer = cuts.at(interval)
    if isinstance(answer, CutFound):
        assert brute.meets(ends(answer), interval, passes)
    else:
        assert answer.proven
        assert not any(brute.meets(cut, interval, passes) for cut in brute.cuts())


@heavy()
@given(seeds)
def test_a_cut_is_found_where_one_exists(seed: int) -> None:
    rng, segments, spaces = drawn(seed, 3)
    cuts, brute = Cuts(segments, spaces, SpaceTable()), Brute(segments, spaces)
    intervals = intervals_of(segments)
    for interval in rng.sample(intervals, min(3, len(intervals))):
        assert_exact(cuts, brute, interval, None)


@heavy()
@given(seeds)
def test_cuts_that_may_not_lie_somewhere_do_not(seed: int) -> None:
    rng, segments, spaces = drawn(seed, 3)
    forbidden = {(position, place) for position in range(99) for place in range(3) if rng.random() < 0.6}
    passes = lambda position, place, _: (position, place) not in forbidden  # noqa: E731
    cuts, brute = Cuts(segments, spaces, SpaceTable(), passes), Brute(segments, spaces)
    intervals = intervals_of(segments)
    for interval in rng.sample(intervals, min(3, len(intervals))):
        assert_exact(cuts, brute, interval, passes)


def is_near(segments: Segments, hops: CutHops, cut: Ends) -> bool:
    """Whether a cut leaves the ends of all streams in slots that are near each other, looked at stream by stream."""
    places = [place for place, (a, b) in enumerate(pairwise(cut)) for _ in range(a, b)]
    slot = {name: hops.slots[places[part]] for part, names in enumerate(segments.order) for name in names}
    ends = (
        (
            hops.hops.host_in if stream.from_outside else slot[stream.source],
            hops.hops.host_out if stream.to_outside else slot[stream.target],
        )
        for stream in segments.dataflow.streams
    )
    shared = all(len({slot[name] for name in group}) == 1 for group in hops.together)
    alone = all(len({slot[name] for name in group}) == len(group) for group in hops.apart)
    return shared and alone and all(hops.hops.near[a][b] for a, b in ends)


@heavy()
@given(seeds)
def test_cuts_with_which_streams_would_go_too_far_or_wishes_fail_are_none(seed: int) -> None:
    rng, segments, spaces = drawn(seed, 4)
    near = [[abs(a - b) < 2 for b in range(3)] for a in range(3)]
    slots = rng.choice(([0, 1, 2, 1], [1, 2, 1, 0], [0, 2, 1, 0]))[: len(spaces)]
    names = [engine.name for engine in segments.dataflow.engines]
    together, apart = ([rng.sample(names, 2)] if rng.random() < 0.3 and len(names) > 1 else [] for _ in range(2))
    hops = CutHops(segments, Hops(near, rng.choice(slots), rng.choice(slots)), slots, together, apart)
    cuts, brute = Cuts(segments, spaces, SpaceTable(), hops=hops), Brute(segments, spaces)
    intervals = intervals_of(segments)
    for interval in rng.sample(intervals, min(3, len(intervals))):
        answer = cuts.at(interval)
        if isinstance(answer, CutFound):
            assert brute.meets(ends(answer), interval)
            assert is_near(segments, hops, ends(answer))
        else:
            assert answer.proven
            assert not any(is_near(segments, hops, cut) and brute.meets(cut, interval) for cut in brute.cuts())


class Undecided(SpaceTable):
    """Leaves everything open that is asked in haste."""

    def feasible(self, segment: Segment, space: Space, interval_cycles: int, *, quick: bool = False) -> bool | None:
        return None if quick else super().feasible(segment, space, interval_cycles)


def test_where_something_was_left_open_no_cut_is_not_a_proof() -> None:
    _, segments, spaces = drawn(2, 4)
    longest = intervals_of(segments)[-1]
    assert isinstance(Cuts(segments, spaces, SpaceTable()).at(longest), CutFound)
    refused = Cuts(segments, spaces, Undecided(), most_tried=100).at(longest)
    assert isinstance(refused, CutRefused)
    assert not refused.proven


@heavy()
@given(seeds)
def test_the_shortest_interval_is_that_of_trying_all_cuts(seed: int) -> None:
    _, segments, spaces = drawn(seed, 3)
    intervals, brute = intervals_of(segments), Brute(segments, spaces)
    answer = Cuts(segments, spaces, SpaceTable()).shortest(intervals)
    if isinstance(answer, CutFound):
        assert brute.meets(ends(answer), answer.interval_cycles)
        intervals = intervals[: intervals.index(answer.interval_cycles)]
    assert not any(brute.meets(cut, interval) for interval in intervals[-1:] for cut in brute.cuts())


@given(seeds)
def test_cuts_are_exact_where_a_longer_segment_may_cost_less(seed: int) -> None:
    rng = random.Random(seed)
    segments = capricious_segments(rng)
    spaces = [Space(Resources(lut=rng.choice((45, 60, 75, 90))), SILICON) for _ in range(rng.randint(2, 3))]
    forbidden = {(position, place) for position in range(5) for place in range(3) if rng.random() < 0.2}
    cuts = Cuts(segments, spaces, SpaceTable(), lambda position, place, _: (position, place) not in forbidden)
    brute = Brute(segments, spaces)
    for interval in intervals_of(segments):
        assert_exact(cuts, brute, interval, lambda position, place, _: (position, place) not in forbidden)


def test_a_refusal_names_part_space_and_resource() -> None:
    segments = in_parts(random_segments(3))
    small = Space(Resources(lut=1), SILICON)
    answer = Cuts(segments, [small, small], SpaceTable()).at(10**9)
    assert isinstance(answer, CutRefused)
    assert (answer.reached, answer.place, answer.proven) == (0, 1, True)
    assert answer.refusal is not None
    assert (answer.refusal.resource, answer.refusal.proven) == ("LUT", True)


def test_a_guess_changes_no_answer() -> None:
    dataflow = lowered(EXAMPLES / "cnv_2w2a.onnx")
    groups = COSTS.groups(dataflow)
    segments = Segments(dataflow, groups, StreamPrices(COSTS).couplings, parts_of(dataflow, groups))
    spaces = [Space(Resources(*(amount // 8 for amount in SILICON.as_tuple())), SILICON)] * 3
    intervals = intervals_of(segments)
    first = Cuts(segments, spaces, SpaceTable()).shortest(intervals)
    assert isinstance(first, CutFound)
    for guess in (first.parts, (None, (0, len(segments.order) - 1), None), ((0, 0),)):
        again = Cuts(segments, spaces, SpaceTable(), guess=guess).shortest(intervals)
        assert again.interval_cycles == first.interval_cycles
