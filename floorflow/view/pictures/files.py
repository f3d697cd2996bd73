"""The pictures of a plan as files in memory, the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from floorflow.view.contents.names import Plan
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.folding import folding_chart
from floorflow.view.pictures.overview import overview
from floorflow.view.pictures.partition import partition_chart
from floorflow.view.pictures.search import search_chart
from floorflow.view.sheet.sheet import drawing_settings

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_DPI = 110
_MAX_PIXELS = 12_000
"""Viewers refuse taller pictures: the resolution gives way."""


def charts(plan: Plan, platform: Platform) -> dict[str, Callable[[], Figure]]:
    """Return what draws each picture of a plan, by the name of its files.

    ``candidates``, ``folding``, ``partition``, ``floorplan_<fpga>`` for each FPGA and, if there are several,
    ``floorplan`` of them all; these, for the phases after the first if parts are swapped, with ``_phase<n>`` behind.
    """
    found: dict[str, Callable[[], Figure]] = {"candidates": partial(search_chart, plan)}
    for phase, content in enumerate(plan["phases"]):
        suffix = f"_phase{phase}" if phase else ""
        found[f"folding{suffix}"] = partial(folding_chart, plan, phase)
        found[f"partition{suffix}"] = partial(partition_chart, plan, phase)
        if len(plan["platform"]["fpgas"]) > 1:
            found[f"floorplan{suffix}"] = partial(overview, plan, platform, phase)
        for fpga in sorted(content["floorplan"]):
            found[f"floorplan_{fpga}{suffix}"] = partial(floorplan, plan, platform, fpga, phase)
    return found


def render(plan: Plan, platform: Platform) -> dict[str, bytes]:
    """Draw every picture of a plan: ``plots/<name>.png`` and ``.svg`` for each of its `charts`."""
    files: dict[str, bytes] = {}
    for name, draw in charts(plan, platform).items():
        files |= _both(f"plots/{name}", draw())
    return files


def _both(stem: str, figure: Figure) -> dict[str, bytes]:
    return {f"{stem}.png": png_bytes(figure), f"{stem}.svg": svg_bytes(figure)}


def png_bytes(figure: Figure) -> bytes:
    """Return the figure as PNG without software name or time."""
    dpi = min(_DPI, _MAX_PIXELS / max(figure.get_size_inches()))
    stream = BytesIO()
    with drawing_settings():
        FigureCanvasAgg(figure)
        figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None}, pil_kwargs={"compress_level": 4})
    return stream.getvalue()


def svg_bytes(figure: Figure) -> bytes:
    """Return the figure as SVG without date, with fixed identifiers; a module's rectangle has its name as id."""
    stream = BytesIO()
    with drawing_settings():
        FigureCanvasSVG(figure)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": "floorflow"})
    return stream.getvalue()
