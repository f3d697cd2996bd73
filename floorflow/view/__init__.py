"""Pictures of a plan: search, folding, partition, the floorplan of each FPGA and of all together, phases in time.

Importing this package is cheap; matplotlib is loaded when the first picture is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.hardware.platform import Platform

__all__ = [
    "empty_board",
    "floorplan",
    "folding_chart",
    "overview",
    "partition_chart",
    "render",
    "routing_chart",
    "search_chart",
    "timeline_chart",
]


def empty_board(platform: Platform, fpga: str = "fpga0") -> Figure:
    """Draw an FPGA without a plan; see `floorflow.view.pictures.empty_board.empty_board`."""
    from floorflow.view.pictures import empty_board

    return empty_board.empty_board(platform, fpga)


def routing_chart(plan: Mapping[str, Any], platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the routing map of one FPGA; see `floorflow.view.pictures.routing.routing_chart`."""
    from floorflow.view.pictures import routing

    return routing.routing_chart(plan, platform, fpga, phase)


def search_chart(plan: Mapping[str, Any], network: str | None = None) -> Figure:
    """Draw the intervals tried for a network; see `floorflow.view.pictures.search.search_chart`."""
    from floorflow.view.pictures import search

    return search.search_chart(plan, network)


def floorplan(plan: Mapping[str, Any], platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the floorplan of one FPGA; see `floorflow.view.pictures.floorplan.floorplan`."""
    from floorflow.view.pictures import floorplan

    return floorplan.floorplan(plan, platform, fpga, phase)


def folding_chart(plan: Mapping[str, Any], phase: int = 0, network: str | None = None) -> Figure:
    """Draw each engine's cycles against the interval; see `floorflow.view.pictures.folding.folding_chart`."""
    from floorflow.view.pictures import folding

    return folding.folding_chart(plan, phase, network)


def overview(plan: Mapping[str, Any], platform: Platform, phase: int = 0) -> Figure:
    """Draw all FPGAs' floorplans side by side; see `floorflow.view.pictures.overview.overview`."""
    from floorflow.view.pictures import overview

    return overview.overview(plan, platform, phase)


def partition_chart(plan: Mapping[str, Any], phase: int = 0) -> Figure:
    """Draw slots, boundaries and links with their loads; see `floorflow.view.pictures.partition.partition_chart`."""
    from floorflow.view.pictures import partition

    return partition.partition_chart(plan, phase)


def timeline_chart(plan: Mapping[str, Any]) -> Figure:
    """Draw how phases are loaded and run, one after the other; see `floorflow.view.pictures.timeline`."""
    from floorflow.view.pictures import timeline

    return timeline.timeline_chart(plan)


def render(plan: Mapping[str, Any], platform: Platform) -> dict[str, bytes]:
    """Return all pictures as ``{"plots/folding.png": bytes, ...}``; see `floorflow.view.pictures.files.render`."""
    from floorflow.view.pictures import files

    return files.render(plan, platform)
