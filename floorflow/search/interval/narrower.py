"""Narrower limits of slots: the same share of each, so that a design that keeps them is evenly full.

An engine may be larger than that share of every slot. Then only the slots that are roomiest for it keep as much as it
needs, with the rest of its stage: one large engine makes no other slot fuller. Where an engine has one slot alone, the
next large one finds no room in it, and its streams no way to others: it is told so before any assignment is sought.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.least_full import within
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, largest_share
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.hops import slots_in_reach

Array = NDArray[np.int64]

ROOMIEST = 1.1
"""Times the least share at which a slot that holds an engine still counts as one of the roomiest for it."""
HEADROOM = 1.03
"""Times the need of an engine and its stage that such a slot keeps, for the streams between."""
LARGE = 0.25
"""Share of its limits from which an engine may be in the way of another."""


@dataclass(frozen=True)
class LargeEngine:
    """The least share of its limits that any slot needs for one engine within an interval, and what to keep for it.

    ``needs`` holds for each slot in reach what the engine needs there of each resource, with its stage, ``keep`` the
    same for the roomiest of them.
    """

    name: str
    share: float
    slot: str
    resource: str
    keep: Mapping[str, Resources]
    needs: Mapping[str, Resources]


def narrower(context: PlanningContext, scale: Fraction, engines: Collection[LargeEngine]) -> dict[str, Resources]:
    """Return a share of what each slot allows, but for what engines need that are larger in every slot."""
    limits = {slot: within(limit, scale) for slot, limit in context.allowed.items()}
    for engine in engines:
        for slot, need in engine.keep.items() if engine.share > scale else ():
            limits[slot] = limits[slot].most(need).least(context.allowed[slot])
    return _with_room_beside(context, limits, [engine for engine in engines if engine.share > LARGE])


def _with_room_beside(
    context: PlanningContext, limits: Mapping[str, Resources], engines: Iterable[LargeEngine]
) -> dict[str, Resources]:
    """Return limits that keep room, too, for engines that have none beside one that can lie nowhere else."""
    limits, taken = dict(limits), dict.fromkeys(limits, ZERO)
    reach = slots_in_reach(context)
    for engine in engines:
        places = [slot for slot, need in engine.needs.items() if slot in reach[engine.name]]
        fits = [slot for slot in places if (taken[slot] + engine.needs[slot]).fits(limits[slot])]
        if places and not fits:
            full = {s: largest_share(taken[s] + engine.needs[s], context.allowed[s]) for s in places}
            slot = min(places, key=full.__getitem__)
            limits[slot] = limits[slot].most(taken[slot] + engine.needs[slot]).least(context.allowed[slot])
            fits = [slot]
        if len(fits) == 1:
            taken[fits[0]] += engine.needs[fits[0]]
            reach = slots_in_reach(context, {**reach, engine.name: frozenset(fits)})
    return limits


def large_engines(
    context: PlanningContext,
    interval_cycles: int,
    together: Collection[Collection[str]],
    limits_of: Mapping[str, Resources],
) -> tuple[LargeEngine, ...]:
    """Return what every engine needs alone of a slot's limit, largest first; engines of one of ``together`` share one.

    Only the slots count that an engine can be in without its streams crossing more boundaries than they may.
    """
    least = dict(_least(context, interval_cycles))
    stage_of = {engine: stage for stage in together for engine in stage}
    limits = np.array([limit.as_tuple() for limit in limits_of.values()], dtype=np.int64)
    names, reach, found = list(limits_of), slots_in_reach(context), []
    for group in context.problem.groups:
        rows = np.flatnonzero(group.cycles <= interval_cycles)
        for position, engine in enumerate(group.engines):
            others = [least[other] for other in stage_of.get(engine, ()) if other != engine]
            beside = sum(others, np.zeros(5, dtype=np.int64))
            places = [place for place, slot in enumerate(names) if slot in reach[engine]] or range(len(names))
            slots = [names[place] for place in places]
            found.append(_large(engine, group.engine_use[rows, position], beside, limits[places], slots))
    return tuple(sorted(found, key=lambda engine: -engine.share))


def _least(context: PlanningContext, interval_cycles: int) -> Iterator[tuple[str, Array]]:
    """Yield the least of each resource that each engine needs."""
    for group in context.problem.groups:
        use = group.engine_use[group.cycles <= interval_cycles]
        yield from zip(group.engines, use.min(axis=0), strict=True)


def _large(engine: str, use: Array, beside: Array, limits: Array, names: list[str]) -> LargeEngine:
    """Return what an engine needs at least of a slot, by its rows, (n_rows, 5), and the limits, (n_slots, 5)."""
    shares = np.where(use[:, None] > 0, use[:, None] / np.maximum(limits, 0.5), 0.0)
    largest = shares.max(axis=2)
    row, slot = np.unravel_index(int(largest.argmin()), largest.shape)
    share = float(largest[row, slot])
    needs = {
        name: Resources(*(int(HEADROOM * need) + 1 for need in (use[largest[:, s].argmin()] + beside).tolist()))
        for s, name in enumerate(names)
    }
    keep = {name: needs[name] for s, name in enumerate(names) if largest[:, s].min() <= ROOMIEST * share}
    return LargeEngine(engine, share, names[slot], RESOURCE_NAMES[int(shares[row, slot].argmax())], keep, needs)
