"""Fronts as a table for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from rich.markup import escape
from rich.table import Table

from floorflow.cli.fitting_table import FittingTable

Content = Mapping[str, Any]
"""Fronts, one of them, or a point of one, as pareto.json holds them."""
_SCARCITY = "scarcity"
"""The one objective that is no resource."""


def pareto_table(pareto: Content) -> Table:
    """Return one row an interval and one column a front; what is not proven stands with its bound."""
    fronts = pareto["fronts"]
    numbers = ("interval", "frames/s", *(front["objective"] for front in fronts))
    table = FittingTable(_title(pareto), numbers=numbers, caption=_caption(fronts))
    for points in zip(*(front["points"] for front in fronts), strict=True):
        cells = (_cell(front["objective"], point, pareto) for front, point in zip(fronts, points, strict=True))
        table.add_row(f"{points[0]['interval_cycles']:,}", _rate(points[0]["frames_per_s"]), *cells)
    return table


def _title(pareto: Content) -> str:
    board = pareto["platform"] if pareto["fpgas"] == 1 else f"{pareto['fpgas']} x {pareto['platform']}"
    return escape(
        f"{pareto['network']} on {board}, costs {pareto['costs']}, {pareto['clock_mhz']:g} MHz: the least of each "
        f"alone, within all limits; no folding is faster than {pareto['bound_cycles']:,} cycles"
    )


def _caption(fronts: list[Content]) -> str:
    told = ["Shares are of the platform's limits; each column is a folding of its own."]
    if any(point["status"] == "feasible" for front in fronts for point in front["points"]):
        told.append("Behind >= what is proven, where that is less than what was found.")
    told.append("Seconds: " + ", ".join(f"{front['objective']} {front['seconds']:.1f}" for front in fronts) + ".")
    return escape("\n".join(told))


def _rate(frames_per_s: float) -> str:
    """Write a rate, never more than it is."""
    return f"{floor(frames_per_s + 1e-9):,}" if frames_per_s >= 100 else f"{floor(frames_per_s * 100) / 100:.2f}"


def _cell(objective: str, point: Content, pareto: Content) -> str:
    if point["value"] is None:
        return "none" if point["status"] == "infeasible" else "?"
    text = _number(objective, point["value"])
    if objective != _SCARCITY:
        limit = pareto["budget"][objective]
        text += f" {point['value'] / limit:.1%}" if limit else ""
    if point["status"] == "feasible":
        text += " (>= ?)" if point["bound"] is None else f" (>= {_number(objective, point['bound'])})"
    return text


def _number(objective: str, value: float) -> str:
    return f"{value:.4f}" if objective == _SCARCITY else f"{value:,.0f}"
