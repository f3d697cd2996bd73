"""Register slices: as few as ways need, balanced where streams meet, within what slots hold; no rate is lost."""

import random
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.channels.slices import PlacedWay, SlicedStream, Slices, balanced, register_slices
from floorflow.hardware.reach import Way
from floorflow.rates import Actor, Fifo, RateProblem, size
from floorflow.resources import Resources
from tests.rates.graphs import moves, random_problem
from tests.rates.stepping import simulate

REACH = 100.0
PRICE = Resources(lut=10, ff=20)
MUCH = {"top": Resources(lut=10**6, ff=10**6), "low": Resources(lut=10**6, ff=10**6)}


def stream(source: str, target: str, tiles: float = 0, spare: int | None = None) -> SlicedStream:
    way = PlacedWay(Way(tiles, (0,)), ("low",), rises=True)
    return SlicedStream(f"{source}->{target}", source, target, spare, PRICE, way)


def counts(slices: Slices) -> dict[str, int]:
    return {name: len(slots) for name, slots in slices.slots.items()}


def test_a_stream_within_its_reach_has_no_slice() -> None:
    assert register_slices([stream("a", "b", 100)], REACH, MUCH) == Slices()


def test_a_long_stream_has_the_fewest_slices_that_cut_it_and_pays_for_each() -> None:
    found = register_slices([stream("a", "b", 250)], REACH, MUCH)
    assert counts(found) == {"a->b": 2}
    assert found.demands() == {"low": PRICE + PRICE}


@pytest.mark.parametrize(("rises", "homes"), [(True, ("low", "low", "top")), (False, ("top", "top", "low"))])
def test_slices_lie_between_the_registers_that_need_them_and_those_for_columns_at_the_source(
    rises: bool, homes: tuple[str, ...]
) -> None:
    way = PlacedWay(Way(100, (150, 150)), ("low", "top"), rises)
    assert way.places(3, REACH) == homes


def test_the_other_branch_of_a_join_waits_in_its_spare_words_or_gets_slices() -> None:
    around = [stream("fork", "x", 250), stream("x", "join")]
    for spare, more in ((None, {}), (2, {}), (1, {"fork->join": 1}), (0, {"fork->join": 2})):
        found = register_slices([*around, stream("fork", "join", 10, spare)], REACH, MUCH)
        assert counts(found) == {"fork->x": 2} | more


def test_a_stream_that_cannot_have_slices_lets_its_source_be_late() -> None:
    over_a_link = replace(stream("y", "join", spare=0), way=None)
    streams = [stream("fork", "x", 250), stream("x", "join"), stream("fork", "y", spare=0), over_a_link]
    assert counts(register_slices(streams, REACH, MUCH)) == {"fork->x": 2, "fork->y": 2}


def test_where_nothing_can_wait_the_stream_is_left_out_and_said_to_be() -> None:
    over_a_link = replace(stream("fork", "join", spare=1), way=None)
    found = register_slices([stream("fork", "x", 250), stream("x", "join"), over_a_link], REACH, MUCH)
    assert (counts(found), found.left_out) == ({}, {"fork->x": 2})


def test_where_room_is_short_the_longest_streams_get_slices_first() -> None:
    streams = [stream("a", "b", 150), stream("b", "c", 350), stream("c", "d", 250)]
    found = register_slices(streams, REACH, {"low": Resources(lut=40, ff=80)})
    assert counts(found) == {"b->c": 3, "a->b": 1}
    assert found.left_out == {"c->d": 2}


def test_a_stream_without_room_in_another_place_has_none_here_and_the_others_have_theirs() -> None:
    streams = [stream("a", "b", 150), stream("b", "c", 350), stream("c", "d", 250)]
    found = register_slices(streams, REACH, MUCH, {"c->d": 3}, {"c->d"})
    assert counts(found) == {"b->c": 3, "a->b": 1}
    assert found.left_out == {"c->d": 3}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[SlicedStream], dict[str, int]]:
    size_of = draw(st.integers(2, 4))
    pairs = [(i, j) for i in range(size_of) for j in range(i + 1, size_of)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True))
    streams = []
    for source, target in chosen:
        spare = draw(st.one_of(st.none(), st.integers(0, 2)))
        made = stream(str(source), str(target), spare=spare)
        streams.append(made if draw(st.booleans()) else replace(made, way=None))
    may = [s.name for s in streams if s.way is not None]
    return streams, {name: draw(st.integers(0, 2)) for name in may}


def _works(streams: list[SlicedStream], number: dict[str, int]) -> bool:
    """Try all ways to make ends late."""
    ends = sorted({end for s in streams for end in (s.source, s.target)})
    for late in product(range(7), repeat=len(ends)):
        of = dict(zip(ends, late, strict=True))
        waits = [(of[s.target] - of[s.source] - number.get(s.name, 0), s.spare_words) for s in streams]
        if all(wait >= 0 and (spare is None or wait <= spare) for wait, spare in waits):
            return True
    return False


@given(graphs())
def test_slices_are_balanced_exactly_where_some_numbers_work(case: tuple[list[SlicedStream], dict[str, int]]) -> None:
    streams, least = case
    found = balanced(streams, least)
    if found is not None:
        assert all(found[name] >= count for name, count in least.items())
        assert all(found[s.name] == 0 for s in streams if s.way is None)
        assert _works(streams, found)
        return
    may = [s.name for s in streams if s.way is not None]
    tried = product(range(5), repeat=len(may))
    numbers = (dict(zip(may, each, strict=True)) for each in tried)
    assert not any(_works(streams, n) for n in numbers if all(n[name] >= count for name, count in least.items()))


def streaming_problem(seed: int) -> RateProblem:
    """Return a pipeline whose places are free once they are read, as where streams shake hands."""
    problem = random_problem(seed).single_steps()
    return replace(problem, actors=tuple(replace(actor, frees=()) for actor in problem.actors))


def _with_chains(
    problem: RateProblem, depths: dict[str, int], number: dict[str, int]
) -> tuple[RateProblem, dict[str, int]]:
    """Put a wire and a FIFO of two words behind each FIFO for each of its slices."""
    actors, fifos, held = list(problem.actors), [], dict(depths)
    for fifo in problem.fifos:
        words = problem.writes(fifo).words
        ends = [fifo.source, *(f"{fifo.name} wire {n}" for n in range(number[fifo.name])), fifo.target]
        for place, (source, target) in enumerate(pairwise(ends)):
            name = fifo.name if not place else f"{fifo.name} slice {place}"
            ports = (fifo.source_port if not place else 0, fifo.target_port if target == fifo.target else 0)
            own = replace(fifo, name=name, source=source, target=target, source_port=ports[0], target_port=ports[1])
            fifos.append(own if not place else replace(own, latency_cycles=1, return_cycles=1))
            held[name] = depths[fifo.name] if not place else 2
        once = moves([(words, 0, 1)])
        actors += [Actor(wire, np.array([words], dtype=np.int64), (once,), (once,)) for wire in ends[1:-1]]
    return RateProblem(tuple(actors), tuple(fifos)).single_steps(), held


@pytest.mark.parametrize("group", range(4))
def test_slices_lose_no_rate_where_fifos_hold_exactly_what_the_full_rate_needs(group: int) -> None:
    """Simulated word by word: as FIFOs of two words behind wires, and as the cycles and words that they are told as."""
    sliced = 0
    for seed in range(group, 40, 4):
        rng, problem = random.Random(seed), streaming_problem(seed)
        sized = size(problem)
        exact = dict(sized.depths)
        streams = [stream(f.source, f.target, spare=0) for f in problem.fifos]
        streams = [replace(s, name=f.name) for s, f in zip(streams, problem.fifos, strict=True)]
        least = {fifo.name: rng.choice((0, 0, 1, 3)) for fifo in problem.fifos}
        number = balanced(streams, least)
        assert number is not None
        sliced += sum(number.values())
        told = tuple(_told(fifo, number[fifo.name]) for fifo in problem.fifos)
        deeper = {name: depth + 2 * number[name] for name, depth in exact.items()}
        assert simulate(replace(problem, fifos=told), deeper).interval_cycles == sized.interval_cycles
        assert simulate(*_with_chains(problem, exact, number)).interval_cycles == sized.interval_cycles
    assert sliced


def _told(fifo: Fifo, count: int) -> Fifo:
    return replace(fifo, latency_cycles=fifo.latency_cycles + count, return_cycles=fifo.return_cycles + count)


def test_slices_on_one_branch_alone_would_lose_rate() -> None:
    """Else the balance would prove nothing."""
    lost = 0
    for seed in range(12):
        problem = streaming_problem(seed)
        sized = size(problem)
        number = dict.fromkeys(sized.depths, 0) | {problem.fifos[0].name: 6}
        lost += simulate(*_with_chains(problem, dict(sized.depths), number)).interval_cycles > sized.interval_cycles
    assert lost
