"""Segments in time: where a network may be cut, what a segment moves, and how fast it may be."""

from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from floorflow import flow
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.errors import InfeasibleError, InputError, Refusal
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare
from floorflow.search.many.phases import SegmentPlans, _Run, segments_in_time, slowed
from floorflow.segments.in_time import BoardMemory, at_memory, moved_bits, shortest_cycles
from tests.plans import TFC
from tests.reconfigured import quick_request


def stream(source: str, target: str, elements: int, port: int = 0) -> Stream:
    return Stream(source, 0, target, port, elements, 1, 2)


FORK = Dataflow(
    "net",
    tuple(Engine(name, "AddStreams_hls", "", {}, 0, 2, 2) for name in "abcd"),
    (
        stream("host:in0", "a", 900),
        stream("a", "b", 300),
        Stream("a", 1, "c", 0, 50, 1, 2),
        stream("b", "c", 20, port=1),
        stream("c", "d", 200),
        stream("d", "host:out0", 400),
    ),
)
ONE_BY_ONE = [("a",), ("b",), ("c",), ("d",)]


@pytest.fixture(scope="module")
def tfc(tmp_path_factory: pytest.TempPathFactory) -> PlanningContext:
    return prepare(read_source(TFC), Request(TFC, "pynq-z1"), 1)


def test_a_segment_moves_what_enters_and_leaves_it() -> None:
    bits = moved_bits(FORK, ONE_BY_ONE)
    assert bits[0, 4] == 2 * (900 + 400)
    assert bits[0, 1] == 2 * (900 + 300 + 50)
    assert bits[1, 3] == 2 * (300 + 50 + 200)


def test_cut_streams_end_in_buffers_that_both_sides_call_alike() -> None:
    first, second = at_memory(FORK, "abc"), at_memory(FORK, "d")
    assert [s.target for s in first.streams if s.to_outside] == ["memory:s4"]
    assert [s.source for s in second.streams if s.from_outside] == ["memory:s4"]


def test_a_chain_may_be_cut_between_all_parts_and_no_bound_is_above_what_folding_finds(tfc: PlanningContext) -> None:
    segments = segments_in_time(tfc, BoardMemory(1e6, 100))
    count = len(segments.blocks)
    assert count > 3
    before = segments.lowest.copy()
    for span in ((a, b) for a in range(count) for b in range(a + 1, count + 1)):
        segments.folded.close([span])
    assert (segments.lowest >= before)[np.isfinite(before)].all()
    assert segments.lowest[0, count] == shortest_cycles(tfc.problem)
    assert (segments.lowest[0, 1:] <= segments.lowest[0, count]).all()


@pytest.mark.parametrize(("bits", "gbps"), list(product((1, 99, 100, 101, 12_345), (1.0, 16.8))))
def test_an_interval_is_slow_enough_if_less_than_all_that_memory_carries_is_needed(bits: int, gbps: float) -> None:
    memory = BoardMemory(gbps, 100.0)
    cycles = memory.slow_enough(bits)
    assert bits * 100.0 / cycles < gbps * 1e3
    assert cycles == 1 or bits * 100.0 / (cycles - 1) >= gbps * 1e3


def test_what_is_too_fast_is_folded_so_that_one_group_is_slow_enough(tfc: PlanningContext) -> None:
    slow_enough = 3 * (shortest_cycles(tfc.problem) or 0) + 1
    found = slowed(tfc, slow_enough)
    assert isinstance(found, PlanningContext)
    cycles = shortest_cycles(found.problem)
    # Nothing but the memory forbids the next interval that any engine has.
    assert cycles == min(c for group in tfc.problem.groups for c in group.cycles.tolist() if c >= slow_enough)
    assert max(group.cycles.min() for group in found.problem.groups) >= slow_enough


def test_a_memory_slower_than_all_foldings_leaves_none(tfc: PlanningContext) -> None:
    assert isinstance(slowed(tfc, 10**9), Refusal)


@pytest.mark.parametrize("fact", ["reconfiguration", "memory_gbps"])
def test_a_board_that_says_nothing_of_loading_or_memory_is_refused_by_name(fact: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"the file of quick has no {fact}"):
        flow.plan(quick_request(tmp_path, facts={fact: None}))


def test_a_network_of_which_one_part_fits_nowhere_is_proven_infeasible(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"however it is cut in time: .* alone: LUT: at least"):
        flow.plan(quick_request(tmp_path, lut=0.012))


def chosen(tmp_path: Path, alone_cycles: int, effort: str = "default") -> list[tuple[int, int]]:
    """Return what is taken of two partitions in 100,000 us, loads of 50 us among them, and of one alone."""
    whole = SimpleNamespace(request=quick_request(tmp_path, effort=effort))
    segments = SimpleNamespace(lowest=np.full((3, 3), float(alone_cycles)))
    planned = {(0, 2): SimpleNamespace(interval_cycles=alone_cycles)}
    plans = SimpleNamespace(whole=whole, segments=segments, planned=planned, count=2)
    run = _Run(cast(SegmentPlans, plans), BoardMemory(1e6, 100))
    return run._rather_alone((100_000.0, [(0, 1), (1, 2)]), 1.0, 50.0)[1]


def test_one_partition_is_taken_where_several_save_less_than_the_load_that_the_next_batch_takes(tmp_path: Path) -> None:
    assert chosen(tmp_path, 100_049) == [(0, 2)]
    assert chosen(tmp_path, 100_051) == [(0, 1), (1, 2)]
    assert chosen(tmp_path, 100_001, effort="best") == [(0, 1), (1, 2)]
