"""The Tcl of a design with reconfigurable regions: its data; ``tcl/floorflow_dfx.tcl`` does what is to be done."""

from collections.abc import Mapping
from pathlib import Path

from floorflow.assets import asset_folder
from floorflow.emit.constraints import tcl_word
from floorflow.facts import Plan
from floorflow.facts.region import RegionEntry

LIBRARY = "dfx/floorflow_dfx.tcl"
SCRIPT = "dfx/dfx.tcl"
_SCRIPT = Path(__file__).with_name("dfx.tcl.in").read_text(encoding="utf-8")


def region_pblock(name: str) -> str:
    """Return what the pblock of a region is called; pblocks of modules in it are its children."""
    return f"pblock_region_{name}"


def dfx_files(plan: Plan, header: str) -> dict[str, str]:
    """Return the scripts of a plan with regions, none of others."""
    entry = plan.reconfigurable
    if entry is None:
        return {}
    (part,) = {fpga.part for fpga in plan.platform.fpgas if fpga.name in {r.fpga for r in entry.regions}}
    text = _SCRIPT.format(
        header=header,
        part=tcl_word(part),
        regions="\n".join(_region(region) for region in entry.regions),
        configurations="\n".join(_configuration(*one) for one in configurations(plan).items()),
    )
    return {LIBRARY: (asset_folder("tcl") / "floorflow_dfx.tcl").read_text(encoding="utf-8"), SCRIPT: text}


def configurations(plan: Plan) -> dict[str, Mapping[str, str]]:
    """Return what is implemented together: by name, the phase in each region.

    As many as the region with most phases has; a region with fewer has its first phase again.
    """
    regions = plan.reconfigurable.regions if plan.reconfigurable else []
    phases = {region.name: [phase.name for phase in plan.phases if phase.region == region.name] for region in regions}
    count = max(map(len, phases.values()), default=0)
    return {
        f"configuration{number}": {
            region: held[number] if number < len(held) else held[0] for region, held in phases.items()
        }
        for number in range(count)
    }


def _region(region: RegionEntry) -> str:
    values = {
        "name": tcl_word(region.name),
        "cell": tcl_word(region.cell),
        "pblock": tcl_word(region_pblock(region.name)),
        "ranges": tcl_word(" ".join(region.ranges)),
        "snapping": region.snapping_mode,
        "reset": "TRUE" if region.reset_after_reconfig else "FALSE",
    }
    words = " \\\n    ".join(f"{key} {value}" for key, value in values.items())
    return f"lappend regions [dict create \\\n    {words}]"


def _configuration(name: str, phases: Mapping[str, str]) -> str:
    words = " ".join(f"{tcl_word(region)} {tcl_word(phase)}" for region, phase in phases.items())
    return f"lappend configurations [list {tcl_word(name)} [dict create {words}]]"
