"""Which FPGAs each topology joins, and the route that a stream takes between two of them."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest

from floorflow.verify.hardware.topology import TOPOLOGIES, fpga_route, joined_pairs


@pytest.mark.parametrize(
    ("topology", "count", "expected"),
    [
        ("pair", 2, "01"),
        ("chain", 4, "01 12 23"),
        ("ring", 2, "01"),
        ("ring", 3, "01 02 12"),
        ("ring", 5, "01 04 12 23 34"),
        ("star", 4, "01 02 03"),
        ("full", 4, "01 02 03 12 13 23"),
        ("full", 1, ""),
    ],
)
def test_topologies_join(topology: str, count: int, expected: str) -> None:
    assert sorted(f"{low}{high}" for low, high in joined_pairs(topology, count)) == expected.split()


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_routes_pass_the_fewest_links_and_then_the_lowest_numbers(topology: str) -> None:
    count = 2 if topology == "pair" else 5
    pairs = joined_pairs(topology, count)
    for source in range(count):
        for target in range(count):
            assert fpga_route(source, target, pairs) == best_of_all(source, target, pairs, count)


def best_of_all(source: int, target: int, pairs: list[tuple[int, int]], count: int) -> list[int]:
    """Return the best simple path by trying all."""
    if source == target:
        return [source]
    inner = [n for n in range(count) if n not in (source, target)]
    routes = [[source, *middle, target] for size in range(len(inner) + 1) for middle in permutations(inner, size)]
    joined = {*pairs, *((b, a) for a, b in pairs)}
    return min((r for r in routes if joined.issuperset(pairwise(r))), key=lambda r: (len(r), r))


def test_there_is_no_route_where_no_link_leads() -> None:
    assert fpga_route(0, 2, [(0, 1)]) is None
