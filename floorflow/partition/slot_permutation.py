"""Slot permutation: parts of a partition on slots, exactly for few parts, else along the dataflow and by exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import perm

import numpy as np

from floorflow.partition.arrays import Flags, Integers, ProblemArrays
from floorflow.partition.fm import MoveEvaluator
from floorflow.partition.ideals import dataflow_ranks

_MAX_PERMUTATIONS = 50_000
"""As many maps of parts to slots are priced at once; 8 parts on 8 slots are 40,320."""

_MAX_EVALUATED = 100
"""Cheapest maps that are compared by all limits, boundaries and links included."""

_MAX_SWEEPS = 4


def assign_parts(parts: Sequence[Sequence[int]], arrays: ProblemArrays) -> Integers:
    """Return a slot for each module (M,), each part in a slot of its own; of the least excess, then cost, found."""
    part_of = np.zeros(len(arrays.names), dtype=np.int64)
    for index, part in enumerate(parts):
        part_of[list(part)] = index
    fits = _fits(parts, arrays)
    evaluator = MoveEvaluator(arrays)
    if perm(len(arrays.limit), len(parts)) <= _MAX_PERMUTATIONS:
        maps = _cheapest_maps(part_of, fits, arrays)
        return min((slots[part_of] for slots in maps), key=evaluator.key)
    return _improved_by_exchanges(_along_dataflow(part_of, fits, arrays), part_of, evaluator)


def _fits(parts: Sequence[Sequence[int]], arrays: ProblemArrays) -> Flags:
    """(parts, S) whether a slot takes a whole part."""
    return np.array([arrays.holds(part) for part in parts], dtype=bool)


def _quotient(part_of: Integers, count: int, arrays: ProblemArrays) -> Integers:
    """(parts + 2, parts + 2) wires from part to part, the host's input and output last."""
    ends = np.concatenate([part_of, [count, count + 1]])
    quotient = np.zeros((count + 2, count + 2), dtype=np.int64)
    np.add.at(quotient, (ends[arrays.source], ends[arrays.target]), arrays.wires)
    return quotient


def _cheapest_maps(part_of: Integers, fits: Flags, arrays: ProblemArrays) -> Integers:
    """Return maps of parts to slots: the most parts in slots that take them, then the cheapest."""
    count = len(fits)
    maps = np.array(list(permutations(range(len(arrays.limit)), count)), dtype=np.int64)
    end_slots = np.hstack([maps, np.broadcast_to(arrays.hosts, (len(maps), 2))])
    quotient = _quotient(part_of, count, arrays)
    cost = np.zeros(len(maps), dtype=np.int64)
    for a, b in zip(*np.nonzero(quotient), strict=True):
        cost += quotient[a, b] * arrays.distance[end_slots[:, a], end_slots[:, b]]
    misfits = (~fits[np.arange(count), maps]).sum(axis=1)
    order = np.lexsort((cost, misfits))
    return maps[order[:_MAX_EVALUATED]]


def _along_dataflow(part_of: Integers, fits: Flags, arrays: ProblemArrays) -> Integers:
    """Return a map: parts by their mean rank in the dataflow, on slots from the host's input to its output."""
    rank = np.array(dataflow_ranks(arrays), dtype=float)
    parts = sorted(range(len(fits)), key=lambda part: (float(rank[part_of == part].mean()), part))
    near, far = arrays.distance[arrays.hosts[0]], arrays.distance[arrays.hosts[1]]
    free = sorted(range(len(arrays.limit)), key=lambda slot: (int(near[slot] - far[slot]), int(near[slot]), slot))
    slots = np.zeros(len(fits), dtype=np.int64)
    for part in parts:
        slots[part] = next((slot for slot in free if fits[part, slot]), free[0])
        free.remove(int(slots[part]))
    return slots


def _improved_by_exchanges(slots: Integers, part_of: Integers, evaluator: MoveEvaluator) -> Integers:
    """Exchange the contents of two slots, or move a part to an empty one, while that helps; return the assignment."""
    arrays, key = evaluator.arrays, evaluator.key(slots[part_of])
    quotient = _quotient(part_of, len(slots), arrays)
    for _ in range(_MAX_SWEEPS):
        before = key
        for part in range(len(slots)):
            for slot in range(len(arrays.limit)):
                trial = np.where(slots == slot, slots[part], slots)
                trial[part] = slot
                end_slots = np.concatenate([trial, arrays.hosts])
                if key[0] == 0 and (quotient * arrays.distance[np.ix_(end_slots, end_slots)]).sum() >= key[1]:
                    continue  # the whole key is costlier to work out, and not needed
                if (reached := evaluator.key(trial[part_of])) < key:
                    slots, key = trial, reached
        if key == before:
            break
    return slots[part_of]
