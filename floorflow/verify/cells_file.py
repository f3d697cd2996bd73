"""``cells.json``, in which the user writes what engines' cells are called, and the constraints that wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.verify.judge import Files

FINDINGS = {
    "cells-file-differs": "cells.json or constraints.json beside it is not of the plan's engines, modules and FPGAs",
}


def check_cells_file(phase: Mapping[str, Any], folder: Files, place: str) -> Iterator[tuple[str, str, str]]:
    """Yield where the two files are not of a phase."""
    name = f"{place}/cells.json"
    content, where = folder.json(name), folder.path(name)
    wanted = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    if content is not None:
        found = {e: row.get("module") if isinstance(row, dict) else None for e, row in content.items()}
        for engine in sorted({*wanted} ^ {*found}):
            yield "cells-file-differs", where, f"{engine} is in one of plan and file only"
        for engine in sorted(e for e in wanted if e in found and found[e] != wanted[e]):
            yield "cells-file-differs", where, f"{engine} is in module {found[engine]!r:.60}, planned {wanted[engine]}"
    name = f"{place}/constraints.json"
    texts = folder.json(name)
    if texts is not None and {*texts} != {*phase["floorplan"]}:
        yield "cells-file-differs", folder.path(name), f"is of {sorted(texts)}, planned {sorted(phase['floorplan'])}"
