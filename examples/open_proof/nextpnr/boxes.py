"""Run by nextpnr-generic before it places: cells into the boxes of boxes.json, and delays of cells."""
# ruff: noqa: F821  nextpnr gives ctx

import json
import re
from pathlib import Path

boxes = json.loads(Path("boxes.json").read_text())
for name, (left, bottom, right, top) in boxes["boxes"].items():
    ctx.createRectangularRegion(name, left, bottom, right, top)
ns = ctx.getDelayFromNS
for name, cell in ctx.cells:
    found = re.match(boxes["instance"], name)
    if found and found[1] in boxes["boxes"]:
        ctx.constrainCellToRegion(name, found[1])
    if cell.type == "GENERIC_SLICE":
        ctx.addCellTimingClock(cell=name, port="CLK")
        ctx.addCellTimingClockToOut(cell=name, port="Q", clock="CLK", clktoq=ns(0.2))
        for port in (f"I[{k}]" for k in range(6)):
            ctx.addCellTimingSetupHold(cell=name, port=port, clock="CLK", setup=ns(0.2), hold=ns(0))
            ctx.addCellTimingDelay(cell=name, fromPort=port, toPort="F", delay=ns(0.2))
