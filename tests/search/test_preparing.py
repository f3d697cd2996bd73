"""What a search begins with, and what all that is available would hold."""

from itertools import pairwise
from pathlib import Path

import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.errors import InfeasibleError, InputError, required
from floorflow.facts import read_plan
from floorflow.folding import FoldingSolution, fold_at_interval
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.search.candidate.preparing import least_risk, likelihood, prepare, read, settled
from floorflow.search.interval.search import search
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import CNV, TFC

LABELS = {"label_select": True}


def refusal(fps: float, clock_mhz: float) -> str:
    request = Request(TFC, "alveo-u250", fps=fps, clock_mhz=clock_mhz, backend_options=LABELS)
    with pytest.raises(InfeasibleError) as caught:
        prepare(read(request), request, 1)
    return str(caught.value)


def test_a_rate_that_the_clock_keeps_labelselect_from_says_so() -> None:
    told = refusal(fps=75e6, clock_mhz=300)
    assert "engine LabelSelect_hls_0 needs 5 cycles a frame at its widest folding" in told
    assert "LabelSelect_hls_0: PE above 2 is left out at 300 MHz" in told


def test_a_refusal_for_another_reason_tells_nothing_of_the_clock() -> None:
    assert "is left out" not in refusal(fps=1e12, clock_mhz=40)


RISKS = (0.01, 0.1, 0.3, 0.5)


def caps_of(risk: float) -> dict[str, float]:
    return prepare(read_source(CNV), Request(CNV, "pynq-z1", risk=risk), 1).request.cap.as_dict()


def test_the_more_risk_the_more_of_a_slot_may_be_planned() -> None:
    for smaller, larger in pairwise(RISKS):
        less, more = caps_of(smaller), caps_of(larger)
        assert all(0 < less[name] <= more[name] <= 1 for name in RESOURCE_NAMES)
        assert less["LUT"] < more["LUT"]


def test_a_small_network_surely_fits() -> None:
    context = prepare(read_source(TFC), Request(TFC, "pynq-z1", risk=0.1), 1)
    folding = fold_at_interval(context.problem, context.problem.intervals()[-1])
    assert isinstance(folding, FoldingSolution)
    chance = likelihood(context, folding)
    assert chance is not None
    assert 0.99 < chance <= 1


def test_a_refusal_names_what_silicon_would_hold_and_the_risk_that_allows_it() -> None:
    tight = Request(CNV, "pynq-z1", cap={"LUT": 0.05})  # an eighth of what the board surely holds
    with pytest.raises(
        InfeasibleError, match=r"by the cost model: .* probability above 0\.98, and --risk 0\.\d\d allows"
    ):
        required(search(prepare(read_source(CNV), tight, 1)))


def test_the_least_risk_holds_the_folding_and_a_smaller_one_does_not() -> None:
    context = prepare(read_source(CNV), Request(CNV, "pynq-z1"), 1)
    folding = fold_at_interval(context.problem, context.problem.intervals()[-1])
    assert isinstance(folding, FoldingSolution)
    assert least_risk(context, folding) == 0.01
    available = total(slot.available for slot in context.platform.slots)
    full = Resources(folding.resources.lut, 0, 0, 0, 0)
    scale = available.lut / full.lut
    filled = type(folding)(**{**vars(folding), "resources": Resources(int(0.9 * scale * full.lut), 0, 0, 0, 0)})
    risk = least_risk(context, filled)
    assert risk is not None
    assert risk > 0.01


def test_a_plan_at_a_risk_is_legal_and_states_its_caps(tmp_path: Path) -> None:
    out = make_plan(tmp_path / "out", Request(TFC, "pynq-z1", risk=0.2, effort="fast", plots=False))
    assert check(out) == []
    options = read_plan(out / "plan.json").options
    assert options.risk == 0.2
    assert options.cap.LUT > 0.7


@pytest.mark.parametrize("other", [{"cap": {"LUT": 0.5}}, {"fill": {"LUT": 0.5}}])
def test_a_risk_stands_in_the_place_of_caps_and_fills(other: dict[str, dict[str, float]]) -> None:
    with pytest.raises(InputError, match="takes the place of --"):
        settled(Request(TFC, "pynq-z1", risk=0.2, **other))


def test_without_known_errors_there_is_no_risk() -> None:
    with pytest.raises(InputError, match="how far these costs may be off is not known"):
        prepare(read_source(TFC), Request(TFC, "pynq-z1", risk=0.2, costs="finn"), 1)
