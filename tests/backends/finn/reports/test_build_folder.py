"""Build folders of FINN and FINN+ as they are, flattened or as FINN's output_dir, and FINN's own reports."""

import gzip
import json
import shutil
from pathlib import Path

import onnx
import pytest

from floorflow.backends.builds import BuiltNode, Simulation
from floorflow.backends.finn.reports import build_target, node_reports
from floorflow.backends.finn.reports.build_folder import read_build
from floorflow.backends.finn.reports.instances import matched, numbered_as_built
from floorflow.backends.finn.reports.node_reports import read_nodes, read_report
from floorflow.backends.reports import BuiltFoldings, Report, Row
from floorflow.errors import InputError
from floorflow.resources import Resources, total
from tests.study import report_samples as samples
from tests.study.audit.layouts import AUTO, CUSTOM, HANDOFF, TIMING, add_bitfile_step, output_dir

GRAPHS = Path(__file__).parent.parent / "graphs"
PYNQ_SHELL_LUTS = range(4400, 4440)
"""What is left of these builds when every node is taken away: processor system, interconnect, reset."""


def rows_in(folder: Path) -> dict[str, dict[str, int]]:
    return {k: v for k, v in json.loads((folder / "post_synth_resources.json").read_text()).items() if k != "(top)"}


@pytest.mark.parametrize("folder", [AUTO, CUSTOM], ids=lambda path: path.name)
def test_every_row_of_the_report_is_a_node_of_the_kernels(folder: Path) -> None:
    build = read_build(folder)
    assert build.files["graph"].file == "kernel_partitions/partition_2.onnx"
    assert {node.instance for node in build.nodes if node.instance} == set(rows_in(folder))
    assert not build.unmatched
    assert build.whole is not None
    assert (build.whole - total(node.built for node in build.nodes if node.built)).lut in PYNQ_SHELL_LUTS


def test_only_what_vivado_dissolved_has_no_row() -> None:
    assert [node.name for node in read_build(AUTO).nodes if node.built is None] == ["Reshape_rtl_0"]
    assert all(node.built for node in read_build(CUSTOM).nodes)


def test_nodes_are_what_they_are_with_their_own_names_and_the_streams_they_lie_on() -> None:
    nodes = {node.name: node for node in read_build(CUSTOM).nodes}
    engine = nodes["MVAU_hls_0"]
    assert (engine.role, engine.engine, engine.tool_cycles) == ("engine", "MVAU_hls_0", 14)
    fifo = nodes["StreamingFIFO_rtl_1"]
    assert (fifo.role, fifo.input_bits, fifo.depth_words) == ("FIFO", 112, 32)
    assert fifo.channel == "Thresholding_rtl_0.0->MVAU_hls_0.0"
    converter = nodes["StreamingDataWidthConverter_rtl_0"]
    assert (converter.role, converter.input_bits, converter.output_bits) == ("converter", 70, 7)
    assert nodes["StreamingDataflowPartition_0_IODMA_hls_0"].role == "DMA"
    assert nodes["StreamingFIFO_rtl_7"].channel == "LabelSelect_hls_0.0->host:out0.0"


def test_an_output_dir_says_the_same_and_its_scratch_nothing(tmp_path: Path) -> None:
    build, flat = read_build(output_dir(CUSTOM, tmp_path / "out")), read_build(CUSTOM)
    assert build.nodes == flat.nodes
    assert build.files["synthesis"].file == "report/post_synth_resources.json"
    assert build.files["graph"].file == "intermediate_models/kernel_partitions/partition_2.onnx"
    assert (build.board, build.part) == ("pynq-z2", "xc7z020clg400-1")
    assert (build.clock.asked_mhz, build.clock.worst_slack_ns) == (100, -1.729)
    assert build.clock.fmax_mhz == pytest.approx(1000 / 11.729)
    assert not build.missing


def test_the_graph_of_the_bitfile_finds_its_kernels_by_the_end_of_their_paths(tmp_path: Path) -> None:
    build = read_build(add_bitfile_step(output_dir(CUSTOM, tmp_path / "out")))
    assert build.files["graph"].file == "intermediate_models/step_synthesize_bitfile.onnx"
    assert {node.name for node in build.nodes} == {node.name for node in read_build(CUSTOM).nodes}
    assert all(node.built for node in build.nodes)
    dma = next(n for n in build.nodes if n.role == "DMA")
    assert dma.channel == "host:in0.0->Thresholding_rtl_0.0"


def test_without_kernels_the_latest_step_with_fifos_is_taken(tmp_path: Path) -> None:
    folder = output_dir(CUSTOM, tmp_path / "out")
    models = folder / "intermediate_models"
    shutil.rmtree(models / "kernel_partitions")
    without_fifos = onnx.load(models / "step_set_fifo_depths.onnx")
    kept = [node for node in without_fifos.graph.node if node.name == "Thresholding_rtl_0"]
    kept[0].input[0], kept[0].output[0] = "global_in", "global_out"
    del without_fifos.graph.node[:]
    without_fifos.graph.node.extend(kept)
    onnx.save(without_fifos, models / "step_create_stitched_ip.onnx")
    build = read_build(folder)
    assert build.files["graph"].file == "intermediate_models/step_set_fifo_depths.onnx"
    assert "intermediate_models/step_create_stitched_ip.onnx" in build.files["graph"].others
    (models / "step_set_fifo_depths.onnx").unlink()
    build = read_build(folder)
    assert build.files["graph"].file == "intermediate_models/step_create_stitched_ip.onnx"
    assert any("before FIFOs were inserted" in sentence for sentence in build.missing)


def test_engines_on_parallel_branches_are_in_doubt_unless_their_kernel_is_there(tmp_path: Path) -> None:
    graph = gzip.decompress((GRAPHS / "metafi_3_fifos.onnx.gz").read_bytes())
    (tmp_path / "3_step_set_fifo_depths.light.onnx").write_bytes(graph)
    rivals = {node.name: node.rivals for node in read_build(tmp_path).nodes if node.rivals}
    assert len(rivals) == 39
    assert "ConvolutionInputGenerator_rtl_14" in rivals["ConvolutionInputGenerator_rtl_13"], "they did change places"
    assert not any(node.rivals for node in read_build(CUSTOM).nodes)


def test_what_is_not_there_is_said_and_does_not_stop(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM / "kernel_partitions", tmp_path / "kernel_partitions")
    build = read_build(tmp_path)
    assert {node.built for node in build.nodes} == {None}
    assert build.whole is None
    assert [sentence.partition(" ")[0] for sentence in build.missing] == [
        "what",
        "estimate_layer_cycles.json",
        "estimate_network_performance.json",
        "rtlsim_performance.json",
        "no",
    ]


def test_a_folder_without_a_graph_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "step_set_fifo_depths.onnx").write_bytes(b"no model")
    with pytest.raises(
        InputError, match=r"looked for kernel_partitions/.*step_\*\.onnx.*step_set_fifo_depths"
    ) as error:
        read_build(tmp_path)
    assert "output_dir" in error.value.hint


def test_a_broken_report_is_named_with_its_line(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    (tmp_path / "build" / "rtlsim_performance.json").write_text('{\n"N": }')
    found = read_build(tmp_path / "build")
    assert any("not read: rtlsim_performance.json:2: no JSON" in text for text in found.missing)
    assert found.simulation is None
    assert found.nodes == read_build(CUSTOM).nodes


def test_rows_that_are_cut_off_leave_the_rest(tmp_path: Path) -> None:
    shutil.copytree(CUSTOM, tmp_path / "build")
    rows = tmp_path / "build" / "post_synth_resources.json"
    rows.write_text(rows.read_text()[:300])
    found = read_build(tmp_path / "build")
    assert any(text.startswith("not read: post_synth_resources.json") for text in found.missing)
    assert {node.name for node in found.nodes} >= {"MVAU_hls_0"}
    assert all(node.built is None for node in found.nodes)


ROW = Resources(lut=5, ff=1)


def test_fifos_that_were_numbered_anew_are_matched_by_their_order() -> None:
    graph = [BuiltNode(f"StreamingFIFO_rtl_{n}", "StreamingFIFO_rtl", "FIFO") for n in ("0", "1_0", "1_1", "2")]
    rows = [Row((f"StreamingDataflowPartition_1_StreamingFIFO_rtl_{n}",), ROW) for n in (0, 2, 3, 1)]
    named, notes = numbered_as_built(graph, rows)
    assert [node.name for node in named] == [f"StreamingFIFO_rtl_{n}" for n in range(4)]
    assert len(notes) == 1
    assert all(node.built for node in matched(named, rows)[0])


def test_where_their_number_differs_nothing_tells_which_is_which() -> None:
    graph = [BuiltNode(f"StreamingFIFO_rtl_{n}", "StreamingFIFO_rtl", "FIFO") for n in ("0", "1_0", "1_1")]
    rows = [Row((f"StreamingDataflowPartition_1_StreamingFIFO_rtl_{n}",), ROW) for n in (0, 1)]
    named, notes = numbered_as_built(graph, rows)
    nodes, unmatched = matched(named, rows)
    assert [node.built for node in nodes] == [None, None, None, ROW, ROW]
    assert not unmatched
    assert "not matched one by one" in notes[0]


def test_a_row_that_is_no_node_is_left_over() -> None:
    node = BuiltNode("MVAU_hls_0", "MVAU_hls", "engine", engine="MVAU_hls_0")
    rows = [Row(("StreamingDataflowPartition_1_MVAU_hls_0",), ROW), Row(("debug_bridge_0",), ROW)]
    nodes, unmatched = matched([node], rows)
    assert nodes[0].built == ROW
    assert [row.instance for row in unmatched] == ["debug_bridge_0"]


def test_a_name_in_two_partitions_is_no_ones_without_its_partition() -> None:
    node = BuiltNode("MVAU_hls_0", "MVAU_hls", "engine", engine="MVAU_hls_0")
    rows = [Row((f"StreamingDataflowPartition_{n}_MVAU_hls_0",), ROW) for n in (1, 2)]
    nodes, unmatched = matched([node], rows)
    assert nodes[0].built is None
    assert len(unmatched) == 2


def test_one_simulated_frame_tells_no_interval_and_many_do() -> None:
    assert node_reports.simulation_of({"N": 1, "cycles": 62, "latency_cycles": 61}) == Simulation(1, 61, None)
    found = node_reports.simulation_of({"N": 1000, "cycles": 20_041, "latency_cycles": 61})
    assert found == Simulation(1000, 61, 20.0)


def test_timing_reports_tell_slack_and_the_shortest_period() -> None:
    assert node_reports.routed_clock(TIMING) == node_reports.BuiltClock(100, -1.729)
    out_of_context = node_reports.out_of_context_clock({"WNS": "1.5", "fmax_mhz": 1000 / 8.5})
    assert (out_of_context.asked_mhz, out_of_context.worst_slack_ns) == (100, 1.5)


def test_the_part_is_told_by_settings_or_handoff() -> None:
    assert build_target.board_in({"board": "Pynq-Z2"}) == ("pynq-z2", "xc7z020clg400-1")
    assert build_target.board_in({"fpga_part": "xczu3eg-sbva484-1-e"}) == ("", "xczu3eg-sbva484-1-e")
    assert build_target.handed_off(HANDOFF) == ("pynq-z2", "xc7z020clg400-1")
    later = '<SYSTEMINFO BOARD="" DEVICE="xczu7ev" PACKAGE="ffvc1156" SPEEDGRADE="-2"/>'
    assert build_target.handed_off(later) == ("", "xczu7ev-ffvc1156-2")
    assert build_target.asked_clock_mhz({"synth_clk_period_ns": 5}) == 200


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
