"""What was found of a network over areas: plain data, a table's rows, pictures and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from floorflow.papers.dpr.network import ChunkedNetwork
from floorflow.papers.dpr.over_areas import Asked, points
from floorflow.papers.dpr.paper import PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("area", "static_ms", "dynamic_ms", "chunks", "run_ms", "load_ms", "hidden_load_ms", "gap", "status")


@dataclass(frozen=True)
class ChunkStudy:
    """A network's fastest designs, static and dynamic, over areas."""

    content: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data."""
        return dict(self.content)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row an area; what there is not is left out."""
        return [_row(point) for point in self.content["points"]]

    def files(self) -> dict[str, str | bytes]:
        """Return ``chunks.json`` and ``chunks.csv``."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return {"chunks.json": json.dumps(self.content, indent=2, sort_keys=True) + "\n", "chunks.csv": text.getvalue()}

    def figures(self) -> dict[str, Figure]:
        """Draw time against area (the paper's figure 5) and what it is made of (figure 7)."""
        from floorflow.view.pictures.chunks import composition_chart, time_chart

        return {"time": time_chart(self.content), "composition": composition_chart(self.content)}


def _row(point: Mapping[str, Any]) -> dict[str, Any]:
    static, dynamic = point["static"], point["dynamic"]
    found = {"static_ms": static["ms"], "dynamic_ms": dynamic["ms"], "chunks": len(dynamic["chunks"]) or None}
    parts = {name: dynamic.get(name) for name in ("run_ms", "load_ms", "hidden_load_ms")}
    row = {"area": point["area"], **found, **parts, "gap": dynamic["gap"], "status": dynamic["status"]}
    return {key: value for key, value in row.items() if value is not None}


def _paper(network: ChunkedNetwork) -> Mapping[str, Any] | None:
    """Return what the paper prints of a network, if it is asked for as there."""
    problem = network.problem
    same = network.platform == "pynq-z1" and (problem.batch, problem.clock_mhz) == (256, 100)
    return PAPER.get(network.name.upper()) if same else None


def study_chunks(network: ChunkedNetwork, areas: Sequence[Fraction], asked: Asked, foldings: str) -> ChunkStudy:
    """Return the fastest designs of a network at each area."""
    problem = network.problem
    return ChunkStudy(
        {
            "network": network.name,
            "platform": network.platform,
            "costs": network.costs,
            "foldings": foldings,
            "method": asked.method,
            "batch": problem.batch,
            "clock_mhz": problem.clock_mhz,
            "memory_gbs": problem.memory_gbs,
            "regions": asked.regions,
            "sizes": "free" if asked.step is not None else [float(share) for share in asked.shares] or "equal",
            "load_us": {"per_area": problem.load.us_per_area, "offset": problem.load.offset_us},
            "layers": [
                {
                    "name": layer.name,
                    "options": len(layer.cycles),
                    "bits_behind": layer.bits_behind,
                    "cut_behind": layer.cut_behind,
                }
                for layer in problem.layers
            ],
            "paper": _paper(network),
            "points": points(problem, areas, asked),
        }
    )
