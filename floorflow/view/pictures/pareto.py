"""Fronts of folding as small multiples: the least of each resource, and the least scarcity, against the interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from floorflow.view.charts import SIZE, TICK_SIZE, drawing_settings, dress, write_key, write_lines
from floorflow.view.names import TIMES, frames_text
from floorflow.view.palette import BAR, CROSSING, INK, OPEN, QUIET, RULE
from floorflow.view.parts import spaced_ticks, tick_text, ticks

Pareto = Mapping[str, Any]
"""As `floorflow pareto` writes it."""

_SCARCITY = "scarcity"
_WIDTH, _HEIGHT, _COLUMN_GAP, _ROW_GAP = 2.95, 2.25, 1.05, 0.5
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.72, 0.62, 1.4, 1.12
"""In inches: a panel, what lies between panels, the margins of the sheet."""
_MOST_SHARES = 6
_BETWEEN, _BELOW, _REFERENCE = "#cfe3f3", "#eceef0", "#7a8088"
_HATCHED: Mapping[str, Any] = {"facecolor": _BELOW, "edgecolor": "#b4b9c0", "hatch": "////", "linewidth": 0.0}
_PROVEN: Mapping[str, Any] = {"marker": "o", "markersize": 4.0, "mfc": BAR, "mec": BAR, "linestyle": "none"}
_UNPROVEN: Mapping[str, Any] = {"marker": "o", "markersize": 5.0, "mfc": "white", "mec": OPEN, "linestyle": "none"}
_FASTEST: Mapping[str, Any] = {"marker": "*", "markersize": 11.0, "mfc": INK, "mec": "white", "linestyle": "none"}
_NOTHING: Mapping[str, Any] = {"marker": "x", "markersize": 5.0, "color": OPEN, "linestyle": "none"}
_BUDGET: Mapping[str, Any] = {"color": CROSSING, "linewidth": 1.1}
_OTHER: Mapping[str, Any] = {"color": _REFERENCE, "linewidth": 1.0, "linestyle": (0, (4, 2))}


@dataclass(frozen=True)
class AmountAxis:
    """The y axis of a panel: the amount used, logarithmic; ``has_zero``: linear below 1, so that 0 is on it."""

    low: float
    high: float
    has_zero: bool

    def scale(self, axes: Axes) -> None:
        """Set scale and limits."""
        if self.has_zero:
            axes.set_yscale("symlog", linthresh=1.0, linscale=0.4)
        else:
            axes.set_yscale("log")
        axes.set_ylim(self.low, self.high)

    def ticks(self) -> tuple[float, ...]:
        """Return round amounts along the axis."""
        above = ticks(1.0 if self.has_zero else self.low, self.high)
        return (0.0, *above) if self.has_zero else above

    def shares(self, budget: int) -> tuple[float, ...]:
        """Return a few round shares of the budget along the axis, up to all of it."""
        least = (1.0 if self.has_zero else self.low) / budget
        round_shares = ticks(least, 1.0)
        if len(round_shares) > _MOST_SHARES:
            round_shares = tuple(10.0**-power for power in range(10) if 10.0**-power >= least)
        return (0.0, *round_shares) if self.has_zero else round_shares


def pareto_chart(pareto: Pareto) -> Figure:
    """Draw one panel a front: what was found as stairs, what is proven below them, the budget above."""
    with drawing_settings():
        fronts = sorted(pareto["fronts"], key=lambda front: bool(front["objective"] == _SCARCITY))
        columns = 3 if len(fronts) in {3, 5, 6} else min(2, len(fronts))
        rows = ceil(len(fronts) / columns)
        width = _LEFT + _RIGHT + columns * (_WIDTH + _COLUMN_GAP) - _COLUMN_GAP
        height = _TOP + _BOTTOM + rows * (_HEIGHT + _ROW_GAP) - _ROW_GAP
        figure = Figure(figsize=(width, height), facecolor="white")
        for index, front in enumerate(fronts):
            row, column = divmod(index, columns)
            left, bottom = _LEFT + column * (_WIDTH + _COLUMN_GAP), height - _TOP - _HEIGHT - row * (_HEIGHT + _ROW_GAP)
            box = left / width, bottom / height, _WIDTH / width, _HEIGHT / height
            panel = _Panel(figure.add_axes(box), pareto, front)
            panel.draw()
            panel.dress(top=row == 0, bottom=index + columns >= len(fronts))
        _write_header(figure, pareto)
        _write_key(figure, pareto)
        return figure


@dataclass(frozen=True)
class _Panel:
    """One front on its axes."""

    axes: Axes
    pareto: Pareto
    front: Mapping[str, Any]

    @property
    def points(self) -> list[Mapping[str, Any]]:
        return [point for point in self.front["points"] if point["value"] is not None]

    @property
    def budget(self) -> int:
        """The limit; the scarcity has none, given as 0."""
        return int(self.pareto["budget"].get(self.front["objective"], 0))

    @property
    def reference(self) -> list[tuple[int, int]]:
        """Intervals and what the least scarce foldings use of this resource there."""
        name = self.front["objective"]
        least_scarce = next(front for front in self.pareto["fronts"] if front["objective"] == _SCARCITY)
        with_folding = [point for point in least_scarce["points"] if point["resources"] and name != _SCARCITY]
        return [(point["interval_cycles"], point["resources"][name]) for point in with_folding]

    def amount_axis(self) -> AmountAxis:
        """Return an axis that holds all that is drawn."""
        amounts = [point[key] for point in self.points for key in ("value", "bound") if point[key] is not None]
        amounts += [used for _, used in self.reference] + ([self.budget] if self.budget else [])
        above = [amount for amount in amounts if amount > 0] or [1.0]
        has_zero = min(amounts, default=1.0) <= 0
        return AmountAxis(-0.35 if has_zero else min(above) / 1.6, max(above) * 1.8, has_zero)

    def draw(self) -> None:
        """Draw what is ruled out, the budget, the least scarce foldings' use, and the front."""
        self.axes.set_xscale("log")
        self.axes.set_xlim(*_span(self.pareto))
        self.amount_axis().scale(self.axes)
        ruled_out = [point["interval_cycles"] for point in self.front["points"] if point["status"] == "infeasible"]
        first = self.pareto["bound_cycles"]
        self.axes.axvspan(_span(self.pareto)[0], max(first, *ruled_out, 0), zorder=1.8, **_HATCHED)
        if self.budget:
            self.axes.axhline(self.budget, zorder=3, **_BUDGET)
        if self.reference:
            self.axes.step(*zip(*self.reference, strict=True), where="post", zorder=3.5, **_OTHER)
        if self.points:
            self._draw_bounds()
            self._draw_points()
        below = self.axes.get_xaxis_transform()
        for point in self.front["points"]:
            if point["status"] == "unknown":
                self.axes.plot(point["interval_cycles"], 0.04, transform=below, zorder=6, **_NOTHING)

    def _draw_bounds(self) -> None:
        """Shade what no folding reaches, and where between two points the front may still run."""
        lowest, points = self.amount_axis().low, self.points
        for point, after in pairwise(points):
            ends = point["interval_cycles"], after["interval_cycles"]
            low = lowest if after["bound"] is None else after["bound"]
            self.axes.fill_between(ends, lowest, low, color=_BELOW, zorder=1, linewidth=0)
            self.axes.fill_between(ends, low, point["value"], color=_BETWEEN, zorder=1.5, linewidth=0)

    def _draw_points(self) -> None:
        points, lowest = self.points, self.amount_axis().low
        cycles, values = [p["interval_cycles"] for p in points], [p["value"] for p in points]
        self.axes.step(cycles, values, where="post", color=BAR, linewidth=1.5, zorder=5)
        for point in points:
            at, proven = point["interval_cycles"], point["status"] == "optimal"
            if not proven:
                low = lowest if point["bound"] is None else point["bound"]
                self.axes.vlines(at, low, point["value"], color=OPEN, linewidth=2.0, zorder=5.5)
            self.axes.plot(at, point["value"], zorder=6, **(_PROVEN if proven else _UNPROVEN))
        self.axes.plot(cycles[0], values[0], zorder=7, **_FASTEST)

    def dress(self, *, top: bool, bottom: bool) -> None:
        axes, amount_axis = self.axes, self.amount_axis()
        _set_ticks(axes, axes.xaxis, {cycles: tick_text(cycles) for cycles in spaced_ticks(*_span(self.pareto))})
        _set_ticks(axes, axes.yaxis, {amount: tick_text(amount) for amount in amount_axis.ticks()})
        axes.grid(color=RULE, linewidth=0.4)
        if bottom:
            axes.set_xlabel("interval in cycles; shorter is faster", fontsize=SIZE, color=QUIET)
        if top:
            first, last = _span(self.pareto)
            upper, per_s = axes.twiny(), self.pareto["clock_mhz"] * 1e6
            upper.set_xscale("log")
            upper.set_xlim(first, last)
            rates = spaced_ticks(per_s / last, per_s / first)
            _set_ticks(upper, upper.xaxis, {per_s / rate: tick_text(rate) for rate in rates})
            axes.text(1.02, 1.03, "frames/s", fontsize=TICK_SIZE, color=QUIET, transform=axes.transAxes, ha="left")
        if self.budget:
            right = axes.twinx()
            amount_axis.scale(right)
            shares = {share * self.budget: f"{share * 100:g}%" for share in amount_axis.shares(self.budget)}
            _set_ticks(right, right.yaxis, shares, CROSSING)
        above = 20.0 if top else 5.0
        place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "baseline"}
        self.axes.annotate(self.front["objective"], (0, 1), (0, above), fontsize=10, color=INK, weight="bold", **place)
        ends = [self._amount(point["value"]) for point in self.points[:: max(1, len(self.points) - 1)]]
        text = " to ".join(dict.fromkeys(ends)) or "no folding found"
        text = f"summed shares: {text}" if self.front["objective"] == _SCARCITY else text
        self.axes.annotate(text, (1, 1), (0, above), fontsize=SIZE, color=QUIET, ha="right", **place)

    def _amount(self, value: float) -> str:
        if self.front["objective"] == _SCARCITY:
            return f"{value:.4f}"
        return f"{value:,}" + (f" ({value / self.budget:.1%})" if self.budget else "")


def _span(pareto: Pareto) -> tuple[float, float]:
    """Return the ends of the x axis: a bit more than all intervals."""
    cycles = [point["interval_cycles"] for front in pareto["fronts"] for point in front["points"]]
    first, last = min(*cycles, pareto["bound_cycles"]), max(cycles)
    margin = max((last / first) ** 0.05, 1.15)
    return first / margin, last * margin


def _set_ticks(axes: Axes, axis: Axis, labels: Mapping[float, str], colour: str = QUIET) -> None:
    """Put ticks with these labels on one axis, and the panels' look on the rest."""
    axis.set_major_locator(FixedLocator(list(labels)))
    axis.set_major_formatter(FixedFormatter(list(labels.values())))
    axis.set_minor_locator(NullLocator())
    dress(axes)
    axis.set_tick_params(labelcolor=colour)


def _write_header(figure: Figure, pareto: Pareto) -> None:
    board = pareto["platform"] if pareto["fpgas"] == 1 else f"{pareto['fpgas']} {TIMES} {pareto['platform']}"
    clock_mhz, first = pareto["clock_mhz"], pareto["bound_cycles"]
    points = max(len(front["points"]) for front in pareto["fronts"])
    fastest = f"no folding is faster than {first:,} cycles = {frames_text(clock_mhz * 1e6 / first)} frames/s"
    write_lines(
        figure,
        _LEFT,
        (f"{pareto['network']} on {board}: what a frame rate costs", 0.33),
        (f"{fastest}   ·   {clock_mhz:g} MHz   ·   costs {pareto['costs']}   ·   {points} intervals", 0.55),
        ("each is minimised alone, within the limits of all; converters and FIFOs counted, floorplans not tried", 0.73),
    )


def _write_key(figure: Figure, pareto: Pareto) -> None:
    statuses = {point["status"] for front in pareto["fronts"] for point in front["points"]}
    open_ = {**_UNPROVEN, "color": OPEN, "linestyle": "-"}
    handles: list[Artist] = [
        _line("found, and proven the least", **{**_PROVEN, "color": BAR, "linewidth": 1.5, "linestyle": "-"}),
        *([_line("found; the least lies on the bar", **open_)] if "feasible" in statuses else []),
        Patch(facecolor=_BETWEEN, label="between two points the least lies here"),
        Patch(facecolor=_BELOW, label="no folding is here"),
        _line("in the folding of least scarcity", **_OTHER),
        _line("limit of the platform", **_BUDGET),
        _line("fastest folding", **_FASTEST),
        Patch(**_HATCHED, label="interval proven impossible"),
        *([_line("neither found nor proven impossible", **_NOTHING)] if "unknown" in statuses else []),
    ]
    columns = 3 if figure.get_size_inches()[0] < 10 else 4
    write_key(figure, handles, _LEFT, ncols=columns, fontsize=8, columnspacing=1.6, handlelength=2.4)


def _line(label: str, **style: Any) -> Line2D:
    return Line2D([], [], label=label, **style)
