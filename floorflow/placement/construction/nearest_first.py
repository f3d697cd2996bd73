"""A layout from nothing: module after module, each where its wires are shortest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from floorflow.placement.layouts.layout import (
    AREA_UNIT,
    Keys,
    Layout,
    Occupied,
    SearchSpace,
    box_at,
    first_free,
    keys_of,
)


def construct_greedily(
    space: SearchSpace, order: Sequence[int], anchor: tuple[int, int], start: Layout | None = None
) -> Layout:
    """Place the modules in order, each nearest to what it talks to; without wires, nearest to the anchor.

    ``anchor`` is twice a column and twice a row; ``start`` has what lies elsewhere. Modules that fit nowhere stay
    unplaced.
    """
    occupied = Occupied.by(space, Layout.empty(space.count) if start is None else start.copy())
    for module in order:
        candidates, layout = space.candidates[module], occupied.layout
        if layout.placed[space.wired[module]].any() or space.nets.pin_bits[module].any():
            keys = keys_of(space, layout, module, space.bits[module])
        else:
            x2, y2 = anchor
            x, y = np.abs(candidates.x.twice - x2), np.abs(candidates.y.twice - y2)
            keys = Keys(candidates, x * AREA_UNIT, y * AREA_UNIT)
        best = first_free(occupied, module, keys)
        if best is not None:
            occupied.put(module, box_at(candidates, best))
    return occupied.layout
