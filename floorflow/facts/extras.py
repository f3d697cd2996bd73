"""extras.json: what is worked out once a plan stands, and belongs to that plan.json alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from floorflow.errors import InputError
from floorflow.facts.folding import rate_at
from floorflow.facts.text import filled, number, rate, table, wrapped
from floorflow.facts.values import Amount, Amounts, PlanModel, first_fault

EXTRAS_FILE = "extras.json"

EXTRAS_SCHEMA: Literal["floorflow-extras/1"] = "floorflow-extras/1"
WORTH, TIMES = 0.1, 2
"""A bargain is worth a line if it frees at least this share of something, and so many times what it costs in rate."""

LESS_RATE = "What less rate would free"
"""The section of the report."""
UNLIKE_STEPS = (
    "each rate is folded and cut anew; a single step of the folding, all else as planned: floorflow explain OUT"
)

OF_A_BUILD = "none is offered: plan --fps would plan another rate without what the build of this plan measured"


LimitOption = Literal["max_products", "max_engine_share"]


class WithoutLimitsEntry(PlanModel):
    """The folding bound without limits on single engines, and the options to lift for it; none if it is the same."""

    bound_cycles: int
    options: list[LimitOption]


ResourceName = Literal["LUT", "FF", "BRAM18", "URAM", "DSP"]


class FiguresEntry(PlanModel):
    """What makes a design large: its fullest slot, largest engine, all that it uses, and its wire length.

    ``share`` of the cap on ``resource`` in ``slot``, as fullness is told; ``engine`` takes ``amount`` of
    ``engine_resource``, LUT or DSP, the largest share of its slot. ``hpwl`` is null where nothing was placed.
    """

    slot: str
    resource: ResourceName
    share: float
    engine: str
    engine_resource: ResourceName
    amount: Amount
    resources: Amounts
    hpwl: float | None


class BargainEntry(PlanModel):
    """What a rate that is lower by the share ``less`` would free: ``fps`` as the option takes it.

    ``interval_cycles`` (null: no plan was found) is the design's; ``figures`` is null where it is the plan's own.
    """

    less: float
    fps: float
    interval_cycles: int | None
    figures: FiguresEntry | None


class BargainsEntry(PlanModel):
    """The plan's own figures and its bargains, the least first; ``planned``: each with its floorplan.

    ``beside``: options that the same command takes beside ``--fps`` to ask for nothing else than that rate.
    """

    planned: bool
    beside: list[str]
    now: FiguresEntry
    rows: list[BargainEntry]


class LeftOutEntry(PlanModel):
    """What was not worked out because it takes over a tenth of the plan's work, and the option with which it is.

    ``less``: the shares of the rate of bargains; empty of anything else.
    """

    what: Literal["without_limits", "bargains"]
    less: list[float]
    option: str


class Extras(PlanModel):
    """``plan_sha256`` is of the plan.json beside it.

    ``without_limits`` is null where it is not known or was not sought, ``bargains`` where they were not sought.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_: Literal["floorflow-extras/1"] = Field(EXTRAS_SCHEMA, alias="schema")
    plan_sha256: str
    without_limits: WithoutLimitsEntry | None
    bargains: BargainsEntry | None
    left_out: list[LeftOutEntry]

    def to_json(self) -> str:
        """Return extras.json's text: sorted keys, two spaces, a newline at the end."""
        return json.dumps(self.model_dump(by_alias=True), indent=2, sort_keys=True, allow_nan=False) + "\n"


def read_extras(data: bytes) -> Extras:
    """Read what extras.json holds.

    Raises InputError if that are no extras of this version; the message names the first wrong field.
    """
    try:
        return Extras.model_validate_json(data)
    except ValidationError as error:
        raise InputError(f"{EXTRAS_FILE}: {first_fault(error)}", hint="plan again, or remove the file") from error


def best_bargains(extras: Extras, caps: Mapping[str, float]) -> list[str]:
    """Return the bargain that frees most for what it costs, as a line; nothing where none is worth one."""
    found = extras.bargains
    row = None if found is None else knee(found)
    if found is None or row is None:
        return []
    freed = "; ".join(_changes(found.now, row, caps))
    return [f"{row.less:.0%} less rate ({rate(row.fps)} frames/s, {_option(found, row)}): {freed}"]


def knee(found: BargainsEntry) -> BargainEntry | None:
    """Return the bargain that frees most for what it costs in rate; None where none is worth a line."""
    worth = [
        (most / row.less, row) for row in found.rows if (most := freed_by(found, row)) >= max(WORTH, TIMES * row.less)
    ]
    return max(worth, key=lambda each: each[0], default=(0.0, None))[1]


def bargains(extras: Extras | None, interval_cycles: int, caps: Mapping[str, float], *, measured: bool) -> list[str]:
    """Return the table of all bargains, with the options that get each; nothing where none were sought.

    ``caps``: what is allowed of each resource; ``measured``: a build told of the plan's engines.
    """
    found = None if extras is None else extras.bargains
    if extras is None or found is None:
        return wrapped([OF_A_BUILD]) if measured else []
    rows, more = bargain_rows(found, interval_cycles, caps)
    return [
        *best_bargains(extras, caps),
        *table(rows, left=8),
        *more,
        *wrapped([UNLIKE_STEPS]),
        *wrapped(left_out(extras, "bargains")),
    ]


def bargain_rows(
    found: BargainsEntry, interval_cycles: int, caps: Mapping[str, float]
) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the table of bargains, its heading and the plan itself first, and what to know of it."""
    heading = (
        "less rate",
        "cycles",
        "fullest",
        "of its limit",
        "largest engine",
        "in all",
        "wire length",
        "same command with",
    )
    now = ("none", f"{interval_cycles:,}", *_figures(found.now, caps), "")
    more = [] if found.planned else ["wire length needs floorplans: --bargains plan makes them"]
    return [heading, now, *(_row(found, own, caps) for own in alike(found.rows))], more


def left_out(extras: Extras | None, what: str = "") -> list[str]:
    """Say what, or what of one kind, was not worked out, and which option brings it."""
    told = []
    for each in [] if extras is None else extras.left_out:
        rates = f"what {', '.join(f'{less:.0%}' for less in each.less)} less rate would free"
        name = rates if each.less else "the folding bound without limits on single engines"
        if what in {"", each.what}:
            told.append(f"{name}: left out, as over a tenth of the plan's work; {each.option} works it out")
    return told


def _option(found: BargainsEntry, row: BargainEntry) -> str:
    """Return the options with which the same command makes the plan of a bargain."""
    return " ".join([f"--fps {row.fps:.12g}", *found.beside])


def alike(rows: Iterable[BargainEntry]) -> Iterator[list[BargainEntry]]:
    """Yield the bargains of each row of a table: those that free nothing, one after the other, stand in one."""
    for frees_none, own in groupby(rows, lambda row: row.interval_cycles is not None and row.figures is None):
        same = [*own]
        yield from [same] if frees_none else ([row] for row in same)


def _row(found: BargainsEntry, rows: Sequence[BargainEntry], caps: Mapping[str, float]) -> tuple[str, ...]:
    row = rows[-1]
    option, less = _option(found, row), " to ".join(dict.fromkeys(f"{each.less:.0%}" for each in (rows[0], row)))
    if row.interval_cycles is None:
        return (less, "", "no plan found", "", "", "", "", option)
    figures = ("the same", "", "", "", "") if row.figures is None else _figures(row.figures, caps)
    return (less, f"{row.interval_cycles:,}", *figures, option)


def _figures(found: FiguresEntry, caps: Mapping[str, float]) -> tuple[str, str, str, str, str]:
    hpwl = "" if found.hpwl is None else number(found.hpwl)
    return _filled(found, caps), f"{found.share:.1%}", f"{found.engine} {_engine(found)}", str(found.resources), hpwl


def _filled(found: FiguresEntry, caps: Mapping[str, float]) -> str:
    allowed = caps[found.resource]
    return filled(f"{found.resource} of {found.slot}", found.share * allowed, allowed)


def _engine(found: FiguresEntry) -> str:
    return f"{found.amount:,} {found.engine_resource}"


def freed_by(found: BargainsEntry, row: BargainEntry) -> float:
    """Return the largest share of something that a bargain frees: of the fullest, the largest engine, wire length."""
    now, then = found.now, row.figures
    if then is None:
        return 0.0
    freed = [1 - then.share / now.share if now.share else 0.0]
    if then.engine_resource == now.engine_resource and now.amount:
        freed.append(1 - then.amount / now.amount)
    if then.hpwl is not None and now.hpwl:
        freed.append(1 - then.hpwl / now.hpwl)
    return max(freed)


def _changes(now: FiguresEntry, row: BargainEntry, caps: Mapping[str, float]) -> list[str]:
    then = row.figures
    if then is None:
        return []
    changes = [f"fullest {_filled(then, caps)} ({then.share:.1%} of it), now {_filled(now, caps)} ({now.share:.1%})"]
    changes += [f"largest engine {_engine(then)}, now {_engine(now)}"] if _engine(then) != _engine(now) else []
    changes += [f"wire length {number(then.hpwl)}, now {number(now.hpwl)}"] if then.hpwl and now.hpwl else []
    return changes


def without_limits(extras: Extras | None, clock_mhz: float) -> str:
    """Return what lifting the limits on single engines would give, by the folding bound; empty if not known."""
    found = None if extras is None else extras.without_limits
    if found is None:
        return ""
    if not found.options:
        return "without limits on single engines the folding bound would be the same"
    options = " ".join(f"--{name.replace('_', '-')} none" for name in found.options)
    shorter = f"{found.bound_cycles:,} cycles ({rate_at(clock_mhz, found.bound_cycles)})"
    return f"limits on single engines cost rate: without them the folding bound is {shorter}, with {options}"
