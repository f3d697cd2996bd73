"""What FIFOs hold becomes a price for other foldings, in the memory of which most is left; their producers pay it."""

from __future__ import annotations

from functools import cache

import numpy as np

from floorflow.backends.finn.read.source import read_source
from floorflow.channels import port_widths_bits
from floorflow.dataflow.model import FoldedDataflow
from floorflow.folding import FoldingSolution
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.candidate import folded_by
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.cutting import (
    SHALLOW_WORDS,
    FifoPricing,
    held_bits,
    prices_of,
    with_cut_names,
)
from floorflow.search.candidate.preparing import prepare
from floorflow.segments import Segments, Space
from tests.conftest import TFC

EQUAL = tuple(1.0 for _ in RESOURCE_NAMES)


@cache
def prepared() -> PlanningContext:
    request = Request(TFC, "alveo-u250", effort="fast")
    return prepare(read_source(request.model), request, 1)


def folded() -> FoldedDataflow:
    context = prepared()
    folding = context.solvers.fold(context.problem, context.problem.intervals()[-1])
    assert isinstance(folding, FoldingSolution)
    return folded_by(context, folding)


def inner_channel() -> str:
    """Return a channel between two engines that no stage holds together."""
    inner = [s for s in prepared().dataflow.streams if not (s.from_outside or s.to_outside)]
    return inner[len(inner) // 2].channel


def test_what_is_nearly_used_up_is_dear_and_ff_are_free() -> None:
    budget = Resources(lut=1000, ff=2000, bram18=100, uram=10, dsp=0)
    prices = dict(zip(RESOURCE_NAMES, prices_of(budget, Resources(lut=500, bram18=90, uram=10)), strict=True))
    assert prices["FF"] == 0
    assert prices["LUT"] == 1 / 500
    assert prices["BRAM18"] == 1 / 10
    assert prices["LUT"] < prices["BRAM18"] < prices["URAM"] < float("inf")
    assert prices["DSP"] > prices["URAM"], "there is none of it"


def test_only_deep_fifos_hold_bits() -> None:
    network = folded()
    streams = network.dataflow.streams
    depths = {stream.channel: SHALLOW_WORDS + place % 2 for place, stream in enumerate(streams)}
    held = held_bits(prepared().dataflow, network, depths)
    assert set(held.values()) == {
        (SHALLOW_WORDS + 1) * max(port_widths_bits(stream, network)) for stream in streams[1::2]
    }
    assert set(held) == {stream.channel for stream in prepared().dataflow.streams[1::2]}


def test_a_fifo_at_a_cut_is_held_by_the_producers_segment_alone() -> None:
    dataflow = prepared().dataflow
    held = dict.fromkeys((stream.channel for stream in dataflow.streams), 1000)
    named = with_cut_names(dataflow, held)
    for stream in dataflow.streams:
        if not (stream.from_outside or stream.to_outside):
            assert named[stream.cut({stream.source}).channel] == 1000
            assert stream.cut({stream.target}).channel not in named


def test_segments_pay_for_the_fifos_of_their_outputs_and_never_of_their_inputs() -> None:
    context, name = prepared(), inner_channel()
    stream = next(s for s in context.dataflow.streams if s.channel == name)
    order = [engine.name for engine in context.dataflow.engines]
    cut = order.index(stream.target)
    sums = {}
    for bits in (0, 10**6):
        pricing = FifoPricing(context, {name: bits} if bits else {}, EQUAL)
        segments = Segments(context.dataflow, context.problem.groups, pricing.couplings)
        for side, engines in (("producer", order[:cut]), ("consumer", order[cut:])):
            problem = segments.of(engines).problem(Space(context.problem.budget, context.platform.silicon))
            sums[side, bits] = sum(int(coupling.use.sum()) for coupling in problem.couplings)
    assert sums["producer", 10**6] > sums["producer", 0]
    assert sums["consumer", 10**6] == sums["consumer", 0]


def test_deeper_fifos_are_never_cheaper_at_any_width() -> None:
    context, name = prepared(), inner_channel()
    place = next(i for i, s in enumerate(context.dataflow.streams) if s.channel == name)
    prices = context.scarcity_prices
    before = None
    for bits in (0, 10**4, 10**5, 10**6):
        priced = FifoPricing(context, {name: bits}, prices).problem(context).couplings[place].use @ np.array(prices)
        assert before is None or (priced >= before - 1e-12).all()
        before = priced


def test_memory_that_runs_out_is_avoided() -> None:
    context, name = prepared(), inner_channel()
    place = next(i for i, s in enumerate(context.dataflow.streams) if s.channel == name)

    def uses(scarce: str) -> np.ndarray:
        prices = tuple(1.0 if resource == scarce else 1e-9 for resource in RESOURCE_NAMES)
        use = FifoPricing(context, {name: 10**6}, prices).problem(context).couplings[place].use
        return np.asarray(use[..., RESOURCE_NAMES.index(scarce)])

    for scarce, other in (("BRAM18", "URAM"), ("URAM", "BRAM18")):
        assert not uses(scarce).any(), f"{other} is as good as free"
