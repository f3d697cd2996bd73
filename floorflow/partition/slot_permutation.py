"""Parts of a partition on the slots: exactly for few parts, else along the dataflow and by exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import perm

import numpy as np

from floorflow.partition.arrays import Flags, Integers, Tables
from floorflow.partition.fm import Neighbourhood
from floorflow.partition.ideals import dataflow_ranks

_MAX_PERMUTATIONS = 50_000
"""As many maps of parts to slots are priced at once; 8 parts on 8 slots are 40,320."""

_MAX_JUDGED = 100
"""Cheapest maps that are judged by all limits, boundaries and links included."""

_MAX_SWEEPS = 4


def place_parts(parts: Sequence[Sequence[int]], tables: Tables) -> Integers:
    """Return a slot for each module (M,), each part in a slot of its own; of the least excess, then cost, found."""
    home = np.zeros(len(tables.names), dtype=np.int64)
    for index, part in enumerate(parts):
        home[list(part)] = index
    fits = _fits(parts, tables)
    around = Neighbourhood(tables)
    if perm(len(tables.limit), len(parts)) <= _MAX_PERMUTATIONS:
        maps = _cheapest_maps(home, fits, tables)
        return min((slots[home] for slots in maps), key=around.key)
    return _exchanged(_along_dataflow(home, fits, tables), home, around)


def _fits(parts: Sequence[Sequence[int]], tables: Tables) -> Flags:
    """(parts, S) whether a slot takes a whole part."""
    rows = [
        (tables.demand[list(part)].sum(axis=0) <= tables.limit).all(axis=1) & tables.takes[list(part)].all(axis=0)
        for part in parts
    ]
    return np.array(rows, dtype=bool)


def _quotient(home: Integers, count: int, tables: Tables) -> Integers:
    """(parts + 2, parts + 2) wires from part to part, the host's input and output last."""
    ends = np.concatenate([home, [count, count + 1]])
    quotient = np.zeros((count + 2, count + 2), dtype=np.int64)
    np.add.at(quotient, (ends[tables.source], ends[tables.target]), tables.wires)
    return quotient


def _cheapest_maps(home: Integers, fits: Flags, tables: Tables) -> Integers:
    """Return maps of parts to slots: the most parts in slots that take them, then the cheapest."""
    count = len(fits)
    maps = np.array(list(permutations(range(len(tables.limit)), count)), dtype=np.int64)
    spots = np.hstack([maps, np.broadcast_to(tables.hosts, (len(maps), 2))])
    quotient = _quotient(home, count, tables)
    cost = np.zeros(len(maps), dtype=np.int64)
    for a, b in zip(*np.nonzero(quotient), strict=True):
        cost += quotient[a, b] * tables.distance[spots[:, a], spots[:, b]]
    misfits = (~fits[np.arange(count), maps]).sum(axis=1)
    order = np.lexsort((cost, misfits))
    return maps[order[:_MAX_JUDGED]]


def _along_dataflow(home: Integers, fits: Flags, tables: Tables) -> Integers:
    """Return a map: parts by their mean rank in the dataflow, on slots from the host's input to its output."""
    rank = np.array(dataflow_ranks(tables), dtype=float)
    parts = sorted(range(len(fits)), key=lambda part: (float(rank[home == part].mean()), part))
    near, far = tables.distance[tables.hosts[0]], tables.distance[tables.hosts[1]]
    free = sorted(range(len(tables.limit)), key=lambda slot: (int(near[slot] - far[slot]), int(near[slot]), slot))
    slots = np.zeros(len(fits), dtype=np.int64)
    for part in parts:
        slots[part] = next((slot for slot in free if fits[part, slot]), free[0])
        free.remove(int(slots[part]))
    return slots


def _exchanged(slots: Integers, home: Integers, around: Neighbourhood) -> Integers:
    """Exchange the contents of two slots, or move a part to an empty one, while that helps; return the assignment."""
    tables, key = around.tables, around.key(slots[home])
    quotient = _quotient(home, len(slots), tables)
    for _ in range(_MAX_SWEEPS):
        before = key
        for part in range(len(slots)):
            for slot in range(len(tables.limit)):
                trial = np.where(slots == slot, slots[part], slots)
                trial[part] = slot
                spots = np.concatenate([trial, tables.hosts])
                if key[0] == 0 and (quotient * tables.distance[np.ix_(spots, spots)]).sum() >= key[1]:
                    continue  # the whole key is costlier to work out, and not needed
                if (reached := around.key(trial[home])) < key:
                    slots, key = trial, reached
        if key == before:
            break
    return slots[home]
