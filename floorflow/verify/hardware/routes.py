"""The one route between two slots: SLR by SLR to the link's slot, over the fewest links, SLR by SLR to the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from floorflow.verify.hardware.topology import fpga_route
from floorflow.verify.templates import Record

SLL_COST, LINK_COST = 1, 10
"""What a wire costs for each boundary and for each link that it passes."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One SLR of one FPGA."""

    name: str
    fpga: str
    fpga_number: int
    slr: int
    entry: Record


@dataclass(frozen=True, slots=True)
class Link:
    """A link between slots of two FPGAs, ``lower`` of that with the lower number, usable in both directions."""

    lower: Slot
    upper: Slot
    entry: Record

    @property
    def latency_us(self) -> float:
        """Time from end to end, in one direction."""
        return float(self.entry["latency_us"])


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A run of SLR boundaries inside one FPGA or, with ``link``, one link."""

    source: Slot
    target: Slot
    link: Link | None = None

    @property
    def kind(self) -> str:
        """What the plan calls it."""
        return "link" if self.link else "sll"

    @property
    def hops(self) -> int:
        """Boundaries crossed; 1 for a link."""
        return 1 if self.link else abs(self.source.slr - self.target.slr)

    @property
    def cost_per_wire(self) -> int:
        """What each wire costs on this step."""
        return self.hops * (LINK_COST if self.link else SLL_COST)

    def slrs_below(self) -> range:
        """Return the SLR below each boundary, in the order of crossing; nothing for a link."""
        first, last = self.source.slr, self.target.slr
        if self.link:
            return range(0)
        return range(first, last) if first <= last else range(first - 1, last - 1, -1)


Route = tuple[RouteStep, ...]


def route_between(source: Slot, target: Slot, links: Mapping[tuple[int, int], Link]) -> Route | None:
    """Return the steps from one slot to another; None if no links lead there. ``links`` go by their two FPGAs."""
    passed = fpga_route(source.fpga_number, target.fpga_number, links)
    if passed is None:
        return None
    steps: list[RouteStep] = []
    here = source
    for first, second in pairwise(passed):
        link = links[min(first, second), max(first, second)]
        leave, arrive = (link.lower, link.upper) if first < second else (link.upper, link.lower)
        steps += [RouteStep(here, leave), RouteStep(leave, arrive, link)]
        here = arrive
    steps.append(RouteStep(here, target))
    return tuple(step for step in steps if step.hops)


def links_on(route: Route) -> list[Link]:
    """Return the links that a route passes, in order."""
    return [step.link for step in route if step.link]
