"""Plans whose rates are balanced: in every slot and across slots, at a price that is told, judged by `check`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from floorflow import flow
from floorflow.api import told
from floorflow.errors import InfeasibleError, InputError
from floorflow.facts import Plan, read_plan
from floorflow.folding.balance import Balance, layer_pairs
from floorflow.request import DEFAULT_CAP, Request
from floorflow.search.candidate.cutting import Cutter, FifoPricing
from floorflow.search.candidate.preparing import prepare, read
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.verify import check
from tests.conftest import CNV, TFC, make_plan


@pytest.fixture(scope="module")
def balanced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("balanced")
    return make_plan(folder / "out", Request(TFC, "pynq-z1", epsilon=0.5, effort="fast", plots=False))


def layers(plan: Plan) -> list[int]:
    """Return the cycles of a chain's layers, in order."""
    cycles = plan.phases[0].engines
    return [cycles[e.name].cycles for e in plan.networks[0].engines if e.role == "core" and e.weight_bits]


def test_consecutive_layers_of_a_plan_differ_no_more_than_asked_for(balanced: Path) -> None:
    plan = read_plan(balanced / "plan.json")
    cycles = layers(plan)
    assert len(cycles) == 4
    assert all(max(pair) <= 1.5 * min(pair) for pair in pairwise(cycles))
    assert check(balanced) == []


def test_the_price_of_balance_is_told(balanced: Path) -> None:
    plan = read_plan(balanced / "plan.json")
    search = plan.networks[0].search
    assert search.without_balance is not None
    assert search.without_balance.bound_cycles is not None
    assert search.without_balance.bound_cycles < search.bound_cycles
    (line,) = [line for line in told.told(plan).splitlines() if line.startswith("  balance")]
    assert f"{search.bound_cycles:,} cycles with it, {search.without_balance.bound_cycles:,} without" in line
    assert "balance: cycles of consecutive layers" in (balanced / "report.txt").read_text()


def test_balance_that_costs_no_rate_is_told_so() -> None:
    request = Request(TFC, "pynq-z1", epsilon=1000, effort="fast", plots=False)
    assert "costs no rate" in told.told(flow.plan(request).plan)


def test_slots_that_are_folded_one_by_one_balance_what_lies_on_both_sides_of_a_cut() -> None:
    cap = {**DEFAULT_CAP, "LUT": 0.15}
    context = prepare(read(Request(CNV, "alveo-u250")), Request(CNV, "alveo-u250", epsilon=0.5, cap=cap), 1)
    pricing = FifoPricing(context, {}, context.scarcity_prices)
    cutter = Cutter(context, pricing, {})
    slot_of = cutter.at(8_192)
    assert isinstance(slot_of, dict)
    assert len(set(slot_of.values())) > 1
    options = cutter.folded(slot_of, 8_192)
    assert isinstance(options, dict)
    assert Balance(layer_pairs(context.dataflow), 0.5).is_kept({name: o.cycles for name, o in options.items()})


def test_a_balance_that_cannot_be_had_names_one_that_can() -> None:
    request = Request(CNV, "alveo-u250", epsilon=0.1, fps=1000)
    with pytest.raises(InfeasibleError) as refused:
        flow.plan(request)
    assert "--epsilon 0.21" in refused.value.hint


def test_what_a_given_folding_or_a_tool_of_others_decides_is_not_balanced() -> None:
    with pytest.raises(InputError, match="--keep-folding leaves nothing to balance"):
        Request(TFC, "pynq-z1", epsilon=1, keep_folding=True)
    with pytest.raises(InputError, match="--fold-method finn does not balance rates"):
        Request(TFC, "pynq-z1", epsilon=1, fold_method="finn")


def test_a_plan_that_is_planned_again_with_its_folding_asks_for_no_balance(balanced: Path) -> None:
    plan = read_plan(balanced / "plan.json")
    assert replanned_request(balanced, plan, Overrides(model=TFC)).epsilon == 0.5
    assert replanned_request(balanced, plan, Overrides(model=TFC, keep_folding=True)).epsilon is None
