"""Chunks over areas: time against area, static and dynamic, and what the dynamic time is made of."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from floorflow.view.charts import SIZE, TITLE_SIZE, drawing_settings
from floorflow.view.palette import BAR, CROSSING, INK, QUIET, RULE

Content = Mapping[str, Any]
"""As `floorflow chunks --json` prints it."""


def time_chart(content: Content) -> Figure:
    """Draw the time of a batch against the area, where the network is the paper's beside its numbers."""
    with drawing_settings():
        figure, axes = _sheet(f"{content['network']} on {content['platform']}: {content['batch']:,} images")
        kinds = (("static", "static: one chunk", "o", CROSSING), ("dynamic", "dynamic: chunks", "s", BAR))
        for kind, label, marker, colour in kinds:
            found = [(100 * p["area"], p[kind]["ms"]) for p in content["points"] if p[kind]["ms"] is not None]
            if found:
                axes.plot(*zip(*found, strict=True), marker=marker, color=colour, label=label, markersize=4)
        paper = content["paper"]
        if paper is not None:
            printed = [(100 * float(area), ms) for area, ms in paper["static_ms"].items()]
            axes.plot(*zip(*printed, strict=True), "x", color=INK, label="paper, static")
            axes.axhline(paper["stock_ms"], color=QUIET, linewidth=0.9, linestyle=":", label="paper, stock")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel("ms a batch", fontsize=SIZE)
        _finish(axes)
        return figure


def composition_chart(content: Content) -> Figure:
    """Draw compute and loading of the dynamic designs as stacked bars, the number of chunks above each."""
    with drawing_settings():
        figure, axes = _sheet(f"{content['network']} on {content['platform']}: what the time is made of")
        found = [p for p in content["points"] if p["dynamic"]["ms"] is not None]
        places = [100 * point["area"] for point in found]
        width = 0.7 * min((b - a for a, b in pairwise(places)), default=5.0)
        runs = [point["dynamic"]["run_ms"] for point in found]
        loads = [point["dynamic"]["load_ms"] - point["dynamic"]["hidden_load_ms"] for point in found]
        axes.bar(places, runs, width, color=BAR, label="compute")
        axes.bar(places, loads, width, bottom=runs, color=RULE, label="loading that is waited for")
        for point, place in zip(found, places, strict=True):
            text = str(len(point["dynamic"]["chunks"]))
            axes.annotate(text, (place, point["dynamic"]["ms"]), ha="center", va="bottom", fontsize=SIZE)
        axes.set_ylabel("ms a batch", fontsize=SIZE)
        _finish(axes)
        return figure


def _sheet(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=TITLE_SIZE, loc="left", color=INK)
    axes.set_xlabel("% of the board's resources", fontsize=SIZE)
    return figure, axes


def _finish(axes: Axes) -> None:
    axes.tick_params(labelsize=SIZE)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=SIZE, frameon=False)
