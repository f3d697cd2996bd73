"""What every reader of a build's reports answers with: rows that name an instance and what it uses."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floorflow.dataflow.model import Attributes
from floorflow.errors import InputError
from floorflow.resources import ZERO, Resources

SYNTHESIS = "synthesis"
"""Counted by Vivado on a netlist: the only evidence that replaces an estimate."""
POWER = "power"

MOST_UNITS = 2**40
"""More than any report counts."""
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(?:\s*\(.*\))?")
"""``12``, ``12.0`` or, with -hierarchical_percentages, ``12(0.34%)``."""


@dataclass(frozen=True)
class Row:
    """One instance. ``path`` holds the names from the top of the report down to it; a name may hold a slash."""

    path: tuple[str, ...]
    resources: Resources | None = None
    milliwatts: float | None = None

    @property
    def instance(self) -> str:
        """The path as Vivado writes it."""
        return "/".join(self.path)

    @property
    def is_empty(self) -> bool:
        """Whether nothing that is counted lies in it."""
        return self.milliwatts is None and self.resources in {None, ZERO}


@dataclass(frozen=True)
class Report:
    """One file. ``evidence`` is what kind of number it holds, ``state`` how far the design was (``Routed``).

    ``evidence`` is `SYNTHESIS`, `POWER` or a back end's own word for estimates, which are listed and not planned by.
    """

    file: str
    format: str
    evidence: str
    rows: tuple[Row, ...]
    state: str = ""

    @property
    def rank(self) -> int:
        """How close the netlist is to the finished chip: later beats earlier where both have a row."""
        words = self.state.lower()
        return next((rank for rank, word in ((3, "route"), (2, "place"), (1, "opt")) if word in words), 0)


@dataclass(frozen=True)
class BuiltFoldings:
    """One file that tells what engines were built with: by engine, what has to be as planned for its rows to count."""

    file: str
    foldings: Mapping[str, Attributes]


def malformed(file: str, line: int, message: str) -> InputError:
    """Return the error for a report that cannot be read."""
    return InputError(f"{file}:{line}: {message}", hint="write the report again, or take it out of the folder")


def json_of(text: str, file: str, **options: Any) -> Any:
    """Return what a JSON report holds; ``options`` are those of `json.loads`."""
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        raise malformed(file, error.lineno, f"no JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise malformed(file, 1, f"no JSON that can be read: {error}") from error


def count(text: str, file: str, line: int, column: str) -> int:
    """Read an amount; fractions are refused, save a trailing ``.0``."""
    match = _NUMBER.fullmatch(text.strip())
    value = float(match[1]) if match else 0.5
    if not value.is_integer() or value > MOST_UNITS:
        raise malformed(file, line, f"{column} is {text.strip()!r:.40}, expected a whole number")
    return int(value)
