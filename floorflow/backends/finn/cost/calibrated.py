"""Which coefficients price engines: those of the ``estimated`` model, or those fitted to whole builds."""

from __future__ import annotations

from floorflow.backends.finn.cost.calibrated_values import CALIBRATED
from floorflow.backends.finn.cost.estimated import ESTIMATED, Coefficients


def coefficients(model: str) -> Coefficients:
    """Return the coefficients of one of floorflow's own models."""
    return ESTIMATED if model == "estimated" else CALIBRATED
