"""Which foldings of LabelSelect are left out at a clock, and that no folding that is kept is."""

import pytest

from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock import left_out, widest_reaching
from floorflow.backends.finn.folding.cost_table import CostTable, given_folding_groups
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.errors import InputError
from floorflow.technology import technology_of

PYNQ, ALVEO, FASTEST, VERSAL = (
    "xc7z020clg400-1",
    "xcu250-figd2104-2L-e",
    "xcvu3p-ffvc1517-3-e",
    "xcvc1902-vsva2197-2MP-e-S",
)
ATTRIBUTES = {"Labels": 10, "K": 1, "inputDataType": "INT8", "outputDataType": "UINT8", "numInputVectors": (1,)}


def network(**folding: int) -> Dataflow:
    engine = Engine("LabelSelect_hls_0", "LabelSelect_hls", "top", ATTRIBUTES, 0, 8, 8, folding)
    streams = Stream("host:in0", 0, engine.name, 0, 10, 10, 8), Stream(engine.name, 0, "host:out0", 0, 1, 1, 8)
    return Dataflow("net", (engine,), streams)


def widths(costs: CostTable) -> list[int]:
    (group,) = costs.groups(network())
    return sorted({row[0].folding["PE"] for row in group.rows})  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("part", "clock_mhz", "widest"),
    [
        (PYNQ, 100, 2),
        (PYNQ, 75, 5),
        (ALVEO, 100, None),
        (ALVEO, 300, 2),
        (FASTEST, 300, 2),
        (PYNQ, 1000, 1),
        (VERSAL, 1000, None),
    ],
)
def test_pe_is_limited_by_clock_and_part(part: str, clock_mhz: float, widest: int | None) -> None:
    assert widest_reaching(network().engines[0], ClockTarget(clock_mhz, (part,))) == widest


def test_foldings_beyond_the_clock_are_no_choice() -> None:
    costs = CostTable(technology_of(PYNQ))
    assert widths(costs) == [1, 2, 5, 10]
    assert widths(costs.reaching(ClockTarget(100, (PYNQ,)))) == [1, 2]


def test_a_folding_that_is_kept_is_not_limited_but_one_that_is_proposed_is() -> None:
    costs = CostTable(technology_of(PYNQ))
    (group,) = given_folding_groups(network(PE=5), costs)
    assert group.rows[0][0].folding["PE"] == 5
    with pytest.raises(InputError, match=r"LabelSelect_hls_0 .*misses the clock by far"):
        given_folding_groups(network(PE=5), costs.reaching(ClockTarget(100, (PYNQ,))))


def test_what_is_left_out_is_said_with_its_reason() -> None:
    (sentence,) = left_out(network(), ClockTarget(100, (PYNQ,)))
    assert "PE above 2 is left out at 100 MHz: 5 labels" in sentence
    assert "about 15 levels of logic" in sentence
    assert list(left_out(network(), ClockTarget(40, (PYNQ,)))) == []
