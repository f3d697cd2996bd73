"""Mistakes planted in a legal plan of the toy back end: rows of the table in `tests/verify`, and their helpers."""

import json
import sys
from typing import Any

from tests.verify.planting import Plan, Registry

Files = dict[str, str | None]
"""Texts by name beside plan.json that a mistake changes; None: the file is removed."""
BUILD = "toykit/build.json"


def entry(plan: Plan, name: str) -> Any:
    return next(e for e in plan["networks"][0]["engines"] if e["name"] == name)


def channel(plan: Plan, name: str) -> Any:
    return next(c for c in plan["phases"][0]["channels"] if c["name"] == name)


def build(files: Files, name: str, **values: object) -> None:
    """Change what toykit's file has of an engine; without values it is left out."""
    rows = json.loads(str(files[BUILD]))
    rows[name] |= values
    files[BUILD] = json.dumps(rows if values else {key: row for key, row in rows.items() if key != name})


_OF_TOYKIT = Registry()
_OF_TOYKIT.rows("toykit", sys.modules[__name__])
MUTANTS = tuple(_OF_TOYKIT.mutants)
