"""Where FIFOs as deep as the engines' rate needs do not fit, a little of that rate is traded for shallower ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import onnx
import pytest

from floorflow.api.told import told
from floorflow.backends.finn.read.source import read_source
from floorflow.emit import bundle
from floorflow.output import write
from floorflow.record import record
from floorflow.request import Request
from floorflow.schema import read_plan
from floorflow.search.context import PlanningContext
from floorflow.search.limits import SearchLimits
from floorflow.search.preparing import prepare
from floorflow.search.search import SearchResult, search
from floorflow.verify import check
from tests.random_models import random_residual

SLACK = SearchLimits().fifo_slack


def tight(seed: int, share: float, folder: Path) -> Request:
    model = folder / f"residual_{seed}.onnx"
    onnx.save(random_residual(seed), model)
    return Request(model, "pynq-z1", cap={"LUT": share, "BRAM18": share}, effort="fast", plots=False)


def found(request: Request, limits: SearchLimits) -> SearchResult:
    return search(limited(request, limits))


def limited(request: Request, limits: SearchLimits) -> PlanningContext:
    return replace(prepare(read_source(request.model), request, 1), search_limits=limits)


def up_to(far: float) -> SearchLimits:
    """Return the limits of a quick search: designs as they come, and few intervals between two that were tried."""
    return SearchLimits(far=far, even_slacks_alone=(), shorter_tries=1)


@dataclass(frozen=True)
class Traded:
    """A search that takes shallower FIFOs, and the folder with its plan."""

    request: Request
    result: SearchResult
    out: Path


@pytest.fixture(scope="module")
def traded(tmp_path_factory: pytest.TempPathFactory) -> Traded:
    folder = tmp_path_factory.mktemp("traded")
    request = tight(7, 0.24, folder).changed(impl_style="default")
    context = limited(request, up_to(1.0))
    result = search(context)
    plan = record(read_source(request.model), context, result)
    write(folder / "out", bundle(plan, context.platform, context.backend), {})
    return Traded(request, result, folder / "out")


def test_a_plan_with_shallower_fifos_is_taken_only_where_it_keeps_more(traded: Traded, tmp_path: Path) -> None:
    gained = 0
    others = [tight(seed, share, tmp_path).changed(impl_style="default") for seed, share in ((3, 0.2), (6, 0.28))]
    results = [(traded.request, traded.result), *((other, found(other, up_to(1.0))) for other in others)]
    for request, result in results:
        without, traded_one = found(request, up_to(inf)).candidate, result.candidate
        assert without.fifo_slack == 0
        assert without.kept_cycles == without.interval_cycles
        assert traded_one.kept_cycles <= without.kept_cycles
        assert traded_one.fifo_slack == (SLACK if traded_one.kept_cycles < without.kept_cycles else 0)
        gained += traded_one.fifo_slack > 0
    assert gained


def test_near_the_joint_bound_nothing_is_traded(tmp_path: Path) -> None:
    result = found(tight(7, 0.3, tmp_path), SearchLimits())
    joint = result.joint_bound_cycles
    assert joint is not None
    assert joint < result.candidate.interval_cycles <= SearchLimits().far * joint
    assert result.candidate.fifo_slack == 0
    assert not any("longer" in row.detail for row in result.trace)


def test_the_plan_tells_the_rate_that_fifos_keep_and_that_it_was_chosen(traded: Traded) -> None:
    assert check(traded.out) == []
    plan = read_plan(traded.out / "plan.json")
    (part,) = plan.phases[0].networks
    estimates, timed = part.estimates, part.estimates.throughput
    assert timed is not None
    assert timed.interval_cycles is not None
    assert timed.full_rate_cycles is not None
    assert part.interval_cycles < timed.interval_cycles <= timed.full_rate_cycles * (1 + SLACK) + 1
    assert estimates.sustained_fps == pytest.approx(100e6 / timed.interval_cycles)
    assert "frames/s with the planned FIFOs" in told(plan).splitlines()[0]
    assert any("planned for an interval 5% longer" in sentence for sentence in plan.warnings)
    assert not any("too shallow" in sentence for sentence in plan.warnings)
    rows = [row for row in plan.networks[0].trace if row.detail.startswith("FIFOs for 5% longer: ")]
    assert rows[-1].verdict == "legal"
