"""What was worked out once a plan stood, in the form that extras.json holds."""

from __future__ import annotations

from floorflow.facts import (
    EXTRAS_SCHEMA,
    BargainEntry,
    BargainsEntry,
    Extras,
    FiguresEntry,
    LeftOutEntry,
    WithoutLimitsEntry,
)
from floorflow.record.values import amounts
from floorflow.search.candidate import findings


def record_extras(found: findings.Extras, plan_sha256: str) -> Extras:
    """Return the extras of the plan whose plan.json has this digest."""
    limits = found.without_limits
    return Extras(
        schema=EXTRAS_SCHEMA,
        plan_sha256=plan_sha256,
        without_limits=None if limits is None else WithoutLimitsEntry(**vars(limits) | {"options": [*limits.options]}),
        bargains=None if found.bargains is None else _bargains(found.bargains),
        left_out=[LeftOutEntry(what=each.what, less=[*each.less], option=each.option) for each in found.left_out],
    )


def _bargains(found: findings.Bargains) -> BargainsEntry:
    rows = [
        BargainEntry(
            less=row.less,
            fps=row.fps,
            interval_cycles=row.interval_cycles,
            figures=None if row.figures is None else _figures(row.figures),
        )
        for row in found.rows
    ]
    now, beside = _figures(found.now), list(found.beside)
    return BargainsEntry(planned=found.planned, beside=beside, now=now, rows=rows)


def _figures(found: findings.Figures) -> FiguresEntry:
    told = {name: value for name, value in vars(found).items() if name != "resources"}
    return FiguresEntry(**told, resources=amounts(found.resources))
