"""What would fit where a request is infeasible, and what less rate would free."""

import re
from contextlib import AbstractContextManager
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from floorflow import flow
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.errors import InfeasibleError, Refused
from floorflow.facts import Extras, read_plan
from floorflow.facts.extras import BargainsEntry, best_bargains, left_out
from floorflow.facts.extras import bargains as bargain_lines
from floorflow.facts.text import filled
from floorflow.record.run import PlanWithFiles
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import RESOURCE_NAMES, ZERO
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval.state import SearchState
from floorflow.search.policy import other_requests as work_of_bargains
from floorflow.search.policy.other_requests import LESS, readable, with_options_that_would_do
from floorflow.stats import Work, counted
from floorflow.verify import check
from tests.conftest import Planned
from tests.plans import CNV, TFC

TIGHT = {**DEFAULT_CAP, "LUT": 0.1}
CAPS = dict.fromkeys(RESOURCE_NAMES, 0.5)


def refused(request: Request) -> InfeasibleError:
    with pytest.raises(InfeasibleError) as caught:
        flow.plan(request)
    return caught.value


def bound_allows(request: Request) -> bool:
    """Whether a request no longer ends in exit 3: limits on engines are lifted where they alone leave nothing."""
    assert isinstance(request.fpgas, int)
    try:
        context = prepare(read_source(request.model), request, request.fpgas)
    except InfeasibleError:
        return False
    free = replace(context, problem=context.unlimited)
    return SearchState(free, SILENT).is_feasible(free.problem.intervals()[-1])


@pytest.mark.parametrize(
    "request_", [Request(CNV, "pynq-z1", fps=50_000), Request(TFC, "pynq-z1", fps=6e6, cap=TIGHT)], ids=["cnv", "tfc"]
)
def test_the_rate_that_is_named_would_do_and_a_higher_one_not(request_: Request) -> None:
    hint = re.search(r"--fps ([\d.]+)", refused(request_).hint)
    assert hint is not None
    fps = float(hint[1])
    assert bound_allows(request_.changed(fps=fps))
    assert not bound_allows(request_.changed(fps=fps * 1.01))


def test_the_cap_that_is_named_would_do_and_a_lower_one_not() -> None:
    request = Request(TFC, "pynq-z1", fps=6e6, cap=TIGHT)
    hint = re.search(r"--cap LUT=([\d.]+)", refused(request).hint)
    assert hint is not None
    cap = float(hint[1])
    assert bound_allows(request.changed(cap={**TIGHT, "LUT": cap}))
    assert not bound_allows(request.changed(cap={**TIGHT, "LUT": cap - 0.01}))


@pytest.mark.slow
def test_more_fpgas_are_named_where_their_sums_would_do() -> None:
    request = Request(CNV, "xcku5p", cap={**DEFAULT_CAP, "LUT": 0.05}, fps=4_000)
    hint = re.search(r"--fpgas (\d+)", refused(request).hint)
    assert hint is not None
    assert bound_allows(request.changed(fpgas=int(hint[1])))
    assert not bound_allows(request.changed(fpgas=int(hint[1]) - 1))


def test_what_no_option_mends_is_said() -> None:
    error = refused(Request(TFC, "pynq-z1", cap={**DEFAULT_CAP, "LUT": 0.001, "FF": 0.001}))
    assert error.hint.startswith("no lower rate, higher cap or other number of FPGAs alone would do")
    assert "--" not in error.hint
    assert error.refusals[0].proven


def test_limits_on_engines_do_not_stand_in_the_way_of_an_option_for_they_are_lifted_where_nothing_fits() -> None:
    request, source = Request(CNV, "zcu104", runtime_weights="never"), read_source(CNV)

    def too_limited(asked: Request, fpgas: int) -> PlanningContext:
        context = prepare(source, asked, fpgas)
        return replace(context, problem=context.problem.with_budget(ZERO))

    def too_small(asked: Request, fpgas: int) -> PlanningContext:
        context = too_limited(asked, fpgas)
        return replace(context, unlimited=context.problem)

    without_plan = Refused("", "a larger platform", why="proven")
    assert "--runtime-weights auto (up to" in with_options_that_would_do(without_plan, request, 1, too_limited).hint
    assert "--runtime-weights" not in with_options_that_would_do(without_plan, request, 1, too_small).hint


def bargains(out: Path) -> BargainsEntry:
    found = extras(out).bargains
    assert found is not None
    return found


def beside(made: PlanWithFiles) -> BargainsEntry:
    assert made.extras is not None
    found = made.extras(SILENT)
    assert found is not None
    assert found.bargains is not None
    return found.bargains


def extras(out: Path) -> Extras:
    return Extras.model_validate_json((out / "extras.json").read_bytes())


@pytest.fixture(scope="module")
def out(planned: Planned) -> Path:
    return planned(Request(TFC, "pynq-z1", effort="fast", bargains="fold", plots=False))


def test_every_share_of_the_rate_has_a_row(out: Path) -> None:
    plan = read_plan(out / "plan.json")
    rate = plan.phases[0].networks[0].estimates.fps  # as --fps takes it
    assert check(out) == []
    for row in bargains(out).rows:
        assert rate * (1 - row.less) * 0.999 <= row.fps <= rate * (1 - row.less)
        assert row.figures is None or f"--fps {row.fps:.12g}" in (out / "report.txt").read_text()


def test_shares_of_the_rate_that_free_nothing_stand_in_one_row(out: Path) -> None:
    found = extras(out)
    assert found.bargains is not None
    first = found.bargains.rows[0]
    rows = [first.model_copy(update={"less": less, "figures": None}) for less in (0.01, 0.05)]
    same = found.model_copy(update={"bargains": found.bargains.model_copy(update={"rows": rows})})
    told = [line.split("  ")[0].strip() for line in bargain_lines(same, 7, CAPS, measured=False) if "the same" in line]
    assert told == ["1% to 5%"]


@pytest.mark.parametrize(
    ("intervals", "fps"), [((1_000_003, 1_010_100), 98.99), ((1_000_003, 1_010_100, 1_010_150), 98.999)]
)
def test_a_rate_is_rounded_down_as_far_as_no_longer_interval_meets_it(intervals: tuple[int, ...], fps: float) -> None:
    def longest(rate: float) -> int:
        return max(each for each in intervals if each <= 100e6 / rate)

    assert readable(100e6 / intervals[0] * 0.99, longest) == fps
    assert longest(fps) == intervals[1]


def test_figures_of_the_plan_are_those_of_its_summary(out: Path) -> None:
    plan = read_plan(out / "plan.json")
    now, full = bargains(out).now, plan.summary.fullness
    assert full is not None
    assert (now.slot, now.resource) == (full.slot, full.resource)
    assert now.share == pytest.approx(full.share)
    used = plan.phases[0].partition.utilisation[full.slot][full.resource]
    told = filled(f"{full.resource} of {full.slot}", used, used / full.share)
    assert len([line for line in (out / "report.txt").read_text().splitlines() if told in line]) >= 3


def test_the_summary_tells_the_bargain_that_frees_most_with_all_its_options(out: Path) -> None:
    data = extras(out).model_dump(by_alias=True)
    told = data["bargains"]
    told["beside"], row = ["--fpgas 1"], next(row for row in told["rows"] if row["figures"])
    row["figures"]["share"] = told["now"]["share"] / 2
    (line,) = best_bargains(Extras.model_validate(data), CAPS)
    assert line.startswith(f"{row['less']:.0%} less rate")
    assert f"--fps {row['fps']:.12g} --fpgas 1)" in line
    share = row["figures"]["share"]
    assert f": {share / 2:.1%} used, 50% allowed ({share:.1%} of it), now " in line


@pytest.mark.parametrize(
    ("options", "beside"),
    [
        pytest.param({}, [], marks=pytest.mark.slow),
        pytest.param({"fpgas": "auto"}, ["--fpgas 1"], marks=pytest.mark.slow),
        ({"objective": "throughput"}, ["--objective resources"]),
    ],
)
def test_the_same_command_with_what_is_told_makes_what_is_promised(
    options: dict[str, str], beside: list[str], planned: Planned
) -> None:
    asked = Request(TFC, "pynq-z1", effort="fast", bargains="fold", plots=False, **options)
    made = planned(asked)
    told = bargains(made)
    row = told.rows[-1]
    words = " ".join([f"--fps {row.fps:.12g}", *told.beside])
    assert told.beside == beside
    assert words in (made / "report.txt").read_text()
    given = dict(zip(words.replace("--", "").split()[::2], words.split()[1::2], strict=True))
    again = planned(asked.changed(**(options | given)))
    real, now = read_plan(again / "plan.json"), bargains(again).now
    assert row.figures is not None
    assert real.networks[0].search.interval_cycles == row.interval_cycles
    assert (now.share, now.amount) == (row.figures.share, row.figures.amount)


@pytest.mark.slow
def test_what_is_promised_of_a_larger_network_is_planned_within_5_percent(planned: Planned) -> None:
    asked = Request(CNV, "zcu104", effort="fast", bargains="fold", plots=False)
    row = bargains(planned(asked)).rows[2]
    assert row.figures is not None
    real = flow.plan(asked.changed(fps=row.fps))
    assert real.plan.summary.networks[0].interval_cycles == row.interval_cycles
    now = beside(real).now
    assert (now.slot, now.resource, now.engine) == (row.figures.slot, row.figures.resource, row.figures.engine)
    assert now.share == pytest.approx(row.figures.share, rel=0.05)
    assert now.amount == pytest.approx(row.figures.amount, rel=0.05)


@pytest.mark.slow
def test_planned_bargains_tell_the_wire_length(planned: Planned) -> None:
    asked = Request(TFC, "pynq-z1", effort="fast", plots=False, bargains="plan")
    told = beside(flow.plan(asked))
    row = told.rows[-1]
    assert told.planned
    assert row.figures is not None
    real = bargains(planned(asked.changed(bargains="fold", fps=row.fps))).now
    assert (row.figures.hpwl, row.figures.amount) == (real.hpwl, real.amount)


@pytest.mark.parametrize(
    "options", [{"effort": "fast"}, {"bargains": "none"}, {"objective": "latency"}, {"objective": "resources"}]
)
def test_where_no_rate_is_to_be_had_or_little_time_none_are_sought(options: dict[str, str]) -> None:
    made = flow.plan(Request(TFC, "pynq-z1", plots=False, **options))
    assert made.extras is not None
    found = made.extras(SILENT)
    assert found is None or found.bargains is None


def test_more_work_than_the_plan_took_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stingy plan: what the bargains may take is the work of the plan, which here is next to nothing."""
    made = flow.plan(Request(TFC, "pynq-z1", plots=False, fps=1_000_000))
    monkeypatch.setattr(work_of_bargains, "counted", lambda _limit: counted(1e-4))
    assert made.extras is not None
    found = made.extras(SILENT)
    assert found is not None
    assert found.bargains is not None
    (left,) = found.left_out
    assert (left.what, left.option) == ("bargains", "--bargains fold")
    assert [row.less for row in found.bargains.rows] + left.less == list(LESS)
    assert left.less
    (line,) = left_out(found)
    assert "--bargains fold" in line


def test_asking_for_bargains_lifts_the_limit_of_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def seen(limit: float) -> AbstractContextManager[Work]:
        limits.append(limit)
        return counted(limit)

    monkeypatch.setattr(work_of_bargains, "counted", seen)
    for asked in ("fold", None):
        made = flow.plan(Request(TFC, "pynq-z1", plots=False, bargains=asked))
        assert made.extras is not None
        made.extras(SILENT)
    assert limits[0] == inf
    assert 0 < limits[1] < inf


def test_work_is_the_same_in_every_run() -> None:
    spent = []
    for _ in range(2):
        with counted() as work:
            flow.plan(Request(TFC, "pynq-z1", plots=False, effort="fast"))
        spent.append(work.spent)
    assert spent[0] == spent[1] > 0
