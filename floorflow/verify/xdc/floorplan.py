"""A floorplan as files state it: pblocks in the order of creation, their sites, cells and properties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites
from floorflow.verify.hardware.interconnect import is_series_7
from floorflow.verify.xdc.findings import Place
from floorflow.verify.xdc.values import Cells

TRUE = ("TRUE", "1", "YES")
ROOT = "ROOT"
"""The pblock above all others."""


@dataclass
class Pblock:
    """One pblock; ``created`` is None while no command has created it.

    ``area`` are all sites of the rectangles that its SLICE ranges and clock regions span, whether named or not;
    ``names_laguna``: LAGUNA sites are among its ranges by themselves, not with their clock region.
    """

    name: str
    used: Place
    created: Place | None = None
    sites: Sites = field(default_factory=dict)
    area: Sites = field(default_factory=dict)
    ranges: int = 0
    unjudged: set[str] = field(default_factory=set)
    cells: list[tuple[Cells, Place]] = field(default_factory=list)
    names_laguna: bool = False
    has_top: bool = False
    has_unknown_cells: bool = False
    properties: dict[str, tuple[str, Place]] = field(default_factory=dict)
    parent: tuple[str, Place] | None = None
    resized: Place | None = None

    @property
    def place(self) -> Place:
        """Where it is created, else where it is first named."""
        return self.created or self.used

    @property
    def shape_place(self) -> Place:
        """Where its shape is last changed."""
        return self.resized or self.place

    def is_set(self, name: str) -> bool:
        """Whether a boolean property is set to true."""
        return self.value(name) in TRUE

    def value(self, name: str) -> str:
        """Return a property's value in capitals; empty if it is not set."""
        return self.properties[name][0].upper() if name in self.properties else ""

    @property
    def is_hard(self) -> bool:
        """Whether its cells must not leave it."""
        return "IS_SOFT" in self.properties and not self.is_set("IS_SOFT")


@dataclass(frozen=True, slots=True)
class Held:
    """A pblock with the sites that it has in the end: those of its ranges, or what snapping leaves of them.

    ``outside``: sites that it would have if it did not snap to its parent.
    """

    block: Pblock
    sites: Sites
    areas: Sequence[Rectangle] = ()
    outside: Sites = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.block.name


@dataclass
class Floorplan:
    """All pblocks by name, and what is said of cells."""

    pblocks: dict[str, Pblock] = field(default_factory=dict)
    reconfigurable: list[Cells] = field(default_factory=list)
    slrs: list[tuple[str, Cells, Place]] = field(default_factory=list)
    sll_registers: list[tuple[Cells, Place]] = field(default_factory=list)
    commands: int = 0
    other_commands: int = 0

    def ancestors(self, name: str) -> Iterator[str]:
        """Yield parent, grandparent, ... up to the first that is not known or comes again."""
        seen = {name}
        block = self.pblocks.get(name)
        while block is not None and block.parent is not None and block.parent[0] not in seen:
            yield block.parent[0]
            seen.add(block.parent[0])
            block = self.pblocks.get(block.parent[0])

    def is_nested(self, inner: str, outer: str) -> bool:
        """Whether a pblock is a descendant of another by PARENT."""
        return outer in self.ancestors(inner)

    def is_reconfigurable(self, block: Pblock) -> bool:
        """Whether a cell of the pblock is said to be a reconfigurable partition."""
        return any(
            one.text == cell.text or one.takes(cell.text) for one in self.reconfigurable for cell, _ in block.cells
        )

    def snaps(self, block: Pblock, device: Device) -> bool:
        """Whether Vivado itself moves its edges to what can be reconfigured: unless set, on UltraScale+ (UG909)."""
        mode = block.value("SNAPPING_MODE")
        return mode != "OFF" if mode else self.is_reconfigurable(block) and not is_series_7(device)

    def is_confined(self, block: Pblock, device: Device) -> bool:
        """Whether snapping keeps it inside its parent: SNAPPING_MODE NESTED, the default below a parent that snaps."""
        mode = block.value("SNAPPING_MODE")
        parent = self.pblocks.get(block.parent[0]) if block.parent is not None else None
        return mode == "NESTED" or (not mode and parent is not None and self.snaps(parent, device))
