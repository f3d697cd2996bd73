"""In which order a contiguous cut fills the slots: FPGA by FPGA, each up or down its SLRs, or there and back.

Where the host's two ends lie at one end of an FPGA and streams may not go far, what leaves the last slot has to come
back through those before it: they are filled twice, each time in part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from floorflow.hardware import Fpga, Platform, boundaries_cost

MOST_WALKS = 2
"""Orders of the slots of one FPGA."""
SECOND_VISIT = 0.4
"""Share of a slot for what comes back to it."""

Walk = tuple[str, ...]


def slot_orders(platform: Platform, max_hops: int) -> tuple[Walk, ...]:
    """Return the orders in which slots are filled; a slot may stand in one twice."""
    walks = [_walks(platform, fpga, max_hops) for fpga in platform.fpgas]
    # Which of its walks each even and each odd FPGA takes.
    choices = ((0, 0), (-1, -1), (0, -1), (-1, 0))
    found = (tuple(slot for n, of in enumerate(walks) for slot in of[choice[n % 2]]) for choice in choices)
    return tuple(dict.fromkeys(found))


def shares(order: Walk) -> tuple[float, ...]:
    """Return the share of its slot that each place of an order gets: all, or what it leaves to later visits."""
    visits, seen = Counter(order), Counter[str]()
    found = []
    for slot in order:
        later = SECOND_VISIT / max(1, visits[slot] - 1)
        found.append(later if seen[slot] else 1 - later * (visits[slot] - 1))
        seen[slot] += 1
    return tuple(found)


def _walks(platform: Platform, fpga: Fpga, max_hops: int) -> tuple[Walk, ...]:
    """Return the shortest walks over all slots of an FPGA, from where its streams enter to where they leave.

    No step is longer than a stream may go; of those as short the ones that cost least come first.
    """
    names = [slot.name for slot in fpga.slots]
    up = tuple(names)
    ends = _enters(platform, fpga), _leaves(platform, fpga)
    if max(_hops(platform, a, b) for a in names for b in names) <= max_hops:
        return up, up[::-1]
    for length in range(len(names), 3 * len(names)):
        found = [
            walk
            for walk in _of_length(platform, names, max_hops, (), length)
            if _hops(platform, ends[0], walk[0]) <= max_hops and _hops(platform, walk[-1], ends[1]) <= max_hops
        ]
        if found:
            cost = {walk: _cost(platform, (ends[0], *walk, ends[1])) for walk in found}
            return tuple(sorted(found, key=lambda walk: (cost[walk], walk))[:MOST_WALKS])
    return up, up[::-1]


def _of_length(platform: Platform, names: Sequence[str], most: int, begun: Walk, length: int) -> Iterator[Walk]:
    """Yield the walks of a length that pass all slots and never stay."""
    left = length - len(begun)
    if len({*names} - {*begun}) > left:
        return
    if not left:
        yield begun
        return
    for name in names:
        if not begun or 0 < _hops(platform, begun[-1], name) <= most:
            yield from _of_length(platform, names, most, (*begun, name), length)


def _hops(platform: Platform, source: str, target: str) -> int:
    return max((step.hops for step in platform.route_steps(source, target) if step.link is None), default=0)


def _cost(platform: Platform, walk: Walk) -> int:
    return sum(boundaries_cost(_hops(platform, *pair)) for pair in pairwise(walk))


def _enters(platform: Platform, fpga: Fpga) -> str:
    """Return the slot in which streams come to an FPGA: the host's, or that of its links."""
    return platform.host_in_slot if fpga is platform.fpgas[0] else _link_slot(platform, fpga)


def _leaves(platform: Platform, fpga: Fpga) -> str:
    return platform.host_out_slot if fpga is platform.fpgas[-1] else _link_slot(platform, fpga)


def _link_slot(platform: Platform, fpga: Fpga) -> str:
    ends = (slot for link in platform.links for slot in (link.source, link.target))
    return next((slot for slot in ends if platform.fpga_of[slot] is fpga), fpga.host_slot)
