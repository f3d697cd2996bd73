"""On which side of its rectangle a module meets each of its wires: equal modules are to meet them on equal sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from floorflow.hardware.geometry import Rect
from floorflow.placement.problem import Pin, Region, Wire, point_of

Side = Literal["left", "right", "below", "above"]


def side_towards(rect: Rect, point: Pin) -> Side:
    """Return by which side the straight line from a rectangle's middle to a point leaves it."""
    middle = Pin.at_centre(rect)
    x, y = point.x2 - middle.x2, point.y2 - middle.y2
    if abs(x) * rect.rows >= abs(y) * rect.columns:
        return "right" if x >= 0 else "left"
    return "above" if y >= 0 else "below"


def port_sides(module: str, regions: Mapping[str, Region], wires: Sequence[Wire]) -> tuple[Side, ...]:
    """Return the sides of a module's ports: those that it reads first, then those that it writes, each as listed."""
    rect = regions[module][0]
    reads = [wire.source for wire in wires if wire.target == module]
    writes = [wire.target for wire in wires if wire.source == module]
    return tuple(side_towards(rect, point_of(end, regions)) for end in (*reads, *writes))


def unlike_ports(groups: Sequence[Sequence[str]], regions: Mapping[str, Region], wires: Sequence[Wire]) -> int:
    """Return how many ports of modules of the groups lie on another side than those of most of their group do.

    Of modules with other numbers of ports than the first of their group none is compared.
    """
    unlike = 0
    for group in groups:
        sides = [port_sides(name, regions, wires) for name in group]
        ports = [tuple(one) for one in zip(*(s for s in sides if len(s) == len(sides[0])), strict=True)]
        unlike += sum(len(port) - max(map(port.count, port)) for port in ports)
    return unlike
