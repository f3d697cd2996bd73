"""Narrower limits: a share of each slot's, but for one engine that is larger than that everywhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from floorflow.backends.finn.read.source import read_source
from floorflow.dataflow.options import OptionGroup
from floorflow.folding.least_scale import within
from floorflow.request import Request
from floorflow.resources import Resources, largest_share
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval.least_full import HEADROOM, ROOMIEST, LargeEngine, large_engines, limits_at_share
from floorflow.search.interval.state import share_of
from tests.conftest import CNV


@pytest.fixture(scope="module")
def context() -> PlanningContext:
    return prepare(read_source(CNV), Request(CNV, "alveo-u250"), 1)


def test_every_slot_keeps_the_same_share(context: PlanningContext) -> None:
    half = limits_at_share(context, Fraction(1, 2), ())
    assert half == {slot: within(limit, Fraction(1, 2)) for slot, limit in context.allowed.items()}
    assert replace(context, narrowed=half).limits == half
    assert replace(context, narrowed=half).allowed == context.allowed


def test_an_engine_needs_the_least_share_that_any_of_its_foldings_has_of_any_slot(context: PlanningContext) -> None:
    interval, context = 7056, replace(context, max_hops=3)
    engines = {engine.name: engine for engine in large_engines(context, interval, (), context.allowed)}
    for group in context.problem.groups:
        for position, name in enumerate(group.engines):
            least = min(
                largest_share(Resources(*group.engine_use[row, position].tolist()), limit)
                for row in range(len(group.rows))
                if group.cycles[row] <= interval
                for limit in context.allowed.values()
            )
            assert engines[name].share == pytest.approx(least)
    shares = [engine.share for engine in large_engines(context, interval, (), context.allowed)]
    assert shares == sorted(shares, reverse=True)


def test_only_the_roomiest_slots_keep_what_a_large_engine_needs(context: PlanningContext) -> None:
    interval = context.problem.intervals()[0]
    largest = large_engines(context, interval, (), context.allowed)[0]
    scale = Fraction(largest.share) * Fraction(1, 2)
    limits = limits_at_share(context, scale, [largest])
    for slot, limit in context.allowed.items():
        scaled = within(limit, scale)
        if slot in largest.keep:
            assert largest_share(largest.keep[slot], limit) <= ROOMIEST * HEADROOM * largest.share + 0.01
            assert largest.keep[slot].fits(limits[slot])
            assert limits[slot] == scaled.most(largest.keep[slot])
        else:
            assert limits[slot] == scaled
    assert largest.slot in largest.keep
    assert limits_at_share(context, Fraction(1), [largest]) == context.allowed


def test_the_rest_of_its_stage_finds_room_beside_a_large_engine(context: PlanningContext) -> None:
    interval = context.problem.intervals()[0]
    largest = large_engines(context, interval, (), context.allowed)[0]
    other = next(group.engines[0] for group in context.problem.groups if largest.name not in group.engines)
    together = next(
        engine
        for engine in large_engines(context, interval, [(largest.name, other)], context.allowed)
        if engine.name == largest.name
    )
    beside = least_of(next(group for group in context.problem.groups if other in group.engines), interval)
    for slot, keep in together.keep.items():
        alone = largest.keep[slot]
        assert keep.lut >= alone.lut + beside.lut
        assert keep.bram18 >= alone.bram18 + beside.bram18


def least_of(group: OptionGroup, interval: int) -> Resources:
    use = group.engine_use[group.cycles <= interval][:, 0]
    return Resources(*use.min(axis=0).tolist())


def test_an_engine_counts_only_where_its_streams_may_reach_it(context: PlanningContext) -> None:
    interval = context.problem.intervals()[0]
    last = context.dataflow.engines[-1].name
    far = next(e for e in large_engines(replace(context, max_hops=3), interval, (), context.allowed) if e.name == last)
    near = next(e for e in large_engines(context, interval, (), context.allowed) if e.name == last)
    assert far.slot not in {"fpga0.SLR0", "fpga0.SLR1"}
    assert near.slot in near.keep
    assert set(near.keep) <= {"fpga0.SLR0", "fpga0.SLR1"}
    assert near.share >= far.share


def test_a_large_engine_beside_one_that_fills_the_only_slot_of_both_has_the_next_slot_widened(
    context: PlanningContext,
) -> None:
    """The last engine fills the host's slot; the one before it has no way to any but that and the next."""
    limits = context.allowed
    first, second = (context.dataflow.engines[place].name for place in (-1, -2))
    fills = {"fpga0.SLR0": share_of(limits["fpga0.SLR0"], 0.8)}
    half = {slot: share_of(limits[slot], 0.55) for slot in ("fpga0.SLR0", "fpga0.SLR1")}
    engines = [
        LargeEngine(first, 0.8, "fpga0.SLR0", "LUT", keep=fills, needs=fills),
        LargeEngine(second, 0.55, "fpga0.SLR0", "LUT", keep={}, needs=half),
    ]
    scale = Fraction(1, 2)
    scaled = {slot: within(limit, scale) for slot, limit in limits.items()}
    both = limits_at_share(context, scale, engines)
    assert both == scaled | {
        "fpga0.SLR0": scaled["fpga0.SLR0"].most(fills["fpga0.SLR0"]),
        "fpga0.SLR1": scaled["fpga0.SLR1"].most(half["fpga0.SLR1"]),
    }


def test_no_slot_is_widened_for_engines_that_find_room_beside_each_other(context: PlanningContext) -> None:
    engines = large_engines(context, 50176, (), context.allowed)
    scale = Fraction(9, 10)
    assert engines[0].share < scale
    assert limits_at_share(context, scale, engines) == limits_at_share(context, scale, ())
