"""What a design may use of a slot by the request's caps and fills: the one place where these become limits."""

from __future__ import annotations

from floorflow.request.model import Request
from floorflow.resources import Resources, scaled_down


def limits_of(request: Request, available: Resources, drawable: Resources | None = None) -> Resources:
    """Return cap x available; where ``drawable`` is told, what is free to pblocks, no more than they may hold of it."""
    capped = scaled_down(available, request.cap.as_dict())
    return capped if drawable is None else capped.least(pblock_limit(request, drawable))


def pblock_limit(request: Request, drawable: Resources) -> Resources:
    """Return what the pblocks of a slot may hold together: fill x what is free to them.

    Modules that may not be joined never have a pblock over all that is free there.
    """
    return scaled_down(drawable, request.fullest_fill if request.keep_granularity else request.whole_slot_fill)
