"""A build against what floorflow says of it: the design's totals, every node on log axes, and where the LUTs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from floorflow.view.charts import POINTS_PER_INCH, SIZE, TICK_SIZE, drawing_settings, dress, write_lines
from floorflow.view.palette import BAR, CROSSING, INK, LINK, MEMORY, OPEN, QUIET, RULE, TRACK
from floorflow.view.parts import tick_text
from floorflow.view.text import shortened, text_width

Audit = Mapping[str, Any]
"""As `floorflow audit` writes it."""

_WIDTH, _HEIGHT = 11.6, 7.6
"""In inches."""
_SCATTER = (0.065, 0.135, 0.375, 0.475)
_BARS = (0.665, 0.135, 0.225, 0.475)
_TOTALS = (0.065, 0.725, 0.63, 0.155)
"""Axes as left, bottom, width and height, in shares of the figure."""
_MOST_BARS, _MOST_SECOND, _MOST_LABELS = 16, 4, 5
_BETWEEN_BARS = 0.115
"""Height between the two panels of bars, as a share of the figure."""
_OF_ROLE: Mapping[str, tuple[str, str]] = {
    "engine": (BAR, "o"),
    "FIFO": (OPEN, "s"),
    "converter": (LINK, "D"),
    "DMA": (QUIET, "v"),
}
"""Colour and marker of nodes by what they are."""
_OTHER = (QUIET, "v")
_WORDS = {"DMA": "DMA engine"}
_LEAST = 0.7
"""Where nodes of no LUT stand on a logarithmic axis."""
_MORE, _LESS = CROSSING, MEMORY
"""What is predicted beyond what was built, and what is missing of it."""
_NARROW, _WIDE = (0.8, 1.25), (0.5, 2.0)
"""Factors around the diagonal that are shaded."""


def audit_chart(audit: Audit) -> Figure:
    """Draw an audit; where no node was both built and priced there is nothing to draw but a sentence that says so."""
    with drawing_settings():
        figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white")
        _write_header(figure, audit)
        nodes = [node for node in audit["nodes"] if node["predicted"] is not None]
        if not any(node["built"] for node in nodes):
            text = "no node has both a row of a report after synthesis and a price: nothing to compare resources with"
            figure.text(0.5, 0.45, text, ha="center", fontsize=11, color=CROSSING)
        else:
            _draw_totals(figure.add_axes(_TOTALS), audit)
            _draw_nodes(figure.add_axes(_SCATTER), nodes)
            _draw_bars(figure, _with_around(nodes, audit), audit["target"]["silicon"])
        _write_footer(figure, audit)
        return figure


def _write_header(figure: Figure, audit: Audit) -> None:
    target = audit["target"]
    costs = ", ".join(str(audit["options"][name]) for name in ("costs", "finn") if name in audit["options"])
    clock, nodes = audit["clock"]["used_mhz"], len(audit["nodes"])
    under = f"{nodes:,} nodes on {target['name']} ({target['part']}), {clock:g} MHz; costs: {costs}"
    title = f"{audit['build']}: built, and predicted by floorflow"
    write_lines(figure, 0.065 * _WIDTH, (title, 0.36), (under, 0.59))


def _draw_totals(axes: Axes, audit: Audit) -> None:
    """Draw built and predicted of each resource, as shares of the part where that is known, else of the larger."""
    design, network = audit["whole"]["design"], audit["whole"]["network"]
    entry, what = (design, "whole design") if _both(design) else (network, "network without shell and DMA")
    silicon = audit["target"]["silicon"]
    rows = [name for name in entry["built"] if entry["built"][name] or entry["predicted"][name]]
    axes.barh([y + side for y in range(len(rows)) for side in (-0.19, 0.19)], 1.0, height=0.32, color=TRACK, zorder=1)
    for side, offset, colour in (("built", 0.19, INK), ("predicted", -0.19, BAR)):
        shares = []
        for name in rows:
            whole = (silicon or {}).get(name) or max(entry["built"][name], entry["predicted"][name])
            shares.append(min(entry[side][name] / whole, 1.0))
        heights = [len(rows) - 1 - place + offset for place in range(len(rows))]
        axes.barh(heights, shares, height=0.32, color=colour, zorder=2, label=side)
    for place, name in enumerate(rows):
        y, error = len(rows) - 1 - place, entry["error"][name]
        off = "none built" if error is None else f"{error:+.1%}"
        doubtful = error is not None and abs(error) > 0.15
        amounts = f"{entry['built'][name]:,} built, {entry['predicted'][name]:,} predicted"
        axes.text(-0.008, y, name, ha="right", va="center", fontsize=SIZE, color=INK)
        axes.text(1.012, y, off, va="center", fontsize=SIZE, color=CROSSING if doubtful else QUIET, weight="bold")
        axes.text(1.125, y, amounts, va="center", fontsize=SIZE, color=INK)
    axes.set_xlim(0, 1.0)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    of = f"share of the {audit['target']['part']}" if silicon else "share of the larger"
    axes.set_title(f"The {what}, {of}", loc="left", fontsize=9.5, color=INK, weight="bold", pad=4)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=2, frameon=False, fontsize=TICK_SIZE, borderpad=0)
    axes.axis("off")


def _both(entry: Mapping[str, Any]) -> bool:
    return entry["built"] is not None and entry["predicted"] is not None


def _draw_nodes(axes: Axes, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Draw every node's LUTs, predicted over built, with the band of what may be built around the prediction."""
    known = [node for node in nodes if node["built"] is not None]
    amounts = [max(node[side]["LUT"], _LEAST) for node in known for side in ("built", "predicted")]
    low, high = min(amounts) / 1.5, max(amounts) * 1.9
    line = [low, high]
    for factors, colour in ((_WIDE, "#f1f3f5"), (_NARROW, "#dfe5ea")):
        axes.fill_between(line, [factors[0] * x for x in line], [factors[1] * x for x in line], color=colour, zorder=0)
    axes.plot(line, line, color=QUIET, linewidth=0.8, zorder=1)
    for role in (*_OF_ROLE, *sorted({node["role"] for node in known} - _OF_ROLE.keys())):
        own = [node for node in known if node["role"] == role]
        if own:
            _draw_role(axes, role, own)
    _label_worst(axes, known, low, high)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    ticks = [10.0**power for power in range(10) if low <= 10.0**power <= high]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda amount, _: tick_text(amount)))
    dress(axes)
    axes.grid(color=RULE, linewidth=0.4)
    axes.set_title("LUTs of every node", loc="left", fontsize=9.5, color=INK, weight="bold", pad=16)
    _write_above(axes, "above the line: too dear; whiskers: the cost model's own band", 0.0)
    axes.set_xlabel("built", fontsize=SIZE, color=QUIET)
    axes.set_ylabel("predicted", fontsize=SIZE, color=QUIET)
    axes.legend(loc="lower right", frameon=False, fontsize=TICK_SIZE, handletextpad=0.2)


def _draw_role(axes: Axes, role: str, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Draw the nodes of a role, each with the cost model's band."""
    colour, marker = _OF_ROLE.get(role, _OTHER)
    amounts = [(max(node["built"]["LUT"], _LEAST), max(node["predicted"]["LUT"], _LEAST)) for node in nodes]
    for (built, said), node in zip(amounts, nodes, strict=True):
        if node["band"] is not None:
            low, high = node["band"]["LUT"]
            axes.vlines(built, max(said * low, _LEAST), said * high, color=colour, linewidth=0.8, alpha=0.45, zorder=2)
    label = f"{len(nodes):,} {_WORDS.get(role, role)}{'s' if len(nodes) > 1 else ''}" if role in _OF_ROLE else None
    axes.plot(*zip(*amounts, strict=True), marker=marker, color=colour, linestyle="none", markersize=5, mec="white",
              mew=0.4, zorder=3, label=label)  # fmt: skip


def _write_above(axes: Axes, text: str, left: float) -> None:
    """Write a quiet line right above a panel, beginning at a share of its width."""
    above: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, (left, 1), (0, 5), fontsize=TICK_SIZE, color=QUIET, **above)


def _label_worst(axes: Axes, nodes: Sequence[Mapping[str, Any]], low: float, high: float) -> None:
    """Name the nodes that are furthest off in LUTs, to the side where there is room, no two at one place."""
    placed: list[tuple[float, float]] = []
    for node in sorted(nodes, key=lambda node: -abs(_difference(node)))[:_MOST_LABELS]:
        built, said = (max(node[side]["LUT"], _LEAST) for side in ("built", "predicted"))
        if any(abs(built / x - 1) < 0.25 and abs(said / y - 1) < 0.3 for x, y in placed):
            continue
        placed.append((built, said))
        above = said >= built
        # Away from the diagonal if there is room, else beyond it.
        place = log(built / low) / log(high / low)
        width = _SCATTER[2] * _WIDTH * POINTS_PER_INCH
        needed = text_width(node["name"], TICK_SIZE) + 8
        left = place * width > needed if above else (1 - place) * width < needed
        axes.annotate(
            node["name"], (built, said), (-6 if left else 6, 5 if above else -9), textcoords="offset points",
            ha="right" if left else "left", fontsize=TICK_SIZE, color=INK, zorder=5,
        )  # fmt: skip


def _difference(node: Mapping[str, Any], resource: str = "LUT") -> int:
    """Return the amount that is predicted beyond that built; a node without row counts as built of nothing."""
    built = 0 if node["built"] is None else node["built"][resource]
    return int(node["predicted"][resource] - built)


def _with_around(nodes: Sequence[Mapping[str, Any]], audit: Audit) -> list[Mapping[str, Any]]:
    """Add what stands around the network as one node, its DMA engines in it, where both sides of it are known."""
    around = audit["around"]
    if not _both(around):
        return list(nodes)
    network = (node for node in nodes if node["role"] != "DMA")
    return [*network, {"name": "shell and DMA engines", "rivals": [], **around}]


def _draw_bars(figure: Figure, nodes: Sequence[Mapping[str, Any]], silicon: Mapping[str, int] | None) -> None:
    """Draw where LUTs differ, and below that where the resource does that is furthest off beside them."""
    left, bottom, width, height = _BARS
    second = _second(nodes, silicon or {})
    if second is None:
        _draw_differences(figure.add_axes(_BARS), nodes, "LUT", _MOST_BARS)
        return
    rows = min(sum(1 for node in nodes if _difference(node, second)), _MOST_SECOND) + 1
    share = rows / (_MOST_BARS + 1)
    below, above = share * (height - _BETWEEN_BARS), (1 - share) * (height - _BETWEEN_BARS)
    top = figure.add_axes((left, bottom + below + _BETWEEN_BARS, width, above))
    _draw_differences(top, nodes, "LUT", _MOST_BARS - rows - 3)
    _draw_differences(figure.add_axes((left, bottom, width, below)), nodes, second, _MOST_SECOND)


def _second(nodes: Sequence[Mapping[str, Any]], silicon: Mapping[str, int]) -> str | None:
    """Return the resource but LUT and FF that nodes are furthest off in, as a share of the part's; None if in none."""
    names = [name for name in nodes[0]["predicted"] if name not in {"LUT", "FF"}]
    off = {n: sum(abs(_difference(node, n)) for node in nodes) / (silicon.get(n) or 1) for n in names}
    worst = max(names, key=lambda name: off[name])
    return worst if off[worst] else None


def _draw_differences(axes: Axes, nodes: Sequence[Mapping[str, Any]], resource: str, most: int) -> None:
    """Draw how much each node is off, the furthest first, and all others in one bar."""
    ranked = sorted(nodes, key=lambda node: (-abs(_difference(node, resource)), node["name"]))
    worst = [node for node in ranked[:most] if _difference(node, resource)]
    others = [_difference(node, resource) for node in ranked[len(worst) :]]
    rows = [(_bar_name(node), _difference(node, resource), _relative(node, resource)) for node in worst]
    if others:
        rows.append((f"{len(others):,} other{'s' if len(others) > 1 else ''}", sum(others), ""))
    for place, (name, amount, relative) in enumerate(rows):
        axes.barh(place, amount, height=0.62, color=_MORE if amount > 0 else _LESS, zorder=3)
        label = shortened(name, 0.185 * _WIDTH * POINTS_PER_INCH, TICK_SIZE)
        at: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
        axes.annotate(label, (0, place), (-6, 0), ha="right", fontsize=TICK_SIZE, color=INK, **at)
        axes.annotate(f"{amount:+,}{relative}", (1, place), (6, 0), fontsize=TICK_SIZE, color=INK, **at)
    amounts = [amount for _, amount, _ in rows]
    least, most_of_all = min(*amounts, 0, 0), max(*amounts, 0, 0)
    margin = 0.04 * ((most_of_all - least) or 1)
    axes.set_xlim(least - margin, most_of_all + margin)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=4)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda amount, _: _signed(amount)))
    axes.locator_params(axis="x", nbins=4)
    dress(axes)
    axes.grid(axis="x", color=RULE, linewidth=0.4)
    net = sum(_difference(node, resource) for node in nodes)
    above: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(f"{resource}: {net:+,} in all", (-0.82, 1), (0, 16), fontsize=9.5, color=INK, weight="bold", **above)
    _write_above(axes, "predicted beyond built, the furthest first", -0.82)


def _bar_name(node: Mapping[str, Any]) -> str:
    """Return a node's name, with a mark where its row may be another's."""
    return f"{node['name']} ?" if node["rivals"] else str(node["name"])


def _relative(node: Mapping[str, Any], resource: str) -> str:
    """Return the error in brackets: as a factor where a percentage would be long."""
    error = None if node["error"] is None else node["error"][resource]
    if error is None:
        return " (no row)" if node["built"] is None else " (none built)"
    return f" (x{error + 1:,.0f})" if error >= 9 else f" ({error:+.0%})"


def _signed(amount: float) -> str:
    return "0" if not amount else f"{'+' if amount > 0 else '−'}{tick_text(abs(amount))}"  # noqa: RUF001  (a minus)


def _write_footer(figure: Figure, audit: Audit) -> None:
    """Write rates, latency and clock in a line each."""
    rates, latency, clock = audit["rates"], audit["latency"], audit["clock"]
    intervals = ", ".join(
        f"{_told(rates[f'{n}_cycles'])} {n}" for n in ("planned", "sustained", "expected", "simulated")
    )
    slack = "not known" if clock["worst_slack_ns"] is None else f"{clock['worst_slack_ns']:+.3f} ns"
    fmax = "" if clock["fmax_mhz"] is None else f", Fmax {clock['fmax_mhz']:,.1f} MHz"
    frames = rates["simulated_frames"]
    simulated = "" if frames is None else f" ({frames:,} frame{'s' if frames > 1 else ''} simulated)"
    predicted, measured = (_told(latency[f"{name}_cycles"]) for name in ("predicted", "simulated"))
    lines = (
        f"Interval in cycles: {intervals}{simulated}",
        f"First frame in cycles: {predicted} predicted, {measured} simulated. Worst slack {slack}{fmax}",
    )
    for place, line in enumerate(lines):
        figure.text(0.065, 0.05 - 0.025 * place, line, fontsize=SIZE, color=INK)


def _told(amount: float | None) -> str:
    return "?" if amount is None else f"{amount:,.10g}"
