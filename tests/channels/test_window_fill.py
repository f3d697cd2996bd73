"""FIFOs at joins hold what waits while the windows of the longest branch fill."""

from __future__ import annotations

from fractions import Fraction

from floorflow.channels.window_fill import waits
from floorflow.dataflow.model import Dataflow, Engine, Stream


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
