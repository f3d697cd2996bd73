"""The table of segments answers as folding each segment by itself does, and folds fewer."""

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from floorflow.channels import StreamPrices
from floorflow.dataflow.model import Dataflow, Engine, Option, Stream
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import required
from floorflow.folding import FoldingInfeasible, FoldingSolution, fold_at_interval
from floorflow.resources import Resources
from floorflow.segments import Segment, Segments, ShortestInterval, Space, SpaceTable
from tests.channels.test_realise import Prices
from tests.plans import EXAMPLES
from tests.random_family import heavy
from tests.segments.cases import SILICON, budgets, lowered, random_network, random_segments, segments_of, tight_places

seeds = st.integers(0, 10**6)


def spaces_of(segments: Segments, seed: int) -> list[Space]:
    """Budgets from what the half of a network needs at least to what all of it needs easily; some with places."""
    half = required(segments.between(0, len(segments.order) // 2).problem(Space(SILICON, SILICON)))
    places = tight_places(required(segments.whole.problem(Space(SILICON, SILICON)))) if seed % 2 else ()
    return [Space(budget, SILICON, places) for budget in budgets(half)]


def questions(segments: Segments, seed: int) -> list[tuple[Segment, Space]]:
    """Segments in spaces, in an order that tells nothing."""
    rng, parts = random.Random(seed), range(len(segments.order))
    ends = rng.sample([(a, b) for b in parts for a in parts[: b + 1]], min(3, len(parts)))
    asked = [(segments.between(*each), space) for each in ends for space in spaces_of(segments, seed)]
    rng.shuffle(asked)
    return asked


def folds(segment: Segment, space: Space, interval: int) -> bool:
    answer = fold_at_interval(required(segment.problem(space)), interval)
    assert isinstance(answer, FoldingSolution | FoldingInfeasible)
    return isinstance(answer, FoldingSolution)


@heavy()
@given(seeds)
def test_the_shortest_interval_is_that_of_trying_them_all(seed: int) -> None:
    segments, table = random_segments(seed), SpaceTable()
    for segment, space in questions(segments, seed):
        intervals = required(segment.problem(space)).intervals()
        first = next((interval for interval in intervals if folds(segment, space, interval)), None)
        assert table[segment, space] == ShortestInterval(first, first)


@heavy()
@given(seeds)
def test_intervals_are_feasible_where_folding_finds_one(seed: int) -> None:
    segments, table = random_segments(seed), SpaceTable()
    intervals = required(segments.whole.problem(Space(SILICON, SILICON))).intervals()
    rng = random.Random(seed)
    for segment, space in questions(segments, seed):
        interval = rng.choice(intervals) + rng.choice((-1, 0, 1))
        assert table.feasible(segment, space, interval) == folds(segment, space, interval)


def test_what_is_proven_of_a_segment_holds_for_longer_ones_and_smaller_budgets() -> None:
    segments, table = segments_of(lowered(EXAMPLES / "cnv_2w2a.onnx")), SpaceTable()
    short, long = segments.between(6, 9), segments.between(4, 12)
    wide = Space(SILICON, SILICON)
    tight = Space(Resources(*(amount // 40 for amount in SILICON.as_tuple())), SILICON)
    shortest = table[short, tight].interval_cycles
    assert shortest is not None
    times = table.times_folded
    assert table.feasible(long, tight, shortest - 1) is False
    assert table.feasible(short, wide, shortest) is True
    assert table.times_folded == times
    assert table.feasible(long, wide, shortest * 10) is True
    times = table.times_folded
    assert table.feasible(segments.between(5, 11), wide, shortest * 10) is True
    assert table.times_folded == times


def test_answers_are_kept() -> None:
    segments, table = segments_of(lowered(EXAMPLES / "cnv_2w2a.onnx")), SpaceTable()
    space = Space(Resources(*(amount // 10 for amount in SILICON.as_tuple())), SILICON)
    part = segments.between(2, 14)
    shortest = table[part, space]
    times = table.times_folded
    assert times > 0
    assert table[part, space] == shortest
    assert table.times_folded == times
    assert shortest.proven
    assert shortest.interval_cycles is not None


def test_an_engine_that_fits_no_place_has_no_interval() -> None:
    segments, table = segments_of(random_network(27)), SpaceTable()
    space = Space(SILICON, SILICON, (("none", Resources(lut=10)),))
    for segment in (segments.between(0, 0), segments.whole):
        assert table[segment, space] == ShortestInterval(None, None)
        assert table[segment, space].proven
        assert table.feasible(segment, space, 10**12) is False


class Capricious(Prices):
    """A wide FIFO may cost less than a narrow one, as where another kind of memory begins to pay."""

    def __init__(self, rng: random.Random) -> None:
        self.lut = {width: rng.randint(0, 30) for width in (2, 4, 8)}

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return Resources(lut=self.lut[width_bits] + depth_words % 3)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        return Resources(lut=1)


def capricious_segments(rng: random.Random) -> Segments:
    """Five engines of two foldings in a chain, with one more stream from the second to the last but one."""
    names = ["a", "b", "c", "d", "e"]
    engines = tuple(Engine(name, "Kind", "", {}, 0, 2, 2) for name in names)
    ends = [*pairwise(["host:in0", *names, "host:out0"]), ("b", "d")]
    streams = tuple(Stream(a, int((a, b) == ("b", "d")), b, int((a, b) == ("b", "d")), 32, 8, 2) for a, b in ends)

    def option() -> Option:
        widths = tuple(rng.choice((2, 4, 8)) for _ in range(4))
        return Option({}, rng.randint(1, 6), Resources(lut=rng.randint(1, 20)), widths[:2], widths[2:])

    groups = [OptionGroup((name,), ((option(),), (option(),))) for name in names]
    return Segments(Dataflow("net", engines, streams), groups, StreamPrices(Capricious(rng)).couplings)


@given(seeds)
def test_nothing_is_concluded_where_a_cut_stream_costs_more(seed: int) -> None:
    rng = random.Random(seed)
    segments, table = capricious_segments(rng), SpaceTable()
    ends = [(a, b) for b in range(5) for a in range(b + 1)]
    for first, last in rng.sample(ends, len(ends)):
        segment, space = segments.between(first, last), Space(Resources(lut=rng.choice((60, 90, 120))), SILICON)
        intervals = required(segment.problem(space)).intervals()
        shortest = next((interval for interval in intervals if folds(segment, space, interval)), None)
        assert table[segment, space] == ShortestInterval(shortest, shortest)
