"""Run by nextpnr-generic: a device of floorflow's columns, as in fabric.json; without wires, as nothing is routed."""
# ruff: noqa: F821  nextpnr gives ctx and Loc

import json
from pathlib import Path

fabric = json.loads(Path("fabric.json").read_text())
ctx.setLutK(6)
ctx.setDelayScaling(0.05, 0.1)  # ns a column or row, and at each end: made up, as long wires are
for x, y in fabric["clbs"]:
    for z in range(8):
        ctx.addBel(name=f"X{x}Y{y}_{z}", type="GENERIC_SLICE", loc=Loc(x, y, z), gb=False, hidden=False)
for x, y in fabric["pads"]:
    ctx.addBel(name=f"X{x}Y{y}_pad", type="GENERIC_IOB", loc=Loc(x, y, 9), gb=False, hidden=False)
# Regions ask for all rows of a column, those without logic too: a cell of no use at the top makes them known.
for x in range(fabric["columns"]):
    ctx.addBel(name=f"TOP{x}", type="EDGE", loc=Loc(x, fabric["rows"] - 1, 8), gb=False, hidden=True)
