"""The pictures of a plan as files in memory, the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from PIL import Image

from floorflow.view.contents.names import Plan, network_names, networks_in
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.folding import folding_chart
from floorflow.view.pictures.joint_front import joint_front_chart
from floorflow.view.pictures.memory import memory_chart
from floorflow.view.pictures.memory_rates import rates_chart
from floorflow.view.pictures.overview import overview
from floorflow.view.pictures.partition import partition_chart
from floorflow.view.pictures.routing import routing_chart
from floorflow.view.pictures.search import search_chart
from floorflow.view.pictures.timeline import timeline_chart
from floorflow.view.sheet.geometry import POINTS_PER_INCH
from floorflow.view.sheet.renderers import PngRenderer, SvgRenderer
from floorflow.view.sheet.sheet import drawing_settings

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_DPI = 110
_MAX_PIXELS = 12_000
"""Viewers refuse taller pictures: the resolution gives way."""


def charts(plan: Plan, platform: Platform) -> dict[str, Callable[[], Figure]]:
    """Return what draws each picture of a plan, by the name of its files.

    ``candidates``, ``folding``, ``partition``, ``floorplan_<fpga>`` for each FPGA and, if there are several,
    ``floorplan`` of them all; ``routing_<fpga>`` for each FPGA with modules. With several networks ``candidates`` and
    ``folding`` are ``candidates_<network>`` and ``folding_<network>``, one for each. With several phases all but
    ``candidates`` end in ``_<phase>``, and there is ``timeline``. With a schedule of the memory there are, in place of
    ``candidates``, ``memory``, ``rates`` and, if it was sought, ``joint_front``.
    """
    found = _Charts()
    several = len(network_names(plan)) > 1
    shared = plan.get("memory_schedule")
    for network in network_names(plan) if shared is None else ():  # engines are not sought one by one there
        found.add(partial(search_chart, plan, network), "candidates", network if several else "")
    for phase, content in enumerate(plan["phases"]):
        end = content["name"] if len(plan["phases"]) > 1 else ""
        for entry in networks_in(plan, phase):
            network = entry["network"]
            found.add(partial(folding_chart, plan, phase, network), "folding", network if several else "", end)
        found.add(partial(partition_chart, plan, phase), "partition", end)
        if len(plan["platform"]["fpgas"]) > 1:
            found.add(partial(overview, plan, platform, phase), "floorplan", end)
        for fpga in sorted(content["floorplan"]):
            found.add(partial(floorplan, plan, platform, fpga, phase), "floorplan", fpga, end)
            if content["floorplan"][fpga]["pblocks"]:
                found.add(partial(routing_chart, plan, platform, fpga, phase), "routing", fpga, end)
    if plan["schedule"] is not None:
        found.add(partial(timeline_chart, plan), "timeline")
    if shared is not None:
        found.add(partial(memory_chart, plan), "memory")
        found.add(partial(rates_chart, plan), "rates")
        if shared["front"]:
            found.add(partial(joint_front_chart, plan), "joint_front")
    return found.by_name


class _Charts:
    """What draws each picture, under a name of its own."""

    def __init__(self) -> None:
        self.by_name: dict[str, Callable[[], Figure]] = {}

    def add(self, draw: Callable[[], Figure], *parts: str) -> None:
        """Add a picture; parts of its name that are empty are left out."""
        name = "_".join(filter(None, parts))
        while name in self.by_name:
            name += "_"  # Networks a and a_b in phases b_c and c: both names are a_b_c.
        self.by_name[name] = draw


def render(plan: Plan, platform: Platform) -> dict[str, bytes]:
    """Draw every picture of a plan: ``plots/<name>.png`` and ``.svg`` for each of its `charts`."""
    files: dict[str, bytes] = {}
    for name, draw in charts(plan, platform).items():
        figure = draw()
        files |= {f"plots/{name}.png": png_bytes(figure), f"plots/{name}.svg": svg_bytes(figure)}
    return files


def png_bytes(figure: Figure) -> bytes:
    """Return the figure as PNG without software name or time."""
    dpi = min(_DPI, _MAX_PIXELS / max(figure.get_size_inches()))
    stream = BytesIO()
    with drawing_settings(), _resolution(figure, dpi):
        renderer = PngRenderer(*figure.bbox.size, dpi)
        figure.draw(renderer)
        # The sheet is opaque: without alpha files are smaller.
        image = Image.fromarray(renderer.pixels).convert("RGB")
        image.save(stream, format="png", dpi=(dpi, dpi), compress_level=3)
    return stream.getvalue()


def svg_bytes(figure: Figure) -> bytes:
    """Return the figure as SVG without date, with fixed identifiers; a module's rectangle has its name as id."""
    stream = StringIO()
    with drawing_settings(), _resolution(figure, POINTS_PER_INCH):
        metadata = {"Date": None, "Creator": "floorflow"}
        renderer = SvgRenderer(*figure.bbox.size, stream, metadata=metadata)  # type: ignore[no-untyped-call]
        figure.draw(renderer)
        renderer.finalize()  # type: ignore[no-untyped-call]
    return stream.getvalue().encode()


@contextmanager
def _resolution(figure: Figure, dpi: float) -> Iterator[None]:
    """Draw at a number of pixels an inch; restore it after."""
    before = figure.dpi
    figure.dpi = dpi
    try:
        yield
    finally:
        figure.dpi = before
