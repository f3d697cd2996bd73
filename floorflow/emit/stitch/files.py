"""All files of a plan whose modules are implemented alone: by implementation, by card, and what is shipped."""

from __future__ import annotations

from floorflow.assets import asset_folder
from floorflow.emit.stitch.circuit import Stitched
from floorflow.emit.stitch.scripts import assemble_script, cells_json, clock_xdc, run_script
from floorflow.emit.stitch.verilog import LIBRARY, stubs, top, wrapper
from floorflow.facts import Plan
from floorflow.hardware import Platform

TABLE = "cells.json"
SCRIPTS = "vivado/floorflow_stitch.tcl"


def stitch_files(plan: Plan, platform: Platform, header: str, plan_sha256: str) -> dict[str, str]:
    """Return the files of a plan that is stitched, none of others."""
    if not plan.options.backend_options.stitches:
        return {}
    stitched, fpgas = Stitched(plan), {fpga.name: fpga for fpga in platform.fpgas}
    names = [f"floorflow_stitch_{kind}.v" for kind in LIBRARY]
    files = {f"rtl/{name}": (asset_folder("rtl") / name).read_text(encoding="utf-8") for name in names}
    files[SCRIPTS] = (asset_folder("tcl") / "floorflow_stitch.tcl").read_text(encoding="utf-8")
    files[TABLE] = cells_json(plan_sha256, stitched)
    for name, modules in stitched.implementations.items():
        files[f"ooc/{name}/{name}.v"] = wrapper(header, name, modules[0].ports)
        files[f"ooc/{name}/run.tcl"] = run_script(header, stitched, name, fpgas)
    for name, card in stitched.cards.items():
        folder, part = f"{name}/top", fpgas[name].board.part
        files[f"{folder}/top.v"] = top(header, card)
        files[f"{folder}/stubs.v"] = stubs(header, card.modules)
        files[f"{folder}/clock.xdc"] = clock_xdc(header, stitched, card)
        files[f"{folder}/assemble.tcl"] = assemble_script(header, card, part)
    return files
