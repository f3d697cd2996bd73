"""The pictures of a plan as files in memory, the same bytes each time: all are written as SVG, PNG is made of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING

from resvg_py import svg_to_bytes

from floorflow.view.charts import POINTS_PER_INCH, figure_pdf, figure_svg
from floorflow.view.names import Plan, network_names, networks_in
from floorflow.view.pdf import figure_of
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.folding import folding_chart
from floorflow.view.pictures.memory import joint_front_chart, memory_chart, rates_chart
from floorflow.view.pictures.overview import overview
from floorflow.view.pictures.partition import partition_chart
from floorflow.view.pictures.routing import routing_chart
from floorflow.view.pictures.search import search_chart
from floorflow.view.pictures.timeline import timeline_chart
from floorflow.view.pictures.topology import topology_chart
from floorflow.view.scene import filled_by_one
from floorflow.view.sheet import REVIEW, PictureStyle, Sheet
from floorflow.view.text import font_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.hardware.platform import Platform

    Drawing = Sheet | Figure

_MAX_PIXELS = 12_000
"""Viewers refuse taller pictures: the resolution gives way."""


def charts(
    plan: Plan, platform: Platform, style: PictureStyle = REVIEW, by: str | None = None
) -> dict[str, Callable[[], Drawing]]:
    """Return what draws each picture of a plan, by the name of its files; floorplans in a style and ``by`` a colouring.

    ``candidates``, ``folding``, ``partition``, ``floorplan_<fpga>`` for each FPGA and, if there are several,
    ``floorplan`` of them all, and ``topology`` if streams pass links; ``routing_<fpga>`` for each FPGA with modules.
    With several networks ``candidates`` and ``folding`` are ``candidates_<network>`` and ``folding_<network>``, one for
    each. With several phases all but ``candidates`` end in ``_<phase>``, and there is ``timeline``. With a schedule of
    the memory there are, in place of ``candidates``, ``memory``, ``rates`` and, if it was sought, ``joint_front``. What
    would be of one row is not drawn: ``candidates`` of one interval, ``folding`` of one engine, ``partition`` of one
    slot with modules, ``timeline`` of one run.
    """
    found: dict[str, Callable[[], Drawing]] = {}
    shared = plan.get("memory_schedule")
    several = len(network_names(plan)) > 1
    drawn: list[tuple[Callable[[], Drawing], tuple[str, ...]]] = []
    if shared is None:  # with one, engines are not sought one by one
        names = [network["name"] for network in plan["networks"] if len(network["trace"]) > 1]
        drawn += [(partial(search_chart, plan, name), ("candidates", name * several)) for name in names]
    for phase in range(len(plan["phases"])):
        drawn += _charts_of_phase(plan, platform, phase, style, by)
    if plan["schedule"] is not None and sum(len(phase["networks"]) for phase in plan["phases"]) > 1:
        drawn.append((partial(timeline_chart, plan), ("timeline",)))
    if shared is not None:
        drawn += [(partial(memory_chart, plan), ("memory",)), (partial(rates_chart, plan), ("rates",))]
        drawn += [(partial(joint_front_chart, plan), ("joint_front",))] * bool(shared["front"])
    for draw, parts in drawn:
        found[free_name(found, *parts)] = draw
    return found


def _charts_of_phase(
    plan: Plan, platform: Platform, phase: int, style: PictureStyle, by: str | None
) -> Iterator[tuple[Callable[[], Drawing], tuple[str, ...]]]:
    """Yield what draws each picture of a phase, and the parts of its name."""
    content, several = plan["phases"][phase], len(network_names(plan)) > 1
    end = content["name"] if len(plan["phases"]) > 1 else ""
    for entry in networks_in(plan, phase):
        network = entry["network"]
        if len(entry["folding"]["engines"]) > 1:
            yield partial(folding_chart, plan, phase, network), ("folding", network * several, end)
    if len(set(content["partition"]["assignment"].values())) > 1:
        yield partial(partition_chart, plan, phase), ("partition", end)
    if len(plan["platform"]["fpgas"]) > 1:
        yield partial(overview, plan, platform, phase, style=style, by=by), ("floorplan", end)
        if any(row["kind"] == "link" for row in content["partition"]["crossings"]):
            yield partial(topology_chart, plan, phase), ("topology", end)
    for fpga in sorted(content["floorplan"]):
        yield partial(floorplan, plan, platform, fpga, phase, style=style, by=by), ("floorplan", fpga, end)
        if content["floorplan"][fpga]["pblocks"] and not filled_by_one(plan, fpga, phase):
            yield partial(routing_chart, plan, platform, fpga, phase), ("routing", fpga, end)


def free_name(names: Collection[str], *parts: str) -> str:
    """Join the parts that are not empty to a name that is not among ``names``."""
    name = "_".join(filter(None, parts))
    while name in names:
        name += "_"  # Networks a and a_b in phases b_c and c: both names are a_b_c.
    return name


def svg_bytes(drawing: Drawing) -> bytes:
    """Return a picture as SVG; a module's rectangle has its name as id."""
    return (drawing.svg() if isinstance(drawing, Sheet) else figure_svg(drawing)).encode()


def dpi_of(drawing: Drawing) -> int:
    """Return the pixels of an inch of a picture's page."""
    return drawing.style.dpi if isinstance(drawing, Sheet) else REVIEW.dpi


def png_bytes(svg: bytes, dpi: int = REVIEW.dpi) -> bytes:
    """Return a picture of ours in SVG as PNG, its texts in the font that they were measured in."""
    text = svg.decode()
    width, height = (float(size) for size in re.findall(r'(?:width|height)="([\d.]+)pt"', text)[:2])
    scale = min(dpi / POINTS_PER_INCH, _MAX_PIXELS / max(width, height))
    return svg_to_bytes(
        svg_string=text, width=round(width * scale), dpi=72, skip_system_fonts=True, font_files=font_files()
    )


def pdf_bytes(drawing: Drawing) -> bytes:
    """Return a picture as PDF with its texts as text, without a date."""
    return figure_pdf(figure_of(drawing) if isinstance(drawing, Sheet) else drawing)
