"""The files of the way into Vitis or Vivado: hand-written ones as shipped, and what they are told of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floorflow.verify.files.reader import shipped_file
from floorflow.verify.judge import Files
from floorflow.verify.violations import Findings

HAND_WRITTEN = {
    "vitis": {"vitis/relink.sh": "relink.sh", "vivado/floorflow_report.tcl": "floorflow_report.tcl"},
    "zynq": {
        "vivado/floorflow_zynq.tcl": "floorflow_zynq.tcl",
        "vivado/floorflow_report.tcl": "floorflow_report.tcl",
    },
}
"""Shipped files of each way, by their paths in the plan's folder."""
STEPS = "prop=run.impl_1.STEPS."
HOOK = f"{STEPS}OPT_DESIGN.TCL.PRE=@HOOK@"
AFTER_ROUTING = "POST_ROUTE_PHYS_OPT_DESIGN"
"""The step behind routing, which a run has only where it is enabled (UG904)."""
LINKED_BELOW = 4096
"""v++ refuses streams of so many bits between kernels: unsupported data width for direct connection (FINN #1276)."""
FINDINGS = {
    "flow-file-differs": "a file of the way into Vitis or Vivado is not what the plan gives, or as shipped",
    "kernel-stream-wide": "a stream between two kernels, or of a DMA engine, is wider than v++ links",
}


def check_links(phase: Mapping[str, Any], context: Mapping[str, Any], findings: Findings) -> None:
    """Judge the widths of streams that leave an SLR of a card with a shell, or lead to its DMA engines."""
    for channel in phase["channels"]:
        ends = [context["engines"].get(channel[side]) for side in ("source", "target")]
        slots = [None if end is None else end["slot"] for end in ends]
        fpgas = {end["fpga"] for end in ends if end is not None}
        if slots[0] == slots[1] or len(fpgas) != 1 or not context["shells"].get(*fpgas):
            continue
        converter = phase["partition"]["assignment"].get(channel["converter_module"])
        # Of a stream that is converted before it leaves, what leaves is as wide as at its target.
        side = "target" if converter is not None and converter == slots[0] else "source"
        bits = -(-channel[f"{side}_width_bits"] // 8) * 8
        if bits >= LINKED_BELOW:
            told = f"{bits} bits leave the kernel, v++ links fewer than {LINKED_BELOW}"
            findings.add("kernel-stream-wide", f"phase {phase['name']} channel {channel['name']}", told)


def check_flow_files(
    plan: Mapping[str, Any], phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any], findings: Findings
) -> None:
    """Judge what is there: the platform, part and memory bank that are told, the hooks, and hand-written files."""
    if len(plan["phases"]) != 1 or len(plan["networks"]) != 1:
        return
    for way, files in HAND_WRITTEN.items():
        for path, name in files.items():
            shipped = shipped_file("tcl", name)
            wanted = shipped.read_text(encoding="utf-8") if shipped else None
            if folder.exists(path) and wanted is not None and folder.text(path) != wanted:
                findings.add("flow-file-differs", folder.path(path), f"floorflow ships another {name} for {way}")
    if folder.exists("vitis/floorflow.cfg"):
        _check_config(phase, folder, context, findings)
    if folder.exists("vivado/zynq_impl.tcl"):
        _check_zynq(folder, context, findings)


def _check_config(phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any], findings: Findings) -> None:
    path = "vitis/floorflow.cfg"
    lines = (folder.text(path) or "").splitlines()
    last = AFTER_ROUTING if f"{STEPS}{AFTER_ROUTING}.IS_ENABLED=true" in lines else "ROUTE_DESIGN"
    # What is reported before the last step is no more true of what goes onto the card.
    for line in sorted({HOOK, f"{STEPS}{last}.TCL.POST=@REPORT@"} - {*lines}):
        findings.add("flow-file-differs", folder.path(path), f"lacks the line: {line}")
    told = [line.removeprefix("# platform: ") for line in lines if line.startswith("# platform: ")]
    if len(told) != 1 or told[0] not in filter(None, context["shells"].values()):
        findings.add("flow-file-differs", folder.path(path), f"is for the platform {told}, which no FPGA has")
    fpga = next(
        (r["fpga"] for c in phase["channels"] for r in _rows(c["source"], context) if not _inside(c, context)), None
    )
    memory = context["memories"].get(fpga) or ""
    for line in lines:
        port = line.partition("m_axi_gmem0:")[2]
        if line.startswith("sp=") and port != memory:
            findings.add("flow-file-differs", folder.path(path), f"{line}: the plan's bank is {memory or 'none'}")


def _rows(engine: str, context: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [context["engines"][engine]] if engine in context["engines"] else []


def _inside(channel: Mapping[str, Any], context: Mapping[str, Any]) -> bool:
    return channel["target"] in context["engines"]


def _check_zynq(folder: Files, context: Mapping[str, Any], findings: Findings) -> None:
    path = "vivado/zynq_impl.tcl"
    text = " ".join((folder.text(path) or "").replace("\\\n", " ").split())
    if f"floorflow::implement -part {{{context['parts'][0]}}} " not in text:
        findings.add("flow-file-differs", folder.path(path), f"is not for the plan's part {context['parts'][0]}")
    if "-constraints [file join [file dirname $here] fpga0 pblocks.tcl]" not in text:
        findings.add("flow-file-differs", folder.path(path), "does not take the plan's pblocks.tcl")
