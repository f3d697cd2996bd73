"""Which slots an engine may lie in so that no stream on its ways to the host goes too far."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from floorflow.segments.hops import Hops, Near

SLOTS = 4
IN, OUT = "host:in0", "host:out0"


def chip(most: int, host_in: int, host_out: int) -> Hops:
    """Slots in a row, of which streams may cross some boundaries."""
    near = [[abs(a - b) <= most for b in range(SLOTS)] for a in range(SLOTS)]
    return Hops(near, host_in, host_out, most)


def used_by_any(hops: Hops, engines: list[str], streams: list[tuple[str, str]]) -> dict[str, frozenset[int]]:
    """Return the slots of each engine over all assignments that keep to the hops."""
    used: dict[str, set[int]] = {engine: set() for engine in engines}
    for places in product(range(SLOTS), repeat=len(engines)):
        slot_of = dict(zip(engines, places, strict=True))
        if all(hops.near[slot_of.get(a, hops.host_in)][slot_of.get(b, hops.host_out)] for a, b in streams):
            for engine, slot in slot_of.items():
                used[engine].add(slot)
    return {engine: frozenset(slots) for engine, slots in used.items()}


ends = st.tuples(st.integers(0, 2), st.integers(0, SLOTS - 1), st.integers(0, SLOTS - 1))


@given(ends, st.integers(1, 5))
def test_of_a_chain_the_slots_in_reach_are_those_of_all_assignments(end: tuple[int, int, int], count: int) -> None:
    hops, engines = chip(*end), [f"e{i}" for i in range(count)]
    streams = list(zip([IN, *engines], [*engines, OUT], strict=True))
    assert Near(hops, streams).in_reach(engines) == used_by_any(hops, engines, streams)


@given(ends, st.integers(2, 4), st.sets(st.integers(0, SLOTS - 1), min_size=1))
def test_of_a_chain_with_an_end_in_some_slots_alone_too(end: tuple[int, int, int], count: int, alone: set[int]) -> None:
    hops, engines = chip(*end), [f"e{i}" for i in range(count)]
    streams = list(zip([IN, *engines], [*engines, OUT], strict=True))
    last = engines[-1]
    legal = used_by_any(hops, engines, streams)[last] & alone
    reach = Near(hops, streams).in_reach(engines, {last: frozenset(alone)})
    assert reach[last] == legal
    one = hops.before(legal) & used_by_any(hops, engines, streams)[engines[-2]]
    assert reach[engines[-2]] == one


@given(ends, st.integers(2, 4), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6))
def test_of_any_network_no_slot_is_left_out_that_an_assignment_uses(
    end: tuple[int, int, int], count: int, more: set[tuple[int, int]]
) -> None:
    hops, engines = chip(*end), [f"e{i}" for i in range(count)]
    skips = [(f"e{a}", f"e{b}") for a, b in sorted(more) if a < b < count]
    streams = [*zip([IN, *engines], [*engines, OUT], strict=True), *skips]
    reach, used = Near(hops, streams).in_reach(engines), used_by_any(hops, engines, streams)
    assert all(used[engine] <= reach[engine] for engine in engines)


def test_an_engine_beside_the_host_lies_as_near_to_it_as_its_stream_may_go() -> None:
    streams = [(IN, "first"), ("first", "middle"), ("middle", "last"), ("last", OUT)]
    reach = Near(chip(1, 0, 0), streams).in_reach(["first", "middle", "last"])
    assert reach == {"first": {0, 1}, "middle": {0, 1, 2}, "last": {0, 1}}


def test_nothing_is_in_reach_where_the_ends_of_the_host_are_too_far_apart() -> None:
    assert not Near(chip(1, 0, 3), [(IN, "only"), ("only", OUT)]).in_reach(["only"])["only"]
