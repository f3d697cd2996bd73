"""Pictures of a plan: the floorplan of each FPGA and the folding of its engines.

Importing this package is cheap; matplotlib is loaded when the first picture is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.target.platform import Platform

__all__ = ["floorplan", "folding_chart", "render"]


def floorplan(plan: Mapping[str, Any], platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the floorplan of one FPGA; see `floorflow.view.picture.floorplan`."""
    from floorflow.view import picture

    return picture.floorplan(plan, platform, fpga, phase)


def folding_chart(plan: Mapping[str, Any], phase: int = 0) -> Figure:
    """Draw each engine's cycles against the interval; see `floorflow.view.chart.folding_chart`."""
    from floorflow.view import chart

    return chart.folding_chart(plan, phase)


def render(plan: Mapping[str, Any], platform: Platform) -> dict[str, bytes]:
    """Return all pictures as ``{"plots/folding.png": bytes, ...}``; see `floorflow.view.files.render`."""
    from floorflow.view import files

    return files.render(plan, platform)
