"""How likely a slot is to hold what lies in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from floorflow.facts.text import chance, table, wrapped
from floorflow.facts.values import Amounts, PlanModel
from floorflow.resources import RESOURCE_NAMES


class FitEntry(PlanModel):
    """How likely a slot holds what lies in it; one outcome in ten needs less than ``low``, one more than ``high``."""

    likelihood: Annotated[float, Field(ge=0, le=1)]
    low: Amounts
    high: Amounts


def fits(entries: Mapping[str, FitEntry], available: Mapping[str, Amounts], least_likely: str) -> list[str]:
    """Return the least likely pblock and slot, and what each slot may need; nothing where costs know no error.

    ``available``: of each slot; ``least_likely``: the pblock, in words.
    """
    likely = {name: fit for name, fit in entries.items() if any(fit.high.model_dump().values())}
    if not likely:
        return []
    worst = min(likely, key=lambda name: likely[name].likelihood)
    have = {name: amounts.model_dump() for name, amounts in available.items()}
    rows: list[tuple[str, ...]] = [("eight of ten lie in", "likely to fit", *RESOURCE_NAMES)]
    for name, fit in likely.items():
        low, high = fit.low.model_dump(), fit.high.model_dump()
        spans = [_span(low[r], high[r], have[name][r]) for r in RESOURCE_NAMES]
        rows.append((name, chance(fit.likelihood), *spans))
    whole = f"least likely slot: {worst}, {chance(likely[worst].likelihood)}; shares are of what is available there"
    return [*wrapped([*([f"least likely pblock: {least_likely}"] if least_likely else []), whole]), *table(rows)]


def _span(low: int, high: int, have: int) -> str:
    return f"{low / have:.0%} to {high / have:.0%}" if have else "-"
