"""Folding methods as a figure: interval against scarcity, with the bound that no folding can be below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from floorflow.view.charts import MARKS, SIZE, drawing_settings, dress, write_lines
from floorflow.view.names import frames_text
from floorflow.view.palette import CROSSING, INK, LINK, QUIET, RULE

Comparison = Mapping[str, Any]
"""As `floorflow compare` writes it."""

_KEY_SIZE = 8


def comparison_chart(comparison: Comparison) -> Figure:
    """Draw each method's answer, one marker each, over the proven bound."""
    with drawing_settings():
        figure = Figure(figsize=(10.4, 5.2), facecolor="white")
        axes = figure.add_axes((0.08, 0.12, 0.48, 0.74))
        answered = [row for row in comparison["methods"] if row["interval_cycles"] is not None]
        _draw_bound(axes, comparison["curve"])
        for index, row in enumerate(answered):
            marker, colour = MARKS[index % len(MARKS)]
            # Later ones are smaller, so that equal answers show as rings.
            style: dict[str, Any] = {
                "marker": marker,
                "color": colour,
                "markersize": max(12 - 1.5 * index, 4),
                "linestyle": "none",
            }
            axes.plot(
                row["interval_cycles"], row["scarcity"], label=_label(row), zorder=5, mew=0.7, mec="white", **style
            )
        _draw_first(axes, comparison)
        _dress(axes)
        title = f"{comparison['network']} on {comparison['platform']}: folding methods"
        conditions = f"costs {comparison['costs']}, {comparison['clock_mhz']:g} MHz; converters and FIFOs counted"
        write_lines(figure, 0.83, (title, 0.36), (conditions, 0.6))
        _write_key(figure, axes, comparison)
        return figure


def _label(row: Mapping[str, Any]) -> str:
    gap = "" if row["gap"] is None else f", gap {row['gap']:.1%}"
    return f"{row['method']}: {frames_text(row['frames_per_s'])} frames/s, scarcity {row['scarcity']:.3f}{gap}"


def _draw_bound(axes: Axes, curve: Sequence[Mapping[str, Any]]) -> None:
    """Draw the bound as steps: what no folding is below at an interval, none is below at a shorter one."""
    if not curve:
        return
    cycles = [point["interval_cycles"] for point in curve]
    bounds = [point["scarcity_bound"] for point in curve]
    axes.step(cycles, bounds, where="pre", color=INK, linewidth=1.2, zorder=3, label="bound: no folding is below")
    axes.fill_between(cycles, bounds, step="pre", color="#eceef0", zorder=1, linewidth=0)


def _draw_first(axes: Axes, comparison: Comparison) -> None:
    """Mark the shortest intervals possible, or the one that was asked for."""
    marks = (
        ("bound_cycles", INK, "shortest interval that is not proven impossible"),
        ("joint_bound_cycles", LINK, "the same with each engine in one slot"),
        ("requested_cycles", CROSSING, "longest interval that reaches the rate"),
    )
    for key, colour, text in marks:
        if comparison[key] is not None:
            axes.axvline(comparison[key], color=colour, linewidth=1.0, linestyle="--", zorder=2, label=text)


def _dress(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(x=0.08, y=0.12)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        axis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    dress(axes)
    axes.grid(color=RULE, linewidth=0.4)
    axes.set_xlabel("interval in cycles (logarithmic); shorter is faster", fontsize=SIZE, color=QUIET)
    axes.set_ylabel("scarcity: shares of LUT, BRAM18, URAM and DSP, summed", fontsize=SIZE, color=QUIET)


def _write_key(figure: Figure, axes: Axes, comparison: Comparison) -> None:
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=_KEY_SIZE, frameon=False, borderaxespad=0,
        labelspacing=0.9,
    )  # fmt: skip
    missing = [row for row in comparison["methods"] if row["interval_cycles"] is None]
    lines = [f"{row['method']}: {row['verdict']}" for row in missing]
    text = "\n".join(line if len(line) <= 78 else line[:75] + "..." for line in lines)
    figure.text(0.575, 0.12, text, fontsize=_KEY_SIZE, color=QUIET, va="bottom")
