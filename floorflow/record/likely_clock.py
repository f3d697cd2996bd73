"""Which clock a network's engines are likely to reach where they lie."""

from __future__ import annotations

from floorflow.backends.clock import LikelyClock
from floorflow.record.part import Part
from floorflow.search.clock import clock_target


def likely_clock_of(part: Part) -> LikelyClock | None:
    """Return what the back end says of the folded engines on the slots that they were given."""
    candidate = part.candidate
    target = clock_target(part.context.platform, set(candidate.slot_of.values()))
    return part.context.backend.likely_clock(candidate.folded, target)
