"""Contiguous cuts on a platform: each slot folds its segment within its limits, and links carry what crosses them."""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import Option
from floorflow.dataflow.options import UNBUILDABLE, Coupling
from floorflow.errors import Refusal, required
from floorflow.folding import FoldingSolution, fold_at_interval
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import ZERO, Resources, total
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.cutting import Cutter, FifoPricing, _beside
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.candidate.routes import hops_of, slot_orders
from floorflow.search.interval.state import SearchState
from floorflow.search.interval.strategies import fold_segments
from tests.plans import CNV, TFC
from tests.random_models import random_residual


def prepared(model: Path, board: str, fpgas: int = 1, **options: Any) -> PlanningContext:
    request = Request(model, board, fpgas=fpgas, effort="fast", **options)
    return prepare(read_source(request.model), request, fpgas)


def tight(model: Path, board: str, lut: float, fpgas: int = 1, **options: Any) -> PlanningContext:
    return prepared(model, board, fpgas, cap={**DEFAULT_CAP, "LUT": lut}, **options)


@cache
def cnv() -> PlanningContext:
    return tight(CNV, "alveo-u250", 0.04)


def residual(folder: Path) -> PlanningContext:
    onnx.save(random_residual(3), folder / "residual.onnx")
    return tight(folder / "residual.onnx", "xcku5p", 0.1, 3)


def cutter_of(context: PlanningContext, reserve: Mapping[str, Resources] | None = None) -> Cutter:
    return Cutter(context, FifoPricing(context, {}, context.scarcity_prices), reserve or {})


def shortest_cut(cutter: Cutter) -> tuple[int, dict[str, str]]:
    """Return the shortest interval that has a cut over several slots, and the slot of every engine."""
    intervals = cutter.context.problem.intervals()
    for interval in intervals[cutter.context.problem.first_possible(intervals) :]:
        slot_of = cutter.at(interval)
        if not isinstance(slot_of, Refusal):
            return interval, slot_of
    raise AssertionError("no interval has a cut")


def assert_folds(cutter: Cutter, interval: int, slot_of: Mapping[str, str]) -> None:
    """Check that every engine lies in one slot, and that each slot has a folding of its own within its limits."""
    assert sorted(slot_of) == sorted(engine.name for engine in cutter.context.dataflow.engines)
    segments = cutter.in_orders[0].cuts.segments
    for slot in set(slot_of.values()):
        segment = segments.of([engine for engine, place in slot_of.items() if place == slot])
        folding = fold_at_interval(required(segment.problem(cutter.space(slot))), interval)
        assert isinstance(folding, FoldingSolution)
        assert_keeps(cutter, slot, folding.options.values(), interval)


def assert_keeps(cutter: Cutter, slot: str, options: Iterable[Option], interval: int) -> None:
    chosen = list(options)
    assert max(option.cycles for option in chosen) <= interval
    assert total(option.resources for option in chosen).fits(cutter.space(slot).budget)


def test_every_slots_segment_folds_within_its_limits() -> None:
    cutter = cutter_of(cnv())
    interval, slot_of = shortest_cut(cutter)
    assert len(set(slot_of.values())) > 1
    assert_folds(cutter, interval, slot_of)


def test_slots_that_are_folded_beside_each_other_keep_their_limits_too() -> None:
    """What converters at the cuts take is known only then, so that the interval may be a little longer."""
    cutter = cutter_of(cnv())
    shortest, _ = shortest_cut(cutter)
    intervals = [interval for interval in cnv().problem.intervals() if interval >= shortest]
    cuts = ((interval, cutter.at(interval)) for interval in intervals)
    tried = ((t, slots, cutter.folded(slots, t)) for t, slots in cuts if not isinstance(slots, Refusal))
    interval, slot_of, options = next((t, slots, each) for t, slots, each in tried if not isinstance(each, Refusal))
    assert interval <= 1.1 * shortest
    assert sorted(options) == sorted(slot_of) == sorted(e.name for e in cnv().dataflow.engines)
    for slot in set(slot_of.values()):
        assert_keeps(cutter, slot, [options[e] for e, place in slot_of.items() if place == slot], interval)


def test_slots_of_a_residual_network_on_several_cards_fold_within_their_limits(tmp_path: Path) -> None:
    cutter = cutter_of(residual(tmp_path))
    interval, slot_of = shortest_cut(cutter)
    assert len(set(slot_of.values())) > 1
    assert_folds(cutter, interval, slot_of)


def test_segments_are_contiguous_in_the_order_of_the_slots() -> None:
    context = tight(CNV, "alveo-u250", 0.04, max_hops=3)
    _, slot_of = shortest_cut(cutter_of(context))
    in_order = list(dict.fromkeys(slot_of[engine.name] for engine in context.dataflow.engines))
    runs = [slot_of[engine.name] for engine in context.dataflow.engines]
    assert sum(a != b for a, b in pairwise(runs)) == len(in_order) - 1
    orders = slot_orders(context.platform, 3)
    assert any([slot for slot in slots if slot in in_order] == in_order for slots in orders)


def test_segments_come_back_through_the_slots_where_streams_may_not_go_far() -> None:
    context = cnv()
    _, slot_of = shortest_cut(cutter_of(context))
    runs = [int(slot_of[engine.name][-1]) for engine in context.dataflow.engines]
    assert max(runs) == 3
    assert all(abs(a - b) <= 1 for a, b in pairwise([0, *runs, 0]))
    assert hops_of(context).allow(context.dataflow, {e: int(slot[-1]) for e, slot in slot_of.items()})


def test_what_is_kept_back_in_a_slot_is_not_used() -> None:
    free = cutter_of(cnv())
    _, slot_of = shortest_cut(free)
    slot = slot_of[cnv().dataflow.engines[0].name]
    reserve = {slot: cnv().limits[slot]}
    assert cutter_of(cnv(), reserve).space(slot).budget == ZERO
    assert slot not in shortest_cut(cutter_of(cnv(), reserve))[1].values()


def test_where_no_slot_can_fold_its_segment_the_refusal_names_slot_and_engine() -> None:
    context = tight(TFC, "alveo-u250", 0.004)
    refusal = cutter_of(context).at(context.problem.intervals()[0])
    assert isinstance(refusal, Refusal)
    assert refusal.place in context.limits
    assert refusal.names[0] in {engine.name for engine in context.dataflow.engines}
    assert not refusal.proven, "other orders, and what is not contiguous, may do"


def test_slots_are_filled_up_or_down_card_by_card() -> None:
    orders = slot_orders(prepared(TFC, "alveo-u250", 2).platform, 3)
    slots = list(prepared(TFC, "alveo-u250", 2).limits)
    assert len(set(orders)) == len(orders) == 4
    for order in orders:
        assert sorted(order) == sorted(slots)
        assert {slot.split(".")[0] for slot in order[:4]} == {"fpga0"}
        numbers = [int(slot[-1]) for slot in order]
        assert all(four in ([0, 1, 2, 3], [3, 2, 1, 0]) for four in (numbers[:4], numbers[4:]))


def test_a_plan_by_segments_is_a_legal_candidate_at_its_interval() -> None:
    run = SearchState(cnv(), SILENT)
    interval, _ = shortest_cut(run.cutter)
    intervals = [each for each in cnv().problem.intervals() if each >= interval]
    found = next(candidate for candidate in (fold_segments(run, each) for each in intervals) if candidate is not None)
    assert isinstance(found, Candidate)
    assert found.problem.is_legal(found.partition.slot_of)
    assert found.interval_cycles <= 1.25 * interval


def link_of(gbps: float, folder: Path) -> str:
    text = (asset_folder("platforms") / "links" / "ethernet-100g.yaml").read_text(encoding="utf-8")
    path = folder / f"link_{gbps}.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(text) | {"name": path.stem, "gbps": gbps}), encoding="utf-8")
    return str(path)


def link_load_gbps(context: PlanningContext, slot_of: Mapping[str, str], interval: int) -> float:
    """Return what crosses from the first card to the second."""
    card = {engine: slot.split(".")[0] for engine, slot in slot_of.items()}
    inner = [s for s in context.dataflow.streams if not (s.from_outside or s.to_outside)]
    bits = sum(s.elements * s.element_bits for s in inner if card[s.source] != card[s.target])
    return bits * context.platform.clock_mhz * 1e6 / interval / 1e9


def test_links_refuse_cuts_that_carry_too_much(tmp_path: Path) -> None:
    fast = tight(CNV, "xcku5p", 0.1, 2, link=link_of(1000.0, tmp_path))
    interval, wide = shortest_cut(cutter_of(fast))
    carried = link_load_gbps(fast, wide, interval)
    assert carried > 0
    slow = tight(CNV, "xcku5p", 0.1, 2, link=link_of(carried * 0.9, tmp_path))
    refused_or_moved = cutter_of(slow).at(interval)
    if not isinstance(refused_or_moved, Refusal):
        assert link_load_gbps(slow, refused_or_moved, interval) <= carried * 0.9
    longer, narrow = shortest_cut(cutter_of(slow))
    assert (longer, narrow) != (interval, wide)
    assert link_load_gbps(slow, narrow, longer) <= carried * 0.9


def charges(context: PlanningContext, engines: list[str], far: Mapping[str, Option]) -> tuple[Any, Coupling, Coupling]:
    """Return a segment's problem, and the price of its one cut stream before and after a neighbour was folded."""
    cutter = cutter_of(context)
    segment = cutter.in_orders[0].cuts.segments.of(engines)
    problem = required(segment.problem(cutter.space(next(iter(context.limits)))))
    ends = [(s.source in engines) + (s.target in engines) for s in context.dataflow.streams]
    beside = _beside(context, problem, segment.dataflow, far)
    changed = [i for i, (a, b) in enumerate(zip(problem.couplings, beside.couplings, strict=True)) if a is not b]
    assert len(changed) == 1
    assert ends.count(1) > 1, "the cut, and an end at the host"
    return problem, problem.couplings[changed[0]], beside.couplings[changed[0]]


def added(context: PlanningContext, engines: list[str], near: str, far: Mapping[str, Option]) -> dict[int, Any]:
    """Return what each width of the end of a segment pays beside a folded neighbour more than without one."""
    problem, before, after = charges(context, engines, far)
    table = problem.groups[before.source].options_of(near)
    outwards = engines[-1] == near
    widths = table.widths_bits[table.inputs if outwards else 0]
    found: dict[int, Any] = {}
    for row, width in enumerate(widths.tolist()):
        use = [coupling.use[coupling.source_class[row], 0] for coupling in (before, after)]
        found.setdefault(width, use[1] if use[1][0] == UNBUILDABLE else use[1] - use[0])
    return found


def test_a_converter_at_a_cut_is_charged_once_on_the_narrow_side() -> None:
    context = prepared(TFC, "alveo-u250")
    order = [engine.name for engine in context.dataflow.engines]
    stream = next(s for s in context.dataflow.streams if s.source == order[len(order) // 2 - 1])
    cut = order.index(stream.target)
    groups = {engine: group for group in context.problem.groups for engine in group.engines}
    # Every width of each end, by the first folding that has it.
    upper = {o.output_widths_bits[0]: o for o in groups[stream.source].options_of(stream.source)}
    lower = {o.input_widths_bits[0]: o for o in groups[stream.target].options_of(stream.target)}
    above = {width: added(context, order[:cut], stream.source, {stream.target: o}) for width, o in lower.items()}
    below = {width: added(context, order[cut:], stream.target, {stream.source: o}) for width, o in upper.items()}
    narrow = 0
    for written, read in product(upper, lower):
        at_source, at_target = above[read][written], below[written][read]
        if not context.costs.convertible(written, read):
            assert at_source[0] == at_target[0] == UNBUILDABLE
            continue
        converter = np.array(context.costs.converter_resources(written, read).as_tuple())
        assert (at_source + at_target == (converter if written != read else 0)).all()
        assert not (at_source if written >= read else at_target).any()
        narrow += bool(converter.any())
    assert narrow


@pytest.mark.parametrize("model", [CNV, TFC], ids=lambda path: path.stem)
def test_one_slot_takes_the_whole_network(model: Path) -> None:
    cutter = cutter_of(prepared(model, "zcu104"))
    interval, slot_of = shortest_cut(cutter)
    assert set(slot_of.values()) == {"fpga0.SLR0"}
    assert_folds(cutter, interval, slot_of)
