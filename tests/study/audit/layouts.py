"""The copied builds, as they were given and as FINN's own ``output_dir`` has them."""

import json
import shutil
from pathlib import Path

import onnx
from onnx import helper

from tests.study.audit.copy_builds import BUILDS

AUTO, CUSTOM = BUILDS / "auto", BUILDS / "custom_4"

TIMING = """| Device            : 7z020-clg400
------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)
    -------      -------  ---------------------  -------------------      -------      -------
     -1.729     -120.500                    318                63274        0.010        0.000

Clock       Waveform(ns)       Period(ns)      Frequency(MHz)
-----       ------------       ----------      --------------
clk_fpga_0  {0.000 5.000}        10.000          100.000
"""
HANDOFF = """<?xml version="1.0"?>
<EDKSYSTEM EDWVERSION="1.2"><SYSTEMINFO ARCH="zynq" BOARD="tul.com.tw:pynq-z2:part0:1.0" DEVICE="7z020" \
NAME="top" PACKAGE="clg400" SPEEDGRADE="-1"/></EDKSYSTEM>
"""


def output_dir(build: Path, folder: Path) -> Path:
    """Arrange a copied build as FINN leaves it, with earlier steps, scratch and a second copy of a report."""
    models, report = folder / "intermediate_models", folder / "report"
    shutil.copytree(build / "kernel_partitions", models / "kernel_partitions")
    report.mkdir()
    for path in sorted(build.glob("*.json")):
        shutil.copyfile(path, folder / path.name if path.name == "final_hw_config.json" else report / path.name)
    shutil.copyfile(build / "graph_with_fifos.onnx", models / "step_set_fifo_depths.onnx")
    shutil.copyfile(build / "dataflow_parent.onnx", models / "dataflow_parent.onnx")
    (report / "post_route_timing.rpt").write_text(TIMING)
    (folder / "bitfile").mkdir()
    (folder / "bitfile" / "finn-accel.hwh").write_text(HANDOFF)
    (folder / "deploy").mkdir()
    (folder / "deploy" / "post_synth_resources.json").write_text("{}")
    (folder / "stitched_ip").mkdir()
    (folder / "stitched_ip" / "broken.onnx").write_bytes(b"no model")
    (folder / "time_per_step.json").write_text(json.dumps({"step_set_fifo_depths": 1, "step_synthesize_bitfile": 2}))
    return folder


def add_bitfile_step(folder: Path) -> Path:
    """Add the graph of step_synthesize_bitfile, whose kernels it names by the paths of the machine that built them."""
    kernels = "/home/somebody/out/intermediate_models/kernel_partitions"
    names = ("idma", "net", "odma")
    ends = ["in", "a", "b", "out"]
    nodes = [
        helper.make_node(
            "StreamingDataflowPartition",
            [ends[place]],
            [ends[place + 1]],
            name=f"StreamingDataflowPartition_{place}",
            domain="finn.custom_op.fpgadataflow",
            model=f"{kernels}/partition_{number}.onnx",
        )
        for place, (number, _) in enumerate(zip((0, 2, 1), names, strict=True))
    ]
    values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 784]) for name in (ends[0], ends[-1])]
    graph = helper.make_graph(nodes, "bitfile", values[:1], values[1:])
    onnx.save(helper.make_model(graph), folder / "intermediate_models" / "step_synthesize_bitfile.onnx")
    return folder
