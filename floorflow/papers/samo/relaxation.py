"""Whether a segment has a folding within an interval, as far as prices on resources tell: by many prices at once.

A price vector is a point of the simplex, a share of each limit. The excess of its cheapest selection is where to raise
prices (multiplicative weights). Either the selection keeps the limits, or it costs more than they are worth, which
proves that nothing does; between the two the relaxation does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.folding.variable_elimination import FORBIDDEN
from floorflow.papers.samo.problem import Floats, Ints
from floorflow.papers.samo.segment_model import SegmentModel

ROUNDS = 40
"""Prices that are tried for a case."""
STEP = 1.5
"""By how much prices follow the excess in the first round; less by the root of the round."""
MOST_EXCESS = 1.0


@dataclass
class Verdicts:
    """What is known of k cases: ``fits`` has the rows of a selection, or None; ``refuted``: proven to have none."""

    fits: list[Ints | None]
    refuted: NDArray[np.bool_]
    prices: Floats
    """The last prices, (k, n_limited)."""

    @property
    def open(self) -> NDArray[np.bool_]:
        """The cases that are not decided."""
        return ~self.refuted & np.array([rows is None for rows in self.fits], dtype=np.bool_)


def decide(
    model: SegmentModel,
    highest: Ints,
    prices: Floats,
    keep: NDArray[np.bool_] | None = None,
    rounds: int = ROUNDS,
) -> Verdicts:
    """Look for a selection within the limits among rows up to a level, for k levels; ``prices`` (n_limited,) first.

    ``keep``, (n_rows, k), leaves out more rows.
    """
    cases = len(highest)
    verdicts = Verdicts([None] * cases, np.zeros(cases, dtype=np.bool_), np.tile(prices, (cases, 1)))
    for turn in range(rounds):
        at = np.flatnonzero(verdicts.open)
        if not at.size:
            break
        some = verdicts.prices[at]
        cheapest = model.cheapest(some, highest[at], None if keep is None else keep[:, at])
        impossible = cheapest.bound >= FORBIDDEN
        verdicts.refuted[at] = impossible | model.exceeds(some, cheapest.bound)
        # A stream that was relaxed may be broken: then the selection is no folding.
        within = ~impossible & (cheapest.use <= model.limits).all(axis=1)
        for case in np.flatnonzero(within & ~verdicts.refuted[at]).tolist():
            if model.is_exact or model.keeps_rules(cheapest.rows[case]):
                verdicts.fits[at[case]] = cheapest.rows[case]
        verdicts.prices[at] = _raised(some, cheapest.use / np.maximum(model.limits, 1) - 1, turn)
    return verdicts


def _raised(prices: Floats, excess: Floats, turn: int) -> Floats:
    """Return prices that follow the excess, (k, n_limited), on the simplex."""
    moved = np.maximum(prices, 1e-6) * np.exp(STEP / np.sqrt(turn + 1) * np.clip(excess, -MOST_EXCESS, MOST_EXCESS))
    return np.asarray(moved / np.maximum(moved.sum(axis=1, keepdims=True), 1e-300))
