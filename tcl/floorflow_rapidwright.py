"""Hand-written: puts modules that serve several places into the top of a card, each where the plan has it.

The scripts that call it (rapidwright/stitch_<card>.py) hold data alone. It runs on AMD's own package, which needs Java:

    pip install rapidwright
    vivado -mode batch -source <card>/top/assemble.tcl -tclargs FOLDER ?PINS.xdc? -glue
    python rapidwright/stitch_<card>.py FOLDER
    vivado -mode batch -source <card>/top/assemble.tcl -tclargs FOLDER ?PINS.xdc? -stitched

FOLDER holds what run.tcl -once made: a checkpoint of each such module. It is moved by whole tiles, as far as the lower
left SLICE of its pblock is from that of the place. What stays of its routing is what lies inside; clock, power and the
nets of ports are Vivado's to route.
"""

# ruff: noqa: FBT003, N818, T201 - arguments of Java have no names, and a script prints

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUFFIXES = ("tvalid", "tready")


class Stop(Exception):
    """Why it cannot go on, in a sentence."""


@dataclass(frozen=True)
class Place:
    """A module: its cell, what it is, whose checkpoint it has, the SLICEs, and bits of TDATA by port.

    ``made_at`` is the lower left SLICE of the pblock that the checkpoint was made in, ``at`` that of its own.
    """

    cell: str
    implementation: str
    checkpoint: str
    made_at: str
    at: str
    ports: Mapping[str, int]


@dataclass(frozen=True)
class Stream:
    """A stream that joins two of the modules without a register between: cell and port at either end."""

    name: str
    source: tuple[str, str]
    target: tuple[str, str]


def stitch(top: str, places: Sequence[Place], streams: Sequence[Stream], arguments: Sequence[str]) -> None:
    """Fill the cells of a card's top, or end with a sentence."""
    try:
        _stitch(top, places, streams, arguments)
    except Stop as stop:
        sys.exit(f"floorflow: {stop}")


def _stitch(top: str, places: Sequence[Place], streams: Sequence[Stream], arguments: Sequence[str]) -> None:
    if len(arguments) != 1:
        raise Stop("expected FOLDER, which run.tcl and assemble.tcl write to")
    folder = Path(arguments[0]).resolve()
    glue, out = (folder / top / name for name in ("glue.dcp", "stitched.dcp"))
    made = {place.checkpoint: folder / f"{place.checkpoint}.dcp" for place in places}
    missing = [path.name for path in (glue, *made.values()) if not path.is_file()]
    if missing:
        raise Stop(f"{folder} lacks {', '.join(missing)}; run assemble.tcl -glue and ooc/*/run.tcl -once first")
    out.unlink(missing_ok=True)

    try:
        import rapidwright  # noqa: F401 - starts Java
    except ImportError as error:
        raise Stop(f"RapidWright is not there for this Python ({error}): pip install rapidwright") from error
    from com.xilinx.rapidwright.design import Design, DesignTools

    design = Design.readCheckpoint(str(glue))
    if str(design.getTopEDIFCell().getName()) != top:
        raise Stop(f"{glue} holds '{design.getTopEDIFCell().getName()}', not '{top}'; a file of another plan")
    first = {place.checkpoint: place for place in reversed(places)}
    modules = {name: module_of(place, str(made[name]), design) for name, place in first.items()}
    placed, taken = dict[str, Any](), dict[str, str]()
    for place in places:
        placed[place.cell] = _placed(place, modules[place.checkpoint], design, taken)
    for stream in streams:
        count = sum(connect(*bit) for bit in _bits(stream, places, placed))
        print(f"floorflow: {stream.name}: {count} wires from {stream.source[0]} to {stream.target[0]}")
    netlist = design.getNetlist()
    netlist.consolidateAllToWorkLibrary()
    # Cells have contents now, so that wires go on into them: nets are named anew by where each begins.
    netlist.resetParentNetMap()
    DesignTools.makePhysNetNamesConsistent(design)
    design.setAutoIOBuffers(False)
    design.writeCheckpoint(str(out))
    if not out.is_file() or out.stat().st_size == 0:
        raise Stop(f"RapidWright wrote no {out}; its messages above say why")
    print(f"floorflow: {len(places)} modules of {len(modules)} checkpoints stand in {out}")


def module_of(place: Place, path: str, top: Any) -> Any:
    """Return the module in a checkpoint, free to be moved."""
    from com.xilinx.rapidwright.design import Design, Module

    made = Design.readCheckpoint(path)
    netlist = made.getNetlist()
    for wrong, told in (
        (str(made.getTopEDIFCell().getName()) != place.implementation, f"is no '{place.implementation}'"),
        (str(made.getDevice().getName()) != str(top.getDevice().getName()), "is for another die"),
        (netlist.getEncryptedCells(), "has encrypted cells, which RapidWright cannot copy; leave its IP out of reuse"),
    ):
        if wrong:
            raise Stop(f"{path} {told}")
    name_apart(netlist, place.implementation)
    # Power is routed anew: what RapidWright brings of it arrives fixed, and is in Vivado's way.
    module = Module(made, True)
    unrouted = [str(net.getName()) for net in module.getNets() if not net.isStaticNet() and _lacks_route(net)]
    if unrouted:
        raise Stop(f"{path}: {len(unrouted)} nets have no route ({', '.join(unrouted[:5])}); run its run.tcl again")
    clock = module.getNet("ap_clk")
    if clock is None:
        raise Stop(f"{path} has no net of its clock, ap_clk")
    clock.unroute()  # it comes from outside the window, and would hold the module where it is
    for port in module.getPorts():
        net = port.getNet()
        if net is not None:
            net.unroute()
    return module


def _lacks_route(net: Any) -> bool:
    return net.getSource() is not None and net.getFanOut() > 0 and not net.hasPIPs()


def name_apart(netlist: Any, implementation: str) -> None:
    """Put a module's name before those of all cells in it: two modules may have different cells of one name."""
    for library in list(netlist.getLibraries()):
        if library.isHDIPrimitivesLibrary():
            continue
        for cell in list(library.getCells()):
            if str(cell.getName()) != implementation:
                cell.rename(f"{implementation}_{cell.getName()}")


def empty_cell(place: Place, top: Any) -> Any:
    """Return the cell of a module in the top's netlist, with every pin that the plan has."""
    cell = top.getCellInst(place.cell)
    if cell is None:
        raise Stop(f"the top has no cell '{place.cell}'; a file of another plan")
    if str(cell.getCellName()) != place.implementation:
        raise Stop(f"cell '{place.cell}' is a '{cell.getCellName()}', the plan's is a '{place.implementation}'")
    if cell.getCellType().hasContents():
        raise Stop(f"cell '{place.cell}' is no black box")
    for port, bits in place.ports.items():
        for pin in pins_of(port, bits):
            _wire(cell, pin)
    return cell


def _wire(cell: Any, pin: str) -> Any:
    """Return the net at a pin, by the name of its bit: numbers would count from the other end of a bus."""
    found = cell.getPortInst(pin)
    if found is None or found.getNet() is None:
        raise Stop(f"cell '{cell.getName()}' has no wire at pin '{pin}'")
    return found.getNet()


def pins_of(port: str, bits: int) -> Iterator[str]:
    """Yield the pins of a stream: TDATA bit by bit, TVALID, TREADY."""
    yield from (f"{port}_tdata[{bit}]" for bit in range(bits))
    yield from (f"{port}_{suffix}" for suffix in SUFFIXES)


def _placed(place: Place, module: Any, design: Any, taken: dict[str, str]) -> Any:
    """Return the instance of a module in its cell, at its anchor."""
    empty_cell(place, design.getTopEDIFCell())
    site = _anchor(place, module, design)
    name = str(site.getName())
    if name in taken:
        raise Stop(f"'{place.cell}' and '{taken[name]}' have one anchor, {name}")
    taken[name] = place.cell
    # Asked first, as a place without such a site ends in an error of Java.
    if not module.isValidPlacement(site, design):
        raise Stop(f"'{place.cell}' cannot be at {place.at}: other columns than at {place.made_at}, or a site is taken")
    instance = design.createModuleInst(place.cell, module)
    if not instance.place(site, False, False) or not all(one.isPlaced() for one in instance.getSiteInsts()):
        raise Stop(f"'{place.cell}' was not placed at {place.at}: it overlaps what lies there, or a wire has no tile")
    instance.getCellInst().removeBlackBoxProperty()
    print(f"floorflow: {place.cell} is {place.checkpoint} moved from {place.made_at} to {place.at}")
    return instance


def _anchor(place: Place, module: Any, design: Any) -> Any:
    """Return the site that the anchor of a module comes to lie on."""
    ends = [design.getDevice().getSite(name) for name in (place.made_at, place.at)]
    anchor = module.getAnchor()
    if anchor is None or any(site is None for site in ends):
        raise Stop(f"the part has no {place.made_at} or {place.at}, or '{place.checkpoint}' has no placed cell")
    start, end = (site.getTile() for site in ends)
    columns = end.getTileXCoordinate() - start.getTileXCoordinate()
    rows = end.getTileYCoordinate() - start.getTileYCoordinate()
    tile = anchor.getTile().getTileXYNeighbor(columns, rows)
    site = None if tile is None else anchor.getCorrespondingSite(anchor.getSiteTypeEnum(), tile)
    if site is None:
        raise Stop(
            f"'{place.cell}' cannot be at {place.at}: there is no such site as {anchor.getName()} {rows} rows on"
        )
    return site


Bit = tuple[Any, str, Any, str]
"""An instance and its output, and an instance and its input."""


def _bits(stream: Stream, places: Sequence[Place], placed: Mapping[str, Any]) -> Iterator[Bit]:
    ports = {place.cell: place.ports for place in places}
    (cell, port), (other, other_port) = stream.source, stream.target
    bits = ports[cell][port]
    if ports[other][other_port] != bits:
        raise Stop(f"{stream.name}: {cell} has {bits} bits, {other} {ports[other][other_port]}")
    for pin, other_pin in zip(pins_of(port, bits), pins_of(other_port, bits), strict=True):
        forth = (placed[cell], pin, placed[other], other_pin)
        yield forth if not pin.endswith("_tready") else (*forth[2:], *forth[:2])


def connect(source: Any, pin: str, target: Any, other_pin: str) -> bool:
    """Join the wires of two modules, as the top's netlist does, where none is in it: by the names of bits."""
    ends = [instance.getPort(name) for instance, name in ((source, pin), (target, other_pin))]
    if any(port is None for port in ends) or not ends[0].isOutPort() or ends[1].isOutPort():
        raise Stop(f"no wire leads from '{pin}' of {source.getName()} to '{other_pin}' of {target.getName()}")
    if _wire(source.getCellInst(), pin) != _wire(target.getCellInst(), other_pin):
        raise Stop(f"the top does not join '{pin}' of {source.getName()} with '{other_pin}' of {target.getName()}")
    net = source.getCorrespondingNet(ends[0])
    if net is None:
        raise Stop(f"'{pin}' of {source.getName()} comes from no register; synthesis took it")
    for sink in target.getCorrespondingPins(ends[1]):
        before = sink.getNet()
        if before is not None:
            before.removePin(sink, True)
        net.addPin(sink)
    return True
