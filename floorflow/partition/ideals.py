"""Prefix-closed sets (ideals) of the module graph: what can lie before a cut of a contiguous assignment.

A chain of M modules has M + 1 ideals, a ResNet some hundred. Wide graphs have exponentially many: then each size keeps
only the ideals whose cut passes the fewest wires, and the caller is told.
"""

import numpy as np

from floorflow.partition.arrays import Integers, ProblemArrays

MAX_IDEALS = 1500
"""Pairs of ideals are looked at, so time and memory grow with the square: this many take about 0.2 s."""


def ideals(arrays: ProblemArrays) -> tuple[Integers, bool]:
    """Return ideals (N, M) of 0 and 1, from the empty to the full set, and whether some were left out.

    A stream that closes a cycle of modules counts in no precedence.
    """
    after, before = _precedence(arrays)
    count = len(arrays.names)
    widest = max(4, MAX_IDEALS // (count + 1))
    level = {0: sum(1 << m for m in range(count) if not before[m])}
    sets, complete = [0], True
    for _ in range(count):
        level = _grow(level, after, before)
        if len(level) > widest:
            complete = False
            level = _best(level, arrays, widest)
        sets += sorted(level)
    return _unpacked(sets, count), not complete


def _grow(level: dict[int, int], after: list[list[int]], before: list[int]) -> dict[int, int]:
    """Return the ideals with one module more; the value is the set of modules that can follow."""
    grown: dict[int, int] = {}
    for members, ready in level.items():
        rest = ready
        while rest:
            bit = rest & -rest
            rest ^= bit
            larger = members | bit
            if larger not in grown:
                new = sum(1 << m for m in after[bit.bit_length() - 1] if before[m] & ~larger == 0)
                grown[larger] = (ready ^ bit) | new
    return grown


def _best(level: dict[int, int], arrays: ProblemArrays, keep: int) -> dict[int, int]:
    sets = sorted(level)
    # (N,) wires between the modules inside and outside of each set (N, M), the host's left out.
    members = _unpacked(sets, len(arrays.names))
    inner = (arrays.source < len(arrays.names)) & (arrays.target < len(arrays.names))
    source, target = members[:, arrays.source[inner]], members[:, arrays.target[inner]]
    cuts = np.asarray((source != target) @ arrays.wires[inner].astype(float))
    order = sorted(range(len(sets)), key=lambda i: (cuts[i], sets[i]))[:keep]
    return {sets[i]: level[sets[i]] for i in sorted(order)}


def _unpacked(sets: list[int], count: int) -> Integers:
    size = max(1, -(-count // 8))
    packed = np.frombuffer(b"".join(s.to_bytes(size, "little") for s in sets), dtype=np.uint8).reshape(len(sets), size)
    return np.unpackbits(packed, axis=1, bitorder="little")[:, :count].astype(np.int64)


def _precedence(arrays: ProblemArrays) -> tuple[list[list[int]], list[int]]:
    """Return for each module those it feeds, and the set of those that feed it, along one order of the modules."""
    rank = dataflow_ranks(arrays)
    after: list[list[int]] = [[] for _ in rank]
    before = [0] * len(rank)
    for source, target in _arcs(arrays):
        if rank[source] < rank[target]:
            after[source].append(target)
            before[target] |= 1 << source
    return after, before


def _arcs(arrays: ProblemArrays) -> list[tuple[int, int]]:
    count = len(arrays.names)
    ends = zip(arrays.source.tolist(), arrays.target.tolist(), strict=True)
    return [(source, target) for source, target in ends if source < count and target < count]


def dataflow_ranks(arrays: ProblemArrays) -> list[int]:
    """Return each module's position in a topological order; where modules form a cycle the first of them leads."""
    count = len(arrays.names)
    fed_by: list[set[int]] = [set() for _ in range(count)]
    feeds: list[set[int]] = [set() for _ in range(count)]
    for source, target in _arcs(arrays):
        fed_by[target].add(source)
        feeds[source].add(target)
    rank, left = [0] * count, set(range(count))
    for position in range(count):
        module = min((m for m in left if not fed_by[m]), default=min(left))
        left.discard(module)
        rank[module] = position
        for follower in feeds[module]:
            fed_by[follower].discard(module)
    return rank
