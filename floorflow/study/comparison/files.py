"""A comparison as the files of an output folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from floorflow.study.comparison.compare import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def comparison_data(comparison: Comparison) -> dict[str, str | bytes]:
    """Return ``compare.json``."""
    return {"compare.json": json.dumps(comparison.as_dict(), indent=2, sort_keys=True) + "\n"}


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw ``compare.png`` and ``.svg``; matplotlib is loaded only here."""
    from floorflow.view.pictures.comparison import comparison_chart

    return comparison_chart(comparison.as_dict())
