"""FIFOs at joins hold what waits while the windows of the longest branch fill."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.channels.window_fill import balance, waits
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.hardware import Crossing, Route
from floorflow.rates import keeps, size
from tests.rates.graphs import random_problem

MOST_CYCLES = 2
WIDTHS = {("fork", "far"): 64, ("fork", "near"): 64, ("near", "join"): 8, ("far", "join"): 64}


def engine(name: str, kernel: int | None = None) -> Engine:
    """Return an engine, or a window over an image of 10 x 10 pixels."""
    fill = Fraction(0) if kernel is None else Fraction((kernel - 1) * 10 + kernel, 100)
    return Engine(name, "any", "", {}, 0, 4, 4, window_fill=fill)


def graph(engines: list[Engine], *edges: tuple[str, str]) -> Dataflow:
    ports: dict[str, int] = {}
    streams = []
    for source, target in edges:
        port = ports.setdefault(target, 0)
        ports[target] += 1
        streams.append(Stream(source, 0, target, port, 100, 4, 4))
    return Dataflow("net", tuple(engines), tuple(streams))


def test_the_shorter_branch_waits_for_the_longest_one() -> None:
    engines = [engine("fork"), engine("w1", 3), engine("w2", 3), engine("join")]
    net = graph(
        engines,
        ("host:in0", "fork"),
        ("fork", "w1"),
        ("w1", "w2"),
        ("fork", "join"),
        ("w2", "join"),
        ("join", "host:out0"),
    )
    found = {(s.source, s.target): share for s, share in waits(net).items()}
    assert found == {("fork", "join"): Fraction(46, 100)}


def test_branches_of_equal_fill_need_no_more_room() -> None:
    engines = [engine("fork"), engine("a", 3), engine("b", 3), engine("join")]
    net = graph(engines, ("host:in0", "fork"), ("fork", "a"), ("fork", "b"), ("a", "join"), ("b", "join"))
    assert waits(net) == {}


def test_windows_before_the_fork_count_for_no_branch() -> None:
    engines = [engine("early", 5), engine("fork"), engine("a", 3), engine("join")]
    net = graph(engines, ("host:in0", "early"), ("early", "fork"), ("fork", "a"), ("fork", "join"), ("a", "join"))
    assert list(waits(net).values()) == [Fraction(23, 100)]


def test_a_chain_has_no_joins() -> None:
    assert waits(graph([engine("w", 3)], ("host:in0", "w"), ("w", "host:out0"))) == {}


@st.composite
def routed(draw: st.DrawFn) -> tuple[Dataflow, dict[str, Route], dict[str, int]]:
    """Draw an acyclic network with cycles on the routes of its streams, and a width of each."""
    count = draw(st.integers(2, 5))
    pairs = [(f"e{a}", f"e{b}") for b in range(count) for a in range(b)]
    ends = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    net = graph([engine(f"e{i}") for i in range(count)], ("host:in0", "e0"), *ends, (f"e{count - 1}", "host:out0"))
    cycles = {s.channel: draw(st.integers(0, MOST_CYCLES)) for s in net.streams}
    routes = {name: Route((Crossing("sll", cycles=each),)) for name, each in cycles.items() if each}
    return net, routes, {s.channel: draw(st.integers(1, 64)) for s in net.streams}


def least_bits(net: Dataflow, routes: dict[str, Route], width_bits: dict[str, int]) -> int:
    """Return the least bits of all starts of the engines, tried one by one up to the longest way there can be."""
    names = [e.name for e in net.engines]
    starts = np.indices(((len(names) - 1) * MOST_CYCLES + 1,) * len(names)).reshape(len(names), -1)
    bits, legal = np.zeros(starts.shape[1], dtype=int), np.ones(starts.shape[1], dtype=bool)
    for s in net.streams:
        if s.source in names and s.target in names:
            soonest = routes[s.channel].cycles if s.channel in routes else 0
            waits = starts[names.index(s.target)] - starts[names.index(s.source)] - soonest
            bits, legal = bits + width_bits[s.channel] * waits, legal & (waits >= 0)
    return int(bits[legal].min())


def balanced_at_least_bits(drawn: tuple[Dataflow, dict[str, Route], dict[str, int]]) -> None:
    net, routes, width_bits = drawn
    found = balance(*drawn)
    own = {s.channel: 2 * (routes[s.channel].cycles if s.channel in routes else 0) for s in net.streams}
    assert all(found.words[name] >= words for name, words in own.items())
    added = sum(width_bits[name] * (found.words[name] - words) for name, words in own.items())
    assert added == found.stats.objective == found.stats.bound == least_bits(*drawn)


@given(routed())
def test_where_routes_meet_fifos_take_the_least_bits_of_all_starts(drawn) -> None:
    balanced_at_least_bits(drawn)


@pytest.mark.slow
@settings(settings.get_profile("many"))
@given(routed())
def test_where_many_routes_meet_they_do_too(drawn) -> None:
    balanced_at_least_bits(drawn)


def test_what_waits_for_a_longer_route_waits_where_it_is_narrow() -> None:
    """The wide branch goes over the link; of the other the first stream is wide, the second narrow."""
    net = graph([engine(n) for n in ("fork", "far", "near", "join")], *WIDTHS)
    names = {(s.source, s.target): s.channel for s in net.streams}
    widths = {names[ends]: bits for ends, bits in WIDTHS.items()}
    found = balance(net, {names["fork", "far"]: Route((Crossing("link", cycles=100),))}, widths)
    assert found.words[names["near", "join"]] == 100
    assert found.words[names["fork", "near"]] == 0
    assert found.words[names["fork", "far"]] == 2 * 100
    assert (found.stats.objective, found.stats.status) == (100 * 8, "optimal")


@pytest.mark.parametrize("seed", range(20))
def test_with_the_words_for_its_routes_a_pipeline_keeps_its_rate(seed: int) -> None:
    problem, rng = random_problem(seed), Random(seed)
    sized = size(problem)
    engines = [engine(actor.name) for actor in problem.actors]
    streams = [Stream(f.source, f.source_port, f.target, f.target_port, 1, 1, 1) for f in problem.fifos]
    cycles = {fifo.name: rng.choice((0, 0, 1, 5)) for fifo in problem.fifos}
    routes = {name: Route((Crossing("sll", cycles=each),)) for name, each in cycles.items()}
    found = balance(
        Dataflow("net", tuple(engines), tuple(streams)), routes, {f.name: f.width_bits for f in problem.fifos}
    )
    far = [
        replace(f, latency_cycles=f.latency_cycles + cycles[f.name], return_cycles=f.return_cycles + cycles[f.name])
        for f in problem.fifos
    ]
    depths = {name: words + found.words[name] for name, words in sized.depths.items()}
    assert keeps(replace(problem, fifos=tuple(far)), depths, sized.interval_cycles)
