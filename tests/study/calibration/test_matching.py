"""Rows become engines only by whole names; what is in doubt is listed and not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from floorflow.backends.finn.export import floorplans, local_names, networks_in
from floorflow.resources import Resources
from floorflow.schema import Plan, read_plan
from floorflow.study.calibration.matching import match, node_of
from floorflow.study.calibration.numbering import interchangeable
from floorflow.study.reports import POWER, SYNTHESIS, Report, Row

USE = Resources(10, 20, 1, 0, 2)
OTHER = Resources(11, 20, 1, 0, 2)


@pytest.fixture(scope="module")
def chain(cnv_on_pynq: Path) -> Plan:
    return read_plan(cnv_on_pynq / "plan.json")


@pytest.fixture(scope="module")
def branches(branches_on_two_u250: Path) -> Plan:
    return read_plan(branches_on_two_u250 / "plan.json")


def report(*paths: str, use: Resources = USE, file: str = "r", state: str = "") -> Report:
    return Report(file, "format", SYNTHESIS, tuple(Row(tuple(path.split("/")), use) for path in paths), state)


@pytest.mark.parametrize(
    ("path", "node"),
    [
        ("top_i/StreamingDataflowPartition_1/inst/StreamingDataflowPartition_1_MVAU_hls_0", (1, "MVAU_hls_0")),
        ("top/StreamingDataflowPartition_12/MVAU_hls_0", (12, "MVAU_hls_0")),
        ("finn_design_i/MVAU_hls_0", (None, "MVAU_hls_0")),
        ("finn_design_MVAU_hls_1_0", (None, "MVAU_hls_1")),
        ("a/MVAU_hls_1__xdcDup__2", (None, "MVAU_hls_1")),
    ],
)
def test_names_of_finn_and_vivado_are_taken_apart(path: str, node: tuple[int | None, str]) -> None:
    assert node_of(path.split("/")) == node


@pytest.mark.parametrize("cell", ["MVAU_hls_1_suffix", "my_MVAU_hls_1", "MVAU_hls_", "mvau_hls_1", "MVAU_hls_99"])
def test_a_name_is_never_matched_by_a_part_of_it(chain: Plan, cell: str) -> None:
    matches = match(chain, [report("top", f"top/{cell}")])
    assert matches.rows == {}
    assert [instance for _, instance, _ in matches.unmatched] == [f"top/{cell}"]


def test_what_lies_inside_an_engine_is_part_of_it(chain: Plan) -> None:
    matches = match(chain, [report("top", "top/MVAU_hls_1", "top/MVAU_hls_1/MVAU_hls_2", "top/MVAU_hls_1/fifo")])
    assert sorted(matches.of(SYNTHESIS)) == ["MVAU_hls_1"]
    assert matches.unmatched == ()


def test_only_the_topmost_of_foreign_cells_is_listed(chain: Plan) -> None:
    matches = match(chain, [report("top", "top/xbar", "top/xbar/inst", "top/part", "top/part/MVAU_hls_1")])
    assert [instance for _, instance, _ in matches.unmatched] == ["top/xbar"]


def test_fifos_and_converters_are_counted_by_kind(chain: Plan) -> None:
    streams = "top/StreamingFIFO_rtl_3", "top/StreamingFIFO_rtl_4_0", "top/StreamingDataWidthConverter_rtl_0"
    matches = match(chain, [report("top", *streams)])
    assert {kind: rows.count for kind, rows in matches.streams.items()} == {
        "StreamingDataWidthConverter_rtl": 1,
        "StreamingFIFO_rtl": 2,
    }
    assert matches.unmatched == ()


def test_two_reports_that_agree_are_one_measurement(chain: Plan) -> None:
    matches = match(chain, [report("top/MVAU_hls_1", file="a"), report("MVAU_hls_1", file="b")])
    assert matches.of(SYNTHESIS)["MVAU_hls_1"].files == ("a", "b")


def test_rows_that_contradict_each_other_are_in_doubt(chain: Plan) -> None:
    matches = match(chain, [report("a/MVAU_hls_1", file="a"), report("MVAU_hls_1", file="b", use=OTHER)])
    assert matches.of(SYNTHESIS) == {}
    assert [(match.name, match.cause) for match in matches.rejected] == [("MVAU_hls_1", "different rows")]


def test_the_later_design_state_wins(chain: Plan) -> None:
    early = report("MVAU_hls_1", file="a", use=OTHER, state="Synthesized")
    matches = match(chain, [early, report("MVAU_hls_1", file="b", state="Routed")])
    assert matches.of(SYNTHESIS)["MVAU_hls_1"].resources == USE


def test_an_engine_that_uses_nothing_is_in_doubt(chain: Plan) -> None:
    matches = match(chain, [report("MVAU_hls_1", use=Resources())])
    assert [match.cause for match in matches.rejected] == ["uses nothing"]


def test_power_stands_beside_resources(chain: Plan) -> None:
    power = Report("p", "format", POWER, (Row(("top", "MVAU_hls_1"), milliwatts=12.0),))
    matches = match(chain, [report("MVAU_hls_1"), power])
    assert matches.rows["MVAU_hls_1"][POWER].milliwatts == 12
    assert matches.rows["MVAU_hls_1"][SYNTHESIS].milliwatts is None


def test_partitions_that_were_not_planned_match_nothing(chain: Plan) -> None:
    cells = "top/StreamingDataflowPartition_1_MVAU_hls_1", "top/StreamingDataflowPartition_2_MVAU_hls_2"
    matches = match(chain, [report("top", *cells)])
    assert matches.rows == {}
    assert [match.cause for match in matches.rejected] == ["other partitions than planned"]


def test_a_chain_has_no_doubtful_numbers_and_branches_have(chain: Plan, branches: Plan) -> None:
    assert interchangeable(chain) == {}
    rivals = interchangeable(branches)
    assert rivals
    assert all(name in rivals[other] for name, others in rivals.items() for other in others)


def test_a_doubtful_number_counts_under_the_graphs_own_name_only(branches: Plan) -> None:
    name = next(iter(interchangeable(branches)))
    everything = [f"top/StreamingDataflowPartition_1_{e.name}" for e in branches.networks[0].engines]
    renumbered = match(branches, [report("top", *everything)])
    assert name not in renumbered.of(SYNTHESIS)
    assert "number not sure" in {match.cause for match in renumbered.rejected if match.name == name}
    assert name in match(branches, [report("top", f"top/{name}")]).of(SYNTHESIS)


def test_kernels_number_their_nodes_anew(branches: Plan) -> None:
    """The plan's partitions are kernels: FINN's numbers start at 0 in each, as finn/floorplan.json has them."""
    (one,), (places,) = networks_in(branches, 0), floorplans(branches, 0).values()
    ids = {name: entry["partition_id"] for name, entry in places.items()}
    assert len(set(ids.values())) > 1
    local = local_names(one, ids)
    sure = [name for name in ids if name not in interchangeable(branches, ids)]
    cells = [f"top/StreamingDataflowPartition_{ids[name]}_{local[name]}" for name in ids]
    assert sorted(match(branches, [report("top", *cells)]).of(SYNTHESIS)) == sorted(sure)
    assert any(local[name] != name for name in sure)
