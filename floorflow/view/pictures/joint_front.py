"""The joint Pareto front as a figure: the least error, and the rates, within shares of what the platform allows."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from floorflow.view.contents.names import Plan
from floorflow.view.contents.sharing import read_memory, schedule_of
from floorflow.view.pictures.memory import colour_of, plain, write_head
from floorflow.view.sheet.palette import BAR, CROSSING, INK, OPEN, QUIET, darker
from floorflow.view.sheet.sheet import drawing_settings

_WIDTH, _HEIGHT = 9.4, 4.1
_SIZE = 8.5


def joint_front_chart(plan: Plan) -> Figure:
    """Draw the least error of all networks together over the share of the limits that their engines may use.

    Raises
    ------
    InputError
        If the plan has no schedule of the memory.

    """
    shared, view = schedule_of(plan), read_memory(plan)
    with drawing_settings():
        figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white")
        _draw_errors(figure.add_axes((0.075, 0.25, 0.4, 0.52)), shared)
        _draw_rates(figure.add_axes((0.575, 0.25, 0.4, 0.52)), shared)
        title = view.title.replace("External memory", "Joint front", 1)
        write_head(figure, title, "the best engines with constant shares of the memory, least rates aside")
        _write_key(figure, shared)
    return figure


def _draw_errors(axes: Axes, shared: dict[str, Any]) -> None:
    front = shared["front"]
    shares = [point["share"] for point in front]
    axes.step(shares, [point["stats"]["objective"] for point in front], where="post", color=BAR, linewidth=1.4)
    for point in front:
        proven, objective = point["stats"]["status"] == "optimal", point["stats"]["objective"]
        if not proven:
            axes.plot([point["share"]] * 2, [point["stats"]["bound"], objective], color=OPEN, linewidth=1.0)
        edge, face = (BAR, BAR) if proven else (OPEN, "white")
        axes.plot(point["share"], objective, "o", markersize=4.5, mec=edge, mfc=face)
        axes.annotate(f"{objective:.3g}", (point["share"], objective), (4, 4), textcoords="offset points",
                      fontsize=_SIZE - 1, color=INK)  # fmt: skip
    axes.plot(1.0, shared["error"], "*", markersize=11, mfc=INK, mec="white", zorder=5)
    axes.axhline(shared["error_bound"], color=CROSSING, linewidth=1.0)
    axes.set_ylim(0, 1.15 * max(shared["error"], *(point["stats"]["objective"] for point in front)))
    axes.set_ylabel("error", fontsize=_SIZE, color=QUIET)
    _shares(axes)


def _draw_rates(axes: Axes, shared: dict[str, Any]) -> None:
    front = shared["front"]
    for number, network in enumerate(shared["networks"]):
        rates = [point["fps"][network["network"]] / network["target_fps"] for point in front]
        colour = darker(colour_of(number), 0.8)
        axes.plot([point["share"] for point in front], rates, "o-", color=colour, markersize=4, linewidth=1.4)
        axes.plot(1.0, network["fps"] / network["target_fps"], "*", markersize=11, mfc=colour, mec="white", zorder=5)
    axes.axhline(1.0, color=CROSSING, linewidth=1.0)
    axes.set_ylim(0, None)
    axes.set_ylabel("rate over its target", fontsize=_SIZE, color=QUIET)
    _shares(axes)


def _shares(axes: Axes) -> None:
    axes.set_xlim(0, 1.08)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("share of the limits that engines may use", fontsize=_SIZE, color=QUIET)
    plain(axes)


def _write_key(figure: Figure, shared: dict[str, Any]) -> None:
    width, height = figure.get_size_inches()
    handles = [
        Line2D([], [], color=BAR, marker="o", markersize=4.5, label="least error, proven"),
        Line2D([], [], color=INK, marker="*", markersize=9, mec="white", linestyle="none", label="the plan's schedule"),
        Line2D([], [], color=CROSSING, label="left: no schedule is below; right: target"),
        *(
            Line2D([], [], color=darker(colour_of(number), 0.8), marker="o", markersize=4, label=network["network"])
            for number, network in enumerate(shared["networks"])
        ),
    ]
    if any(point["stats"]["status"] != "optimal" for point in shared["front"]):
        open_ = Line2D([], [], color=OPEN, marker="o", mfc="white", label="found; the least lies on the bar")
        handles.insert(1, open_)
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.2 / width, 0.05 / height), fontsize=_SIZE,
                  ncols=4, frameon=False, borderaxespad=0)  # fmt: skip
