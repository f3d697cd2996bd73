"""Designs, modules and netlists of RapidWright, as far as stitching needs them, on checkpoints of the model of Vivado.

By its sources (2026.1.0: ModuleInst, AbstractModuleInst, EDIFNetlist, DesignTools, TestModuleInst) and api-lib's
Javadoc. Tiles are columns and rows of the die's file. Written apart from the scripts and from what they are made of.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from tests.rapidwright_model.calls import Face, Java, RapidWrightError
from tests.vivado_model.sites import Sites

ROWS = 60
"""Rows of a clock region of UltraScale+."""
End = tuple[str, str]
"""A cell and a pin."""


class Tile(Java):
    java = "device.Tile"

    def __init__(self, sites: Sites, x: int, y: int) -> None:
        self.sites, self.x, self.y = sites, x, y

    @property
    def root(self) -> str:
        return self.sites.letters[self.y // ROWS][self.x]

    def _getTileXCoordinate(self) -> int:
        return self.x

    def _getTileYCoordinate(self) -> int:
        return self.y

    def _getTileXYNeighbor(self, x: int, y: int) -> Tile | None:
        found = Tile(self.sites, self.x + x, self.y + y)
        letters = self.sites.letters
        inside = 0 <= found.x < len(letters[0]) and 0 <= found.y < ROWS * len(letters)
        return found if inside and found.root == self.root else None


class SiteTypeEnum(Java):
    java = "device.SiteTypeEnum"


class Site(Java):
    java = "device.Site"

    def __init__(self, sites: Sites, x: int, y: int) -> None:
        self.sites, self.x, self.y, self.name = sites, x, y, f"SLICE_X{x}Y{y}"

    def _getName(self) -> str:
        return self.name

    def _getTile(self) -> Tile:
        return Tile(self.sites, self.sites.column("SLICE", self.x), self.y)

    def _getSiteTypeEnum(self) -> SiteTypeEnum:
        return SiteTypeEnum()

    def _getCorrespondingSite(self, _: SiteTypeEnum, tile: Tile) -> Site | None:
        exists = self.sites.exists["SLICE"]
        found = [x for x in range(exists.shape[0]) if self.sites.column("SLICE", x) == tile.x]
        return Site(self.sites, found[0], tile.y) if found and exists[found[0], tile.y] else None

    def moved(self, start: Site, end: Site) -> Site | None:
        """Return where this site comes to lie if one is moved to another."""
        (a, b), tile = (start._getTile(), end._getTile()), self._getTile()
        there = tile._getTileXYNeighbor(b.x - a.x, b.y - a.y)
        return None if there is None else self._getCorrespondingSite(SiteTypeEnum(), there)


class Device(Java):
    java = "device.Device"

    def __init__(self, sites: Sites) -> None:
        self.sites = sites

    def _getName(self) -> str:
        return self.sites.part

    def _getSite(self, name: str) -> Site | None:
        kind, _, place = name.partition("_X")
        x, y = map(int, place.split("Y"))
        exists = self.sites.exists.get(kind)
        known = exists is not None and x < exists.shape[0] and y < exists.shape[1] and exists[x, y]
        return Site(self.sites, x, y) if kind == "SLICE" and known else None


class EDIFNet(Java):
    java = "edif.EDIFNet"

    def __init__(self, wire: str) -> None:
        self.wire = wire

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EDIFNet) and other.wire == self.wire

    __hash__ = None  # type: ignore[assignment]


class EDIFPortInst(Java):
    java = "edif.EDIFPortInst"

    def __init__(self, net: EDIFNet) -> None:
        self.net = net

    def _getNet(self) -> EDIFNet:
        return self.net


class EDIFCell(Java):
    java = "edif.EDIFCell"

    def __init__(self, netlist: EDIFNetlist, name: str, cells: Mapping[str, EDIFCellInst] | None = None) -> None:
        self.netlist, self.name, self.cells = netlist, name, cells

    def _getName(self) -> str:
        return self.name

    def _rename(self, name: str) -> None:
        self.netlist.rename(self, name)

    def _hasContents(self) -> bool:
        return self.cells is not None

    def _getCellInst(self, name: str) -> EDIFCellInst | None:
        return (self.cells or {}).get(name)


class EDIFCellInst(Java):
    java = "edif.EDIFCellInst"

    def __init__(self, name: str, kind: EDIFCell, pins: Mapping[str, str]) -> None:
        self.name, self.kind, self.pins, self.is_box = name, kind, pins, True

    def _getName(self) -> str:
        return self.name

    def _getCellName(self) -> str:
        return self.kind.name

    def _getCellType(self) -> EDIFCell:
        return self.kind

    def _getPortInst(self, name: str) -> EDIFPortInst | None:
        wire = self.pins.get(name)
        return None if wire is None else EDIFPortInst(EDIFNet(wire))

    def _removeBlackBoxProperty(self) -> None:
        self.is_box = False


class EDIFLibrary(Java):
    java = "edif.EDIFLibrary"

    def __init__(self, *, primitives: bool) -> None:
        self.primitives = primitives
        self.cells: dict[str, EDIFCell] = {}

    def _isHDIPrimitivesLibrary(self) -> bool:
        return self.primitives

    def _getCells(self) -> list[EDIFCell]:
        return [*self.cells.values()]


class EDIFNetlist(Java):
    java = "edif.EDIFNetlist"

    def __init__(self, names: Iterator[str], encrypted: list[str]) -> None:
        self.work, self.primitives = EDIFLibrary(primitives=False), EDIFLibrary(primitives=True)
        self.primitives.cells = {"FDRE": EDIFCell(self, "FDRE")}
        self.work.cells = {name: EDIFCell(self, name, {}) for name in names}
        self.encrypted, self.done = encrypted, list[str]()

    def rename(self, cell: EDIFCell, name: str) -> None:
        if cell.name not in self.work.cells:
            raise RapidWrightError(f"rename: '{cell.name}' is a primitive; Vivado would know no such cell")
        self.work.cells[name] = self.work.cells.pop(cell.name)
        cell.name = name

    def _getLibraries(self) -> list[EDIFLibrary]:
        return [self.primitives, self.work]

    def _getEncryptedCells(self) -> list[str]:
        return self.encrypted

    def _consolidateAllToWorkLibrary(self) -> None:
        self.done.append("consolidated")

    def _resetParentNetMap(self) -> None:
        self.done.append("reset")


class SitePinInst(Java):
    java = "design.SitePinInst"

    def __init__(self, end: End, net: Net | None) -> None:
        self.end, self.net = end, net

    def _getNet(self) -> Net | None:
        return self.net


class Net(Java):
    """``end``: the pin of a module that it begins or ends at; ``pips``: whether it has a route."""

    java = "design.Net"

    def __init__(self, name: str, world: RapidWright, end: End = ("", ""), *, source: bool = False) -> None:
        self.name, self.world, self.end, self.source, self.pips = name, world, end, source, True
        self.fanout = 0

    def _getName(self) -> str:
        return self.name

    def _isStaticNet(self) -> bool:
        return False

    def _getSource(self) -> SitePinInst | None:
        return SitePinInst(self.end, self) if self.source else None

    def _getFanOut(self) -> int:
        return self.fanout

    def _hasPIPs(self) -> bool:
        return self.pips

    def _unroute(self) -> None:
        self.pips = False

    def _removePin(self, pin: SitePinInst, keeps_others: bool) -> bool:
        if pin.net is not self or not keeps_others:
            raise RapidWrightError(f"removePin: {pin.end} is not in {self.name}, or other branches are lost")
        pin.net = None
        return True

    def _addPin(self, pin: SitePinInst) -> bool:
        if pin.net is not None or not self.source:
            raise RapidWrightError(f"addPin: {pin.end} is in a net already, or {self.name} has no source")
        pin.net = self
        self.world.joined[self.end] = pin.end
        return True


class Port(Java):
    java = "design.Port"

    def __init__(self, name: str, net: Net, *, leaves: bool) -> None:
        self.name, self.net, self.leaves = name, net, leaves

    def _getNet(self) -> Net:
        return self.net

    def _isOutPort(self) -> bool:
        return self.leaves


class SiteInst(Java):
    java = "design.SiteInst"

    def __init__(self, *, placed: bool) -> None:
        self.placed = placed

    def _isPlaced(self) -> bool:
        return self.placed


class Module(Java):
    java = "design.Module"

    def __init__(self, design: Design, unroutes_power: bool) -> None:
        if not unroutes_power:
            raise RapidWrightError("Module: power that is routed arrives fixed, and stops Vivado's route_design")
        self.held, self.netlist, self.world = design.held, design.netlist, design.world
        self.sites = {
            name: site
            for name, text in self.held["leaves"].items()
            if text and (site := Device(design.world.sites)._getSite(text)) is not None
        }
        world, ports = self.world, pins(self.held["ports"])
        self.ports = {
            name: Port(name, Net(name, world, ("", name), source=leaves), leaves=leaves) for name, leaves in ports
        }
        self.inner = [Net("core/wire[0]", world, source=True), Net("core/wire[1]", world, source=True)]
        for net in self.inner:
            net.fanout = 1
        self.inner[1].pips = "unrouted" not in self.world.fault

    def _getNets(self) -> list[Net]:
        return [*(port.net for port in self.ports.values()), *self.inner]

    def _getNet(self, name: str) -> Net | None:
        return next((net for net in self._getNets() if net.name == name), None)

    def _getPorts(self) -> list[Port]:
        return [*self.ports.values()]

    def _getAnchor(self) -> Site | None:
        return next(reversed(self.sites.values()), None)

    def moved(self, anchor: Site) -> dict[str, Site | None]:
        start = self._getAnchor()
        assert start is not None
        return {name: site.moved(start, anchor) for name, site in self.sites.items()}

    def _isValidPlacement(self, anchor: Site, design: Design) -> bool:
        return all(site is not None and site.name not in design.used for site in self.moved(anchor).values())


class ModuleInst(Java):
    java = "design.ModuleInst"

    def __init__(self, design: Design, name: str, module: Module, cell: EDIFCellInst) -> None:
        self.design, self.name, self.module, self.cell = design, name, module, cell
        self.placed: dict[str, Site] = {}
        self.pins = {port: SitePinInst((name, port), Net(port, design.world, (name, port))) for port in module.ports}

    def _getName(self) -> str:
        return self.name

    def _getCellInst(self) -> EDIFCellInst:
        return self.cell

    def _getPort(self, name: str) -> Port | None:
        return self.module.ports.get(name)

    def _getSiteInsts(self) -> list[SiteInst]:
        return [SiteInst(placed=name in self.placed) for name in self.module.sites]

    def _place(self, anchor: Site, skips: bool = False, overlaps: bool = True) -> bool:
        if skips or overlaps:
            raise RapidWrightError("place: cells may be left out, or lie on others (its short forms allow that)")
        design, there = self.design, self.module.moved(anchor)
        if any(port.net.pips for port in self.module.ports.values()):
            return False  # a wire that leaves the window has no tile at the new place
        if any(site is None for site in there.values()):
            raise RapidWrightError("java.lang.NullPointerException: place: a site is not there; isValidPlacement tells")
        self.placed = {name: site for name, site in there.items() if site is not None}
        names = {site.name for site in self.placed.values()}
        if names & {*design.used}:
            self.placed = {}
            return False
        design.used |= dict.fromkeys(names, self.name)
        design.world.instances[self.name] = (self.module.held["top"], {n: s.name for n, s in self.placed.items()})
        return True

    def _getCorrespondingNet(self, port: Port) -> Net:
        return Net(f"{self.name}/{port.name}", self.design.world, (self.name, port.name), source=port.leaves)

    def _getCorrespondingPins(self, port: Port) -> list[SitePinInst]:
        return [self.pins[port.name]]


class Design(Java):
    java = "design.Design"

    def __init__(self, world: RapidWright, path: Path) -> None:
        if not path.is_file():
            raise RapidWrightError(f"java.io.UncheckedIOException: no {path}")
        self.world, self.held = world, json.loads(path.read_text(encoding="utf-8"))
        world.log.append(f"read {path.name}")
        inside = ("floorflow_stitch_slice", "floorflow_stitch_slice__parameterized0", "floorflow_stitch_reset")
        names = {self.held["cells"][box] for box in self.held["boxes"]}
        own = [self.held["top"], *inside, *sorted(names)]
        self.netlist = EDIFNetlist(iter(own), ["core/ip"] if "encrypted" in world.fault else [])
        work = self.netlist.work.cells
        for name in names:
            work[name].cells = None
        self.cells = {
            cell: EDIFCellInst(cell, work[self.held["cells"][cell]], bits_of(self.held, cell))
            for cell in self.held["boxes"]
        }
        work[self.held["top"]].cells = self.cells
        self.used: dict[str, str] = {}
        self.filled: dict[str, ModuleInst] = {}
        self.has_buffers = True

    @classmethod
    def _readCheckpoint(cls, world: RapidWright, path: str) -> Design:
        return cls(world, Path(path))

    def _getTopEDIFCell(self) -> EDIFCell:
        return self.netlist.work.cells[self.held["top"]]

    def _getNetlist(self) -> EDIFNetlist:
        return self.netlist

    def _getDevice(self) -> Device:
        return Device(self.world.sites)

    def _createModuleInst(self, name: str, module: Module) -> ModuleInst:
        """EDIFNetlist.copyCellAndSubCells: a cell of the same name that is another one is an error."""
        cell, own = self.cells.get(name), module.held["top"]
        if cell is None or cell.kind.name != own or name in self.filled:
            raise RapidWrightError(f"createModuleInst: '{name}' is no empty cell of '{own}'; it would become a new one")
        known = {one.module.held["top"] for one in self.filled.values()}
        clash = {*module.netlist.work.cells} & {*self.netlist.work.cells} - {own}
        if own not in known and clash:
            raise RapidWrightError(f"Destination netlist already contains EDIFCell named '{min(clash)}'")
        self.netlist.work.cells |= {n: c for n, c in module.netlist.work.cells.items() if n != own}
        self.netlist.done.append("filled")
        self.filled[name] = ModuleInst(self, name, module, cell)
        return self.filled[name]

    def _setAutoIOBuffers(self, are_made: bool) -> None:
        self.has_buffers = are_made

    def _writeCheckpoint(self, path: str) -> None:
        if self.netlist.done[-3:] != ["consolidated", "reset", "named"] or self.has_buffers:
            raise RapidWrightError(f"writeCheckpoint: behind {self.netlist.done[-3:]}; Vivado would find other nets")
        wires = {(cell, pin): wire for cell, inst in self.cells.items() for pin, wire in inst.pins.items()}
        for source, target in self.world.joined.items():
            if wires[source] != wires[target]:
                raise RapidWrightError(
                    f"writeCheckpoint: {source} and {target} are one wire, in the netlist they are two"
                )
        if any(not inst.placed or inst.cell.is_box for inst in self.filled.values()):
            raise RapidWrightError("writeCheckpoint: a module is not placed, or still marked as a black box")
        held = json.loads(json.dumps(self.held))
        for name, inst in self.filled.items():
            held["boxes"].remove(name)
            leaves = {
                leaf: inst.placed[leaf].name if leaf in inst.placed else "" for leaf in inst.module.held["leaves"]
            }
            held["held"][name] = {**inst.module.held, "leaves": leaves, "pblock": {"ranges": sorted(inst_ranges(inst))}}
            held["leaves"] |= {f"{name}/{leaf}": site for leaf, site in leaves.items() if site}
        Path(path).write_text(json.dumps(held), encoding="utf-8")
        self.world.log.append(f"write {Path(path).name}")


class DesignTools(Java):
    java = "design.DesignTools"

    @classmethod
    def _makePhysNetNamesConsistent(cls, design: Design) -> None:
        design.netlist.done.append("named")


def pins(ports: Mapping[str, tuple[str, int]]) -> Iterator[tuple[str, bool]]:
    """Yield each pin of a module, and whether it leads out."""
    for name, (way, bits) in ports.items():
        for bit in range(bits):
            yield (f"{name}[{bit}]" if name.endswith("_tdata") else name), way == "output"


def bits_of(held: Mapping[str, Any], cell: str) -> dict[str, str]:
    """Return the wire at each pin of a black box, by bits of the wires at its ports."""
    ports = held["box_ports"][cell]
    found = {}
    for name, wire in held["joined"][cell].items():
        found |= {pin: f"{wire}{pin.removeprefix(name)}" for pin, _ in pins({name: ports[name]})}
    return found


def inst_ranges(inst: ModuleInst) -> Iterator[str]:
    """Yield the ranges of SLICEs of a module's pblock where it has been moved to."""
    device, module = Device(inst.design.world.sites), inst.module
    start, end = module._getAnchor(), inst.placed[next(reversed(module.sites))]
    assert start is not None
    for text in module.held["pblock"]["ranges"]:
        if text.startswith("SLICE_"):
            corners = [device._getSite(name) for name in text.split(":")]
            there = [None if site is None else site.moved(start, end) for site in corners]
            yield ":".join("" if site is None else site.name for site in there)


class RapidWright:
    """One run of a script; ``fault`` names what is wrong with the checkpoints."""

    def __init__(self, sites: Sites, *fault: str) -> None:
        self.sites, self.fault = sites, {*fault}
        self.instances: dict[str, tuple[str, dict[str, str]]] = {}
        """By cell what it was filled with, and the site of each of its primitive cells."""
        self.joined: dict[End, End] = {}
        """By the pin that drives it the pin that a wire was brought to."""
        self.log: list[str] = []

    def run(self, script: Path, *arguments: Path) -> None:
        """Run a script as ``python script`` does, with RapidWright's package installed."""
        names = ("rapidwright", "com", "com.xilinx", "com.xilinx.rapidwright", "com.xilinx.rapidwright.design")
        faked: dict[str, Any] = {name: ModuleType(name) for name in names}
        faces = {"Design": Face(Design, self), "DesignTools": Face(DesignTools), "Module": Face(Module)}
        faked[names[-1]].__dict__.update(faces)
        if "not installed" in self.fault:
            faked["rapidwright"] = None
        argv = [str(script), *map(str, arguments)]
        with patch.dict(sys.modules, faked), patch.object(sys, "argv", argv):
            sys.modules.pop("floorflow_rapidwright", None)
            with patch.object(sys, "path", [str(script.parent), *sys.path]):
                runpy.run_path(str(script), run_name="__main__")
