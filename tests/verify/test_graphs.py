"""Rings of small directed graphs, and the least starts on acyclic ones."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from floorflow.verify.graphs import least_starts, rings


def test_each_ring_is_a_group_and_what_only_leads_there_is_in_none() -> None:
    feeds = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": ["e"], "e": ["f"], "f": ["d"], "g": []}
    assert rings(feeds) == [{"b", "c"}, {"d", "e", "f"}]


def test_rings_that_share_a_node_are_one_group() -> None:
    assert rings({"a": ["b", "c"], "b": ["a"], "c": ["a"]}) == [{"a", "b", "c"}]


def test_a_chain_has_no_ring() -> None:
    assert rings({"a": ["b"], "b": ["c"], "c": []}) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 2), st.integers(1, 9)).filter(
            lambda e: e[0] < e[1]
        ),
        max_size=8,
    )
)
def test_least_starts_equal_all_starts(edges: list[tuple[int, int, int, int]]) -> None:
    found = [
        sum(weight * (start[b] - start[a]) for a, b, _, weight in edges)
        for start in product(range(9), repeat=5)
        if all(start[b] - start[a] >= length for a, b, length, _ in edges)
    ]
    assert least_starts((str(a), str(b), length, weight) for a, b, length, weight in edges) == min(found)
