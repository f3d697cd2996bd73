from dataclasses import replace

import numpy as np
import pytest

from floorflow.errors import InfeasibleError, InputError
from floorflow.rates import Actor, Blocked, Fifo, RateProblem, blocked, keeps, size
from tests.rates.graphs import moves


def actor(name: str, steps: int, reads: list[tuple[int, int, int]], writes: list[tuple[int, int, int]]) -> Actor:
    ports = tuple(moves([row]) for row in reads), tuple(moves([row]) for row in writes)
    return Actor(name, np.array([steps]), *ports)


FORK = actor("fork", 8, [], [(8, 0, 1), (8, 0, 1)])
GATHER = actor("gather", 8, [(8, 0, 0)], [(8, 0, 1)])
JOIN = actor("join", 8, [(8, 0, 1), (8, 0, 1)], [])
SKIP = Fifo("skip", "fork", "join", 8, 1, 1)
INTO, OUT = Fifo("into", "fork", "gather", 8), Fifo("out", "gather", "join", 8)
REJOINING = RateProblem((FORK, GATHER, JOIN), (INTO, OUT, SKIP)).single_steps()


def test_the_short_branch_holds_what_the_long_one_gathers() -> None:
    sized = size(REJOINING)
    assert sized.interval_cycles == 8
    assert sized.depths["skip"] >= 8
    assert sized.depths["out"] == 2


def test_too_shallow_a_skip_branch_is_a_deadlock_that_names_its_fifos() -> None:
    found = blocked(REJOINING, {"into": 8, "out": 2, "skip": 4})
    assert set(found) == {Blocked("skip", "full"), Blocked("into", "empty"), Blocked("out", "empty")}


@pytest.mark.parametrize("wide_first", [True, False])
@pytest.mark.parametrize(("words", "most_bursts"), [(8, 10_000), (80, 0)])
def test_storage_goes_where_words_are_narrow(words: int, most_bursts: int, wide_first: bool) -> None:
    whole = (words, 0, 1)
    actors = (
        actor("fork", words, [], [whole, whole]), actor("gather", words, [(words, 0, 0)], [whole]),
        actor("relay", words, [whole], [whole]), actor("join", words, [whole, whole], []),
    )  # fmt: skip
    widths = (32, 8) if wide_first else (8, 32)
    skips = (Fifo("a", "fork", "relay", widths[0], 1, 0), Fifo("b", "relay", "join", widths[1], 0, 1))
    problem = RateProblem(actors, (INTO, OUT, *skips)).single_steps()
    depths = size(problem, most_bursts=most_bursts).depths
    assert (depths["a"] < depths["b"]) == wide_first


def test_a_way_there_and_back_needs_that_many_more_words() -> None:
    source, sink = actor("source", 50, [], [(50, 0, 1)]), actor("sink", 50, [(50, 0, 1)], [])
    near = RateProblem((source, sink), (Fifo("f", "source", "sink", 8),)).single_steps()
    far = replace(near, fifos=(Fifo("f", "source", "sink", 8, latency_cycles=7, return_cycles=5),))
    assert (size(near).depths["f"], size(far).depths["f"]) == (2, 12)
    assert not keeps(far, {"f": 11}, 50)
    assert keeps(far, {"f": 12}, 50)


def test_a_longer_interval_needs_less() -> None:
    bits = [sum(size(REJOINING, interval).depths.values()) for interval in (8, 12, 30)]
    assert bits == sorted(bits, reverse=True)
    assert bits[-1] < bits[0]


def test_an_interval_below_an_actors_cycles_is_infeasible() -> None:
    with pytest.raises(InfeasibleError, match="takes 8 cycles a frame, longer than an interval of 7"):
        size(REJOINING, 7)


def test_ties_of_fixed_depth_set_the_shortest_interval() -> None:
    source, sink = actor("source", 4, [], [(4, 0, 1)]), actor("sink", 4, [(4, 0, 1)], [])
    tied = RateProblem((source, sink), (Fifo("f", "source", "sink", 8, depth_words=1),)).single_steps()
    assert size(tied).interval_cycles == 8


@pytest.mark.parametrize(
    ("fifos", "message"),
    [
        ((INTO, OUT, replace(SKIP, target="nobody")), "no actor 'nobody'"),
        ((INTO, OUT, replace(SKIP, target_port=0)), "two FIFOs at read port 0"),
        ((INTO, OUT, replace(SKIP, latency_cycles=0)), "expected at least 1"),
    ],
)
def test_malformed_problems_are_refused(fifos: tuple[Fifo, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RateProblem((FORK, GATHER, JOIN), fifos)


def test_a_circle_of_free_fifos_is_refused() -> None:
    a, b = (actor(name, 2, [(1, 0, 1)], [(1, 0, 1)]) for name in "ab")
    circle = RateProblem((a, b), (Fifo("there", "a", "b", 1), Fifo("back", "b", "a", 1)))
    with pytest.raises(InputError, match="circle"):
        size(circle)


def test_a_missing_depth_is_named() -> None:
    with pytest.raises(InputError, match="FIFO skip: no depth"):
        blocked(REJOINING, {"into": 2, "out": 2})


def test_a_source_that_joins_behind_the_busiest_actor_waits_for_it() -> None:
    whole = (8, 0, 1)
    actors = (
        actor("busy", 40, [], [(8, 0, 5)]), actor("relay", 9, [whole], [whole]), actor("idle", 8, [], [whole, whole]),
        actor("join", 8, [whole, whole], []), actor("aside", 8, [whole], []),
    )  # fmt: skip
    fifos = (
        Fifo("a", "busy", "relay", 8, 0, 0), Fifo("b", "relay", "join", 8, 0, 0), Fifo("c", "idle", "join", 8, 0, 1),
        Fifo("d", "idle", "aside", 8, 1, 0),
    )  # fmt: skip
    problem = RateProblem(actors, fifos).single_steps()
    smallest, scheduled = (size(problem, most_bursts=most) for most in (10_000, 0))
    for name, words in smallest.depths.items():
        assert words <= scheduled.depths[name] <= 8
    assert keeps(problem, scheduled.depths, 40)


def test_pipelines_side_by_side_are_sized_each_for_itself() -> None:
    whole = (8, 0, 1)
    actors = tuple(
        each for side in "lr" for each in (actor(f"from_{side}", 8, [], [whole]), actor(f"to_{side}", 8, [whole], []))
    )
    problem = RateProblem(actors, tuple(Fifo(side, f"from_{side}", f"to_{side}", 8) for side in "lr")).single_steps()
    assert size(problem, most_bursts=0).depths == {"l": 2, "r": 2}
