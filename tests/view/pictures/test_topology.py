"""The picture of cards and cables: each cable once, what it carries each way, and nothing over anything else."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.facts.platform import LinkEntry
from floorflow.facts.topology import Cable
from floorflow.hardware import load_platform
from floorflow.view.palette import BAR, LINK
from floorflow.view.pictures.topology import CableView, lanes, read_cables, spread, topology_chart
from tests.view.drawn import misplaced, texts_of
from tests.view.fake_plan import fake_plan

Flow = tuple[int, int, float]
"""Places of a sending and a receiving card, and Gb/s."""
CABLE = {"kind": "aurora", "gbps": 100.0, "latency_us": 1.0, "assumed": False, "reliable": True, "overhead": 0.25}
SHAPES: dict[str, list[Flow]] = {
    "two cards": [(0, 1, 20.0)],
    "three cards": [(0, 1, 20.0), (1, 2, 40.0)],
    "a ring of four": [(0, 1, 20.0), (1, 2, 45.5), (2, 3, 80.0), (3, 0, 12.0)],
    "a star of four": [(0, 1, 20.0), (1, 0, 30.0), (0, 2, 45.5), (2, 0, 7.0), (0, 3, 0.01)],
    "each with each": [(a, b, 10.0 * a + b) for a in range(4) for b in range(4) if a < b],
}


def joined(flows: Sequence[Flow]) -> dict[str, Any]:
    """Return a plan over cards that are joined so."""
    cards = 1 + max(max(flow[:2]) for flow in flows)
    plan = fake_plan(load_platform("alveo-u250", fpgas=cards), 9)
    pairs = sorted({tuple(sorted(flow[:2])) for flow in flows})
    for fpga in plan["platform"]["fpgas"]:
        fpga["part"] = "xcu250-figd2104-2L-e"
    plan["platform"]["links"] = [
        {**CABLE, "name": f"fpga{a}-fpga{b}", "source": f"fpga{a}.SLR2", "target": f"fpga{b}.SLR2"} for a, b in pairs
    ]
    plan["phases"][0]["partition"]["crossings"] = [
        {"channel": f"c{k}", "source": f"fpga{a}.SLR2", "target": f"fpga{b}.SLR2", "gbps": gbps}
        | {"width_bits": 8, "hops": 0, "kind": "link"}
        for k, (a, b, gbps) in enumerate(flows)
    ]
    return plan


@pytest.mark.parametrize("name", SHAPES)
def test_cards_cables_and_what_they_carry_are_told(name: str) -> None:
    flows = SHAPES[name]
    plan = joined(flows)
    sheet = topology_chart(plan)
    assert misplaced(sheet) == []
    texts = texts_of(sheet)
    for a, b, gbps in flows:
        assert f"fpga{a} → fpga{b}" in texts
        assert f"{gbps:.3g} Gb/s, 1 stream" in texts
    assert texts.count("aurora, 80 Gb/s each way for streams, 1 us") == len(plan["platform"]["links"])
    cages = sum(text.startswith("cage ") for text in texts)
    assert cages == 2 * len(plan["platform"]["links"])
    bars = [shape.box.width for shape in sheet.shapes if shape.style.get("fill") == BAR][:-1]  # the last is the key's
    assert max(bars) == pytest.approx(84 * max(gbps for _, _, gbps in flows) / 80)
    heads = [shape for shape in sheet.shapes if shape.kind == "polygon" and shape.style.get("fill") == LINK]
    assert len(heads) == len(flows)


def test_the_order_to_start_in_is_that_of_topology_json() -> None:
    texts = texts_of(topology_chart(joined(SHAPES["three cards"])))
    assert "cards are started in the order fpga2 → fpga1 → fpga0: who receives first" in texts
    assert [text for text in texts if text.startswith("started")] == ["started 3rd", "started 2nd", "started 1st"]
    assert "host in0" in texts
    assert "host out0" in texts


def test_streams_of_a_cable_are_added_by_their_ways() -> None:
    cables, order = read_cables(joined([(0, 1, 20.0), (0, 1, 5.0), (1, 0, 1.5)]))
    assert order == ("fpga1", "fpga0")
    (one,) = cables
    assert (one.gbps, one.streams, one.carries, one.cages) == ((25.0, 1.5), (2, 1), 80.0, (0, 0))


ENDS = st.tuples(st.integers(0, 6), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(ENDS, unique=True, max_size=12))
def test_cables_that_run_side_by_side_have_lanes_of_their_own(ends: list[tuple[int, int]]) -> None:
    link = LinkEntry(name="l", source="a", target="b", **CABLE)
    cables = [CableView(Cable(link, {}), pair, (0, 0), (0.0, 0.0), (0, 0)) for pair in ends]
    found = list(zip(ends, lanes(cables), strict=True))
    for number, ((low, high), lane) in enumerate(found):
        assert lane < max(1, len(ends))
        for (a, b), other in found[:number]:
            assert lane != other or high <= a or b <= low


@given(st.lists(st.floats(0, 100), max_size=8))
def test_heights_are_spread_and_stay_between_the_ends(wanted: list[float]) -> None:
    found = spread(wanted, 12.5, 0, 100)
    assert all(-1e-9 <= y <= 100 + 1e-9 for y in found)
    rows = sorted(found)
    assert all(b - a >= 12.5 - 1e-9 for a, b in pairwise(rows))
