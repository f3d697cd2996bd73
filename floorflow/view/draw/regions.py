"""Draw reconfigurable regions: hatched below the modules, outlined over them, with their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floorflow.view.contents.scene import RegionView
from floorflow.view.sheet.geometry import Box
from floorflow.view.sheet.palette import QUIET
from floorflow.view.sheet.sheet import Frame, Sheet
from floorflow.view.sheet.text import Occupied, block_size

REGION_KEY = "hatched: reconfigurable region (firm: that of this phase)"
_COLOUR = "#7a3e9d"
_HERE: dict[str, Any] = {"facecolor": (0.48, 0.24, 0.62, 0.06), "edgecolor": (0.48, 0.24, 0.62, 0.45), "hatch": "\\\\"}
_ELSEWHERE: dict[str, Any] = {"facecolor": (0.5, 0.5, 0.5, 0.08), "edgecolor": (0.45, 0.45, 0.5, 0.4), "hatch": "\\\\"}
_SIZE = 7.0


def draw_regions(sheet: Sheet, frame: Frame, regions: Sequence[RegionView]) -> None:
    """Hatch what each region owns and outline all of it."""
    for region in regions:
        boxes = [frame.place(box) for box in region.boxes]
        sheet.shape(boxes, **(_HERE if region.here else _ELSEWHERE), linewidth=0.0, zorder=4.5)
        line = "solid" if region.here else (0, (4.0, 2.0))
        colour = _COLOUR if region.here else QUIET
        sheet.rectangle(
            frame.place(region.box), fill=False, edgecolor=colour, linewidth=1.8, linestyle=line, zorder=6.5
        )


def name_regions(sheet: Sheet, frame: Frame, regions: Sequence[RegionView], occupied: Occupied) -> None:
    """Write each region's name where there is room for it, by preference at its upper left corner."""
    for region in regions:
        area, text = frame.place(region.box), f"region {region.name}"
        width, height = block_size((text,), _SIZE)
        for box in _places(area, width, height):
            if occupied.free(box):
                occupied.take(box)
                colour = _COLOUR if region.here else QUIET
                patch = {"boxstyle": "square,pad=0.2", "facecolor": "white", "edgecolor": colour, "linewidth": 0.6}
                style: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 12.5, "weight": "bold"}
                sheet.write(*box.centre, text, _SIZE, color=colour, bbox=patch, **style)
                break


def _places(area: Box, width: float, height: float) -> list[Box]:
    """Return where a name may go: corners inside, then above and below, then its middle whatever lies there."""
    left, right = area.left + width / 2 + 5, area.right - width / 2 - 5
    inside = [(x, y) for y in (area.top - height, area.bottom + height) for x in (left, right, area.centre[0])]
    outside = [(x, y) for y in (area.top + height, area.bottom - height) for x in (left, right)]
    return [Box.around(x, y, width + 4, height + 4) for x, y in (*inside, *outside)]
