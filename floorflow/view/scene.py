"""What one FPGA's picture shows: modules in dataflow order, streams between them, use of the slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.resources import RESOURCE_NAMES
from floorflow.view.geometry import Box

TIMES = "\N{MULTIPLICATION SIGN}"
"""Between PE and SIMD."""


@dataclass(frozen=True)
class ModuleView:
    """One module with a pblock. ``number`` counts in dataflow order over all FPGAs, from 1.

    ``box`` is in grid units; ``fill`` is demand over supply of the pblock for the resources it holds.
    """

    number: int
    name: str
    slot: str
    box: Box
    summary: str
    headline: str
    lut: int
    fill: Mapping[str, float]

    @property
    def tightest(self) -> str:
        """The resource that fills the pblock most."""
        return max(RESOURCE_NAMES, key=lambda name: self.fill.get(name, 0.0))


@dataclass(frozen=True)
class StreamView:
    """All streams from one module to another; an end that is not on this FPGA is None, named in ``far_end``."""

    source: str | None
    target: str | None
    far_end: str
    width_bits: int
    ahead: int
    """By how many modules in dataflow order the target lies after the source; 0 if an end is elsewhere."""


@dataclass(frozen=True)
class CrossingView:
    """A stream between two slots, as the plan lists it; ``ends`` are module numbers or host ports."""

    ends: tuple[str, str]
    source: str
    target: str
    width_bits: int
    gbps: float


@dataclass(frozen=True)
class SlotView:
    """One slot: demand over limit of each resource that the slot has, and how many modules it holds."""

    name: str
    slr: str
    of_limit: Mapping[str, float]
    module_count: int


@dataclass(frozen=True)
class Scene:
    """Everything the plan says about one FPGA in one phase."""

    fpga: str
    title: str
    subtitle: str
    modules: tuple[ModuleView, ...]
    streams: tuple[StreamView, ...]
    crossings: tuple[CrossingView, ...]
    slots: tuple[SlotView, ...]
    infrastructure: tuple[tuple[str, str, int], ...]
    """(name, slot, LUT) of the board's own logic on this FPGA."""
