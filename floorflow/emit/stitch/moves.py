"""The data of the scripts by which RapidWright moves checkpoints; ``tcl/floorflow_rapidwright.py`` does the rest."""

import re
from pathlib import Path

from floorflow.emit.stitch.circuit import Card, Stitched
from floorflow.facts.floorplan import PblockEntry
from floorflow.facts.stitched import StitchedModule

MOVES = "floorflow_rapidwright.py"

_SCRIPT = Path(__file__).with_name("stitch.py.in").read_text(encoding="utf-8")


def moves_script(header: str, stitched: Stitched, card: Card) -> str | None:
    """Return the script of a card; None if no module of it shares an implementation."""
    moved = [module for module in card.modules if module.cell in stitched.first_of]
    if not moved:
        return None
    cells = {module.cell for module in moved}
    streams = [
        f'    Stream("{joint.name}", ("{joint.source}", "{joint.source_port.name}"), '
        f'("{joint.target}", "{joint.target_port.name}")),'
        for joint in card.joints
        if not joint.registers and {joint.source, joint.target} <= cells
    ]
    return _SCRIPT.format(
        header=header,
        card=card.name,
        places="\n".join(_place(stitched, module) for module in moved),
        streams="\n".join(streams),
        top=card.top,
    )


def _place(stitched: Stitched, module: StitchedModule) -> str:
    first = stitched.implementations[module.implementation][0]
    ends = [corner(stitched.phase.pblocks[one.name]) for one in (first, module)]
    ports = ", ".join(f'"{port.name}": {port.bits}' for port in module.ports)
    words = ", ".join(f'"{word}"' for word in (module.cell, module.implementation, first.cell, *ends))
    return f"    Place({words}, {{{ports}}}),"


def corner(pblock: PblockEntry) -> str:
    """Return the lower left SLICE of the first rectangle of a pblock; every module has SLICEs, those of its ports."""
    found = (re.match(r"SLICE_X\d+Y\d+", text) for text in pblock.ranges)
    return next(site[0] for site in found if site is not None)
