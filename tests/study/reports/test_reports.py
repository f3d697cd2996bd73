"""Readers of reports: golden rows of each format, and errors that name file and line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.reports import Report
from floorflow.backends.vivado.reports import read_flat_text, read_hierarchy_text, read_hierarchy_xml, read_power_text
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.study.reports import read_reports
from tests.study import report_samples as samples

TOP = Resources(900, 800, 7, 2, 5)
MVAU = Resources(433, 437, 3, 1, 2)
FIFO = Resources(50, 32)
LINES = [
    (0, "top_wrapper", TOP),
    (1, "top_i", TOP),
    (2, "(top_i)", Resources(1)),
    (2, "StreamingDataflowPartition_1", MVAU),
    (3, "MVAU_hls_0", MVAU),
    (2, "idma0", FIFO),
]
PATHS = [
    "top_wrapper",
    "top_wrapper/top_i",
    "top_wrapper/top_i/StreamingDataflowPartition_1",
    "top_wrapper/top_i/StreamingDataflowPartition_1/MVAU_hls_0",
    "top_wrapper/top_i/idma0",
]


@pytest.mark.parametrize(
    ("read", "write"),
    [(read_hierarchy_xml, samples.hierarchy_xml), (read_hierarchy_text, samples.hierarchy_text)],
    ids=["xml", "text"],
)
def test_hierarchy_is_read_with_its_paths(read: Callable[[str, str], Report], write: Callable[..., str]) -> None:
    report = read(write(LINES, state="Routed"), "r")
    assert [row.instance for row in report.rows] == PATHS
    assert [row.resources for row in report.rows] == [TOP, TOP, MVAU, MVAU, FIFO]
    assert (report.state, report.rank) == ("Routed", 3)


def test_seven_series_has_no_uram_column_and_older_dsp_headings() -> None:
    lines = [(0, "top", Resources(5, 6, 3, 0, 4))]
    text = (
        samples.hierarchy_text(lines)
        .replace(" URAM ", " None ")
        .replace("DSP Blocks  ", "DSP48 Blocks")
        .replace("DSP Blocks", "DSP48 Blocks")
    )
    assert read_hierarchy_text(text, "r").rows[0].resources == Resources(5, 6, 3, 0, 4)


def test_percentages_and_levels_that_are_left_out_are_understood() -> None:
    text = samples.hierarchy_text([(0, "top", FIFO), (3, "deep", FIFO), (1, "next", FIFO)])
    rows = read_hierarchy_text(text.replace(" 50 ", " 50(0.02%) "), "r").rows
    assert [row.instance for row in rows] == ["top", "top/deep", "top/next"]
    assert rows[1].resources == FIFO


def test_a_flat_report_is_one_row_named_as_the_design() -> None:
    report = read_flat_text(samples.flat_text("finn_design_MVAU_hls_0_0", MVAU), "r")
    assert [(row.path, row.resources) for row in report.rows] == [(("finn_design_MVAU_hls_0_0",), MVAU)]


def test_power_is_read_in_milliwatts_and_small_amounts_by_their_bound() -> None:
    report = read_power_text(samples.power_text([(0, "top", "3.600"), (1, "a", "0.012"), (1, "b", "<0.001")]), "r")
    assert [(row.instance, row.milliwatts) for row in report.rows] == [("top", 3600), ("top/a", 12), ("top/b", 1)]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.builds(Resources, *[st.integers(0, 10**6)] * 5)), min_size=1, max_size=12)
)
def test_text_and_xml_of_one_design_say_the_same(rows: list[tuple[int, Resources]]) -> None:
    lines = [(depth, f"cell_{i}", use) for i, (depth, use) in enumerate(rows)]
    as_text, as_xml = samples.hierarchy_text(lines), samples.hierarchy_xml(lines)
    assert read_hierarchy_text(as_text, "r").rows == read_hierarchy_xml(as_xml, "r").rows


def broken_xml(text: str) -> str:
    return text.replace('contents="433"', 'contents="many"')


MALFORMED = {
    "xml cut short": (read_hierarchy_xml, samples.hierarchy_xml(LINES)[:900], r"r:\d+: no XML"),
    "xml without the table": (read_hierarchy_xml, '<?xml version="1.0"?>\n<RptDoc>\n</RptDoc>', r"r:3: no table"),
    "xml cell": (read_hierarchy_xml, broken_xml(samples.hierarchy_xml(LINES)), r"r:57: LUT is 'many'"),
    "text without DSP": (
        read_hierarchy_text,
        samples.hierarchy_text(LINES).replace("DSP Blocks", "Something "),
        r"r:14: .*no column 'DSP Blocks'",
    ),
    "text cell": (read_hierarchy_text, samples.hierarchy_text(LINES).replace(" 437 ", " 4.5 "), r"r:19: FF is '4.5'"),
    "text row cut short": (read_hierarchy_text, samples.hierarchy_text(LINES)[:-600], r"r:\d+: the row has \d+ cells"),
    "flat without a design": (
        read_flat_text,
        samples.flat_text("d", MVAU).replace("| Design  ", "| Dosign  "),
        "r:1: .*no Design",
    ),
    "flat without LUTs": (read_flat_text, samples.flat_text("d", MVAU).replace("CLB LUTs", "Sheep   "), "no site type"),
    "power without hierarchy": (
        read_power_text,
        samples.power_text([]).replace("| Name ", "| Lame "),
        r"r:\d+: no table of power",
    ),
    "power cell": (read_power_text, samples.power_text([(0, "top", "lots")]), r"r:21: Power \(W\) is 'lots'"),
}


@pytest.mark.parametrize("title", MALFORMED)
def test_malformed_reports_are_refused_with_file_and_line(title: str) -> None:
    read, text, message = MALFORMED[title]
    with pytest.raises(InputError, match=message):
        read(text, "r")


def test_a_folder_is_read_with_its_subfolders_and_other_files_left_aside(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "util.xml").write_text(samples.hierarchy_xml(LINES))
    (tmp_path / "post_synth_resources.json").write_text(samples.synthesis_json({"MVAU_hls_0": MVAU}))
    (tmp_path / "estimate_layer_resources_hls.json").write_text('{"MVAU_hls_0": {"LUT": "1"}}')
    (tmp_path / "timing.rpt").write_text("Timing Summary Report")
    (tmp_path / "time_per_step.json").write_text("{}")
    (tmp_path / "final_hw_config.json").write_text('{"Defaults": {}, "MVAU_hls_0": {"PE": 2}}')
    folder = read_reports(tmp_path, BACKEND)
    assert [(r.file, r.evidence) for r in folder.reports] == [
        ("deep/util.xml", "synthesis"),
        ("estimate_layer_resources_hls.json", "hls"),
        ("post_synth_resources.json", "synthesis"),
    ]
    assert folder.aside == ("time_per_step.json", "timing.rpt")
    assert [(each.file, each.foldings["MVAU_hls_0"]) for each in folder.foldings] == [
        ("final_hw_config.json", {"PE": 2})
    ]
    assert len(folder.digests["deep/util.xml"]) == 64


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no report in it"):
        read_reports(tmp_path, BACKEND)
    with pytest.raises(InputError, match="no such folder"):
        read_reports(tmp_path / "nowhere", BACKEND)
