"""The likely clock of whole designs, held against the builds in benchmarks/data."""

import json
from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock import ERROR, BuiltEngine, likely_clock, slowest_path
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.resources import Resources

ROOT = Path(__file__).parents[4]
BUILDS = json.loads((ROOT / "benchmarks" / "data" / "clocks.json").read_text(encoding="utf-8"))
PYNQ = ClockTarget(100, ("xc7z020clg400-1",))


def folded(pe: int, name: str = "LabelSelect_hls_0") -> FoldedDataflow:
    attributes = {"Labels": 10, "K": 1, "inputDataType": "INT7", "outputDataType": "UINT8"}
    engine = Engine(name, "LabelSelect_hls", "top", attributes, 0, 7, 8)
    option = Option({"PE": pe}, 10 // pe, Resources(lut=100), (7 * pe,), (8,))
    return FoldedDataflow(Dataflow("net", (engine,), ()), {name: option})


def told_ns(build: dict[str, Any]) -> float:
    engines = [BuiltEngine(kind, kind, attributes, luts) for kind, attributes, luts in build["engines"]]
    target = ClockTarget(1e3 / build["asked_ns"], (build["part"],), build["several_dies"])
    found = slowest_path(engines, target)
    assert found is not None
    return found.period_ns


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build["name"])
def test_every_build_of_the_fit_lies_in_its_band(build: dict[str, Any]) -> None:
    assert 1 / ERROR <= build["reached_ns"] / told_ns(build) <= ERROR


def test_labelselect_is_told_to_be_what_missed_100_mhz() -> None:
    missed = likely_clock(folded(5), PYNQ)
    assert missed is not None
    assert missed.engine == "LabelSelect_hls_0"
    assert missed.low_mhz < 83 < missed.high_mhz <= 100
    assert any("PE = 5 of LabelSelect_hls_0 limits the clock: about 15 levels" in note for note in missed.notes)


def test_a_clock_above_the_range_is_called_unlikely() -> None:
    found = likely_clock(folded(1), ClockTarget(200, PYNQ.parts))
    assert found is not None
    assert found.high_mhz < 200
    assert any("200 MHz is an unlikely clock" in note and f"{found.high_mhz} MHz" in note for note in found.notes)


def test_with_one_label_a_cycle_it_limits_nothing() -> None:
    met = likely_clock(folded(1), PYNQ)
    assert met is not None
    assert (met.engine, met.notes) == ("", ())
    assert met.low_mhz < 100 < met.high_mhz


def test_a_plan_is_told_where_the_clock_keeps_labelselect_from_a_higher_rate() -> None:
    slowed = likely_clock(folded(2), PYNQ)
    assert slowed is not None
    assert [note.split(":")[0] for note in slowed.notes] == ["LabelSelect_hls_0"]
    assert "PE above 2 is left out at 100 MHz" in slowed.notes[0]


def test_nothing_is_said_of_a_family_without_builds() -> None:
    assert likely_clock(folded(1), ClockTarget(300, ("xcvc1902-vsva2197-2MP-e-S",))) is None


def test_the_slowest_of_several_parts_and_crossing_dies_set_the_clock() -> None:
    fast, slow = "xcu250-figd2104-2L-e", "xczu3eg-sbva484-1-e"
    alone, both, dies = (
        likely_clock(folded(1), target)
        for target in (
            ClockTarget(200, (fast,)),
            ClockTarget(200, (fast, slow)),
            ClockTarget(200, (fast,), several_dies=True),
        )
    )
    assert alone is not None
    assert both is not None
    assert dies is not None
    assert both.high_mhz < alone.high_mhz
    assert dies.high_mhz < alone.high_mhz
