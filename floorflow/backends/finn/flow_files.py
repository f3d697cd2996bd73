"""The ways from a bound plan into Vitis and Vivado: FINN's project is linked or implemented again, with a hook.

FINN writes neither a hook nor the memory bank of the output's DMA engine, and starts v++ and Vivado at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floorflow.assets import asset_folder
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.step_files import BOARDS
from floorflow.errors import InputError, some

VERSIONS = {"main": ("2022.2",), "dev": ("2022.2",), "plus": ("2022.2", "2024.2")}
"""Versions of Vivado and Vitis that each FINN is made for."""
_CONFIG = """\
# For v++, beside FINN's own configuration; relink.sh hands it over.
# platform: {platform}
# versions: {versions}
[connectivity]
{ports}
[vivado]
prop=run.impl_1.STEPS.OPT_DESIGN.TCL.PRE=@HOOK@
prop=run.impl_1.STEPS.POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED=true
prop=run.impl_1.STEPS.POST_ROUTE_PHYS_OPT_DESIGN.ARGS.DIRECTIVE=AggressiveExplore
prop=run.impl_1.STEPS.POST_ROUTE_PHYS_OPT_DESIGN.TCL.POST=@REPORT@
"""
_ZYNQ = """\
# Implements FINN's project again:
#   vivado -mode batch -source zynq_impl.tcl -tclargs PROJECT.xpr ?FOLDER?
set here [file dirname [file normalize [info script]]]
source [file join $here floorflow_zynq.tcl]
floorflow::implement -part {{{part}}} -versions {{{versions}}} \\
    -constraints [file join [file dirname $here] {fpga} pblocks.tcl] -arguments $argv
"""


def flow_of(board: str, shell: str) -> str | None:
    """Return the way that a board takes, None for a part that FINN has no shell for."""
    if board not in BOARDS:
        return None
    return "vitis" if shell else "zynq"


def unbuilt(boards: Sequence[str], networks: int, *, in_regions: bool) -> list[str]:
    """Return what keeps FINN from building a plan with these boards for its FPGAs, a clause each."""
    found = []
    if len(boards) > 1:
        found.append(
            f"FINN builds for one card, this plan has {len(boards)}: folding, FIFO depths, cut and pblocks are there "
            "to read; to build, cut the model at the links and plan each part for one card"
        )
    if networks > 1:
        found.append(
            f"FINN makes one design of one network, this plan has {networks}: each build ends at a stitched IP; the "
            "design that holds all of them, with their DMA engines, is yours to make (docs/several-networks.md)"
        )
    if in_regions:
        found.append(
            "each phase's build ends at a stitched IP; what stays, with DMA engines and decouplers, is yours to make "
            "(docs/reconfigure.md)"
        )
    bare = sorted({board for board in boards if board not in BOARDS})
    if bare and not found:
        found.append(
            f"FINN has no shell for {some(bare)}: the build ends at a stitched IP; the top design around it, with "
            "clock, reset and DMA, is yours to make"
        )
    return found


def check_flow(asked: FinnOptions, boards: Mapping[str, str]) -> None:
    """Refuse a way that a board does not take; ``boards`` are shells (or nothing) by the boards' names.

    Raises
    ------
    InputError
        Names the way that fits.

    """
    if asked.flow == "auto":
        return
    for board, shell in boards.items():
        fitting = flow_of(board, shell)
        if fitting is None:
            known = some(sorted(BOARDS))
            raise InputError(
                f"--flow {asked.flow}: FINN has no build for {board}, a bare part",
                hint=f"leave --flow out; FINN builds for {known}",
            )
        if fitting != asked.flow:
            raise InputError(f"--flow {asked.flow}: {board} takes none of it", hint=f"use --flow {fitting}")


def flow_files(data: Mapping[str, Any], fpgas: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the files of the way that the boards take; none where nothing is constrained, or FINN has no shell."""
    first = next((fpga for fpga in fpgas if fpga["constraints"]), None)
    flow = None if first is None else flow_of(str(first["board"]), str(first["platform"]))
    if first is None or flow is None:
        return {}
    versions = " ".join(VERSIONS[str(data["finn"])])
    made = {"vivado/floorflow_report.tcl": _shipped("floorflow_report.tcl")}
    if flow == "vitis":
        made["vitis/relink.sh"] = _shipped("relink.sh")
        ports = "\n".join(_memory_lines(data))
        made["vitis/floorflow.cfg"] = _CONFIG.format(platform=first["platform"], versions=versions, ports=ports)
    else:
        made["vivado/floorflow_zynq.tcl"] = _shipped("floorflow_zynq.tcl")
        made["vivado/zynq_impl.tcl"] = _ZYNQ.format(part=first["part"], versions=versions, fpga=first["name"])
    return made


def _memory_lines(data: Mapping[str, Any]) -> list[str]:
    """Return the bank of the output's DMA engine, which FINN main leaves to v++; FINN+ writes one itself."""
    port = str(data["dma"]["out"].get("mem_port", ""))
    if not port or data["finn"] == "plus":
        return []
    outputs = sum(stream["target"] is None for stream in data["streams"])
    return [f"sp=odma{number}.m_axi_gmem0:{port}" for number in range(outputs)]


def _shipped(name: str) -> str:
    return (asset_folder("tcl") / name).read_text(encoding="utf-8")
