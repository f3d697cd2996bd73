"""Readers of FINN's own reports: golden rows, and errors that name file and line."""

from __future__ import annotations

import json

import pytest

from floorflow.backends.finn.reports.node_reports import read_nodes, read_report
from floorflow.backends.reports import BuiltFoldings, Report
from floorflow.errors import InputError
from floorflow.resources import Resources
from tests.study import report_samples as samples

MVAU = Resources(433, 437, 3, 1, 2)


def test_figures_by_node_are_read() -> None:
    assert read_nodes(samples.synthesis_json({"MVAU_hls_0": MVAU}), "r", "synthesis").rows[0].resources == MVAU
    hls = {"MVAU_hls_0": {"BRAM_18K": "3", "FF": "578", "LUT": "997", "DSP48E": 0, "URAM": "0", "DSP": "1"}}
    assert read_nodes(json.dumps(hls), "r", "estimates of HLS").rows[0].resources == Resources(997, 578, 3, 0, 1)
    own = {"Thresholding_rtl_0": {"BRAM_18K": 0, "BRAM_efficiency": 1, "LUT": 40.0, "URAM": 0, "DSP": 0}}
    assert read_nodes(json.dumps(own), "r", "estimates").rows[0].resources == Resources(40)


MALFORMED = {
    "json": ('{\n"a": {"LUT": 1,}\n}', "r:2: no JSON"),
    "json list": ("[1]", "r:1: expected an object"),
    "json twice": ('{\n"a": {"LUT": 1, "FF": 1},\n"a": {}}', "r:3: 'a' stands there twice"),
    "json without FF": ('{"x": {"LUT": 1, "FF": 1},\n"a": {"LUT": 1}}', "r:2: a has no FF"),
    "json amount": ('{\n"a": {"LUT": -1, "FF": 1}}', "r:2: a: LUT is '-1'"),
}


@pytest.mark.parametrize("title", MALFORMED)
def test_malformed_reports_are_refused_with_file_and_line(title: str) -> None:
    text, message = MALFORMED[title]
    with pytest.raises(InputError, match=message):
        read_nodes(text, "r", "synthesis")


def test_files_are_told_by_their_names() -> None:
    found = read_report("build/report/post_synth_resources.json", samples.synthesis_json({"MVAU_hls_0": MVAU}))
    assert isinstance(found, Report)
    assert found.file == "build/report/post_synth_resources.json"
    assert read_report("build/time_per_step.json", "{}") is None


def test_only_what_must_be_as_planned_is_read_of_a_built_folding() -> None:
    config = {"Defaults": {}, "MVAU_hls_0": {"ram_style": "block", "SIMD": 3, "PE": 2}}
    found = read_report("final_hw_config.json", json.dumps(config))
    assert isinstance(found, BuiltFoldings)
    assert found.foldings == {"Defaults": {}, "MVAU_hls_0": {"PE": 2, "SIMD": 3}}
