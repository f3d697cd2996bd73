"""Single engines priced."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from floorflow.api.inspecting import INSPECTED_PART
from floorflow.api.models import ANY_BOARD
from floorflow.errors import InputError
from floorflow.plugins import DEFAULT_BACKEND
from floorflow.reading import read_text
from floorflow.request import Request

_HINT = "give a file of JSON lines, or - for standard input"
_LONGEST_LINE = 2**20


def lines_of(file: str | Path) -> Iterator[str]:
    """Return the lines of a text file, or, as they come, of standard input for a dash.

    Raises
    ------
    InputError
        If the file cannot be read, or a line of standard input never ends.

    """
    if str(file) != "-":
        return iter(StringIO(read_text(Path(file), "costs", _HINT, replace=True), newline=None))
    return _lines_of_standard_input()


def _lines_of_standard_input() -> Iterator[str]:
    while line := sys.stdin.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise InputError(f"standard input: a line is longer than {_LONGEST_LINE:,} characters", _HINT)
        yield line


def cost(
    engines: Iterable[Mapping[str, Any] | str],
    *,
    part: str = INSPECTED_PART,
    backend: str = DEFAULT_BACKEND,
    backend_options: Mapping[str, Any] | Sequence[str] = (),
    costs: Literal["calibrated", "estimated", "finn", "samo"] | None = None,
    finn: Literal["main", "dev", "plus"] | None = None,
    vivado: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield cycles, resources and stream widths of a back end's engines, as they are asked for.

    An engine is a mapping, or its JSON text; for FINN with ``op_type``, ``attrs`` (FINN's names, folding included) and
    perhaps ``finn`` and ``part`` (docs/cost-model.md), priced as FINN main does unless ``costs`` and ``finn`` say
    otherwise; ``vivado`` builds them (``2022.2``), if not given the one that FINN names. The answer holds the same
    fields and the figures; that to a bad engine has ``error`` instead of figures.

    Raises
    ------
    InputError
        If the back end prices no single engines, has no such option, or lines of text hold no engine at all.

    """
    given = {"costs": costs, "finn": finn, "vivado": vivado}
    flat = {name: value for name, value in given.items() if value is not None}
    asked = Request(model="", platform=ANY_BOARD, backend=backend, backend_options=backend_options, **flat)
    from floorflow.backends.backend import backend_named

    lines = (engine if isinstance(engine, str) else json.dumps(engine) for engine in engines)
    return iter(backend_named(backend).cost_lines(lines, part, asked.backend_options))
