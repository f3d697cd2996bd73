"""Fronts as a table for a person at a terminal."""

from __future__ import annotations

from math import floor

from rich.markup import escape
from rich.table import Table

from floorflow.study.pareto.fronts import SCARCITY, Front, Point
from floorflow.study.pareto.pareto import Pareto
from floorflow.text.table import FittingTable


def pareto_table(pareto: Pareto) -> Table:
    """Return one row an interval and one column a front; what is not proven stands with its bound."""
    numbers = ("interval", "frames/s", *(front.objective for front in pareto.fronts))
    table = FittingTable(_title(pareto), numbers=numbers, caption=_caption(pareto))
    for points in zip(*(front.points for front in pareto.fronts), strict=True):
        cycles = points[0].interval_cycles
        cells = (_cell(front, point, pareto) for front, point in zip(pareto.fronts, points, strict=True))
        table.add_row(f"{cycles:,}", _rate(pareto.clock_mhz * 1e6 / cycles), *cells)
    return table


def _title(pareto: Pareto) -> str:
    board = pareto.platform if pareto.fpgas == 1 else f"{pareto.fpgas} x {pareto.platform}"
    return escape(
        f"{pareto.network} on {board}, costs {pareto.costs}, {pareto.clock_mhz:g} MHz: the least of each alone, "
        f"within all limits; no folding is faster than {pareto.bound_cycles:,} cycles"
    )


def _caption(pareto: Pareto) -> str:
    told = ["Shares are of the platform's limits; each column is a folding of its own."]
    if any(point.status == "feasible" for front in pareto.fronts for point in front.points):
        told.append("Behind >= what is proven, where that is less than what was found.")
    told.append("Seconds: " + ", ".join(f"{front.objective} {front.seconds:.1f}" for front in pareto.fronts) + ".")
    return escape("\n".join(told))


def _rate(frames_per_s: float) -> str:
    """Write a rate, never more than it is."""
    return f"{floor(frames_per_s + 1e-9):,}" if frames_per_s >= 100 else f"{floor(frames_per_s * 100) / 100:.2f}"


def _cell(front: Front, point: Point, pareto: Pareto) -> str:
    if point.value is None:
        return "none" if point.status == "infeasible" else "?"
    text = _number(front, point.value)
    if front.objective != SCARCITY:
        limit = pareto.budget.as_dict()[front.objective]
        text += f" {point.value / limit:.1%}" if limit else ""
    if point.status == "feasible":
        text += " (>= ?)" if point.bound is None else f" (>= {_number(front, point.bound)})"
    return text


def _number(front: Front, value: float) -> str:
    return f"{value:.4f}" if front.objective == SCARCITY else f"{value:,.0f}"
