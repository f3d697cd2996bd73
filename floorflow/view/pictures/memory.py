"""The external memory as a figure: what each network moves over one period, stacked, and its frames below."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from floorflow.view.contents.names import Plan
from floorflow.view.contents.sharing import MemoryView, SharingView, read_memory
from floorflow.view.contents.timeline import time_unit
from floorflow.view.sheet.geometry import POINTS_PER_INCH
from floorflow.view.sheet.palette import CROSSING, INK, QUIET, RULE, Colour, darker, network_colours
from floorflow.view.sheet.sheet import drawing_settings
from floorflow.view.sheet.text import clipped

Floats = NDArray[np.float64]

_WIDTH, _STACK, _LANE, _TOP, _BOTTOM, _BETWEEN = 10.0, 2.9, 0.3, 0.75, 0.98, 0.12
_LEFT, _RIGHT = 1.35, 0.25
"""In inches: the sheet, the stack, a network's lane, margins, and what lies between stack and lanes."""
_TITLE_SIZE, _SIZE, _TICK_SIZE = 12, 8.5, 7.5


def memory_chart(plan: Plan) -> Figure:
    """Draw the bandwidth by network over one period, and when each of its frames is worked on.

    Raises
    ------
    InputError
        If the plan has no schedule of the memory.

    """
    view = read_memory(plan)
    lanes = _LANE * len(view.networks)
    height = _TOP + _STACK + _BETWEEN + lanes + _BOTTOM
    with drawing_settings():
        figure = Figure(figsize=(_WIDTH, height), facecolor="white")
        across = (_LEFT / _WIDTH, (_WIDTH - _LEFT - _RIGHT) / _WIDTH)
        stack = figure.add_axes((across[0], (_BOTTOM + lanes + _BETWEEN) / height, across[1], _STACK / height))
        below = figure.add_axes((across[0], _BOTTOM / height, across[1], lanes / height))
        unit, size_us = time_unit(view.period_us)
        _draw_stack(stack, view, size_us)
        _draw_lanes(below, view, size_us)
        below.set_xlabel(f"time in {unit}, one period", fontsize=_SIZE, color=QUIET)
        write_head(figure, view.title, view.subtitle)
        _write_key(figure, view)
    return figure


def write_head(figure: Figure, title: str, subtitle: str) -> None:
    """Write a figure's title, and what is to be known of it."""
    width, height = figure.get_size_inches()
    room = (width - 0.5) * POINTS_PER_INCH
    figure.text(0.25 / width, 1 - 0.32 / height, clipped(title, room * 0.88, _TITLE_SIZE), fontsize=_TITLE_SIZE,
                color=INK, weight="bold")  # fmt: skip
    figure.text(0.25 / width, 1 - 0.54 / height, clipped(subtitle, room, _SIZE), fontsize=_SIZE, color=QUIET)


def plain(axes: Axes) -> None:
    """Give axes the look of all pictures."""
    axes.tick_params(labelsize=_TICK_SIZE, color=RULE, labelcolor=QUIET, length=2.5)
    for spine in axes.spines.values():
        spine.set_color(RULE)


def colour_of(number: int) -> Colour:
    """Return the colour of a network, by its place among the plan's."""
    return network_colours(number, 3)[0]


def _draw_stack(axes: Axes, view: MemoryView, size_us: float) -> None:
    ends = {at for network in view.networks for one in network.transfers for at in (one.start_us, one.end_us)}
    moments = sorted({0.0, view.period_us, *ends})
    times = np.array(moments)
    below = np.zeros(len(times))
    for number, network in enumerate(view.networks):
        used = below + _used(network, times)
        axes.fill_between(times / size_us, below, used, step="post", color=colour_of(number), linewidth=0)
        below = used
    axes.axhline(view.bandwidth_gbs, color=CROSSING, linewidth=1.0)
    axes.axhline(view.memory_gbs, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)))
    axes.set_xlim(0, view.period_us / size_us)
    axes.set_ylim(0, view.memory_gbs * 1.06)
    axes.set_ylabel("GB/s", fontsize=_SIZE, color=QUIET)
    axes.set_xticklabels([])
    plain(axes)


def _used(network: SharingView, times: Floats) -> Floats:
    """Return what a network moves from each time on, GB/s."""
    changes = np.zeros(len(times))
    for transfer in network.transfers:
        changes[np.searchsorted(times, transfer.start_us)] += transfer.gbs
        changes[np.searchsorted(times, transfer.end_us)] -= transfer.gbs
    return np.maximum(np.cumsum(changes), 0.0)


def _draw_lanes(axes: Axes, view: MemoryView, size_us: float) -> None:
    count = len(view.networks)
    for number, network in enumerate(view.networks):
        colour = colour_of(number)
        for start, end, frame in _frames(network):
            shade = darker(colour, 0.8) if frame % 2 else colour
            axes.barh(count - 1 - number, (end - start) / size_us, left=start / size_us, height=0.72, color=shade,
                      edgecolor="white", linewidth=0.4)  # fmt: skip
    axes.set_xlim(0, view.period_us / size_us)
    axes.set_ylim(-0.5, count - 0.5)
    names = [clipped(network.name, (_LEFT - 0.35) * POINTS_PER_INCH, _SIZE) for network in view.networks]
    axes.set_yticks(range(count), reversed(names))
    plain(axes)
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=_SIZE)


def _frames(network: SharingView) -> list[tuple[float, float, int]]:
    """Return from when to when each frame is worked on; a frame in progress as the period begins is there twice."""
    pieces = sorted(network.transfers, key=lambda transfer: transfer.start_us)
    cuts = [0, *(n for n, (a, b) in enumerate(pairwise(pieces), 1) if a.frame != b.frame), len(pieces)]
    return [(pieces[a].start_us, pieces[b - 1].end_us, pieces[a].frame) for a, b in pairwise(cuts)]


def _write_key(figure: Figure, view: MemoryView) -> None:
    handles: list[Artist] = [
        Patch(facecolor=colour_of(number), label=f"{network.name}: {_count(network.repetitions)} a period")
        for number, network in enumerate(view.networks)
    ]
    handles.append(Line2D([], [], color=CROSSING, label="what is planned with"))
    handles.append(Line2D([], [], color=QUIET, linestyle=(0, (4, 2)), label="the memory's peak"))
    width, height = figure.get_size_inches()
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.2 / width, 0.05 / height), fontsize=_SIZE,
                  ncols=min(len(handles), 4), frameon=False, borderaxespad=0, handlelength=1.6)  # fmt: skip


def _count(frames: int) -> str:
    return f"{frames} frame{'s' * (frames != 1)}"
