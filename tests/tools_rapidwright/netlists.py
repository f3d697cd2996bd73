"""Run what the moving of checkpoints does to netlists, on RapidWright's own; by the Python that has JPype.

netlists.py SCRIPTS TOP.edf MODULE.edf MODULE.edf: the folder rapidwright/ of a plan, and netlists. Prints JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import asked


def main(folder: str, top: str, *modules: str) -> dict[str, object]:
    asked.start()
    from com.xilinx.rapidwright.edif import EDIFTools

    sys.path.insert(0, folder)
    import floorflow_rapidwright as moves

    data: dict[str, Any] = {}
    script = Path(folder, "stitch_fpga0.py").read_text()
    exec(compile(script.rpartition("\nstitch(")[0], "data", "exec"), data)  # noqa: S102 - the data, without the run
    netlist = EDIFTools.readEdifFile(top)
    cells = {place.cell: moves.empty_cell(place, netlist.getTopCell()) for place in data["PLACES"]}

    def read() -> list[Any]:
        return [EDIFTools.readEdifFile(path) for path in modules]

    def copied(made: list[Any]) -> int:
        for one in made:
            netlist.copyCellAndSubCells(one.getTopCell())
        return sum(len(library.getCells()) for library in netlist.getLibraries())

    place = data["PLACES"][0]
    wrong: Mapping[str, Callable[[], object]] = {
        "bit": lambda: moves.empty_cell(moves.Place(*_but(place, ports={"s_axis_0": 1000})), netlist.getTopCell()),
        "cell": lambda: moves.empty_cell(moves.Place(*_but(place, cell="nobody")), netlist.getTopCell()),
        "implementation": lambda: moves.empty_cell(
            moves.Place(*_but(place, implementation="impl_other")), netlist.getTopCell()
        ),
        "contents": lambda: moves.empty_cell(moves.Place(*_but(place, cell="reset_in")), _as(netlist, place)),
        "equal names": lambda: copied(read()),
    }
    told = {name: _stopped(run) for name, run in wrong.items()}
    netlist, made = EDIFTools.readEdifFile(top), read()
    before = copied([])
    names = []
    for one in made:
        moves.name_apart(one, str(one.getTopCell().getName()))
        names.append(sorted(str(cell.getName()) for library in one.getLibraries() for cell in library.getCells()))
    return {"joined": _joined(moves, data, cells), "told": told, "names": names, "added": copied(made) - before}


def _but(place: Any, **changed: object) -> list[object]:
    return [changed.get(name, value) for name, value in vars(place).items()]


def _as(netlist: Any, place: Any) -> Any:
    """Return the top, in which a cell with contents is called as an implementation."""
    top = netlist.getTopCell()
    kind = top.getCellInst("reset_in").getCellType()
    top.getCellInst(place.cell).getCellType().rename("impl_before")
    kind.rename(place.implementation)
    return top


def _joined(moves: Any, data: Mapping[str, Any], cells: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return of each stream the wires that join its modules, and how many join one bit with the next."""
    found = {}
    for stream in data["STREAMS"]:
        (cell, port), (other, other_port) = stream.source, stream.target
        bits = next(place.ports[port] for place in data["PLACES"] if place.cell == cell)
        here = [moves._wire(cells[cell], pin) for pin in moves.pins_of(port, bits)]
        there = [moves._wire(cells[other], pin) for pin in moves.pins_of(other_port, bits)]
        pairs = list(zip(here, there, strict=True))
        found[stream.name] = [sum(a == b for a, b in pairs), sum(a == b for a, b in zip(here, there[1:], strict=False))]
    return found


def _stopped(run: Callable[[], object]) -> str:
    try:
        return f"nothing: {run()}"
    except Exception as error:  # noqa: BLE001 - Java's too
        return str(error)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
