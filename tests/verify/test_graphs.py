"""Rings of small directed graphs."""

from __future__ import annotations

from floorflow.verify.graphs import rings


def test_each_ring_is_a_group_and_what_only_leads_there_is_in_none() -> None:
    feeds = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": ["e"], "e": ["f"], "f": ["d"], "g": []}
    assert rings(feeds) == [{"b", "c"}, {"d", "e", "f"}]


def test_rings_that_share_a_node_are_one_group() -> None:
    assert rings({"a": ["b", "c"], "b": ["a"], "c": ["a"]}) == [{"a", "b", "c"}]


def test_a_chain_has_no_ring() -> None:
    assert rings({"a": ["b"], "b": ["c"], "c": []}) == []
