"""How FINN's nodes are named in reports, and which of these names are not sure."""

from pathlib import Path

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.reports.instances import interchangeable, node_of
from floorflow.backends.finn.step_data import foreseen, networks_in
from floorflow.backends.reports import SYNTHESIS, Report, Row
from floorflow.facts import Plan, read_plan
from floorflow.resources import Resources
from floorflow.study.calibration.matching import Matches, match

USE = Resources(10, 20, 1, 0, 2)


@pytest.fixture(scope="module")
def chain(cnv_on_pynq: Path) -> Plan:
    return read_plan(cnv_on_pynq / "plan.json")


@pytest.fixture(scope="module")
def branches(branches_on_two_u250: Path) -> Plan:
    return read_plan(branches_on_two_u250 / "plan.json")


def report(*paths: str) -> Report:
    return Report("r", "format", SYNTHESIS, tuple(Row(tuple(path.split("/")), USE) for path in paths))


def matched(plan: Plan, reports: list[Report]) -> Matches:
    return match(plan, reports, BACKEND)


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


def test_fifos_and_converters_are_counted_by_kind(chain: Plan) -> None:
    streams = "top/StreamingFIFO_rtl_3", "top/StreamingFIFO_rtl_4_0", "top/StreamingDataWidthConverter_rtl_0"
    matches = matched(chain, [report("top", *streams)])
    assert {kind: rows.count for kind, rows in matches.streams.items()} == {
        "StreamingDataWidthConverter_rtl": 1,
        "StreamingFIFO_rtl": 2,
    }
    assert matches.unmatched == ()


def test_partitions_that_were_not_planned_match_nothing(chain: Plan) -> None:
    cells = "top/StreamingDataflowPartition_1_MVAU_hls_1", "top/StreamingDataflowPartition_2_MVAU_hls_2"
    matches = matched(chain, [report("top", *cells)])
    assert matches.rows == {}
    assert [match.cause for match in matches.rejected] == ["other partitions than planned"]


def test_a_chain_has_no_doubtful_numbers_and_branches_have(chain: Plan, branches: Plan) -> None:
    assert interchangeable(chain, 0) == {}
    rivals = interchangeable(branches, 0)
    assert rivals
    assert all(name in rivals[other] for name, others in rivals.items() for other in others)


def test_a_doubtful_number_counts_under_the_graphs_own_name_only(branches: Plan) -> None:
    name = next(iter(interchangeable(branches, 0)))
    everything = [f"top/StreamingDataflowPartition_1_{e.name}" for e in branches.networks[0].engines]
    renumbered = matched(branches, [report("top", *everything)])
    assert name not in renumbered.of(SYNTHESIS)
    assert "number not sure" in {match.cause for match in renumbered.rejected if match.name == name}
    assert name in matched(branches, [report("top", f"top/{name}")]).of(SYNTHESIS)


def test_kernels_number_their_nodes_anew(branches: Plan) -> None:
    """The plan's partitions are kernels: FINN's numbers start at 0 in each."""
    (one,) = networks_in(branches, 0)
    graph = foreseen(one)
    ids, local = graph.kernel_of, graph.inner_names
    assert len(set(ids.values())) > 1
    sure = [name for name in ids if name not in interchangeable(branches, 0, ids)]
    cells = [f"top/StreamingDataflowPartition_{ids[name]}_{local[name]}" for name in ids]
    assert sorted(matched(branches, [report("top", *cells)]).of(SYNTHESIS)) == sorted(sure)
    assert any(local[name] != name for name in sure)
