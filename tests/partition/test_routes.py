"""Slots whose links make rings: assignments are searched on a tree of them and priced on the shortest routes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from floorflow.hardware import Crossing
from floorflow.partition import (
    Edge,
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    SlotCapacity,
    partition,
)
from floorflow.partition.problem import spanning_tree
from floorflow.partition.routes import shortest_routes
from floorflow.resources import Resources


def ring(count: int, gbps: float = 100.0) -> PartitionProblem:
    """One slot an FPGA, one module a slot; module i sends to the next, and the last one back to the first."""
    names = [f"m{i}" for i in range(count)]
    links = [(i, i + 1) for i in range(count - 1)] + [(0, count - 1)]
    return PartitionProblem(
        demands=dict.fromkeys(names, Resources(lut=10)),
        streams=tuple(
            ModuleStream(f"{a}-{b}", a, b, wires=10, bits_per_frame=1)
            for a, b in zip(names, [*names[1:], names[0]], strict=True)
        ),
        slots=tuple(SlotCapacity(f"fpga{i}.SLR0", Resources(lut=10, ff=100)) for i in range(count)),
        edges=tuple(Edge(a, b, Crossing("link", gbps=gbps, cost=10), f"fpga{a}-fpga{b}") for a, b in links),
        host_in=0,
        host_out=count - 1,
        frames_per_s=1e9,
    )


def test_streams_of_a_ring_take_the_short_way_round() -> None:
    problem = ring(5)
    around = {f"m{i}": i for i in range(5)}
    assert problem.route(problem.streams[-1], around) == (4,)
    assert problem.cost(around) == 5 * 100
    assert problem.link_bits(around) == ((1, 0), (1, 0), (1, 0), (1, 0), (0, 1))
    assert problem.is_legal(around)


def test_the_answer_is_legal_priced_truly_and_claims_no_bound() -> None:
    problem = ring(4)
    answer = partition(problem)
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
    assert answer.stats.objective == problem.cost(answer.slot_of)
    assert (answer.stats.status, answer.stats.bound) == ("feasible", None)
    assert answer.stats.method.endswith("on a tree of the links")


def test_a_failure_on_the_tree_proves_nothing_of_the_ring() -> None:
    answer = partition(ring(4, gbps=0.5))
    assert isinstance(answer, PartitionFailure)
    assert not answer.proven
    short = partition(replace(ring(4), slots=ring(4).slots[:1] * 4, demands={"m0": Resources(lut=41)}, streams=()))
    assert isinstance(short, PartitionFailure)
    assert short.proven


def test_the_tree_keeps_the_earliest_links() -> None:
    tree = spanning_tree(ring(5))
    assert tree.is_tree
    assert [edge.name for edge in tree.edges] == ["fpga0-fpga1", "fpga1-fpga2", "fpga2-fpga3", "fpga3-fpga4"]


@pytest.mark.parametrize("seed", range(20))
def test_routes_are_as_short_as_those_of_all_pairs(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 7))
    pairs = {(i, int(random.integers(0, i))) for i in range(1, count)}
    pairs |= {(int(a), int(b)) for a, b in random.integers(0, count, (4, 2)) if a != b}
    edges = [Edge(a, b, Crossing("link" if random.random() < 0.5 else "sll")) for a, b in sorted(pairs)]
    length = {(a, b): (0, 0) if a == b else (99, 99) for a in range(count) for b in range(count)}
    for _ in range(count):
        for (a, b), (links, boundaries) in list(length.items()):
            for edge in edges:
                for near, far in ((edge.a, edge.b), (edge.b, edge.a)):
                    if near == b:
                        step = (links + (edge.crossing.kind == "link"), boundaries + (edge.crossing.kind == "sll"))
                        length[a, far] = min(length[a, far], step)
    for (a, b), route in shortest_routes(count, edges).items():
        here = a
        for k, forward in route:
            near, far = (edges[k].a, edges[k].b) if forward else (edges[k].b, edges[k].a)
            assert near == here
            here = far
        kinds = [edges[k].crossing.kind for k, _ in route]
        assert here == b
        assert (kinds.count("link"), kinds.count("sll")) == length[a, b]
