"""Pictures of a plan: the search, the folding, the partition, the floorplan of each FPGA and of all together.

Importing this package is cheap; matplotlib is loaded when the first picture is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.target.platform import Platform

__all__ = ["candidates_chart", "floorplan", "folding_chart", "overview", "partition_chart", "render"]


def candidates_chart(plan: Mapping[str, Any]) -> Figure:
    """Draw the intervals that the search tried; see `floorflow.view.candidates.candidates_chart`."""
    from floorflow.view import candidates

    return candidates.candidates_chart(plan)


def floorplan(plan: Mapping[str, Any], platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the floorplan of one FPGA; see `floorflow.view.picture.floorplan`."""
    from floorflow.view import picture

    return picture.floorplan(plan, platform, fpga, phase)


def folding_chart(plan: Mapping[str, Any], phase: int = 0) -> Figure:
    """Draw each engine's cycles against the interval; see `floorflow.view.chart.folding_chart`."""
    from floorflow.view import chart

    return chart.folding_chart(plan, phase)


def overview(plan: Mapping[str, Any], platform: Platform, phase: int = 0) -> Figure:
    """Draw all FPGAs' floorplans side by side; see `floorflow.view.all_fpgas.overview`."""
    from floorflow.view import all_fpgas

    return all_fpgas.overview(plan, platform, phase)


def partition_chart(plan: Mapping[str, Any], phase: int = 0) -> Figure:
    """Draw slots, boundaries and links with their loads; see `floorflow.view.partition.partition_chart`."""
    from floorflow.view import partition

    return partition.partition_chart(plan, phase)


def render(plan: Mapping[str, Any], platform: Platform) -> dict[str, bytes]:
    """Return all pictures as ``{"plots/folding.png": bytes, ...}``; see `floorflow.view.files.render`."""
    from floorflow.view import files

    return files.render(plan, platform)
