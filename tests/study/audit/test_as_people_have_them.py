"""Builds are read as people have them: beside others, renamed, without a graph, with Vivado's reports alone."""

import json
import shutil
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper
from typer.testing import CliRunner

from floorflow.backends.backend import backend_named
from floorflow.backends.finn.names import FINN_VERSIONS, technology_for
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.backends.finn.reports.build_folder import read_build
from floorflow.backends.vivado.reports import hls_version, part_of, vivado_version
from floorflow.backends.vivado.timing import read_summary
from floorflow.cli.main import app
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.study.audit.audit import audit
from floorflow.study.audit.data import as_dict
from floorflow.study.reports import read_reports
from tests.study import report_samples
from tests.study.audit.layouts import AUTO, CUSTOM, output_dir

BOARD = "pynq-z2"


def of(folder: Path, platform: str | None = BOARD, **options: str) -> dict[str, Any]:
    return as_dict(audit(folder, platform, options=options))


@pytest.fixture(scope="module")
def usual() -> dict[str, Any]:
    return of(CUSTOM)


def without_graphs(folder: Path) -> Path:
    shutil.copytree(CUSTOM, folder, ignore=shutil.ignore_patterns("*.onnx"))
    return folder


def rows() -> dict[str, dict[str, int]]:
    return dict(json.loads((CUSTOM / "post_synth_resources.json").read_text()))


def resources(row: dict[str, int]) -> Resources:
    return Resources(row["LUT"], row["FF"], 2 * row["BRAM_36K"] + row["BRAM_18K"], 0, row["DSP"])


@pytest.mark.parametrize("words", [["audit"], ["calibrate", "-o", "nowhere", "--reports"]], ids=["audit", "calibrate"])
def test_of_several_builds_one_is_asked_for(tmp_path: Path, words: list[str]) -> None:
    shutil.copytree(AUTO, tmp_path / "builds" / "auto")
    output_dir(CUSTOM, tmp_path / "builds" / "of_may" / "custom_4")
    answer = CliRunner().invoke(app, [*words, str(tmp_path / "builds"), "-p", BOARD])
    assert answer.exit_code == 2
    assert "holds 2 builds: auto, of_may/custom_4" in " ".join(answer.stderr.split())


def test_a_stray_file_at_the_top_makes_no_build_of_it(tmp_path: Path) -> None:
    for build in (AUTO, CUSTOM):
        shutil.copytree(build, tmp_path / build.name)
    (tmp_path / "stray.rpt").write_text(timing("2022.2"))
    with pytest.raises(InputError, match="2 builds: auto, custom_4"):
        of(tmp_path)


def test_builds_in_one_folder_are_asked_apart(tmp_path: Path) -> None:
    for build in (AUTO, CUSTOM):
        shutil.copyfile(build / "post_synth_resources.json", tmp_path / f"{build.name}_post_synth_resources.json")
    with pytest.raises(InputError, match="2 builds: auto_post_synth") as error:
        of(tmp_path)
    assert "folder of its own" in error.value.hint


def test_a_plan_of_several_fpgas_has_a_build_of_each(tmp_path: Path) -> None:
    for build in (AUTO, CUSTOM):
        shutil.copytree(build, tmp_path / build.name)
    with pytest.raises(InputError, match="2 builds"):
        read_reports(tmp_path, backend_named("finn"))
    files = {report.file for report in read_reports(tmp_path, backend_named("finn"), several=True).reports}
    assert {f"{build.name}/post_synth_resources.json" for build in (AUTO, CUSTOM)} <= files


def test_a_build_with_another_below_it_is_itself_and_says_what_it_left(tmp_path: Path, usual: dict[str, Any]) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    shutil.copytree(AUTO, tmp_path / "build" / "before")
    found = of(tmp_path / "build")
    assert found["nodes"] == usual["nodes"]
    assert "left aside, as other builds: before" in found["notes"]


def test_one_build_in_several_folders_is_one(tmp_path: Path, usual: dict[str, Any]) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build" / "graphs", ignore=shutil.ignore_patterns("*.json"))
    shutil.copytree(CUSTOM, tmp_path / "build" / "results", ignore=shutil.ignore_patterns("*.onnx"))
    assert of(tmp_path / "build")["nodes"] == usual["nodes"]


def test_reports_are_known_by_their_contents(tmp_path: Path) -> None:
    kept, renamed = output_dir(CUSTOM, tmp_path / "kept"), output_dir(CUSTOM, tmp_path / "renamed")
    shutil.rmtree(renamed / "deploy")
    shutil.rmtree(renamed / "bitfile")
    for place, path in enumerate(sorted(p for p in renamed.rglob("*") if p.suffix in {".json", ".rpt"})):
        path.rename(path.with_name(f"file{place}.txt"))
    one, other = of(kept), of(renamed)
    compared = ("nodes", "whole", "around", "rates", "latency", "clock", "versions", "missing")
    assert {name: other[name] for name in compared} == {name: one[name] for name in compared}


def test_without_a_graph_rows_stand_under_their_names_with_foldings(tmp_path: Path) -> None:
    found = of(without_graphs(tmp_path / "build"), None)
    nodes = {node["instance"]: node for node in found["nodes"]}
    assert nodes.keys() == rows().keys() - {"(top)"}
    mvau = nodes["StreamingDataflowPartition_1_MVAU_hls_0"]
    config = json.loads((CUSTOM / "final_hw_config.json").read_text())["MVAU_hls_0"]
    assert (mvau["name"], mvau["kind"], mvau["built"]["LUT"]) == ("MVAU_hls_0", "MVAU_hls", 10602)
    assert (mvau["folding"]["PE"], mvau["folding"]["SIMD"]) == (config["PE"], config["SIMD"])
    assert mvau["predicted"] is None
    assert found["whole"]["network"]["predicted"] is None
    assert found["whole"]["design"]["built"]["LUT"] == rows()["(top)"]["LUT"]
    assert any("nothing is priced" in sentence for sentence in found["missing"])


def test_the_command_ends_well_without_a_graph_and_with_a_picture(tmp_path: Path) -> None:
    words = ["audit", str(without_graphs(tmp_path / "build")), "-o", str(tmp_path / "out")]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0
    config = json.loads((CUSTOM / "final_hw_config.json").read_text())["MVAU_hls_0"]
    assert f"MVAU_hls_0 PE {config['PE']} SIMD {config['SIMD']}" in answer.stdout
    assert (tmp_path / "out" / "audit.png").is_file()


def test_a_build_without_a_graph_calibrates_nothing_and_says_so(tmp_path: Path) -> None:
    words = [
        "calibrate",
        "--reports",
        str(without_graphs(tmp_path / "build")),
        "-p",
        BOARD,
        "-o",
        str(tmp_path / "out"),
    ]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2
    assert "no graph" in answer.stderr


def test_dma_engines_that_the_graph_has_not_get_the_widths_that_finn_gave_them(
    tmp_path: Path, usual: dict[str, Any]
) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build", ignore=shutil.ignore_patterns("kernel_partitions", "dataflow_parent*"))
    found = of(tmp_path / "build")
    widths = {node["name"]: (node["width_bits"], node["predicted"]) for node in usual["nodes"] if node["role"] == "DMA"}
    assert {n["name"]: (n["width_bits"], n["predicted"]) for n in found["nodes"] if n["role"] == "DMA"} == widths
    assert sorted(found["around"]["infrastructure"]) == sorted([*widths, "processor_interface"])
    assert any("names no DMA engine" in note for note in found["notes"])


def test_dma_engines_whose_widths_nothing_tells_count_as_built(tmp_path: Path) -> None:
    found = of(without_graphs(tmp_path / "build"))
    dma = {node["instance"]: node["built"] for node in found["nodes"] if node["role"] == "DMA"}
    told = {name: use for name, use in found["around"]["infrastructure"].items() if name in dma}
    assert told == dma
    assert len(dma) == 2
    assert any("stands for their prediction" in note for note in found["notes"])


@pytest.mark.parametrize("write", [report_samples.hierarchy_text, report_samples.hierarchy_xml], ids=["text", "XML"])
def test_vivados_hierarchy_says_what_finns_own_report_says(tmp_path: Path, usual: dict[str, Any], write: Any) -> None:
    top = resources(rows()["(top)"])
    cells: list[tuple[int, str, Resources]] = [(0, "top_wrapper", top), (1, "top_i", top)]
    for number in range(3):
        name = f"StreamingDataflowPartition_{number}"
        cells += [(2, name, Resources()), (3, "inst", Resources())]
        for node, row in rows().items():
            if node.startswith(name):
                cells += [(4, node, resources(row)), (5, "inst", resources(row)), (6, "Q_srl_0", Resources(1))]
    shutil.copytree(CUSTOM, tmp_path / "build", ignore=shutil.ignore_patterns("post_synth*"))
    runs = tmp_path / "build" / "vivado_zynq_proj_1" / "finn_zynq_link.runs" / "impl_1"
    runs.mkdir(parents=True)
    (runs / "anything.rpt").write_text(write(cells))
    (runs / "flat.rpt").write_text(report_samples.flat_text("top_wrapper", top, "Routed"))
    found = of(tmp_path / "build")
    assert [(n["name"], n["built"]) for n in found["nodes"]] == [(n["name"], n["built"]) for n in usual["nodes"]]
    assert found["whole"] == usual["whole"]


def test_a_vivado_project_alone_tells_the_whole_and_its_clock(tmp_path: Path) -> None:
    runs = tmp_path / "vivado_zynq_proj_1" / "finn_zynq_link.runs"
    for run, state, luts in (("synth_1", "Synthesized", 999_999), ("impl_1", "Fully Placed", 5000)):
        (runs / run).mkdir(parents=True)
        use = Resources(luts, 6000, 3, 0, 1)
        (runs / run / f"x_{run}.rpt").write_text(report_samples.flat_text("top_wrapper", use, state))
    (runs / "impl_1" / "t.rpt").write_text(timing("2022.2"))
    found = of(tmp_path, None)
    assert found["whole"]["design"]["built"]["LUT"] == 5000
    assert (found["clock"]["asked_mhz"], found["clock"]["worst_slack_ns"]) == (100, -0.125)
    assert found["versions"]["vivado"]["told"] == "2022.2"
    assert found["target"]["part"] == "xczu7ev-ffvc1156-2-e"


def test_a_report_of_vivados_of_another_shape_is_named_and_the_rest_compared(
    tmp_path: Path, usual: dict[str, Any]
) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build", ignore=shutil.ignore_patterns("post_synth*"))
    text = report_samples.flat_text("top_wrapper", Resources(5, 6), "Routed").replace("CLB LUTs*", "Odd LUTs*")
    (tmp_path / "build" / "x.rpt").write_text(text)
    found = of(tmp_path / "build")
    assert any(sentence.startswith("not read: x.rpt:") and "CLB LUTs" in sentence for sentence in found["missing"])
    assert found["whole"]["network"]["predicted"] == usual["whole"]["network"]["predicted"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_reports_that_powershell_wrote_are_read(tmp_path: Path, usual: dict[str, Any], encoding: str) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "build" / "my.rpt").write_text(mark + timing("2022.2"), encoding)
    report = tmp_path / "build" / "post_synth_resources.json"
    report.write_text(mark + report.read_text(), encoding)
    found = of(tmp_path / "build")
    assert found["clock"]["worst_slack_ns"] is not None
    assert found["versions"]["vivado"]["told"] == "2022.2"
    assert found["whole"] == usual["whole"]


def test_a_linked_folder_is_named_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "report").symlink_to(CUSTOM)
    with pytest.raises(InputError, match="links to folders are not followed: report"):
        of(tmp_path / "links")
    shutil.copytree(CUSTOM, tmp_path / "build")
    (tmp_path / "build" / "round").symlink_to(tmp_path)
    assert "links to folders are not followed: round" in of(tmp_path / "build")["notes"]


def test_a_report_of_another_build_is_doubted(tmp_path: Path, usual: dict[str, Any]) -> None:
    assert not any("are both of one build?" in note for note in usual["notes"])
    shutil.copytree(CUSTOM, tmp_path / "build")
    report = tmp_path / "build" / "post_synth_resources.json"
    told = {name.replace("StreamingFIFO_rtl_", "StreamingMaxPool_hls_"): row for name, row in rows().items()}
    report.write_text(json.dumps(told))
    notes = of(tmp_path / "build")["notes"]
    assert any("rows of the report are no node of the graph" in note for note in notes)


def test_a_board_that_is_not_the_builds_is_taken_and_said(tmp_path: Path) -> None:
    build = output_dir(CUSTOM, tmp_path / "build")
    assert of(build)["target"]["how"] == "as asked for"
    assert of(build, "ultra96")["target"]["how"] == "as asked for, but the build tells xc7z020clg400-1"


def test_a_timing_report_that_is_cut_off_is_named(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    (tmp_path / "build" / "my.rpt").write_text(timing("2022.2").partition("| Design Timing Summary")[0])
    found = of(tmp_path / "build")
    assert found["clock"]["worst_slack_ns"] is None
    assert "my.rpt tells no slack: it is cut off, or the design has no constraints" in found["missing"]


def test_out_of_context_totals_stand_for_the_network(tmp_path: Path, usual: dict[str, Any]) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build", ignore=shutil.ignore_patterns("post_synth*"))
    told = {
        "vivado_proj_folder": "/x",
        "LUT": 20000.0,
        "FF": 30000.0,
        "BRAM": 80.5,
        "BRAM_18K": 1.0,
        "BRAM_36K": 80.0,
        "URAM": 0.0,
        "DSP": 0.0,
        "WNS": 1.5,
        "fmax_mhz": 1000 / 8.5,
        "vivado_version": 2020.1,
    }
    (tmp_path / "build" / "some.json").write_text(json.dumps(told))
    found = of(tmp_path / "build")
    assert found["whole"]["network"]["built"] == {"LUT": 20000, "FF": 30000, "BRAM18": 161, "URAM": 0, "DSP": 0}
    assert found["whole"]["network"]["predicted"] == usual["whole"]["network"]["predicted"]
    assert found["clock"]["worst_slack_ns"] == 1.5
    assert found["versions"]["vivado"]["told"] == "2020.1"
    old = {name: value for name, value in told.items() if name not in {"BRAM_36K"}}
    (tmp_path / "build" / "some.json").write_text(json.dumps(old))
    assert of(tmp_path / "build")["whole"]["network"]["built"]["BRAM18"] == 161


HEADS = {
    "2019.2": "| Tool Version : Vivado v.2019.2 (lin64) Build 2708876 Wed Nov  6 21:39:14 MST 2019\n"
    "| Device       : 7z020-clg400\n| Speed File   : -1  PRODUCTION 1.12 2019-11-22\n",
    "2022.2": "| Tool Version      : Vivado v.2022.2 (lin64) Build 3671981 Fri Oct 14 04:59:54 MDT 2022\n"
    "| Device            : xczu3eg-sbva484\n| Speed File        : -1  PRODUCTION 1.30 05-15-2022\n"
    "| Temperature Grade : E\n",
    "2024.2": "| Tool Version      : Vivado v.2024.2 (lin64) Build 5239630 Fri Nov 08 22:34:34 MST 2024\n"
    "| Device            : xczu3eg-sbva484\n| Speed File        : -1  PRODUCTION 1.31 08-13-2023\n"
    "| Design State      : Routed\n| Temperature Grade : E\n",
}
PARTS = {"2019.2": "xc7z020clg400-1", "2022.2": "xczu3eg-sbva484-1-e", "2024.2": "xczu3eg-sbva484-1-e"}


def timing(release: str) -> str:
    """Return a timing summary: a clock that fails, a faster one without paths, and columns as wide as the release's."""
    pad = " " * {"2019.2": 0, "2022.2": 2, "2024.2": 5}[release]
    return f"""Copyright 1986-2024 Xilinx, Inc. All Rights Reserved.
---------------------------------------------------------------------
{HEADS[release]}---------------------------------------------------------------------

Timing Summary Report

------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

{pad}    WNS(ns)  {pad}    TNS(ns)  TNS Failing Endpoints      WHS(ns){pad}
{pad}    -------  {pad}    -------  ---------------------      -------{pad}
{pad}     -0.125  {pad}   -120.500                    318        0.010{pad}


| Clock Summary
| -------------

Clock                        Waveform(ns)  {pad}     Period(ns)      Frequency(MHz)
-----                        ------------  {pad}     ----------      --------------
a_clock_of_a_very_long_name  {{0.000 5.000}} {pad}     10.000          100.000
  clk_generated              {{0.000 1.000}} {pad}     2.000           500.000


| Intra Clock Table
| -----------------

Clock                            WNS(ns){pad}      TNS(ns)  TNS Failing Endpoints      WPWS(ns)
-----                            -------{pad}      -------  ---------------------      --------
a_clock_of_a_very_long_name       -0.125{pad}     -120.500                    318         3.500
  clk_generated                         {pad}                                             0.400


| Inter Clock Table
"""


@pytest.mark.parametrize("release", HEADS)
def test_timing_is_read_by_its_tables_whatever_their_widths(release: str, tmp_path: Path) -> None:
    text = timing(release)
    assert read_summary(text) == (10.0, -0.125), "a clock without paths has no slack"
    assert vivado_version(text) == release
    assert part_of(text) == PARTS[release]
    shutil.copytree(CUSTOM, tmp_path / "build")
    (tmp_path / "build" / f"top_wrapper_timing_summary_{release}.rpt").write_text(text)
    found = of(tmp_path / "build")
    assert (found["clock"]["asked_mhz"], found["clock"]["worst_slack_ns"]) == (100, -0.125)
    assert found["versions"]["vivado"] == {"told": release, "file": f"top_wrapper_timing_summary_{release}.rpt"}
    assert found["options"]["vivado"] == release


def test_a_design_without_constraints_has_no_slack() -> None:
    text = timing("2022.2").replace("     -0.125  ", "         NA  ").replace("-0.125 ", "       ")
    assert read_summary(text)[1] is None


def test_versions_stand_in_many_places() -> None:
    assert vivado_version("# Vivado v2022.1 (64-bit)\n# SW Build") == "2022.1"
    assert vivado_version("<!-- Product Version: Vivado v2023.2 (64-bit)              -->") == "2023.2"
    assert vivado_version('<EDKSYSTEM EDWVERSION="1.2" VIVADOVERSION="2020.1">') == "2020.1"
    assert hls_version("<profile>\n<ReportVersion>\n<Version>2019.2</Version>") == "2019.2"
    assert hls_version("== Vitis HLS Report for 'x'\n* Date: y\n\n* Version:        2022.2 (Build 1)") == "2022.2"
    assert vivado_version("a text that mentions Vivado v2022.1") == ""


def test_the_build_tells_versions_and_the_user_may_differ(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    (tmp_path / "build" / "MVAU_hls_0_csynth.rpt").write_text("== Vitis HLS Report for 'MVAU'\n* Version: 2023.2 (B)\n")
    found = of(tmp_path / "build")
    assert (found["options"]["finn"], found["options"]["vivado"]) == ("plus", "2023.2")
    other = of(tmp_path / "build", vivado="2022.2")
    assert other["options"]["vivado"] == "2022.2"
    assert any("warning: --vivado 2022.2" in note and "MVAU_hls_0_csynth.rpt" in note for note in other["notes"])


def test_a_name_of_a_step_tells_which_finn(tmp_path: Path) -> None:
    without_graphs(tmp_path / "build")
    steps = tmp_path / "build" / "x.json"
    for step, finn in (("step_make_pynq_driver", "main"), ("step_generate_hardware", "plus")):
        steps.write_text(json.dumps({"step_tidy_up": 1.0, step: 2.0}))
        assert read_build(tmp_path / "build").options["finn"].value == finn
    steps.write_text(json.dumps({"step_tidy_up": 1.0}))
    assert "finn" not in read_build(tmp_path / "build").options


def test_amounts_in_any_json_are_rows_and_nothing_is_made_of_them(tmp_path: Path) -> None:
    (tmp_path / "built.json").write_text(json.dumps([{"name": "one", "built": {"LUT": 5, "FF": 6, "BRAM18": 2}}]))
    found = of(tmp_path, None)
    use = {"LUT": 5, "FF": 6, "BRAM18": 2, "URAM": 0, "DSP": 0}
    assert found["unmatched"]["report"] == [{"instance": "one/built", "resources": use}]
    assert found["nodes"] == []


def test_of_thousands_of_files_those_near_the_top_are_read(
    tmp_path: Path, usual: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    deep = tmp_path / "build" / "vivado_zynq_proj_1" / "a" / "b"
    deep.mkdir(parents=True)
    for number in range(40):
        (deep / f"{number:03}.json").write_text(json.dumps({"(top)": {"LUT": 1, "FF": 1, "BRAM_36K": 1}}))
    monkeypatch.setattr("floorflow.backends.finn.reports.build_files.MOST_FILES", 20)
    found = of(tmp_path / "build")
    assert found["nodes"] == usual["nodes"]
    assert any("only 20 near the top were read" in note for note in found["notes"])


def test_fifos_are_priced_in_the_memories_that_the_graph_and_its_finn_give_them(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    shutil.rmtree(tmp_path / "build" / "kernel_partitions")
    path = tmp_path / "build" / "graph_with_fifos.onnx"
    model = onnx.load(path)
    fifos = [node for node in model.graph.node if node.op_type == "StreamingFIFO_rtl"]
    for node, style in zip(fifos, ("vivado", "rtl"), strict=False):
        for name, value in (("impl_style", style), ("ram_style", "auto"), ("depth", 4096)):
            kept = [attribute for attribute in node.attribute if attribute.name != name]
            node.ClearField("attribute")
            node.attribute.extend([*kept, helper.make_attribute(name, value)])
    onnx.save(model, path)
    found = of(tmp_path / "build", "xczu7ev-ffvc1156-2-e", finn="main")
    amd, own = (next(each for each in found["nodes"] if each["name"] == node.name) for node in fifos[:2])
    assert (amd["memory"], own["memory"]) == ("vivado auto", "auto")
    assert amd["predicted"]["URAM"] == own["predicted"]["URAM"] == own["predicted"]["BRAM18"] == 0
    assert amd["predicted"]["BRAM18"] > 0


def test_a_plan_of_the_graph_says_which_finn_wrote_it() -> None:
    source = read_source(CUSTOM / "kernel_partitions" / "partition_2.onnx")
    notes = {
        finn: " ".join(source.lower(technology_for("xc7z020clg400-1", finn), finn=finn).notes) for finn in FINN_VERSIONS
    }
    assert {finn for finn, told in notes.items() if "--finn plus" in told} == {"main", "dev"}
