"""The points of a sweep as fronts: the rate of each plan against what it costs, and the highest at each cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator, PercentFormatter

from floorflow.view.charts import MARKS, SIZE, TICK_SIZE, drawing_settings, dress, write_lines
from floorflow.view.names import frames_text
from floorflow.view.palette import INK, QUIET, RULE
from floorflow.view.parts import spaced_ticks, tick_text
from floorflow.view.text import shortened

Row = Mapping[str, Any]
"""A row of a sweep's table, of a point with a plan."""

_WIDTH, _HEIGHT = 8.6, 5.0
_AXES = (0.085, 0.115, 0.60, 0.735)
_MOST_NAMED = 14
"""Lines of the key."""
_KEY_POINTS, _APART_POINTS = 165.0, 11.0
"""Width of a name in the key; how far numbers of points are from one another."""


@dataclass(frozen=True)
class Cost:
    """What a picture's x axis is: a column of the table, and the words for it."""

    column: str
    title: str
    label: str
    kind: str


COSTS: Mapping[str, Cost] = {
    "rate_fullest": Cost(
        "fullest_share_of_limit", "rate against the fullest resource", "fullest resource, share of its limit", "share"
    ),
    "rate_lut": Cost("LUT", "rate against LUTs", "LUTs of the whole design (logarithmic)", "amount"),
    "rate_cards": Cost("fpgas", "rate against cards", "cards", "count"),
}
"""The pictures of a sweep, by the names of their files."""


def sweep_charts(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw rate against each cost in which plans differ; ``rows``: the table's."""
    found = {}
    for name, cost in COSTS.items():
        known = [row for row in rows if row["fps"] and row[cost.column] is not None]
        if len({row[cost.column] for row in known}) > 1:
            found[name] = _chart(known, cost, len(rows))
    return found


def front(rows: Sequence[Row], column: str) -> list[Row]:
    """Return the rows of which no other is as fast for less, or faster for as little; of equal ones the first."""
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row[column], -row["fps"])):
        if not best or row["fps"] > best[-1]["fps"]:
            best.append(row)
    return best


def _chart(rows: Sequence[Row], cost: Cost, count: int) -> Figure:
    with drawing_settings():
        figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white")
        axes = figure.add_axes(_AXES)
        models = list(dict.fromkeys(row["model"] for row in rows))
        groups = list(dict.fromkeys((row["model"], row["platform"]) for row in rows))
        for number, group in enumerate(groups):
            marker, _ = MARKS[number % len(MARKS)]
            _, colour = MARKS[(models.index(group[0]) if len(models) > 1 else number) % len(MARKS)]
            own = [row for row in rows if (row["model"], row["platform"]) == group]
            name = " on ".join(group) if len(models) > 1 else group[1]
            label = shortened(name, _KEY_POINTS, SIZE) if number < _MOST_NAMED else "_"
            style: dict[str, Any] = {"marker": marker, "color": colour, "mec": "white", "mew": 0.7, "markersize": 7.5}
            axes.plot(_of(own, cost.column), _of(own, "fps"), ls="none", zorder=5, label=label, **style)
        _scale(axes, rows, cost)
        edges = [front([row for row in rows if row["model"] == model], cost.column) for model in models]
        for number, edge in enumerate(edges):
            colour = MARKS[number % len(MARKS)][1] if len(models) > 1 else QUIET
            ends = [*_of(edge, cost.column), axes.get_xlim()[1]]
            axes.step(ends, [*_of(edge, "fps"), edge[-1]["fps"]], where="post", color=colour, lw=1.0, zorder=3)
        _number(axes, [row for edge in edges for row in edge], cost)
        axes.plot([], [], color=QUIET, lw=1.0, label="highest rate at this cost or less")
        left, bottom, width, height = _AXES
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (left + width + 0.015, bottom + height)}
        figure.legend(fontsize=SIZE, frameon=False, borderaxespad=0, labelspacing=0.8, **place)
        whose = models[0] if len(models) == 1 else f"{len(models)} models"
        without = count - len(rows)
        told = f"{len(rows)} plans{f', {without} points without one' if without else ''}; numbers are rows of the table"
        write_lines(figure, left * _WIDTH, (f"{whose}: {cost.title}", 0.34), (told, 0.56))
        return figure


def _of(rows: Sequence[Row], column: str) -> list[Any]:
    return [row[column] for row in rows]


def _scale(axes: Axes, rows: Sequence[Row], cost: Cost) -> None:
    """Set scales, limits and ticks so that all rows are well inside."""
    rates, costs = _of(rows, "fps"), _of(rows, cost.column)
    axes.set_yscale("log")
    axes.set_ylim(min(rates) / 1.6, max(rates) * 1.6)
    axes.yaxis.set_minor_locator(NullLocator())
    if cost.kind == "amount":
        axes.set_xscale("log")
        axes.set_xlim(min(costs) / 1.6, max(costs) * 1.6)
        axes.xaxis.set_minor_locator(NullLocator())
    elif cost.kind == "share":
        axes.set_xlim(0, max(1.0, *costs) * 1.03)
        axes.xaxis.set_major_formatter(PercentFormatter(1, 0))
    else:
        axes.set_xlim(min(costs) - 0.5, max(costs) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis, ends in ((axes.yaxis, axes.get_ylim()), *(((axes.xaxis, axes.get_xlim()),) * (cost.kind == "amount"))):
        ticks = spaced_ticks(*ends)
        axis.set_major_locator(FixedLocator(list(ticks)))
        axis.set_major_formatter(FixedFormatter(list(map(tick_text, ticks))))
    dress(axes)
    axes.grid(color=RULE, linewidth=0.4)
    axes.set_xlabel(cost.label, fontsize=SIZE, color=QUIET)
    axes.set_ylabel("frames/s (logarithmic)", fontsize=SIZE, color=QUIET)
    top = max(rates)
    axes.annotate(
        f"{frames_text(top)} frames/s", (1, top), (-4, 4), xycoords=("axes fraction", "data"),
        textcoords="offset points", ha="right", fontsize=TICK_SIZE, color=QUIET,
    )  # fmt: skip


def _number(axes: Axes, rows: Sequence[Row], cost: Cost) -> None:
    """Write the number of each row beside it, where there is room."""
    written: list[tuple[float, float]] = []
    for row in rows:
        x, y = axes.transData.transform((row[cost.column], row["fps"])) * 72 / axes.figure.dpi
        if all(abs(x - a) + abs(y - b) > _APART_POINTS for a, b in written):
            written.append((x, y))
            place: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "bottom"}
            axes.annotate(
                f"{row['number']}", (row[cost.column], row["fps"]), (-4, 3), fontsize=TICK_SIZE, color=INK, **place
            )
