"""Single engines priced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from floorflow.api.inspecting import INSPECTED_PART


def cost(
    engines: Iterable[Mapping[str, Any] | str],
    *,
    costs: Literal["calibrated", "estimated", "finn"] = "finn",
    finn: Literal["main", "dev", "plus"] = "main",
    part: str = INSPECTED_PART,
) -> Iterator[dict[str, Any]]:
    """Yield cycles, resources and stream widths of FINN's engines, as they are asked for.

    An engine is a mapping, or its JSON text, with ``op_type``, ``attrs`` (FINN's names, folding included) and perhaps
    ``finn`` and ``part`` (docs/cost-model.md). The answer holds the same fields and the figures; that to a bad engine
    has ``error`` instead of figures.

    Raises
    ------
    InputError
        If lines of text hold no engine at all.

    """
    from floorflow.backends.finn.cost_command import CostOptions, cost_lines

    lines = (engine if isinstance(engine, str) else json.dumps(engine) for engine in engines)
    return cost_lines(lines, CostOptions(costs, finn, part))
