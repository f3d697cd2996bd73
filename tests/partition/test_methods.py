"""The exact partition equals brute force; METIS answers are legal; failures are proven only when they are true."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.partition import (
    Boundary,
    ModuleStream,
    PartitionFailure,
    PartitionProblem,
    PartitionSolution,
    Place,
    partition,
)
from floorflow.partition.metis import recursive_bipartition
from floorflow.resources import Resources


@st.composite
def problems(draw: st.DrawFn) -> PartitionProblem:
    count, slots = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    amount = st.builds(Resources, *(st.integers(0, top) for top in (40, 40, 6, 2, 3)))
    limit = st.builds(Resources, *(st.integers(0, top) for top in (120, 160, 15, 5, 8)))
    names = [f"m{i}" for i in range(count)]
    ends = st.sampled_from(names)
    streams = [ModuleStream("in", None, names[0], draw(st.integers(1, 20)))]
    streams += [
        ModuleStream(f"s{i}", draw(ends), draw(ends), draw(st.integers(1, 20))) for i in range(draw(st.integers(0, 7)))
    ]
    return PartitionProblem(
        demands={name: draw(amount) for name in names},
        streams=tuple(streams),
        slots=tuple(Place(f"SLR{i}", draw(limit), tuple(draw(st.lists(limit, max_size=2)))) for i in range(slots)),
        boundaries=tuple(Boundary(draw(st.integers(0, 60))) for _ in range(slots - 1)),
        host=draw(st.integers(0, slots - 1)),
        register_stages=draw(st.integers(0, 3)),
    )


def brute_force(problem: PartitionProblem) -> int | None:
    names = list(problem.demands)
    assignments = (
        dict(zip(names, places, strict=True)) for places in product(range(len(problem.slots)), repeat=len(names))
    )
    return min((problem.cost(a) for a in assignments if problem.is_legal(a)), default=None)


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from(["auto", "exact"]))
def test_exact_cost_equals_brute_force(problem: PartitionProblem, method: str) -> None:
    expected = brute_force(problem)
    answer = partition(problem, method)
    if expected is None:
        assert isinstance(answer, PartitionFailure)
        assert answer.proven
    else:
        assert isinstance(answer, PartitionSolution)
        assert problem.is_legal(answer.slot_of)
        assert problem.cost(answer.slot_of) == expected == answer.stats.bound
        assert answer.stats.status == "optimal"


@settings(max_examples=100, deadline=None)
@given(problems())
def test_metis_answers_are_legal_and_claim_no_proof(problem: PartitionProblem) -> None:
    answer = partition(problem, "metis")
    if isinstance(answer, PartitionSolution):
        assert problem.is_legal(answer.slot_of)
        assert answer.stats.status == "heuristic"
        assert answer.stats.bound is None
    else:
        assert not answer.proven


def chain(count: int, lut: int, limits: list[int], wires: int = 10, sll: int = 100) -> PartitionProblem:
    names = [f"m{i}" for i in range(count)]
    streams = [ModuleStream("in", None, "m0", 4)]
    streams += [ModuleStream(f"{a}-{b}", a, b, wires) for a, b in pairwise(names)]
    return PartitionProblem(
        demands={n: Resources(lut=lut) for n in names},
        streams=tuple(streams),
        slots=tuple(Place(f"SLR{i}", Resources(lut=limit, ff=1000)) for i, limit in enumerate(limits)),
        boundaries=tuple(Boundary(sll) for _ in limits[1:]),
        host=0,
        register_stages=2,
    )


def test_metis_splits_a_chain_once_for_each_slot_needed() -> None:
    problem = chain(8, 10, [40, 40])
    slot_of = recursive_bipartition(problem, seed=0)
    assert slot_of is not None
    assert problem.cost(slot_of) == 10


def test_what_fits_one_slot_stays_beside_the_host() -> None:
    answer = partition(chain(4, 10, [40, 400, 400]))
    assert isinstance(answer, PartitionSolution)
    assert set(answer.slot_of.values()) == {0}


def test_equal_cost_is_spread_evenly() -> None:
    answer = partition(chain(6, 10, [50, 50]))
    assert isinstance(answer, PartitionSolution)
    assert sorted(answer.slot_of.values()) == [0, 0, 0, 1, 1, 1]


def test_a_module_that_fits_no_slot_is_named() -> None:
    answer = partition(chain(2, 60, [50, 50]))
    assert answer == PartitionFailure("module m0 fits no slot alone: it needs 60 LUT", proven=True)


def test_sll_wires_bind() -> None:
    answer = partition(chain(8, 10, [40, 40], wires=10, sll=9))
    assert isinstance(answer, PartitionFailure)
    assert answer.proven


@pytest.mark.parametrize("method", ["auto", "exact", "metis"])
def test_same_seed_same_answer(method: str) -> None:
    problem = chain(9, 10, [40, 40, 40])
    assert partition(problem, method, seed=3) == partition(problem, method, seed=3)
