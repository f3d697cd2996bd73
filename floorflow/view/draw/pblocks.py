"""How modules are drawn by what the constraint files say of their slot: only a hard pblock has a firm outline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floorflow.view.sheet.palette import Colour, darker


@dataclass(frozen=True)
class PblockStyle:
    """What a slot's style is called beside its modules and in the key, and how opaque and outlined these are."""

    slot: str
    key: str
    opacity: float
    line: Any

    def area(self, colour: Colour) -> Mapping[str, Any]:
        """Return how the area of a module is filled."""
        return {"facecolor": (*colour, self.opacity), "edgecolor": "none"}

    def outline(self, colour: Colour) -> Mapping[str, Any]:
        """Return how its outline is drawn."""
        return {"fill": False, "edgecolor": darker(colour), "linewidth": 1.0, "linestyle": self.line}


PBLOCK_STYLES: Mapping[str, PblockStyle] = {
    "hard": PblockStyle("hard pblocks", "hard pblock", 0.82, "solid"),
    "soft": PblockStyle("soft pblocks", "soft pblock: cells may leave it", 0.55, (0, (4.0, 2.0))),
    "slr": PblockStyle("SLR alone", "no pblock, its SLR alone: where it would fit", 0.3, (0, (1.0, 1.8))),
    "none": PblockStyle("not constrained", "not constrained: where it would fit", 0.3, (0, (1.0, 1.8))),
}
SAMPLE: Colour = (0.62, 0.68, 0.76)
"""Colour of the samples in the key."""
