"""What is asked of reconfigurable regions: what each must hold, and what stays outside of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

import numpy as np

from floorflow.hardware import Device, Rect, Slot
from floorflow.hardware.grid import IntArray
from floorflow.hardware.reconfigurable import RegionGrid, region_grid
from floorflow.request import HARD_FILL
from floorflow.resources import RESOURCE_NAMES, Resources, total


@dataclass(frozen=True)
class RegionNeed:
    """A region by its name, and the most of each resource that anything loaded into it needs."""

    name: str
    resources: Resources


@dataclass(frozen=True)
class StaticPart:
    """Logic that stays while regions are loaded: DMA engines, a decoupler for each region, the port's controller."""

    name: str
    resources: Resources


@dataclass(frozen=True)
class RegionProblem:
    """Regions to be found on the slots of one FPGA.

    ``static`` is all logic outside of them; ``keep_outs`` are further rectangles that none may touch, such as the
    place where streams leave the die. ``fill`` is how full of each resource a region, or what is left beside all of
    them, may be: as a hard pblock with room.
    """

    device: Device
    slots: tuple[Slot, ...]
    needs: tuple[RegionNeed, ...]
    static: tuple[StaticPart, ...]
    keep_outs: tuple[Rect, ...] = ()
    fill: Mapping[str, float] = field(default_factory=lambda: dict(HARD_FILL))

    @cached_property
    def grid(self) -> RegionGrid:
        """The die in units and rows of clock regions."""
        shells = (rect for slot in self.slots for rect in slot.keep_outs)
        return region_grid(self.device, (*shells, *self.keep_outs))

    @cached_property
    def silicon(self) -> Resources:
        """What the slots hold beside their keep-outs."""
        kept = (self.device.resources(rect) for slot in self.slots for rect in slot.keep_outs)
        return total(slot.capacity for slot in self.slots) - total(kept)

    @property
    def static_need(self) -> Resources:
        """What all that stays needs."""
        return total(part.resources for part in self.static)

    def with_room(self, needed: Resources) -> IntArray:
        """Return the least supply in which something is not too full: (5,) int, in the order of `RESOURCE_NAMES`."""
        pairs = zip(needed.as_tuple(), (self.fill[name] for name in RESOURCE_NAMES), strict=True)
        return np.array([ceil(need / fill - 1e-9) for need, fill in pairs], dtype=np.int64)

    @property
    def most_swapped(self) -> IntArray:
        """The most that all regions together may take, so that the static part has room: (5,) int."""
        most: IntArray = np.array(self.silicon.as_tuple(), dtype=np.int64) - self.with_room(self.static_need)
        return most
