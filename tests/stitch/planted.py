"""Mistakes planted into the files of a stitched plan, each with the violation that it must lead to."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Edit = Callable[[str], str]

TABLE, RUN, WRAPPER = "cells.json", "ooc/impl_MVAU_hls_0/run.tcl", "ooc/impl_MVAU_hls_0/impl_MVAU_hls_0.v"
TOP, SCRIPT, STUBS = "fpga0/top/top.v", "fpga0/top/assemble.tcl", "fpga0/top/stubs.v"
CLOCK = "fpga0/top/clock.xdc"
NAMES, MODULE = "stitch-names-differ", "stitch-module-differs"
JOINED, ASSEMBLY, SHIPPED = "stitch-top-differs", "stitch-script-differs", "shipped-file-differs"


def swap(old: str, new: str, count: int = 1) -> Edit:
    """Return an edit by a regular expression that must match."""

    def edit(text: str) -> str:
        changed = re.sub(old, new, text, count=count, flags=re.M)
        assert changed != text, f"nothing matches {old}"
        return changed

    return edit


def table(change: Callable[[dict[str, Any]], object]) -> Edit:
    """Return an edit of a card's entry in the table of names."""

    def edit(text: str) -> str:
        content = json.loads(text)
        change(content["cards"]["fpga0"])
        return json.dumps(content)

    return edit


def _same_cell(card: dict[str, Any]) -> None:
    first, second, *_ = card["modules"].values()
    second["cell"] = first["cell"].upper()


def _joined_implementations(card: dict[str, Any]) -> None:
    first, second, *_ = card["modules"].values()
    second["implementation"] = first["implementation"]


def _exchanged_ports(card: dict[str, Any]) -> None:
    ports = card["modules"]["MVAU_hls_1"]["ports"]
    ports["s_axis_0"], ports["m_axis_0"] = ports["m_axis_0"], ports["s_axis_0"]


MISTAKES: Mapping[str, tuple[str, str, Edit]] = {
    "a module without a name": (NAMES, TABLE, table(lambda card: card["modules"].pop("MVAU_hls_3"))),
    "two cells alike but for case": (NAMES, TABLE, table(_same_cell)),
    "two implementations made one": (NAMES, TABLE, table(_joined_implementations)),
    "streams of a module exchanged": (NAMES, TABLE, table(_exchanged_ports)),
    "a table of another version": (NAMES, TABLE, swap("floorflow-cells/1", "floorflow-cells/2")),
    "a table of another plan": (NAMES, TABLE, swap(r"\"plan_sha256\": \"....", '"plan_sha256": "----')),
    "a table of nothing": (NAMES, TABLE, lambda _: '{"schema": "floorflow-cells/1", "cards": {"fpga0": {}}}'),
    "another pblock": (MODULE, RUN, swap(r"ranges \{SLICE_X\d+Y", "ranges {SLICE_X0Y")),
    "a pblock left out": (MODULE, RUN, swap(r"    ranges \{[^}]*\} \\\n", "")),
    "another part": (MODULE, RUN, swap(r"-part \{xcu250", "-part {xcu200")),
    "another clock": (MODULE, RUN, swap(r"-period 2\.500", "-period 6.000")),
    "a place under another name": (MODULE, RUN, swap(r"name \{MVAU_hls_0\}", "name {MVAU_hls_1}")),
    "pins on another side": (MODULE, RUN, swap(r"\{s_axis_0 \{[^}]*\}", "{s_axis_0 {SLICE_X160Y400:SLICE_X160Y401}")),
    "pins outside the pblock": (MODULE, RUN, swap(r"\{s_axis_0 \{[^}]*\}", "{s_axis_0 {SLICE_X0Y0:SLICE_X0Y1}")),
    "no pins": (MODULE, RUN, swap(r"\{s_axis_0 \{[^}]*\}", "{s_axis_0 {}")),
    "more time than the way leaves": (MODULE, RUN, swap(r"\} (\d)\.(\d)(\d\d)\}", r"} \1.\g<2>9\3}")),
    "a stream left out": (MODULE, RUN, swap(r" \{m_axis_0 \{[^}]*\} \d\.\d{3}\}", "")),
    "a port without a slice": (
        MODULE,
        WRAPPER,
        swap(r"\.m_axis_0_tdata\(inner_m_axis_0_tdata\)", ".m_axis_0_tdata(m_axis_0_tdata)"),
    ),
    "a slice that is too narrow": (MODULE, WRAPPER, swap(r"\.BITS\(\d+\)", ".BITS(4)")),
    "a core without the reset": (MODULE, WRAPPER, swap(r"\.ap_rst_n\(rst_n\)", ".ap_rst_n(ap_rst_n)")),
    "a wrapper that does more": (MODULE, WRAPPER, swap("^endmodule", "  always @(posedge ap_clk) ;\nendmodule")),
    "two streams exchanged": (
        JOINED,
        TOP,
        swap(r"\.m_axis_0_tdata\(stream_2_0_tdata\)", ".m_axis_0_tdata(stream_3_0_tdata)"),
    ),
    "valid of another stream": (
        JOINED,
        TOP,
        swap(r"\.s_axis_0_tvalid\(stream_4_1_tvalid\)", ".s_axis_0_tvalid(stream_5_0_tvalid)"),
    ),
    "a module of another implementation": (JOINED, TOP, swap("impl_MVAU_hls_5 MVAU", "impl_MVAU_hls_6 MVAU")),
    "a stage left out": (JOINED, TOP, swap(r"  floorflow_stitch_stage #[^;]*;\n", "")),
    "a slice left out": (JOINED, TOP, swap(r"  floorflow_stitch_slice #[^;]*;\n", "")),
    "a stage that is too narrow": (JOINED, TOP, swap(r"(stitch_stage #\(\.BITS)\(\d+\)", r"\1(2)")),
    "a landing with too few words": (JOINED, TOP, swap(r"\.DEPTH\(16\)", ".DEPTH(4)")),
    "a landing for more stages": (JOINED, TOP, swap(r"\.STAGES\(2\)", ".STAGES(1)")),
    "a word sent without room for it": (JOINED, TOP, swap(r"(\.in_valid\(\w+_tvalid) && \w+\)", r"\1)")),
    "the reset of another SLR": (JOINED, TOP, swap(r"\.ap_rst_n\(reset_SLR1_n\)", ".ap_rst_n(reset_SLR0_n)")),
    "a reset from the far side": (JOINED, TOP, swap(r"\.in_n\(reset_SLR0_n\)", ".in_n(reset_in_n)")),
    "another clock for a cell": (JOINED, TOP, swap(r"\.clk\(ap_clk\)", ".clk(ap_rst_n)")),
    "a narrower edge": (JOINED, TOP, swap(r"\[\d+:0\] m_axis_0_tdata", "[3:0] m_axis_0_tdata")),
    "a top that does more": (JOINED, TOP, swap("^endmodule", "  initial $finish;\nendmodule")),
    "a stub with another port": (JOINED, STUBS, swap(r"\[\d+:0\] m_axis_0_tdata", "[3:0] m_axis_0_tdata")),
    "a module not stitched": (ASSEMBLY, SCRIPT, swap(r"lappend cells \{MVAU_hls_3 MVAU_hls_3\}\n", "")),
    "two checkpoints exchanged": (ASSEMBLY, SCRIPT, swap(r"\{MVAU_hls_3 MVAU_hls_3\}", "{MVAU_hls_3 MVAU_hls_4}")),
    "a register in another SLR": (ASSEMBLY, SCRIPT, swap(r"lappend slrs \{SLR1", "lappend slrs {SLR2")),
    "a register without an SLR": (ASSEMBLY, SCRIPT, swap(r" stream_\d_landing_0", "")),
    "an assembly for another part": (ASSEMBLY, SCRIPT, swap(r"-part \{xcu250", "-part {xcu280")),
    "a card with another clock": (ASSEMBLY, CLOCK, swap("-period 2.500", "-period 2.600")),
    "another library": (SHIPPED, "vivado/floorflow_stitch.tcl", swap("IS_SOFT FALSE", "IS_SOFT TRUE")),
    "another slice": (SHIPPED, "rtl/floorflow_stitch_slice.v", swap("full <= 1'b0", "full <= 1'b1")),
}
