"""Networks that share the external memory: what they move over a period, the rates they reach, and the joint front."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from floorflow.errors import InputError
from floorflow.view.charts import POINTS_PER_INCH, SIZE, drawing_settings, dress, write_key, write_lines
from floorflow.view.names import Plan, network_names, networks_text, platform_text
from floorflow.view.palette import BAR, CROSSING, DOUBT, INK, OPEN, QUIET, Colour, darker, network_colour
from floorflow.view.parts import time_text, time_unit
from floorflow.view.text import clipped

Shared = dict[str, Any]
"""The schedule of the memory as plan.json holds it."""
Floats = NDArray[np.float64]

_WIDTH, _STACK, _LANE, _TOP, _BOTTOM, _BETWEEN = 10.0, 2.9, 0.3, 0.75, 0.98, 0.12
_LEFT, _RIGHT = 1.35, 0.25
"""In inches: the sheet, the stack, a network's lane, margins, and what lies between stack and lanes."""
_RATES_WIDTH, _RATES_ROW, _RATES_TOP, _RATES_BOTTOM, _RATES_RIGHT, _THICK = 8.2, 0.82, 0.8, 0.85, 1.75, 0.3
"""Of the rates: the sheet, a network's row, margins, and the height of a bar as a share of the row."""
_DASHES = (0, (4, 2))
_HEAD = 0.25
"""Inches left of a head."""


def schedule_of(plan: Plan) -> Shared:
    """Return the schedule of the memory.

    Raises InputError if the plan has none.
    """
    shared: Shared | None = plan.get("memory_schedule")
    if shared is None:
        raise InputError("plan.json: memory_schedule is null", hint="only networks that share the memory have one")
    return shared


def _write_head(figure: Figure, plan: Plan, what: str, under: str) -> None:
    title = f"{what} of {networks_text(network_names(plan))} on {platform_text(plan)}"
    write_lines(figure, _HEAD, (title, 0.32), (under, 0.54))


def _colour_of(number: int) -> Colour:
    """Return the colour of a network, by its place among the plan's."""
    return network_colour(number)


def memory_chart(plan: Plan) -> Figure:
    """Draw the bandwidth by network over one period, and when each of its frames is worked on."""
    shared = schedule_of(plan)
    lanes = _LANE * len(shared["networks"])
    height = _TOP + _STACK + _BETWEEN + lanes + _BOTTOM
    unit, size_us = time_unit(shared["period_us"])
    with drawing_settings():
        figure = Figure(figsize=(_WIDTH, height), facecolor="white")
        left, across = _LEFT / _WIDTH, (_WIDTH - _LEFT - _RIGHT) / _WIDTH
        _draw_stack(
            figure.add_axes((left, (_BOTTOM + lanes + _BETWEEN) / height, across, _STACK / height)), shared, size_us
        )
        below = figure.add_axes((left, _BOTTOM / height, across, lanes / height))
        _draw_lanes(below, shared, size_us)
        below.set_xlabel(f"time in {unit}, one period", fontsize=SIZE, color=QUIET)
        stats = shared["schedule"]
        proof = (
            "proven the shortest" if stats["status"] == "optimal" else f"at most {stats['gap']:.1%} above the shortest"
        )
        under = (
            f"period {time_text(shared['period_us'])} ({proof} for these engines and repetitions)   ·   "
            f"{shared['memory_gbs']:g} GB/s, {shared['bandwidth_gbs']:.4g} planned with   ·   "
            f"rounds of {shared['slots_total']} slots"
        )
        _write_head(figure, plan, "External memory", under)
        handles: list[Artist] = [
            Patch(
                facecolor=_colour_of(number), label=f"{network['network']}: {_count(network['repetitions'])} a period"
            )
            for number, network in enumerate(shared["networks"])
        ]
        handles.append(Line2D([], [], color=CROSSING, label="what is planned with"))
        handles.append(Line2D([], [], color=QUIET, linestyle=_DASHES, label="the memory's peak"))
        write_key(figure, handles, ncols=min(len(handles), 4), handlelength=1.6)
    return figure


def _count(frames: int) -> str:
    return f"{frames} frame{'s' * (frames != 1)}"


def _transfers(shared: Shared, network: str) -> list[dict[str, Any]]:
    """Return what a network moves, in the order of time."""
    own = (each for each in shared["transfers"] if each["network"] == network)
    return sorted(own, key=lambda each: each["start_us"])


def used_gbs(shared: Shared) -> tuple[Floats, list[Floats]]:
    """Return the times, in us, at which what networks move changes, and for each of them what it is from then on."""
    ends = {each[at] for each in shared["transfers"] for at in ("start_us", "end_us")}
    times = np.array(sorted({0.0, shared["period_us"], *ends}))
    found = []
    for network in shared["networks"]:
        changes = np.zeros(len(times))
        for each in _transfers(shared, network["network"]):
            gbs = each["traffic_bytes"] / (each["end_us"] - each["start_us"]) / 1000
            changes[np.searchsorted(times, each["start_us"])] += gbs
            changes[np.searchsorted(times, each["end_us"])] -= gbs
        found.append(np.maximum(np.cumsum(changes), 0.0))
    return times, found


def _draw_stack(axes: Axes, shared: Shared, size_us: float) -> None:
    times, found = used_gbs(shared)
    tops = np.cumsum([np.zeros(len(times)), *found], axis=0)
    for number, (below, above) in enumerate(pairwise(tops)):
        axes.fill_between(times / size_us, below, above, step="post", color=_colour_of(number), linewidth=0)
    axes.axhline(shared["bandwidth_gbs"], color=CROSSING, linewidth=1.0)
    axes.axhline(shared["memory_gbs"], color=QUIET, linewidth=0.8, linestyle=_DASHES)
    axes.set_xlim(0, shared["period_us"] / size_us)
    axes.set_ylim(0, shared["memory_gbs"] * 1.06)
    axes.set_ylabel("GB/s", fontsize=SIZE, color=QUIET)
    axes.set_xticklabels([])
    dress(axes)


def _draw_lanes(axes: Axes, shared: Shared, size_us: float) -> None:
    networks = shared["networks"]
    for number, network in enumerate(networks):
        colour = _colour_of(number)
        for start, end, frame in frames_of(shared, network):
            shade = darker(colour, 0.8) if frame % 2 else colour
            axes.barh(len(networks) - 1 - number, (end - start) / size_us, left=start / size_us, height=0.72,
                      color=shade, edgecolor="white", linewidth=0.4)  # fmt: skip
    axes.set_xlim(0, shared["period_us"] / size_us)
    axes.set_ylim(-0.5, len(networks) - 0.5)
    names = [clipped(network["network"], (_LEFT - 0.35) * POINTS_PER_INCH, SIZE) for network in networks]
    axes.set_yticks(range(len(networks)), reversed(names))
    dress(axes)
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=SIZE)


def frames_of(shared: Shared, network: dict[str, Any]) -> list[tuple[float, float, int]]:
    """Return from when to when, in us, each frame of a period is worked on, and which of its frames it is.

    The frame that a period begins and ends with counts as one, and is there twice.
    """
    pieces, count = _transfers(shared, network["network"]), len(network["subgraphs"])
    frames = [(network["first"] + each["run"]) // count % network["repetitions"] for each in pieces]
    cuts = [0, *(place for place, (a, b) in enumerate(pairwise(frames), 1) if a != b), len(pieces)]
    return [(pieces[a]["start_us"], pieces[b - 1]["end_us"], frames[a]) for a, b in pairwise(cuts)]


def rates_chart(plan: Plan) -> Figure:
    """Draw each network's rates over its target: by the schedule, without one, and what was asked for."""
    shared = schedule_of(plan)
    networks = shared["networks"]
    body = _RATES_ROW * len(networks)
    height = _RATES_TOP + body + _RATES_BOTTOM
    with drawing_settings():
        figure = Figure(figsize=(_RATES_WIDTH, height), facecolor="white")
        across = (_RATES_WIDTH - _LEFT - _RATES_RIGHT) / _RATES_WIDTH
        axes = figure.add_axes((_LEFT / _RATES_WIDTH, _RATES_BOTTOM / height, across, body / height))
        for number, network in enumerate(networks):
            _draw_rates_of(axes, network, _colour_of(number), len(networks) - 1 - number)
        axes.axvline(1.0, color=CROSSING, linewidth=1.0)
        most = max(max(each["fps"], each["unaware_fps"]) / each["target_fps"] for each in networks)
        axes.set_xlim(0, max(1.12, most * 1.12))
        axes.set_ylim(-0.5, len(networks) - 0.5)
        axes.set_yticks(range(len(networks)), [network["network"] for network in reversed(networks)])
        axes.set_xlabel("frames a second over the target", fontsize=SIZE, color=QUIET)
        dress(axes)
        axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=SIZE)
        starved = [network["network"] for network in networks if network["starved"]]
        said = f"starved: {', '.join(starved)}" if starved else "none is starved"
        _write_head(figure, plan, "Rates", f"error {shared['error']:.4g}   ·   {said}")
        without: dict[str, Any] = {"facecolor": "white", "edgecolor": darker(_colour_of(0), 0.7), "hatch": "////"}
        handles: list[Artist] = [
            Patch(facecolor=_colour_of(0), label="by the schedule"),
            Patch(**without, label="without one, simulated"),
            Line2D([], [], color=CROSSING, label="target"),
            Line2D([], [], color=QUIET, linestyle=_DASHES, label="least"),
        ]
        write_key(figure, handles)
    return figure


def _draw_rates_of(axes: Axes, network: dict[str, Any], colour: Colour, y: int) -> None:
    target = network["target_fps"]
    hatched = {"facecolor": "white", "edgecolor": darker(colour, 0.7), "hatch": "////", "linewidth": 0.6}
    rows = (("fps", _THICK / 2, {"color": colour}), ("unaware_fps", -_THICK / 2, hatched))
    for name, above, style in rows:
        fps = network[name]
        axes.barh(y + above, fps / target, height=_THICK * 0.92, **style)
        doubt = network["starved"] and name == "fps"
        axes.text(fps / target + 0.01, y + above, f"{fps:.4g}", fontsize=SIZE - 1, va="center",
                  color=DOUBT if doubt else INK)  # fmt: skip
    least = network["least_fps"] / target
    axes.plot([least] * 2, [y - 0.38, y + 0.38], color=QUIET, linewidth=1.0, linestyle=_DASHES)
    said = f"target {target:.4g}, alone {network['alone_fps']:.4g}"
    axes.text(1.02, y, said, fontsize=SIZE - 1, va="center", color=QUIET, transform=axes.get_yaxis_transform())


def joint_front_chart(plan: Plan) -> Figure:
    """Draw the least error of all networks together over the share of the limits that their engines may use."""
    shared = schedule_of(plan)
    with drawing_settings():
        figure = Figure(figsize=(9.4, 4.1), facecolor="white")
        _draw_errors(figure.add_axes((0.075, 0.25, 0.4, 0.52)), shared)
        _draw_rates(figure.add_axes((0.575, 0.25, 0.4, 0.52)), shared)
        under = "the best engines with constant shares of the memory, least rates aside"
        _write_head(figure, plan, "Joint front", under)
        handles: list[Artist] = [
            Line2D([], [], color=BAR, marker="o", markersize=4.5, label="least error, proven"),
            Line2D([], [], color=INK, marker="*", markersize=9, mec="white", linestyle="none",
                   label="the plan's schedule"),
            Line2D([], [], color=CROSSING, label="left: no schedule is below; right: target"),
            *(
                Line2D([], [], color=darker(_colour_of(number), 0.8), marker="o", markersize=4,
                       label=network["network"])
                for number, network in enumerate(shared["networks"])
            ),
        ]  # fmt: skip
        if any(point["stats"]["status"] != "optimal" for point in shared["front"]):
            open_ = Line2D([], [], color=OPEN, marker="o", mfc="white", label="found; the least lies on the bar")
            handles.insert(1, open_)
        write_key(figure, handles)
    return figure


def _draw_errors(axes: Axes, shared: Shared) -> None:
    front = shared["front"]
    axes.step([point["share"] for point in front], [point["stats"]["objective"] for point in front], where="post",
              color=BAR, linewidth=1.4)  # fmt: skip
    for point in front:
        share, stats = point["share"], point["stats"]
        proven, objective = stats["status"] == "optimal", stats["objective"]
        if not proven:
            axes.plot([share] * 2, [stats["bound"], objective], color=OPEN, linewidth=1.0)
        edge, face = (BAR, BAR) if proven else (OPEN, "white")
        axes.plot(share, objective, "o", markersize=4.5, mec=edge, mfc=face)
        axes.annotate(f"{objective:.3g}", (share, objective), (4, 4), textcoords="offset points",
                      fontsize=SIZE - 1, color=INK)  # fmt: skip
    axes.plot(1.0, shared["error"], "*", markersize=11, mfc=INK, mec="white", zorder=5)
    axes.axhline(shared["error_bound"], color=CROSSING, linewidth=1.0)
    axes.set_ylim(0, 1.15 * max(shared["error"], *(point["stats"]["objective"] for point in front)))
    axes.set_ylabel("error", fontsize=SIZE, color=QUIET)
    _dress_shares(axes)


def _draw_rates(axes: Axes, shared: Shared) -> None:
    front = shared["front"]
    for number, network in enumerate(shared["networks"]):
        target, colour = network["target_fps"], darker(_colour_of(number), 0.8)
        rates = [point["fps"][network["network"]] / target for point in front]
        axes.plot([point["share"] for point in front], rates, "o-", color=colour, markersize=4, linewidth=1.4)
        axes.plot(1.0, network["fps"] / target, "*", markersize=11, mfc=colour, mec="white", zorder=5)
    axes.axhline(1.0, color=CROSSING, linewidth=1.0)
    axes.set_ylim(0, None)
    axes.set_ylabel("rate over its target", fontsize=SIZE, color=QUIET)
    _dress_shares(axes)


def _dress_shares(axes: Axes) -> None:
    axes.set_xlim(0, 1.08)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("share of the limits that engines may use", fontsize=SIZE, color=QUIET)
    dress(axes)
