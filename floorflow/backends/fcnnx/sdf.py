"""Initiation intervals of a subgraph on its engine, from the matrices of synchronous dataflow.

Source: f-CNN^x, section III-B. The text joins workload and topology with a product sign; elements over elements a cycle
are cycles, so that II = W / Gamma, element by element. A stage works off whole groups of output maps and whole groups
of window values, so that its rate is that of the groups: ``elements / ceil(maps/N_PE) / ceil(K^2/N_op)``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.fcnnx.layers import ConvLayer

Floats = NDArray[np.float64]

PIPELINE_CYCLES = 64
"""Depth of the arithmetic; with the window's rows the fill D of eq. 1."""


def fill_cycles(layer: ConvLayer) -> int:
    """Return the cycles until the first window is full."""
    return (layer.kernel - 1) * layer.columns_in + PIPELINE_CYCLES


def workload(layer: ConvLayer, maps: int, *, is_last: bool) -> Floats:
    """Return W, (n_arcs, n_stages): elements that convolution and pool take at each arc, in groups of all maps.

    Arcs: into the convolution, from it to the pool, out of the pool. ``maps``: input maps of this tile; the pool works
    behind the last tile alone, for others leave as partial sums.
    """
    convolved = maps * layer.maps_out * layer.kernel**2 * layer.rows_out * layer.columns_out
    pooled = layer.results * layer.pool.kernel**2 if layer.pool and is_last else 0
    return np.array([[convolved, 0], [convolved, pooled], [0, pooled]], dtype=np.float64)


def topology(layer: ConvLayer, n_pe: int, n_op: int, pool_n_op: int) -> Floats:
    """Return Gamma, (n_arcs, n_stages): elements a cycle of both stages where they touch an arc, else 0.

    What N_PE and N_op do not divide leaves processing elements idle: rates are those that remain.
    """
    groups = -(-layer.maps_out // n_pe)
    convolution = layer.maps_out * layer.kernel**2 / (groups * -(-(layer.kernel**2) // n_op))
    values = layer.pool.kernel**2 if layer.pool else 1
    pool = layer.maps_out * values / (groups * -(-values // pool_n_op))
    return np.array([[convolution, 0], [convolution, pool], [0, pool]], dtype=np.float64)


def initiation_intervals(work: Floats, rates: Floats) -> Floats:
    """Return II = W / Gamma in cycles, 0 where a stage does not touch an arc."""
    return np.divide(work, rates, out=np.zeros_like(work), where=rates > 0)


def pool_operators(layer: ConvLayer, maps: int, n_op: int) -> int:
    """Return the fewest comparators of a pool's processing element with which it does not hold a tile up."""
    if layer.pool is None:
        return 1
    values = layer.pool.kernel**2
    cycles = maps * -(-(layer.kernel**2) // n_op) * layer.rows_out * layer.columns_out
    pixels = layer.pool.rows_out * layer.pool.columns_out
    return next((n for n in range(1, values) if -(-values // n) * pixels <= cycles), values)


@lru_cache(maxsize=4096)
def subgraph_cycles(layer: ConvLayer, maps: int, n_pe: int, n_op: int, *, is_last: bool) -> int:
    """Return the cycles of one tile at batch 1 (eq. 1, with a D of fill and interval); tiles of a layer are alike."""
    rates = topology(layer, n_pe, n_op, pool_operators(layer, maps, n_op))
    intervals = initiation_intervals(workload(layer, maps, is_last=is_last), rates)
    return round(float(intervals.max())) + fill_cycles(layer)
