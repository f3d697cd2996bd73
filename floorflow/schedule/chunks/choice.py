"""One option of each layer of an interval: the least total cycles within limits on resources and on the slowest layer.

A multiple-choice knapsack. Prices on resources give a bound for every option (Lagrange), which drops most of them; what
is left is worked out layer by layer with labels, of which the dominated and those above the bound are dropped. That is
exact; where it would take too many labels the answer is the best of few, and the bound is that of the prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.schedule.chunks.problem import Floats, Ints
from floorflow.schedule.chunks.undominated import undominated

STEPS = 40
"""Of the subgradient method."""
BEAM = 64
WIDE_BEAM = 1024
"""Labels kept where all would be too many."""
MOST_LABELS, MOST_AT_ONCE = 1_000_000, 400_000
"""Labels of a layer times the square of the layers, and sums looked at together."""
EPSILON = 1e-6
"""Of a cycle: all amounts are whole, and prices are not."""


@dataclass(frozen=True, eq=False)
class Options:
    """The options of an interval's layers, one after another: ``start`` is where each layer's begin."""

    cost: Ints
    """(n,), what is minimised."""
    use: Ints
    """(n, n_resources)."""
    number: Ints
    """(n,), the row in the layer's own table."""
    start: Ints

    @property
    def sizes(self) -> Ints:
        """Options of each layer."""
        return np.diff(np.append(self.start, len(self.cost)))

    @property
    def layer(self) -> Ints:
        """The layer of each option."""
        return np.repeat(np.arange(len(self.start)), self.sizes)

    def kept(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Options | None:
        """Return the options that are marked; None if a layer has none left."""
        counts = np.add.reduceat(keep, self.start)
        if not counts.all():
            return None
        start = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        return Options(self.cost[keep], self.use[keep], self.number[keep], start)

    def some(self, keep: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Options:
        """Return the options that are marked, of which each layer has some; ValueError if one has none."""
        kept = self.kept(keep)
        if kept is None:
            raise ValueError("a layer has no option left")
        return kept


class _TooManyLabelsError(Exception):
    """All labels would be too many."""


@dataclass(frozen=True)
class Choice:
    """The total cost, its resources and the option of each layer by its number."""

    cost: int
    use: tuple[int, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class BoundedChoice:
    """A choice, if one was found, and the proven bound of its cost: infinite where it is proven that there is none."""

    choice: Choice | None
    bound: float


NOTHING = BoundedChoice(None, float("inf"))


def fits_alone(options: Options, limits: Ints) -> Options | None:
    """Return the options that fit beside the least that the other layers need of each resource; None: proven unfit."""
    while True:
        least = np.minimum.reduceat(options.use, options.start, axis=0)
        room = limits - least.sum(axis=0)
        if (room < 0).any():
            return None
        keep = (options.use - least[options.layer] <= room).all(axis=1)
        if keep.all():
            return options
        left = options.kept(keep)
        if left is None:
            return None
        options = left


def fitting(options: Options, limits: Ints) -> BoundedChoice:
    """Return some choice within the limits, whatever its cost; without one an infinite bound is the proof.

    The scarcest resource is minimised within the limits on the others, so that its price bound ends the search early.
    """
    start = fits_alone(options, limits)
    if start is None:
        return NOTHING
    least = np.minimum.reduceat(start.use, start.start, axis=0).sum(axis=0)
    most = np.maximum.reduceat(start.use, start.start, axis=0).sum(axis=0)
    scarce = int(np.argmax(np.where(most > limits, least / np.maximum(limits, 1), -1.0)))
    # Resources that no choice takes too much of need not be looked at.
    others = [column for column in np.flatnonzero(most > limits).tolist() if column != scarce]
    asked = Options(start.use[:, scarce], start.use[:, others], np.arange(len(start.cost)), start.start)
    found = cheapest(asked, limits[others], float(limits[scarce]), np.zeros(0, dtype=np.int64), any_will_do=True)
    if found.choice is None:
        return BoundedChoice(None, found.bound)
    at = np.array(found.choice.numbers)
    use, cost = start.use[at].sum(axis=0), int(start.cost[at].sum())
    numbers = tuple(int(number) for number in start.number[at])
    return BoundedChoice(Choice(cost, tuple(int(amount) for amount in use), numbers), 0.0)


def cheapest(
    options: Options, limits: Ints, most: float, area: Ints, *, enough: int = 0, any_will_do: bool = False
) -> BoundedChoice:
    """Return the least cost within the limits, if it is at most ``most``; of equal ones that of least area.

    ``area``, (n_resources,), is what the device has: the area of a choice is the sum of its shares of them.
    Costs up to ``enough`` count as equal. ``any_will_do``: the first choice that is found.
    """
    start = fits_alone(options, limits)
    if start is None:
        return NOTHING
    # No choice costs more than the most of each layer: a finite bound from the start.
    most = min(most, float(np.maximum.reduceat(start.cost, start.start).sum()))
    prices, bound, options_left = _narrowed(start, limits, most)
    if options_left is None:
        return NOTHING
    quick = _labelled(options_left, limits, prices, most, area, beam=BEAM)
    if quick is not None and any_will_do:
        return BoundedChoice(quick, bound)
    many = MOST_LABELS // len(options.start) ** 2
    for beam in (WIDE_BEAM, None):
        if quick is not None and max(quick.cost, enough) < most:
            most = float(max(quick.cost, enough))
            prices, higher, narrowed = _narrowed(options_left, limits, most, prices)
            options_left = narrowed or options_left
            bound = max(bound, higher)
        try:
            # First with few labels; only where these are too many with many, for a better cost drops more options.
            best = _labelled(options_left, limits, prices, most, area, beam=None, many=many, enough=enough)
        except _TooManyLabelsError:
            if beam is not None:
                better = _labelled(options_left, limits, prices, most, area, beam=beam)
                quick = better if quick is None or (better is not None and better.cost <= quick.cost) else quick
        else:
            return NOTHING if best is None else BoundedChoice(best, best.cost)
    return BoundedChoice(quick, float(np.ceil(bound - EPSILON)))


def _narrowed(
    options: Options, limits: Ints, most: float, prices: Floats | None = None
) -> tuple[Floats, float, Options | None]:
    """Return the best prices found, their bound, and the options that a choice of at most so great a cost may have."""
    scale = np.maximum(limits, 1).astype(np.float64)
    use, room = options.use / scale, limits / scale
    cost = options.cost.astype(np.float64)
    now = np.zeros(len(limits)) if prices is None else prices * scale
    best, best_prices, keep = -np.inf, now, np.ones(len(cost), dtype=np.bool_)
    pace = 1.0
    for _ in range(STEPS):
        priced = cost + use @ now
        least = np.minimum.reduceat(priced, options.start)
        bound = float(least.sum() - now @ room)
        keep &= bound + (priced - least[options.layer]) <= most + EPSILON
        if bound > best:
            best, best_prices = bound, now
        else:
            pace *= 0.85
        if bound > most + EPSILON or not keep.any():
            return best_prices / scale, float("inf"), None
        chosen = _first_least(priced, least, options)
        over = use[chosen].sum(axis=0) - room
        norm = float(over @ over)
        if norm < 1e-18:
            break
        now = np.maximum(0.0, now + pace * max(most - bound, 1e-3 * abs(most)) / norm * over)
    return best_prices / scale, best, options.kept(keep)


def _first_least(priced: Floats, least: Floats, options: Options) -> Ints:
    """Return the first option of least price of each layer."""
    at = np.flatnonzero(priced <= least[options.layer])
    _, first = np.unique(options.layer[at], return_index=True)
    return np.asarray(at[first], dtype=np.int64)


def _labelled(
    options: Options,
    limits: Ints,
    prices: Floats,
    most: float,
    area: Ints,
    *,
    beam: int | None,
    many: int | None = None,
    enough: int = 0,
) -> Choice | None:
    """Return the best choice by labels, layer by layer.

    A ``beam`` keeps so many of least bound only; more than ``many`` are too many.
    """
    priced = options.cost + options.use @ prices
    least = np.minimum.reduceat(priced, options.start)
    # What is minimised has a limit as the resources have: prices alone would let a label of much room pass it.
    least_of_all = np.minimum.reduceat(np.column_stack([options.cost, options.use]), options.start, axis=0)
    room = np.append(np.floor(most + EPSILON), limits).astype(np.int64)
    sizes = options.sizes
    order = np.argsort(sizes, kind="stable")[::-1]
    labels = np.zeros((1, 1 + len(limits)), dtype=np.int64)
    history: list[tuple[Ints, Ints]] = []
    rest, others = float(least.sum() - prices @ limits), least_of_all.sum(axis=0)
    for layer in order.tolist():
        rest, others = rest - float(least[layer]), others - least_of_all[layer]
        rows = slice(int(options.start[layer]), int(options.start[layer] + sizes[layer]))
        added = np.concatenate([options.cost[rows, None], options.use[rows]], axis=1)
        labels, parents, chosen = _extended(labels, added, room - others, prices, most - rest, beam=beam, many=many)
        if not len(labels):
            return None
        history.append((parents, options.number[rows][chosen]))
    return _best(labels, history, order, area, enough)


def _extended(
    labels: Ints, added: Ints, room: Ints, prices: Floats, most: float, *, beam: int | None, many: int | None
) -> tuple[Ints, Ints, Ints]:
    """Return labels with each option of a layer, which of the labels before and which option they come from."""
    per_block = max(1, MOST_AT_ONCE // len(added))
    found, parents, chosen = [], [], []
    for first in range(0, len(labels), per_block):
        block = labels[first : first + per_block]
        sums = (block[:, None, :] + added[None, :, :]).reshape(-1, labels.shape[1])
        may_be = (sums <= room).all(axis=1) & (sums[:, 0] + sums[:, 1:] @ prices <= most + EPSILON)
        at = np.flatnonzero(may_be)
        if len(at):
            at = at[undominated(sums[at])] if len(at) > 1 else at
        found.append(sums[at])
        parents.append(first + at // len(added))
        chosen.append(at % len(added))
        if many is not None and sum(map(len, parents)) > 4 * many:
            raise _TooManyLabelsError
    merged, before, option = np.concatenate(found), np.concatenate(parents), np.concatenate(chosen)
    if len(found) > 1 and len(merged) > 1:
        keep = undominated(merged)
        merged, before, option = merged[keep], before[keep], option[keep]
    if beam is not None and len(merged) > beam:
        ranked = np.argsort(merged[:, 0] + merged[:, 1:] @ prices, kind="stable")[:beam]
        merged, before, option = merged[ranked], before[ranked], option[ranked]
    if many is not None and len(merged) > many:
        raise _TooManyLabelsError
    return merged, before, option


def _best(labels: Ints, history: Sequence[tuple[Ints, Ints]], order: Ints, area: Ints, enough: int) -> Choice:
    """Return the choice of the label of least cost, then least area."""
    cheap = np.flatnonzero(labels[:, 0] <= max(int(labels[:, 0].min()), enough))
    areas = (labels[cheap, 1 : 1 + len(area)] / np.maximum(area, 1)).sum(axis=1)
    at = int(cheap[int(np.argmin(areas))])
    label = labels[at]
    numbers = [0] * len(order)
    for layer, (parents, chosen) in zip(order.tolist()[::-1], history[::-1], strict=True):
        numbers[layer] = int(chosen[at])
        at = int(parents[at])
    return Choice(int(label[0]), tuple(int(amount) for amount in label[1:]), tuple(numbers))
