"""What receives is loaded before what sends to it, and circles are broken where the host's input enters."""

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.facts.topology import start_order

Pairs = set[tuple[int, int]]


@st.composite
def joined_cards(draw: st.DrawFn) -> tuple[int, Pairs]:
    """Return a chain, a ring, a star or anything that data from card 0 flow through, and how many cards there are."""
    count = draw(st.integers(1, 8))
    shape = draw(st.sampled_from(["chain", "ring", "star", "any"]))
    names = [0, *draw(st.permutations(range(1, count)))]
    row = set(pairwise(names))
    if shape == "chain" or count == 1:
        return count, row
    if shape == "ring":
        return count, row | {(names[-1], 0)}
    if shape == "star":
        back = draw(st.sets(st.sampled_from(names[1:])))
        return count, {(0, card) for card in names[1:]} | {(card, 0) for card in back}
    parents = {(draw(st.sampled_from(names[:place])), card) for place, card in enumerate(names) if place}
    ends = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda pair: pair[0] != pair[1])
    return count, parents | draw(st.sets(ends, max_size=6))


def ordered(count: int, pairs: Pairs) -> list[int]:
    names = [f"fpga{card}" for card in range(count)]
    found = start_order(names, {(names[a], names[b]) for a, b in pairs}, "fpga0")
    assert sorted(found) == names
    return [names.index(name) for name in found]


@given(joined_cards())
def test_all_that_can_be_loaded_before_a_sender_is(cards: tuple[int, Pairs]) -> None:
    count, pairs = cards
    order = ordered(count, pairs)
    graph = nx.DiGraph(pairs)
    late = {(a, b) for a, b in pairs if order.index(a) < order.index(b)}
    # A receiver that is loaded after its sender gets its data from that one as well, by a way round.
    assert all(nx.has_path(graph, b, a) for a, b in late)
    # The card that the host's input enters is loaded last, so no data flow before all is there.
    assert order[-1] == 0
    # No more is given up than has to be: with those taken away there is no circle, with any put back there is one.
    kept = nx.DiGraph(pairs - late)
    assert nx.is_directed_acyclic_graph(kept)
    assert all(not nx.is_directed_acyclic_graph(nx.DiGraph({*kept.edges, pair})) for pair in late)


@pytest.mark.parametrize(
    ("count", "pairs", "order"),
    [
        (1, set[tuple[int, int]](), [0]),
        (3, set[tuple[int, int]](), [2, 1, 0]),
        (4, {(0, 1), (1, 2)}, [3, 2, 1, 0]),
        (4, {(0, 1), (1, 2), (2, 3), (3, 0)}, [3, 2, 1, 0]),
        (4, {(0, 2), (2, 1), (1, 3)}, [3, 1, 2, 0]),
        (3, {(0, 1), (1, 0), (0, 2), (2, 0)}, [1, 2, 0]),
    ],
)
def test_orders_of_small_topologies(count: int, pairs: Pairs, order: list[int]) -> None:
    assert ordered(count, pairs) == order
