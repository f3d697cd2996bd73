"""Why there are no regions: what is short on the die, and by how much."""

from __future__ import annotations

import numpy as np

from floorflow.errors import Refusal, sentence
from floorflow.placement.region.candidates import Candidates
from floorflow.placement.region.problem import RegionNeed, RegionProblem
from floorflow.resources import RESOURCE_NAMES

Told = tuple[str, str, tuple[Refusal, ...]]
"""Message, hint and refusals of an InfeasibleError."""


def refusal_alone(problem: RegionProblem, need: RegionNeed, every: Candidates) -> Told:
    """Return why no rectangle holds one region beside the static part."""
    place = f"region {need.name} of {problem.device.part}"
    static = _shortage(problem, place)
    if static:
        return _told(static)
    wanted = problem.with_room(need.resources)
    left = every.only(np.asarray((every.supply <= problem.most_swapped).all(axis=1)))
    most = left.supply.max(axis=0) if len(left) else np.zeros(5, dtype=np.int64)
    short = [
        Refusal("slot", name, place, int(want), int(have), proven=True)
        for name, want, have in zip(RESOURCE_NAMES, wanted, most, strict=True)
        if want > have
    ]
    return _told(tuple(short) or (_closest(place, wanted, left),))


def _shortage(problem: RegionProblem, place: str) -> tuple[Refusal, ...]:
    """Return what the static part alone is short of."""
    needed, held = problem.with_room(problem.static_need), problem.silicon.as_tuple()
    return tuple(
        Refusal("slot", name, f"static part beside {place}", int(want), have, proven=True)
        for name, want, have in zip(RESOURCE_NAMES, needed, held, strict=True)
        if want > have
    )


def _closest(place: str, wanted: np.ndarray, left: Candidates) -> Refusal:
    """Return what the rectangle that comes closest is short of, where each resource by itself would do."""
    share = np.where(wanted > 0, left.supply / np.maximum(wanted, 1), np.inf)
    number = int(share.min(axis=1).argmax())
    scarce = int(share[number].argmin())
    amounts = int(wanted[scarce]), int(left.supply[number, scarce])
    return Refusal("slot", RESOURCE_NAMES[scarce], f"{place}, the rectangle that comes closest", *amounts, proven=True)


def refusal_together(problem: RegionProblem, frames: int) -> Told:
    """Return why regions that each have a rectangle have none together."""
    place = f"regions {', '.join(need.name for need in problem.needs)} of {problem.device.part}"
    wanted = np.sum([problem.with_room(need.resources) for need in problem.needs], axis=0)
    short = [
        Refusal("slot", name, place, int(want), int(have), proven=True)
        for name, want, have in zip(RESOURCE_NAMES, wanted, problem.most_swapped, strict=True)
        if want > have
    ]
    if short:
        return _told(tuple(short))
    message = f"proven infeasible: {place}: each has a rectangle, but no choice of them is disjoint and leaves the rest"
    return f"{message} its room (at least {frames:,} frames)", "fewer or smaller regions", ()


def _told(refusals: tuple[Refusal, ...]) -> Told:
    hint = "a larger device, smaller chunks, or a smaller static part"
    short = "; ".join(f"{r.resource} {int((r.needed or 0) - (r.allowed or 0)):,} short" for r in refusals)
    return f"proven infeasible: no rectangle is left: {sentence(*refusals)} ({short})", hint, refusals
