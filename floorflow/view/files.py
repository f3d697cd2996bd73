"""The pictures of a plan as files in memory, the same bytes each time: all are written as SVG, PNG is made of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING

from resvg_py import svg_to_bytes

from floorflow.view.charts import figure_svg
from floorflow.view.names import Plan, network_names, networks_in
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
from floorflow.view.sheet import Sheet
from floorflow.view.text import font_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.hardware.platform import Platform

    Drawing = Sheet | Figure

_PIXELS_PER_POINT = 110 / 72
_MAX_PIXELS = 12_000
"""Viewers refuse taller pictures: the resolution gives way."""


def charts(plan: Plan, platform: Platform) -> dict[str, Callable[[], Drawing]]:
    """Return what draws each picture of a plan, by the name of its files.

    ``candidates``, ``folding``, ``partition``, ``floorplan_<fpga>`` for each FPGA and, if there are several,
    ``floorplan`` of them all, and ``topology`` if streams pass links; ``routing_<fpga>`` for each FPGA with modules.
    With several networks ``candidates`` and ``folding`` are ``candidates_<network>`` and ``folding_<network>``, one for
    each. With several phases all but ``candidates`` end in ``_<phase>``, and there is ``timeline``. With a schedule of
    the memory there are, in place of ``candidates``, ``memory``, ``rates`` and, if it was sought, ``joint_front``. What
    would be of one row is not drawn: ``candidates`` of one interval, ``folding`` of one engine, ``partition`` of one
    module in one slot.
    """
    found: dict[str, Callable[[], Drawing]] = {}
    shared = plan.get("memory_schedule")
    several = len(network_names(plan)) > 1
    drawn: list[tuple[Callable[[], Drawing], tuple[str, ...]]] = []
    if shared is None:  # with one, engines are not sought one by one
        names = [network["name"] for network in plan["networks"] if len(network["trace"]) > 1]
        drawn += [(partial(search_chart, plan, name), ("candidates", name * several)) for name in names]
    for phase in range(len(plan["phases"])):
        drawn += _charts_of_phase(plan, platform, phase)
    if plan["schedule"] is not None:
        drawn.append((partial(timeline_chart, plan), ("timeline",)))
    if shared is not None:
        drawn += [(partial(memory_chart, plan), ("memory",)), (partial(rates_chart, plan), ("rates",))]
        drawn += [(partial(joint_front_chart, plan), ("joint_front",))] * bool(shared["front"])
    for draw, parts in drawn:
        found[free_name(found, *parts)] = draw
    return found


def _charts_of_phase(
    plan: Plan, platform: Platform, phase: int
) -> Iterator[tuple[Callable[[], Drawing], tuple[str, ...]]]:
    """Yield what draws each picture of a phase, and the parts of its name."""
    content, several = plan["phases"][phase], len(network_names(plan)) > 1
    end = content["name"] if len(plan["phases"]) > 1 else ""
    for entry in networks_in(plan, phase):
        network = entry["network"]
        if len(entry["folding"]["engines"]) > 1:
            yield partial(folding_chart, plan, phase, network), ("folding", network * several, end)
    if len(content["partition"]["utilisation"]) > 1 or len(content["modules"]) > 1:
        yield partial(partition_chart, plan, phase), ("partition", end)
    if len(plan["platform"]["fpgas"]) > 1:
        yield partial(overview, plan, platform, phase), ("floorplan", end)
        if any(row["kind"] == "link" for row in content["partition"]["crossings"]):
            yield partial(topology_chart, plan, phase), ("topology", end)
    for fpga in sorted(content["floorplan"]):
        yield partial(floorplan, plan, platform, fpga, phase), ("floorplan", fpga, end)
        if content["floorplan"][fpga]["pblocks"] and not filled_by_one(plan, fpga, phase):
            yield partial(routing_chart, plan, platform, fpga, phase), ("routing", fpga, end)


def free_name(names: Collection[str], *parts: str) -> str:
    """Join the parts that are not empty to a name that is not among ``names``."""
    name = "_".join(filter(None, parts))
    while name in names:
        name += "_"  # Networks a and a_b in phases b_c and c: both names are a_b_c.
    return name


def render(plan: Plan, platform: Platform) -> dict[str, bytes]:
    """Draw every picture of a plan: ``plots/<name>.png`` and ``.svg`` for each of its `charts`."""
    files: dict[str, bytes] = {}
    for name, draw in charts(plan, platform).items():
        svg = svg_bytes(draw())
        files |= {f"plots/{name}.png": png_bytes(svg), f"plots/{name}.svg": svg}
    return files


def svg_bytes(drawing: Drawing) -> bytes:
    """Return a picture as SVG; a module's rectangle has its name as id."""
    return (drawing.svg() if isinstance(drawing, Sheet) else figure_svg(drawing)).encode()


def png_bytes(svg: bytes) -> bytes:
    """Return a picture of ours in SVG as PNG, its texts in the font that they were measured in."""
    text = svg.decode()
    width, height = (float(size) for size in re.findall(r'(?:width|height)="([\d.]+)pt"', text)[:2])
    scale = min(_PIXELS_PER_POINT, _MAX_PIXELS / max(width, height))
    return svg_to_bytes(
        svg_string=text, width=round(width * scale), dpi=72, skip_system_fonts=True, font_files=font_files()
    )
