"""The fills of joins against an enumeration of every path."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.verify.back_end import EngineFacts, PlannedEngine
from floorflow.verify.facts import PhaseFacts
from floorflow.verify.rules.fifos import join_fills
from floorflow.verify.violations import Findings

Edge = tuple[str, str]


def phase_of_edges(edges: list[Edge], windows: dict[str, int]) -> PhaseFacts:
    """``windows`` are the fills of engines in per mille."""
    names = sorted({end for edge in edges for end in edge if not end.startswith("host:")}, key=int)
    ports = dict.fromkeys(names, 0)
    channels = []
    for source, target in edges:
        channels.append({"source": source, "source_port": 0, "target": target, "target_port": ports.get(target, 0)})
        if target in ports:
            ports[target] += 1
    facts = {name: EngineFacts(window_fill=Fraction(windows.get(name, 0), 1000)) for name in names}
    folded = {name: PlannedEngine(name, {}, facts[name]) for name in names}
    return PhaseFacts("p", {"channels": channels}, {}, {}, {}, {}, folded, 200.0, Findings(), networks=("n",))


def paths_to(edges: list[Edge], node: str) -> list[list[str]]:
    """Every path from the host to a node, both with it."""
    if node == "host:":
        return [["host:"]]
    before = ["host:" if a.startswith("host:") else a for a, b in edges if b == node]
    return [[*path, node] for source in before for path in paths_to(edges, source)]


def enumerated(edges: list[Edge], windows: dict[str, int]) -> dict[tuple[str, int], Fraction]:
    expected = {}
    for join in {b for _, b in edges}:
        inputs = ["host:" if a.startswith("host:") else a for a, b in edges if b == join]
        if len(inputs) < 2:
            continue
        paths = [paths_to(edges, source) for source in inputs]
        everywhere = set.intersection(*(set(path) for branch in paths for path in branch))
        fork = next(node for node in reversed(paths[0][0]) if node in everywhere)
        fills = [max(sum(windows.get(n, 0) for n in path[path.index(fork) + 1 :]) for path in p) for p in paths]
        expected |= {(join, port): Fraction(max(fills), 1000) for port, fill in enumerate(fills) if fill < max(fills)}
    return expected


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Edge], dict[str, int]]:
    """Engines 0, 1, ..., each fed by the host or by one to three earlier engines; some are windows."""
    edges: list[Edge] = []
    windows: dict[str, int] = {}
    for number in range(draw(st.integers(2, 8))):
        earlier = ["host:in0", *map(str, range(number))]
        sources = draw(st.lists(st.sampled_from(earlier[-4:]), min_size=1, max_size=3))
        edges += [(source, str(number)) for source in sources]
        if len(sources) == 1 and draw(st.booleans()):
            windows[str(number)] = draw(st.integers(1, 5))
    return edges, windows


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_fills_of_joins_are_those_of_all_paths(graph: tuple[list[Edge], dict[str, int]]) -> None:
    edges, windows = graph
    assert join_fills(phase_of_edges(edges, windows)) == enumerated(edges, windows)


def test_the_fork_is_the_nearest_engine_on_every_path() -> None:
    before_the_fork = [("host:in0", "0"), ("0", "1")]
    branches = [("1", "2"), ("2", "3"), ("1", "3")]
    assert join_fills(phase_of_edges([*before_the_fork, *branches], {"0": 7, "2": 3})) == {("3", 1): Fraction(3, 1000)}


def test_the_host_is_the_fork_of_streams_that_it_sends() -> None:
    edges = [("host:in0", "0"), ("0", "1"), ("host:in1", "1")]
    assert join_fills(phase_of_edges(edges, {"0": 7})) == {("1", 1): Fraction(7, 1000)}


def test_branches_of_equal_fill_need_nothing_more() -> None:
    edges = [("host:in0", "0"), ("0", "1"), ("0", "2"), ("1", "3"), ("2", "3")]
    assert join_fills(phase_of_edges(edges, {"1": 4, "2": 4})) == {}
    assert join_fills(phase_of_edges(edges, {})) == {}
