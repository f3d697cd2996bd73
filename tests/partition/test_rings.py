"""Slots whose links make rings: `cuts` knows them; other methods search on a tree and price on the shortest routes."""

from dataclasses import replace

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
from floorflow.partition.problem import plain_tree
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


@pytest.mark.parametrize("method", ["auto", "exact", "cuts"])
def test_a_ring_is_solved_whole(method: str) -> None:
    problem = ring(4)
    answer = partition(problem, method)
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
    assert answer.stats.objective == answer.stats.bound == problem.cost(answer.slot_of) == 400
    assert answer.stats.method.startswith("cuts")


def test_other_methods_search_on_a_tree_of_the_links_and_prove_nothing() -> None:
    problem = ring(4)
    answer = partition(problem, "metis")
    assert isinstance(answer, PartitionSolution)
    assert problem.is_legal(answer.slot_of)
    assert answer.stats.objective == problem.cost(answer.slot_of)
    assert (answer.stats.status, answer.stats.bound) == ("feasible", None)
    assert answer.stats.method.endswith("on a tree of the links")
    failed = partition(ring(4, gbps=0.5), "metis")
    assert isinstance(failed, PartitionFailure)
    assert not failed.proven


def test_what_no_link_of_a_ring_can_carry_is_proven() -> None:
    answer = partition(ring(4, gbps=0.5))
    assert isinstance(answer, PartitionFailure)
    assert answer.proven
    assert "limits of these together" in str(answer)
    assert "fpga0-fpga1" in str(answer)
    short = partition(replace(ring(4), slots=ring(4).slots[:1] * 4, demands={"m0": Resources(lut=41)}, streams=()))
    assert isinstance(short, PartitionFailure)
    assert short.proven


def test_the_tree_keeps_the_earliest_links() -> None:
    tree = plain_tree(ring(5))
    assert tree.is_plain
    assert [edge.name for edge in tree.edges] == ["fpga0-fpga1", "fpga1-fpga2", "fpga2-fpga3", "fpga3-fpga4"]
