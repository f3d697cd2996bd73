"""What a little less rate would free: the bargains worth a line of the summary, and all of them as a table."""

from __future__ import annotations

from floorflow.emit.tables import number, rate, table, wrapped
from floorflow.facts import BargainEntry, BargainsEntry, Extras, FiguresEntry, Plan

WORTH, TIMES = 0.1, 2
"""A bargain is worth a line if it frees at least this share of something, and so many times what it costs in rate."""
OF_A_BUILD = "none is offered: plan --fps would plan another rate without what the build of this plan measured"


def best_bargains(extras: Extras) -> list[str]:
    """Return the bargain that frees most for what it costs, as a line; nothing where none is worth one."""
    found = extras.bargains
    if found is None:
        return []
    worth = [(most, row) for row in found.rows if (most := _most(found.now, row)) >= max(WORTH, TIMES * row.less)]
    if not worth:
        return []
    _, row = max(worth, key=lambda each: each[0] / each[1].less)
    freed = "; ".join(_changes(found.now, row))
    return [f"{row.less:.0%} less rate ({rate(row.fps)} frames/s, {_option(found, row)}): {freed}"]


def bargains(plan: Plan, extras: Extras | None) -> list[str]:
    """Return the table of all bargains, with the options that get each; nothing where none were sought."""
    found = None if extras is None else extras.bargains
    if extras is None or found is None:
        return [] if plan.calibration is None else wrapped([OF_A_BUILD])
    heading = ("less rate", "cycles", "fullest, of its cap", "largest engine", "wire length", "the same command with")
    now = ("none", f"{plan.networks[0].search.interval_cycles:,}", *_figures(found.now), "")
    rows = [heading, now, *(_row(found, row) for row in found.rows)]
    more = [] if found.planned else ["wire length needs floorplans: --bargains plan makes them"]
    return [*table(rows, left=6), *more, *wrapped(left_out(extras, "bargains"))]


def left_out(extras: Extras | None, what: str = "") -> list[str]:
    """Say what, or what of one kind, was not worked out, and which option brings it."""
    names = {"without_limits": "the folding bound without limits on single engines", "bargains": "bargains at "}
    return [
        f"{names[each.what]}{', '.join(f'{less:.0%}' for less in each.less)}{' less rate' if each.less else ''}: "
        f"left out, as more work than the plan; {each.option} works it out"
        for each in ([] if extras is None else extras.left_out)
        if what in {"", each.what}
    ]


def _option(found: BargainsEntry, row: BargainEntry) -> str:
    """Return the options with which the same command makes the plan of a bargain."""
    return " ".join([f"--fps {row.fps:.12g}", *found.beside])


def _row(found: BargainsEntry, row: BargainEntry) -> tuple[str, ...]:
    option = _option(found, row)
    if row.interval_cycles is None:
        return (f"{row.less:.0%}", "", "no plan found", "", "", option)
    told = ("the same", "", "") if row.figures is None else _figures(row.figures)
    return (f"{row.less:.0%}", f"{row.interval_cycles:,}", *told, option)


def _figures(found: FiguresEntry) -> tuple[str, str, str]:
    hpwl = "" if found.hpwl is None else number(found.hpwl)
    return f"{found.share:.1%} {found.resource} of {found.slot}", f"{found.engine} {_engine(found)}", hpwl


def _engine(found: FiguresEntry) -> str:
    return f"{found.amount:,} {found.engine_resource}"


def _most(now: FiguresEntry, row: BargainEntry) -> float:
    """Return the largest share of something that a bargain frees: of the fullest, the largest engine, wire length."""
    then = row.figures
    if then is None:
        return 0.0
    freed = [1 - then.share / now.share if now.share else 0.0]
    if then.engine_resource == now.engine_resource and now.amount:
        freed.append(1 - then.amount / now.amount)
    if then.hpwl is not None and now.hpwl:
        freed.append(1 - then.hpwl / now.hpwl)
    return max(freed)


def _changes(now: FiguresEntry, row: BargainEntry) -> list[str]:
    then = row.figures
    if then is None:
        return []
    told = [f"fullest {then.share:.1%} of its cap, {then.resource} of {then.slot}, now {now.share:.1%}, {now.resource}"]
    told += [f"largest engine {_engine(then)}, now {_engine(now)}"] if _engine(then) != _engine(now) else []
    told += [f"wire length {number(then.hpwl)}, now {number(now.hpwl)}"] if then.hpwl and now.hpwl else []
    return told
