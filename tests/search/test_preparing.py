"""What a refusal says before a search has begun."""

import pytest

from floorflow.errors import InfeasibleError
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare, read
from tests.conftest import TFC

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
