"""Rows become engines only by whole names; what is in doubt is listed and not used."""

from pathlib import Path

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.reports import POWER, SYNTHESIS, Report, Row
from floorflow.facts import Plan, read_plan
from floorflow.resources import Resources
from floorflow.study.calibration.matching import Matches, match

USE = Resources(10, 20, 1, 0, 2)
OTHER = Resources(11, 20, 1, 0, 2)


@pytest.fixture(scope="module")
def chain(cnv_on_pynq: Path) -> Plan:
    return read_plan(cnv_on_pynq / "plan.json")


def report(*paths: str, use: Resources = USE, file: str = "r", state: str = "") -> Report:
    return Report(file, "format", SYNTHESIS, tuple(Row(tuple(path.split("/")), use) for path in paths), state)


def matched(plan: Plan, reports: list[Report]) -> Matches:
    return match(plan, reports, BACKEND)


@pytest.mark.parametrize("cell", ["MVAU_hls_1_suffix", "my_MVAU_hls_1", "MVAU_hls_", "mvau_hls_1", "MVAU_hls_99"])
def test_a_name_is_never_matched_by_a_part_of_it(chain: Plan, cell: str) -> None:
    matches = matched(chain, [report("top", f"top/{cell}")])
    assert matches.rows == {}
    assert [instance for _, instance, _ in matches.unmatched] == [f"top/{cell}"]


def test_what_lies_inside_an_engine_is_part_of_it(chain: Plan) -> None:
    matches = matched(chain, [report("top", "top/MVAU_hls_1", "top/MVAU_hls_1/MVAU_hls_2", "top/MVAU_hls_1/fifo")])
    assert sorted(matches.of(SYNTHESIS)) == ["MVAU_hls_1"]
    assert matches.unmatched == ()


def test_only_the_topmost_of_foreign_cells_is_listed(chain: Plan) -> None:
    matches = matched(chain, [report("top", "top/xbar", "top/xbar/inst", "top/part", "top/part/MVAU_hls_1")])
    assert [instance for _, instance, _ in matches.unmatched] == ["top/xbar"]


def test_two_reports_that_agree_are_one_measurement(chain: Plan) -> None:
    matches = matched(chain, [report("top/MVAU_hls_1", file="a"), report("MVAU_hls_1", file="b")])
    assert matches.of(SYNTHESIS)["MVAU_hls_1"].files == ("a", "b")


def test_rows_that_contradict_each_other_are_in_doubt(chain: Plan) -> None:
    matches = matched(chain, [report("a/MVAU_hls_1", file="a"), report("MVAU_hls_1", file="b", use=OTHER)])
    assert matches.of(SYNTHESIS) == {}
    assert [(match.name, match.cause) for match in matches.rejected] == [("MVAU_hls_1", "different rows")]


def test_the_later_design_state_wins(chain: Plan) -> None:
    early = report("MVAU_hls_1", file="a", use=OTHER, state="Synthesized")
    matches = matched(chain, [early, report("MVAU_hls_1", file="b", state="Routed")])
    assert matches.of(SYNTHESIS)["MVAU_hls_1"].resources == USE


def test_an_engine_that_uses_nothing_is_in_doubt(chain: Plan) -> None:
    matches = matched(chain, [report("MVAU_hls_1", use=Resources())])
    assert [match.cause for match in matches.rejected] == ["uses nothing"]


def test_power_stands_beside_resources(chain: Plan) -> None:
    power = Report("p", "format", POWER, (Row(("top", "MVAU_hls_1"), milliwatts=12.0),))
    matches = matched(chain, [report("MVAU_hls_1"), power])
    assert matches.rows["MVAU_hls_1"][POWER].milliwatts == 12
    assert matches.rows["MVAU_hls_1"][SYNTHESIS].milliwatts is None
