"""Exit 3 names what would fit: following the hint makes the verdict go away, and nothing less would."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from floorflow import flow
from floorflow.backends.finn.read.source import read_source
from floorflow.errors import InfeasibleError, Refused
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import ZERO
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval.state import SearchState
from floorflow.search.policy.other_requests import with_options_that_would_do
from tests.conftest import CNV, TFC

TIGHT = {**DEFAULT_CAP, "LUT": 0.1}


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
