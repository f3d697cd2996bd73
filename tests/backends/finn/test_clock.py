"""The likely clock of FINN's engines: levels by structure, delays by part, and foldings that miss the clock."""

import json
from typing import Any

import pytest

from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock import (
    DELAYS,
    ERROR,
    LARGEST_LUTS,
    SHELL,
    BuiltEngine,
    Path,
    known_part,
    label_select_levels,
    left_out,
    likely_clock,
    paths,
    slowest_path,
    widest_reaching,
)
from floorflow.backends.finn.folding.cost_table import CostTable, given_folding_groups
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.technology import technology_of
from tests.plans import ROOT

LABELS = {"Labels": 10, "K": 1, "inputDataType": "INT7"}
MATRIX = {
    "inputDataType": "BINARY",
    "weightDataType": "BINARY",
    "outputDataType": "BINARY",
    "resType": "lut",
    "noActivation": 0,
}


def sum_levels(**attributes: object) -> float:
    path = next(path for path in paths("MVAU_hls", {**MATRIX, **attributes}) if path.what == "sum of products")  # type: ignore[dict-item]
    return path.levels


def test_five_labels_a_cycle_are_fifteen_levels_where_fourteen_and_fifteen_were_built() -> None:
    assert label_select_levels(LABELS, 5) == 15


def test_labels_of_more_bits_or_several_best_ones_take_longer() -> None:
    assert label_select_levels({**LABELS, "inputDataType": "INT16"}, 5) > 15
    assert label_select_levels({**LABELS, "K": 5}, 5) == 20


def test_a_label_a_cycle_is_shorter_than_the_counters_of_every_loop() -> None:
    assert label_select_levels(LABELS, 1) < SHELL.levels


def test_hls_puts_eight_levels_into_a_cycle_of_10_ns_on_7_series_and_thirteen_on_ultrascale() -> None:
    """The worst path of custom_4 and that of an int8 CNN, both in trees of adders that HLS had cut."""
    assert DELAYS.scheduled_levels("xc7z020clg400-1", 10) == pytest.approx(8, rel=0.2)
    assert DELAYS.scheduled_levels("xczu3eg-sbva484-1-e", 10) == pytest.approx(13, rel=0.05)


def test_more_products_a_cycle_are_a_deeper_tree() -> None:
    assert sum_levels(SIMD=64) == sum_levels(SIMD=1) + 6 * 2
    assert sum_levels(SIMD=64, inputDataType="INT4") > sum_levels(SIMD=64)


def test_more_thresholds_are_a_deeper_path_and_none_is_no_path() -> None:
    one, many = (
        max(path.levels for path in paths("MVAU_hls", {**MATRIX, "SIMD": 1, "outputDataType": name}))
        for name in ("UINT2", "UINT8")
    )
    assert one < many
    without = [path.what for path in paths("MVAU_hls", {**MATRIX, "SIMD": 1, "noActivation": 1})]
    assert without == ["loop counters of HLS", "sum of products"]


def test_rtl_engines_have_no_loops_of_hls() -> None:
    assert SHELL not in list(paths("MVAU_rtl", {**MATRIX, "SIMD": 64}))


LOCAL, WIDE = Path(10, "local"), Path(10, "wide", nets="engine")


@pytest.mark.parametrize(
    "part", ["xc7z020clg400-1", "xczu7ev-ffvc1156-2-e", "xcu250-figd2104-2L-e", "xcku5p-ffvd900-2-i"]
)
def test_families_of_which_builds_are_known(part: str) -> None:
    assert known_part(part)


@pytest.mark.parametrize("part", ["xcvc1902-vsva2197-2MP-e-S", "xcku115-flva1517-2-e", "xcvu190-flga2577-2-e"])
def test_of_versal_and_of_ultrascale_without_the_plus_no_build_is_known(part: str) -> None:
    assert not known_part(part)
    with pytest.raises(ValueError, match="no delays are known"):
        DELAYS.path_ns(LOCAL, part, 10, 0)


def test_faster_grades_and_the_newer_family_are_faster() -> None:
    parts = ["xc7z045ffg900-1", "xc7z045ffg900-2", "xc7z045ffg900-3", "xczu7ev-ffvc1156-1-e", "xcu250-figd2104-2L-e"]
    delays = [DELAYS.path_ns(LOCAL, part, 10, 0) for part in parts]
    assert delays == sorted(delays, reverse=True)
    assert len(set(delays)) == len(delays)


def test_a_part_without_a_grade_counts_as_the_slowest() -> None:
    assert DELAYS.path_ns(LOCAL, "xc7z020", 10, 0) == DELAYS.path_ns(LOCAL, "xc7z020clg400-1", 10, 0)


def test_nets_are_longer_in_larger_engines_up_to_the_largest_that_was_built() -> None:
    part = "xc7z020clg400-1"
    small, large, largest, beyond = (
        DELAYS.path_ns(WIDE, part, 10, luts) for luts in (100, 10_000, LARGEST_LUTS, 9 * LARGEST_LUTS)
    )
    assert small < large < largest == beyond
    assert DELAYS.path_ns(LOCAL, part, 10, 100) == DELAYS.path_ns(LOCAL, part, 10, 10_000)


def test_what_hls_may_cut_takes_no_longer_than_it_puts_in_a_cycle() -> None:
    part, path = "xc7z020clg400-1", Path(100, "sum", scheduled=True)
    assert DELAYS.path_ns(path, part, 5, 0) < DELAYS.path_ns(path, part, 10, 0) < 10


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


BUILDS = json.loads((ROOT / "benchmarks" / "data" / "clocks.json").read_text(encoding="utf-8"))
PYNQ_Z1 = ClockTarget(100, ("xc7z020clg400-1",))


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
    missed = likely_clock(folded(5), PYNQ_Z1)
    assert missed is not None
    assert missed.engine == "LabelSelect_hls_0"
    assert missed.low_mhz < 83 < missed.high_mhz <= 100
    assert any("PE = 5 of LabelSelect_hls_0 limits the clock: about 15 levels" in note for note in missed.notes)


def test_a_clock_above_the_range_is_called_unlikely() -> None:
    found = likely_clock(folded(1), ClockTarget(200, PYNQ_Z1.parts))
    assert found is not None
    assert found.high_mhz < 200
    assert any("200 MHz is an unlikely clock" in note and f"{found.high_mhz} MHz" in note for note in found.notes)


def test_with_one_label_a_cycle_it_limits_nothing() -> None:
    met = likely_clock(folded(1), PYNQ_Z1)
    assert met is not None
    assert (met.engine, met.notes) == ("", ())
    assert met.low_mhz < 100 < met.high_mhz


def test_a_plan_is_told_where_the_clock_keeps_labelselect_from_a_higher_rate() -> None:
    slowed = likely_clock(folded(2), PYNQ_Z1)
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
