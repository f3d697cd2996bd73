"""The points of a sweep as fronts: the rate of each plan against what it costs, and the highest at each cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
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
"""Width of a name in the key; how far the number of a point is from what else is there."""


@dataclass(frozen=True)
class Cost:
    """What a picture's x axis is: a column of the table, and the words for it."""

    column: str
    title: str
    label: str
    kind: str

    @property
    def is_same_everywhere(self) -> bool:
        """Whether plans on different boards can be compared by it."""
        return self.kind == "amount"


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
        _scale(axes, rows, cost)
        edges: list[list[Row]] = []
        for number, group in enumerate(groups):
            of = models.index(group[0]) if len(models) > 1 else number
            marker, colour = MARKS[number % len(MARKS)][0], MARKS[of % len(MARKS)][1]
            own = [row for row in rows if (row["model"], row["platform"]) == group]
            names = [Path(name).stem if name.endswith((".onnx", ".yaml")) else name for name in group]
            label = shortened(" on ".join(names[len(models) == 1 :]), _KEY_POINTS, SIZE)
            style: dict[str, Any] = {"marker": marker, "color": colour, "mec": "white", "mew": 0.7}
            style["markersize"] = max(9.0 - 1.4 * number, 4.5)  # what lies on another shows it as a ring
            label = label if number < _MOST_NAMED else "_"
            axes.plot(_of(own, cost.column), _of(own, "fps"), ls="none", zorder=5, label=label, **style)
            if cost.is_same_everywhere:
                own = [row for row in rows if row["model"] == group[0]]
            edge, colour = front(own, cost.column), colour if len(models) > 1 or not cost.is_same_everywhere else QUIET
            if edge not in edges:
                edges.append(edge)
                ends = [*_of(edge, cost.column), axes.get_xlim()[1]]
                axes.step(ends, [*_of(edge, "fps"), edge[-1]["fps"]], where="post", color=colour, lw=1.0, zorder=3)
        _number(axes, [row for edge in edges for row in edge], rows, cost)
        axes.plot([], [], color=QUIET, lw=1.0, label="highest rate at this cost or less")
        left, bottom, width, height = _AXES
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (left + width + 0.015, bottom + height)}
        figure.legend(fontsize=SIZE, frameon=False, borderaxespad=0, labelspacing=0.8, **place)
        whose = Path(models[0]).stem if len(models) == 1 else f"{len(models)} models"
        without = f", {count - len(rows)} points without one" if count > len(rows) else ""
        best = max(rows, key=lambda row: float(row["fps"]))
        told = f"{len(rows)} plans{without}; numbers are rows of the table"
        told += f"; the highest rate is {frames_text(best['fps'])} frames/s ({best['number']})"
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
        axes.set_xlim(0, max(costs) * 1.06)
        axes.xaxis.set_major_formatter(PercentFormatter(1))
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


def _number(axes: Axes, numbered: Sequence[Row], rows: Sequence[Row], cost: Cost) -> None:
    """Write the numbers of some rows beside them, where no mark and no other number is in the way."""
    per_pixel = 72 / axes.figure.dpi
    places = [axes.transData.transform((row[cost.column], row["fps"])) * per_pixel for row in rows]
    taken = [(float(x), float(y)) for x, y in places]
    for row in numbered:
        x, y = taken[rows.index(row)]
        side = -1 if x - axes.bbox.x0 * per_pixel > _APART_POINTS else 1
        centre = x + 8 * side, y + 7
        if all(abs(centre[0] - a) + abs(centre[1] - b) > _APART_POINTS for a, b in taken if (a, b) != (x, y)):
            taken.append(centre)
            style: dict[str, Any] = {"fontsize": TICK_SIZE, "color": INK, "va": "bottom", "textcoords": "offset points"}
            at, ends = (row[cost.column], row["fps"]), "right" if side < 0 else "left"
            axes.annotate(f"{row['number']}", at, (4 * side, 3), ha=ends, **style)
