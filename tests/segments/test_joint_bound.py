"""No assignment of engines to slots is faster than the joint bound, and it sees which engines cannot share a slot."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import UNBUILDABLE, Coupling, OptionGroup
from floorflow.folding import FoldingProblem
from floorflow.resources import ZERO, Resources
from floorflow.segments import Assigned, Crossings, Hops, Near, SlotRelaxation
from floorflow.segments.slot_relaxation import first_not, joint_bound
from tests.random_family import heavy

Array = np.ndarray
SLOT = Resources(100, 100, 100, 100, 100)


def option(cycles: int, use: Sequence[int]) -> Option:
    return Option({}, cycles, Resources(*use), (8,), (8,))


def engine(name: str, *rows: tuple[int, int]) -> OptionGroup:
    """Return an engine by cycles and LUT of its rows."""
    return OptionGroup((name,), tuple((option(cycles, (lut, 0, 0, 0, 0)),) for cycles, lut in rows))


def problem_of(*groups: OptionGroup, couplings: tuple[Coupling, ...] = ()) -> FoldingProblem:
    return FoldingProblem(groups, SLOT, SLOT, couplings)


@st.composite
def problems(draw: st.DrawFn) -> FoldingProblem:
    """Two to four groups, some of two engines, with streams between them; some streams no hardware can build."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    groups = []
    for number in range(random.integers(2, 5)):
        engines, rows = int(random.integers(1, 3)) if number < 2 else 1, int(random.integers(1, 4))
        uses = random.integers(0, random.choice([8, 20]), (rows, engines, 5))
        cycles = random.integers(1, 5, rows).tolist()
        options = tuple(tuple(option(c, use) for use in row) for c, row in zip(cycles, uses.tolist(), strict=True))
        groups.append(OptionGroup(tuple(f"e{number}_{k}" for k in range(engines)), options))
    couplings = []
    for a, b in product(range(len(groups)), repeat=2):
        if a <= b and random.random() < 0.5:
            use = random.integers(0, 5, (2, 2, 5))
            use[random.random((2, 2)) < 0.1] = UNBUILDABLE if a < b else 4
            ends = (random.integers(0, 2, len(groups[end].rows)) for end in (a, b))
            at_source = None if a == b or random.random() < 0.3 else np.minimum(use, random.integers(0, 5, use.shape))
            couplings.append(Coupling(a, b, *ends, use, at_source))
    return problem_of(*groups, couplings=tuple(couplings))


limits = st.lists(st.integers(6, 40), min_size=5, max_size=5).map(lambda amounts: Resources(*amounts))
some_slots = st.one_of(
    st.lists(limits, min_size=1, max_size=3), st.tuples(limits, st.integers(2, 3)).map(lambda pair: [pair[0]] * pair[1])
)


def demands(problem: FoldingProblem, rows: Sequence[int], slot_of: Mapping[str, int], slots: int) -> Iterator[Array]:
    """Yield what each slot must hold of a choice, for all ways in which streams may be stored.

    What an end holds of a stream lies with any engine of its group; where that is not told, with any of both.
    """
    use = np.zeros((slots, 5), dtype=np.int64)
    for group, row in zip(problem.groups, rows, strict=True):
        for name, each in zip(group.engines, group.engine_use[row], strict=True):
            use[slot_of[name]] += each
    parts = []
    for c in problem.couplings:
        pair = c.source_class[rows[c.source]], c.target_class[rows[c.target]]
        homes = [{slot_of[name] for name in problem.groups[end].engines} for end in (c.source, c.target)]
        if c.at_source is None:
            parts.append([(c.use[pair], home) for home in homes[0] | homes[1]])
        else:
            parts.append([(c.at_source[pair], home) for home in homes[0]])
            parts.append([(c.use[pair] - c.at_source[pair], home) for home in homes[1]])
    for placed in product(*parts):
        filled = use.copy()
        for price, home in placed:
            filled[home] += price
        yield filled


def shortest_by_brute_force(
    problem: FoldingProblem, slots: Sequence[Resources], together: Sequence[Sequence[str]]
) -> int | None:
    names = [name for group in problem.groups for name in group.engines]
    held = np.array([slot.as_tuple() for slot in slots])
    best = None
    for rows in product(*(range(len(group.rows)) for group in problem.groups)):
        cycles = max(int(group.cycles[row]) for group, row in zip(problem.groups, rows, strict=True))
        if best is not None and cycles >= best:
            continue
        for homes in product(range(len(slots)), repeat=len(names)):
            slot_of = dict(zip(names, homes, strict=True))
            apart = any(len({slot_of[name] for name in unit}) > 1 for unit in together)
            if not apart and any((use <= held).all() for use in demands(problem, rows, slot_of, len(slots))):
                best = cycles
                break
    return best


@given(problems(), some_slots, st.booleans())
def test_no_assignment_is_faster(problem: FoldingProblem, slots: list[Resources], joined: bool) -> None:
    names = [name for group in problem.groups for name in group.engines]
    together = [names[1:3]] if joined else []
    bound = joint_bound(problem, slots, problem.intervals(), together=together)
    best = shortest_by_brute_force(problem, slots, together)
    if best is not None:
        assert bound.interval_cycles is not None
        assert bound.interval_cycles <= best


@given(problems(), some_slots)
def test_engines_without_streams_are_assigned_exactly(problem: FoldingProblem, slots: list[Resources]) -> None:
    problem = replace(problem, couplings=())
    bound = joint_bound(problem, slots, problem.intervals())
    assert bound.interval_cycles == shortest_by_brute_force(problem, slots, ())


@given(problems(), st.lists(limits, min_size=2, max_size=3), st.integers(0, 1000))
def test_the_assignment_of_fewest_crossings_equals_brute_force(
    problem: FoldingProblem, slots: list[Resources], seed: int
) -> None:
    problem, random = replace(problem, couplings=()), np.random.default_rng(seed)
    names = [name for group in problem.groups for name in group.engines]
    chain = list(zip(["host:in0", *names], [*names, "host:out0"], random.integers(1, 9, len(names) + 1), strict=True))
    far = [(frozenset(range(place + 1, len(slots))), int(random.integers(1, 9))) for place in range(len(slots) - 1)]
    apart = [(frozenset([0]), frozenset([2]), int(random.integers(1, 9)))] if len(slots) == 3 else []
    hosts = random.integers(0, len(slots), 2).tolist()
    crossings = Crossings([(a, b, int(weight)) for a, b, weight in chain], far, apart, *hosts)
    interval = problem.intervals()[-1]
    found, _ = SlotRelaxation(problem, slots).at(interval, 4.0, crossings)
    costs = [
        crossing_cost(dict(zip(names, homes, strict=True)), crossings)
        for homes in product(range(len(slots)), repeat=len(names))
        if any_fits(problem, interval, dict(zip(names, homes, strict=True)), slots)
    ]
    assert (found.cost if isinstance(found, Assigned) else None) == min(costs, default=None)
    if isinstance(found, Assigned):
        assert any_fits(problem, interval, found.slot_of_engine, slots)
        assert found.cost == crossing_cost(found.slot_of_engine, crossings)


@given(problems(), st.lists(limits, min_size=2, max_size=3), st.integers(0, 1000))
def test_streams_that_may_not_go_far_and_engines_apart_are_assigned_exactly(
    problem: FoldingProblem, slots: list[Resources], seed: int
) -> None:
    problem, random = replace(problem, couplings=()), np.random.default_rng(seed)
    names = [name for group in problem.groups for name in group.engines]
    streams = [("host:in0", names[0]), *pairwise(names), (names[-1], "host:out0")]
    allowed = [[abs(a - b) < 2 for b in range(len(slots))] for a in range(len(slots))]
    apart = [random.choice(names, min(2, len(names)), replace=False).tolist()] if random.random() < 0.4 else []
    near = Near(Hops(allowed, *random.integers(0, len(slots), 2).tolist()), streams, apart)
    interval = problem.intervals()[-1]
    found, _ = SlotRelaxation(problem, slots, near=near).at(interval, 4.0)
    expected = any(
        is_near(near, slot_of) and any_fits(problem, interval, slot_of, slots)
        for homes in product(range(len(slots)), repeat=len(names))
        for slot_of in [dict(zip(names, homes, strict=True))]
    )
    assert isinstance(found, Assigned) is expected
    if isinstance(found, Assigned):
        assert is_near(near, found.slot_of_engine)


@heavy()
@given(problems(), st.lists(limits, min_size=2, max_size=2), st.integers(0, 1000))
def test_the_limit_that_has_to_be_wider_by_the_least_share_is_named(
    problem: FoldingProblem, slots: list[Resources], seed: int
) -> None:
    problem, random = replace(problem, couplings=()), np.random.default_rng(seed)
    names = [name for group in problem.groups for name in group.engines]
    apart = [random.choice(names, min(2, len(names)), replace=False).tolist()] if random.random() < 0.4 else []
    near = Near(Hops([[True, True], [True, True]], 0, 0), [], apart)
    interval, most = problem.intervals()[-1], [slot + Resources(*random.integers(0, 60, 5).tolist()) for slot in slots]
    found = SlotRelaxation(problem, slots, near=near).least_wider(interval, most, 40.0)
    shares: list[float] = []
    for slot, resource in np.ndindex(2, 5):
        now = np.array([each.as_tuple() for each in slots])
        now[slot, resource] = most[slot].as_tuple()[resource]
        needs = [
            max(int(use[slot, resource]), slots[slot].as_tuple()[resource])
            for rows in product(*(range(len(group.rows)) for group in problem.groups))
            for homes in product(range(2), repeat=len(names))
            for slot_of in [dict(zip(names, homes, strict=True))]
            if all(len({slot_of[name] for name in group}) == len(group) for group in apart)
            for use in demands(problem, rows, slot_of, 2)
            if (use <= now).all()
        ]
        own = slots[slot].as_tuple()[resource]
        shares += [min(needs) / own] if needs and most[slot].as_tuple()[resource] > own else []
    assert (found is None) == (not shares)
    if found is not None:
        assert found.proven
        assert found.amount / found.now == min(shares)
        assert found.now == slots[found.slot].as_dict()[found.resource]


def is_near(near: Near, slot_of: Mapping[str, int]) -> bool:
    if any(len({slot_of[name] for name in group}) < len(group) for group in near.apart):
        return False
    ends = ((slot_of.get(a, near.hops.host_in), slot_of.get(b, near.hops.host_out)) for a, b in near.streams)
    return all(abs(a - b) < 2 for a, b in ends)


def crossing_cost(slot_of: Mapping[str, int], crossings: Crossings) -> int:
    cost = 0
    for source, target, weight in crossings.streams:
        low, high = sorted((slot_of.get(source, crossings.host_in), slot_of.get(target, crossings.host_out)))
        cost += weight * sum(price for _, price in crossings.sides[low:high])
        cost += weight * sum(price for *_, price in crossings.pairs if high - low == 2)
    return cost


def any_fits(problem: FoldingProblem, interval: int, slot_of: Mapping[str, int], slots: Sequence[Resources]) -> bool:
    held = np.array([slot.as_tuple() for slot in slots])
    choices = product(*(np.flatnonzero(group.cycles <= interval).tolist() for group in problem.groups))
    return any((use <= held).all() for rows in choices for use in demands(problem, rows, slot_of, len(slots)))


def test_three_engines_of_more_than_half_a_slot_do_not_fit_two() -> None:
    engines = [engine(name, (10, 60), (20, 50)) for name in "abc"]
    assert joint_bound(problem_of(*engines), [SLOT, SLOT], (10, 20)).interval_cycles == 20
    assert joint_bound(problem_of(*engines), [SLOT, SLOT, SLOT], (10, 20)).interval_cycles == 10


def test_what_does_not_fit_at_any_interval_has_no_bound() -> None:
    bound = joint_bound(problem_of(*(engine(name, (10, 60)) for name in "abc")), [SLOT, SLOT], (10,))
    assert (bound.interval_cycles, bound.stats.status) == (None, "infeasible")


def test_small_slots_take_no_large_engine() -> None:
    small = Resources(30, 100, 100, 100, 100)
    engines = [engine("a", (10, 60), (20, 40)), engine("b", (10, 60), (20, 30))]
    bound = joint_bound(problem_of(*engines), [SLOT, small], (10, 20))
    assert (bound.interval_cycles, bound.slot_of_engine["a"]) == (20, 0)


def test_engines_that_belong_together_share_a_slot() -> None:
    engines = [engine(name, (10, 40), (20, 30)) for name in "abcd"]
    problem = problem_of(*engines)
    assert joint_bound(problem, [SLOT, SLOT], (10, 20)).interval_cycles == 10
    assert joint_bound(problem, [SLOT, SLOT], (10, 20), together=[("a", "b", "c")]).interval_cycles == 20


def test_streams_count_where_they_must_lie() -> None:
    engines = [engine(name, (10, 50)) for name in "ab"]
    stream = Coupling(0, 1, np.array([0]), np.array([0]), np.array([[[1, 0, 0, 0, 0]]]))
    problem = problem_of(*engines, couplings=(stream,))
    assert joint_bound(problem, [SLOT, ZERO], (10,)).interval_cycles is None
    assert joint_bound(problem, [SLOT, SLOT], (10,)).interval_cycles == 10
    assert joint_bound(problem, [SLOT, SLOT], (10,), together=["ab"]).interval_cycles is None


def test_a_stream_is_stored_where_it_belongs() -> None:
    wide, lean = Resources(100, 100, 100, 0, 100), Resources(100, 100, 100, 100, 0)
    dsp = OptionGroup(("a",), ((option(10, (50, 0, 0, 0, 1)),),))
    uram = OptionGroup(("b",), ((option(10, (50, 0, 0, 1, 0)),),))
    fifo = np.array([[[0, 0, 0, 5, 0]]])
    for at_source, interval in ((fifo, None), (np.zeros_like(fifo), 10), (None, 10)):
        stream = Coupling(0, 1, np.array([0]), np.array([0]), fifo, at_source)
        problem = problem_of(dsp, uram, couplings=(stream,))
        assert joint_bound(problem, [wide, lean], (10,)).interval_cycles == interval


def test_nothing_below_the_start_is_asked_for() -> None:
    problem = problem_of(engine("a", (10, 60), (20, 50)))
    bound = joint_bound(problem, [SLOT], (10, 20), start_index=1)
    assert (bound.interval_cycles, bound.refusal) == (20, None)


@pytest.mark.parametrize(("count", "start"), [(1, 0), (9, 0), (9, 4), (100, 3)])
def test_the_first_index_is_found(count: int, start: int) -> None:
    for least in range(start, count + 1):
        assert first_not(lambda index, least=least: index < least, start, count) == least  # type: ignore[misc]
