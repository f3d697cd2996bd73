"""A segment of a dataflow: some engines with their streams, of which those that are cut end outside."""

import random

import pytest

from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.errors import InputError

NAMES = ("fork", "long", "short", "join", "last")


def network() -> Dataflow:
    engines = tuple(Engine(name, "Kind", "", {}, 0, 2, 2) for name in NAMES)
    ends = [("host:in0", 0, "fork", 0), ("fork", 0, "long", 0), ("fork", 1, "short", 0)]
    ends += [("long", 0, "join", 0), ("short", 0, "join", 1), ("join", 0, "last", 0), ("last", 0, "host:out0", 0)]
    return Dataflow("net", engines, tuple(Stream(*end, 96, 8, 2, 10 + i, i) for i, end in enumerate(ends)), ("a note",))


def test_cut_streams_end_outside_and_all_else_stays() -> None:
    whole = network()
    part = whole.segment(["join", "short"])
    assert [engine.name for engine in part.engines] == ["short", "join"]
    assert [stream.channel for stream in part.streams] == [
        "cut:fork.1->short.0.0->short.0",
        "cut:long.0->join.0.0->join.0",
        "short.0->join.1",
        "join.0->cut:join.0->last.0.0",
    ]
    assert [stream.from_outside for stream in part.streams] == [True, True, False, False]
    assert [stream.to_outside for stream in part.streams] == [False, False, False, True]
    assert [stream.fifo_bits for stream in part.streams] == [12, 13, 14, 15]
    assert (part.name, part.notes) == (whole.name, whole.notes)


def test_all_engines_are_the_whole() -> None:
    assert network().segment(NAMES[::-1]) == network()


def test_ends_at_the_host_stay() -> None:
    part = network().segment(["fork", "last"])
    assert [stream.source for stream in part.streams if stream.from_outside] == ["host:in0", "cut:join.0->last.0"]
    assert [stream.target for stream in part.streams if stream.to_outside][-1] == "host:out0"


def test_a_segment_of_a_segment_is_one_of_the_whole() -> None:
    rng, whole = random.Random(1), network()
    for _ in range(50):
        part = rng.sample(NAMES, rng.randint(1, 5))
        smaller = rng.sample(part, rng.randint(1, len(part)))
        assert whole.segment(part).segment(smaller) == whole.segment(smaller)


@pytest.mark.parametrize(
    ("engines", "message"),
    [
        ([], "empty segment"),
        (["join", "nobody", "none"], "'net' has no engine 'nobody', 'none'"),
        (["join", "last", "join"], "a segment of 'net' names 'join' twice"),
    ],
)
def test_what_is_no_segment_is_refused(engines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        network().segment(engines)
