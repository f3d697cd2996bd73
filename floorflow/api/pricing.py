"""Single engines priced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from floorflow.api.inspecting import INSPECTED_PART
from floorflow.api.models import ANY_BOARD
from floorflow.plugins import DEFAULT_BACKEND
from floorflow.request import Request


def cost(
    engines: Iterable[Mapping[str, Any] | str],
    *,
    part: str = INSPECTED_PART,
    backend: str = DEFAULT_BACKEND,
    backend_options: Mapping[str, Any] | Sequence[str] = (),
    costs: Literal["calibrated", "estimated", "finn", "samo"] | None = None,
    finn: Literal["main", "dev", "plus"] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield cycles, resources and stream widths of a back end's engines, as they are asked for.

    An engine is a mapping, or its JSON text; for FINN with ``op_type``, ``attrs`` (FINN's names, folding included) and
    perhaps ``finn`` and ``part`` (docs/cost-model.md), priced as FINN main does unless ``costs`` and ``finn`` say
    otherwise. The answer holds the same fields and the figures; that to a bad engine has ``error`` instead of figures.

    Raises
    ------
    InputError
        If the back end prices no single engines, has no such option, or lines of text hold no engine at all.

    """
    flat = {name: value for name, value in (("costs", costs), ("finn", finn)) if value is not None}
    asked = Request(model="", platform=ANY_BOARD, backend=backend, backend_options=backend_options, **flat)
    from floorflow.backends.backend import backend_named

    lines = (engine if isinstance(engine, str) else json.dumps(engine) for engine in engines)
    return iter(backend_named(backend).cost_lines(lines, part, asked.backend_options))
