"""Where FIFOs as deep as the engines' rate needs do not fit, a little of that rate is traded for shallower ones."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow.api.told import told
from floorflow.backends.finn.read.source import read_source
from floorflow.errors import required
from floorflow.facts import read_plan
from floorflow.modes import run
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext, SearchLimits
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval.search import search
from floorflow.verify import check
from tests.conftest import make_plan
from tests.random_models import random_residual

SLACK = SearchLimits().fifo_slack


def tight(seed: int, share: float, folder: Path) -> Request:
    model = folder / f"residual_{seed}.onnx"
    onnx.save(random_residual(seed), model)
    return Request(model, "pynq-z1", cap={"LUT": share, "BRAM18": share}, effort="fast", plots=False)


def found(request: Request, far: float) -> SearchResult:
    context = prepare(read_source(request.model), request, 1)
    return required(search(replace(context, search_limits=SearchLimits(far=far))))


def is_traded(seed: int, share: float, folder: Path) -> bool:
    """Search with and without the trade; say whether it was made, which it may only be where it keeps more."""
    request = tight(seed, share, folder)
    without, traded = found(request, inf).candidate, found(request, 1.0).candidate
    assert without.fifo_slack == 0
    assert without.kept_cycles == without.interval_cycles
    assert traded.kept_cycles <= without.kept_cycles
    assert traded.fifo_slack == (SLACK if traded.kept_cycles < without.kept_cycles else 0)
    return traded.fifo_slack > 0


SEED, TRADED_AT = 1, 0.28125


@pytest.fixture(scope="module")
def tight_share(tmp_path_factory: pytest.TempPathFactory) -> float:
    """The share of the board at which one network is traded for; as prices move, it lies where the interval jumps."""
    folder = tmp_path_factory.mktemp("tight")
    low, high = 0.2, 0.4
    longest = found(tight(SEED, high, folder), 1.0).candidate.interval_cycles
    share = TRADED_AT
    while (candidate := found(tight(SEED, share, folder), 1.0).candidate).fifo_slack == 0:
        low, high = (low, share) if candidate.interval_cycles <= longest else (share, high)
        share = (low + high) / 2
        assert high - low > 1e-4, "a network of other sizes is needed"
    return share


def test_a_plan_with_shallower_fifos_is_taken_only_where_it_keeps_more(tight_share: float, tmp_path: Path) -> None:
    assert is_traded(SEED, tight_share, tmp_path)
    assert not is_traded(3, 0.22, tmp_path)


@pytest.mark.slow
def test_so_it_is_in_a_larger_network(tmp_path: Path) -> None:
    is_traded(6, 0.26, tmp_path)


def test_near_the_joint_bound_nothing_is_traded(tmp_path: Path) -> None:
    result = found(tight(7, 0.3, tmp_path), SearchLimits().far)
    joint = result.joint_bound_cycles
    assert joint is not None
    assert joint < result.candidate.interval_cycles <= SearchLimits().far * joint
    assert result.candidate.fifo_slack == 0
    assert not any("longer" in row.detail for row in result.trace)


def test_the_plan_tells_the_rate_that_fifos_keep_and_that_it_was_chosen(
    tight_share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepared(*given: Any) -> PlanningContext:
        return replace(prepare(*given), search_limits=SearchLimits(far=1.0))

    monkeypatch.setattr(run, "prepare", prepared)
    out = make_plan(tmp_path / "out", tight(SEED, tight_share, tmp_path))
    assert check(out) == []
    plan = read_plan(out / "plan.json")
    (part,) = plan.phases[0].networks
    estimates, timed = part.estimates, part.estimates.throughput
    assert timed is not None
    assert timed.interval_cycles is not None
    assert timed.full_rate_cycles is not None
    assert part.interval_cycles < timed.interval_cycles <= timed.full_rate_cycles * (1 + SLACK) + 1
    assert estimates.sustained_fps == pytest.approx(100e6 / timed.interval_cycles)
    assert "frames/s with the planned FIFOs" in told(plan).splitlines()[len(plan.unbuilt)]
    assert any("planned for an interval 5% longer" in sentence for sentence in plan.warnings)
    assert not any("too shallow" in sentence for sentence in plan.warnings)
    rows = [row for row in plan.networks[0].trace if row.detail.startswith("FIFOs for 5% longer: ")]
    assert rows[-1].verdict == "legal"
