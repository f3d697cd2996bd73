"""Why no cut fits: which block needs more of which resource than a slot has, and how much more."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from floorflow.papers.dpr.problem import RESOURCES, UNITS, ChunkProblem, Ints


def shortage(problem: ChunkProblem, limits: Ints) -> str:
    """Return what is short of the block that lacks most, as a share of what it needs; that none is alone, if so."""
    worst, told = 0.0, "each block fits alone in some resource, none of all cuts fits in all of them"
    for first, behind in pairwise(problem.borders):
        layers = problem.layers[first:behind]
        least = np.sum([layer.use.min(axis=0) for layer in layers], axis=0)
        lacking = (least - limits) / np.maximum(least, 1)
        column = int(np.argmax(lacking))
        if lacking[column] > worst:
            worst = float(lacking[column])
            names = layers[0].name if len(layers) == 1 else f"{layers[0].name} to {layers[-1].name}"
            need, have = (amount / UNITS[column] for amount in (int(least[column]), max(0, int(limits[column]))))
            told = f"{names} needs {need:,g} {RESOURCES[column]} at least, {have:,g} are there: {need - have:,g} short"
    return told
