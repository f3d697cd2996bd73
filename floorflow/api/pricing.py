"""Single engines priced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from floorflow.api.inspecting import INSPECTED_PART
from floorflow.plugins import DEFAULT_BACKEND, registration


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
    options = registration(DEFAULT_BACKEND).options.model_validate({"costs": costs, "finn": finn})
    from floorflow.backends.backend import backend_named

    lines = (engine if isinstance(engine, str) else json.dumps(engine) for engine in engines)
    return iter(backend_named(DEFAULT_BACKEND).cost_lines(lines, part, options))
