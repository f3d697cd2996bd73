"""What networks that share the memory reach, as a figure: by the schedule, without one, and what was asked for."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from floorflow.view.contents.names import Plan
from floorflow.view.contents.sharing import MemoryView, SharingView, read_memory
from floorflow.view.pictures.memory import colour_of, plain, write_head
from floorflow.view.sheet.palette import CROSSING, DOUBT, INK, QUIET, darker
from floorflow.view.sheet.sheet import drawing_settings

_WIDTH, _ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 8.2, 0.82, 0.8, 0.85, 1.35, 1.75
"""In inches: the sheet, a network's row, margins."""
_SIZE = 8.5
_THICK = 0.3


def rates_chart(plan: Plan) -> Figure:
    """Draw each network's rates over its target.

    Raises
    ------
    InputError
        If the plan has no schedule of the memory.

    """
    view = read_memory(plan)
    height = _TOP + _ROW * len(view.networks) + _BOTTOM
    with drawing_settings():
        figure = Figure(figsize=(_WIDTH, height), facecolor="white")
        inside = (_WIDTH - _LEFT - _RIGHT) / _WIDTH
        axes = figure.add_axes((_LEFT / _WIDTH, _BOTTOM / height, inside, _ROW * len(view.networks) / height))
        for number, network in enumerate(view.networks):
            _draw_network(axes, network, number, len(view.networks) - 1 - number)
        _finish(axes, view)
        starved = [network.name for network in view.networks if network.starved]
        told = f"starved: {', '.join(starved)}" if starved else "none is starved"
        write_head(figure, view.title.replace("External memory", "Rates", 1), f"error {view.error:.4g}   ·   {told}")
        _write_key(figure)
    return figure


def _draw_network(axes: Axes, network: SharingView, number: int, y: int) -> None:
    colour, target = colour_of(number), network.target_fps
    rows = ((y + _THICK / 2, network.fps, {"color": colour}),
            (y - _THICK / 2, network.unaware_fps, {"facecolor": "white", "edgecolor": darker(colour, 0.7),
                                                   "hatch": "////", "linewidth": 0.6}))  # fmt: skip
    for place, fps, style in rows:
        axes.barh(place, fps / target, height=_THICK * 0.92, **style)
        colour_of_text = DOUBT if network.starved and place > y else INK
        axes.text(fps / target + 0.01, place, f"{fps:.4g}", fontsize=_SIZE - 1, va="center", color=colour_of_text)
    axes.plot([network.least_fps / target] * 2, [y - 0.38, y + 0.38], color=QUIET, linewidth=1.0, linestyle=(0, (3, 2)))
    told = f"target {target:.4g}, alone {network.alone_fps:.4g}"
    axes.text(1.02, y, told, fontsize=_SIZE - 1, va="center", color=QUIET, transform=axes.get_yaxis_transform())


def _finish(axes: Axes, view: MemoryView) -> None:
    most = max(max(n.fps, n.unaware_fps) / n.target_fps for n in view.networks)
    axes.axvline(1.0, color=CROSSING, linewidth=1.0)
    axes.set_xlim(0, max(1.12, most * 1.12))
    axes.set_ylim(-0.5, len(view.networks) - 0.5)
    axes.set_yticks(range(len(view.networks)), [network.name for network in reversed(view.networks)])
    axes.set_xlabel("frames a second over the target", fontsize=_SIZE, color=QUIET)
    plain(axes)
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=_SIZE)


def _write_key(figure: Figure) -> None:
    width, height = figure.get_size_inches()
    handles = [
        Patch(facecolor=colour_of(0), label="by the schedule"),
        Patch(facecolor="white", edgecolor=darker(colour_of(0), 0.7), hatch="////", label="without one, simulated"),
        Line2D([], [], color=CROSSING, label="target"),
        Line2D([], [], color=QUIET, linestyle=(0, (3, 2)), label="least"),
    ]
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.2 / width, 0.05 / height), fontsize=_SIZE,
                  ncols=4, frameon=False, borderaxespad=0)  # fmt: skip
