"""The clock that a design is to be built for, as back ends are asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from floorflow.backends.clock import ClockTarget
from floorflow.hardware import Platform


def clock_target(platform: Platform, slots: Collection[str] = ()) -> ClockTarget:
    """Return the platform's clock and parts, each part once; ``slots`` are those that the design is known to use."""
    used = [(slot.fpga, slot.slr) for slot in platform.slots if slot.name in slots]
    dies = Counter(fpga for fpga, _ in set(used))
    parts = tuple(dict.fromkeys(fpga.board.part for fpga in platform.fpgas))
    return ClockTarget(platform.clock_mhz, parts, several_dies=any(count > 1 for count in dies.values()))
