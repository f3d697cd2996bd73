"""A failure names what binds: the module, the resource, the boundary or the link."""

from dataclasses import replace

import pytest

from floorflow.errors import Refusal
from floorflow.hardware import Crossing
from floorflow.partition import Edge, ModuleStream, PartitionFailure, PartitionProblem, PartitionSolution, partition
from floorflow.partition.infeasibility import worst
from floorflow.resources import Resources
from tests.partition.problems import chain


def over_a_link(gbps: float, frames_per_s: float) -> PartitionProblem:
    """Two slots of two FPGAs that both have to be used; the stream between them carries 100 bits a frame."""
    problem = chain(8, 10, [40, 40])
    link = Edge(0, 1, Crossing("link", gbps=gbps, cost=10), "fpga0-fpga1")
    return replace(problem, edges=(link,), frames_per_s=frames_per_s, host_out=1)


@pytest.mark.parametrize("method", ["auto", "exact", "dp", "metis"])
def test_a_module_that_fits_no_slot_is_named(method: str) -> None:
    answer = partition(chain(2, 60, [50, 50]), method)
    alone = Refusal("module too large", "LUT", "SLR0", 60, 50, proven=True, names=("m0",))
    assert answer == PartitionFailure((alone,))
    assert str(answer) == "module m0 fits no slot alone: it needs 60 LUT, the largest slot (SLR0) allows it 50"


def test_what_all_slots_lack_is_given() -> None:
    answer = partition(chain(11, 10, [50, 50]))
    short = Refusal("slots together", "LUT", "", 110, 100, proven=True)
    assert answer == PartitionFailure((short,), short=Resources(lut=10))
    assert str(answer) == "LUT: 110 needed, all slots together allow 100"


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_the_boundary_whose_wires_bind_is_named(method: str) -> None:
    answer = partition(chain(8, 10, [40, 40], wires=10, sll=9), method)
    assert isinstance(answer, PartitionFailure)
    assert answer.refusals == (Refusal("edge", "wires", "SLR boundary SLR0-SLR1", 10, 9, proven=True),)
    assert str(answer) == "SLR boundary SLR0-SLR1: at least 10 wires needed, 9 allowed"


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_the_link_that_is_too_slow_is_named(method: str) -> None:
    answer = partition(over_a_link(gbps=1.0, frames_per_s=2e7), method)
    assert isinstance(answer, PartitionFailure)
    assert answer.refusals == (Refusal("edge", "Gb/s", "link fpga0-fpga1", 2.0, 1.0, proven=True),)
    assert str(answer) == "link fpga0-fpga1: at least 2 Gb/s needed in one direction, 1 Gb/s allowed"
    assert not isinstance(partition(over_a_link(gbps=2.0, frames_per_s=2e7), method), PartitionFailure)


def there_and_back(*, max_hops: int | None) -> PartitionProblem:
    """Three modules, each of which takes a slot, from the host's slot at the end of three back to it."""
    problem = chain(3, 40, [50, 50, 50])
    return replace(problem, streams=(*problem.streams, ModuleStream("out", "m2", None, 4, 100)), max_hops=max_hops)


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_hops_that_no_assignment_can_keep_to_are_named_with_those_that_will_do(method: str) -> None:
    answer = partition(there_and_back(max_hops=1), method)
    assert isinstance(answer, PartitionFailure)
    assert answer.refusals == (Refusal("hops", "SLR boundaries", "", 2, 1, proven=True),)
    expected = "no assignment of these modules to slots lets every stream cross at most 1 SLR boundary of an FPGA"
    assert str(answer) == f"{expected}; one crosses 2"


@pytest.mark.parametrize("max_hops", [None, 2])
def test_a_stream_over_two_boundaries_costs_three_times_one_over_one(max_hops: int | None) -> None:
    answer = partition(there_and_back(max_hops=max_hops))
    assert isinstance(answer, PartitionSolution)
    # The way back goes far, for it has the fewest wires: 4 x 3 + 10 x (1 + 1).
    assert answer.stats.objective == 32
    assert answer.stats.status == "optimal"


@pytest.mark.parametrize("method", ["auto", "cuts"])
def test_streams_that_a_link_may_not_carry_are_named_with_as_many_as_will_do(method: str) -> None:
    problem = over_a_link(gbps=100.0, frames_per_s=1.0)
    twice = replace(problem, streams=(*problem.streams, *(replace(s, name=f"{s.name} again") for s in problem.streams)))
    answer = partition(replace(twice, link_streams=1), method)
    assert isinstance(answer, PartitionFailure)
    assert answer.refusals == (Refusal("link streams", "streams over a link", "", 2, 1, proven=True),)
    assert not isinstance(partition(replace(twice, link_streams=2), method), PartitionFailure)


def test_a_stream_that_goes_back_is_named_where_it_is_what_is_exceeded_most() -> None:
    problem = replace(there_and_back(max_hops=None), order=(0, 1, 2))
    refusal = worst(problem, {"m0": 0, "m1": 1, "m2": 1})
    assert refusal == Refusal("partition limit", "streams to an earlier FPGA", "out", 1, 0)
    assert str(refusal).endswith("the closest has 1 needed, 0 allowed (out, streams to an earlier FPGA)")


def test_slots_too_small_together_are_said() -> None:
    answer = partition(chain(3, 30, [50, 50]))
    assert isinstance(answer, PartitionFailure)
    assert answer.proven
    assert "resource limits of every slot" in str(answer)


def test_edges_that_make_a_ring_are_refused() -> None:
    problem = chain(3, 10, [40, 40, 40])
    ring = replace(problem, edges=(Edge(0, 1, Crossing("sll")), Edge(1, 0, Crossing("sll"))))
    with pytest.raises(ValueError, match="ring"):
        partition(ring)
