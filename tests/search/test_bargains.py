"""What less rate would free: rates, what they promise, and that it holds when it is planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from floorflow import flow
from floorflow.request import Request
from floorflow.schema import BargainsEntry, Plan, read_plan
from floorflow.verify import check
from tests.conftest import CNV, TFC, make_plan


def bargains(plan: Plan) -> BargainsEntry:
    (network,) = plan.networks
    assert network.search.bargains is not None
    return network.search.bargains


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_plan(tmp_path_factory.mktemp("bargains") / "out", Request(CNV, "zcu104", plots=False))


def test_every_share_of_the_rate_has_a_row(out: Path) -> None:
    plan = read_plan(out / "plan.json")
    rate = plan.summary.networks[0].fps
    assert check(out) == []
    for row in bargains(plan).rows:
        assert row.fps == pytest.approx(rate * (1 - row.less), rel=1e-3)
        assert f"--fps {row.fps:.10g}" in (out / "report.txt").read_text()


def test_what_is_promised_is_planned_within_5_percent(out: Path) -> None:
    told = bargains(read_plan(out / "plan.json"))
    row = told.rows[2]
    assert row.figures is not None
    real = flow.plan(Request(CNV, "zcu104", plots=False, fps=row.fps)).plan
    assert real.summary.networks[0].interval_cycles == row.interval_cycles
    now = bargains(real).now
    assert (now.slot, now.resource, now.engine) == (row.figures.slot, row.figures.resource, row.figures.engine)
    assert now.share == pytest.approx(row.figures.share, rel=0.05)
    assert now.amount == pytest.approx(row.figures.amount, rel=0.05)


def test_planned_bargains_tell_the_wire_length() -> None:
    told = bargains(flow.plan(Request(TFC, "pynq-z1", plots=False, bargains="plan")).plan)
    row = told.rows[-1]
    assert told.planned
    assert row.figures is not None
    real = bargains(flow.plan(Request(TFC, "pynq-z1", plots=False, fps=row.fps)).plan).now
    assert (row.figures.hpwl, row.figures.amount) == (real.hpwl, real.amount)


@pytest.mark.parametrize(
    "options", [{"effort": "fast"}, {"bargains": "none"}, {"objective": "latency"}, {"objective": "resources"}]
)
def test_where_no_rate_is_to_be_had_or_little_time_none_are_sought(options: dict[str, str]) -> None:
    (network,) = flow.plan(Request(TFC, "pynq-z1", plots=False, **options)).plan.networks
    assert network.search.bargains is None
