"""Cells whose names nobody can foresee: a file in which the user writes them, and constraints that take them from it.

``cells.json`` has every engine with its module and an empty ``cell``; ``constraints.json`` beside it the constraints
with ``members:<module>`` in the place of cells. ``floorflow bind`` puts those of the filled in first into the second.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floorflow.backends.binding import Binding
from floorflow.errors import InputError, some
from floorflow.facts import Plan
from floorflow.reading import parse_json, read_json

CELLS, CONSTRAINTS = "cells.json", "constraints.json"
_MEMBERS = "members:"
_ASSIGNED = re.compile(r"floorflow::slr \{[^}]*\} \\\n\s+-cells \{([^}]*)\}")


def as_json(content: object) -> str:
    """Return an object as the files of a plan have it."""
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def cells_file(plan: Plan, phase: int) -> str:
    """Return ``cells.json`` of a phase, to be filled in."""
    modules = plan.phases[phase].modules
    return as_json({name: {"cell": "", "module": module.name} for module in modules for name in module.engines})


def constraints_file(fpgas: Sequence[Mapping[str, Any]]) -> str:
    """Return the constraints of all FPGAs, by FPGA and file."""
    return as_json({fpga["name"]: fpga["constraints"] for fpga in fpgas})


def bound(plan: Plan, files: Mapping[str, bytes], folder: str, build: Path) -> Binding:
    """Return the constraints of a plan of one phase with the cells of a file, ``cells.json`` filled in.

    Raises
    ------
    InputError
        If the file is missing or no JSON object of the plan's engines, or an engine has no cell, or two have one.

    """
    members = _members(plan, build)
    cells = {engine: cell for engines in members.values() for engine, cell in engines.items()}
    texts = _constraints(files, f"{folder}/{CONSTRAINTS}")
    made = {
        f"{fpga}/{name}": _filled(text, {module: [*engines.values()] for module, engines in members.items()})
        for fpga, named in texts.items()
        for name, text in named.items()
    }
    told = {"cells": cells, "streams": {}, "channels": {}, "renamed": [], "notes": []}
    return Binding({**made, "bound.json": as_json(told)}, cells, (), ())


def _constraints(files: Mapping[str, bytes], name: str) -> dict[str, dict[str, str]]:
    """Return the constraints that plan wrote, by FPGA and file."""
    hint = "the plan's folder was changed; make the plan again"
    texts = parse_json(files.get(name, b"").decode("utf-8", "replace"), name, hint)
    named = [each for each in texts.values() if isinstance(each, dict)] if isinstance(texts, dict) else []
    if not named or len(named) < len(texts) or not all(isinstance(t, str) for each in named for t in each.values()):
        raise InputError(f"{name}: is no table of constraints", hint)
    found: dict[str, dict[str, str]] = texts
    return found


def _members(plan: Plan, build: Path) -> dict[str, dict[str, str]]:
    """Return the cells of each module's engines."""
    hint = f"fill in {CELLS} of the plan: the full name of each engine's cell, as get_cells takes it"
    try:
        told = read_json(build, "configuration", hint)
        cells = {str(engine): str(entry["cell"]) for engine, entry in told.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{build}: is no table of engines with their cells: {error}", hint=hint) from error
    modules = {module.name: [*module.engines] for module in plan.only_phase.modules}
    wanted = {engine for engines in modules.values() for engine in engines}
    if wanted != set(cells):
        raise InputError(f"{build}: {some(sorted(wanted ^ set(cells)))} is in one of plan and file only", hint=hint)
    _check_names(build, cells, hint)
    return {module: {engine: cells[engine] for engine in engines} for module, engines in modules.items()}


def _check_names(build: Path, cells: Mapping[str, str], hint: str) -> None:
    empty = sorted(engine for engine, cell in cells.items() if not cell.strip())
    if empty:
        raise InputError(f"{build}: no cell is told for {some(empty)}", hint=hint)
    odd = sorted(engine for engine, cell in cells.items() if set(cell) & set(" \t\n{}\"'\\$;"))
    if odd:
        raise InputError(f"{build}: the cell of {odd[0]} is {cells[odd[0]]!r}", hint="give one name without spaces")
    shared = sorted(cell for cell, count in Counter(cells.values()).items() if count > 1)
    if shared:
        raise InputError(f"{build}: {some(shared)} is the cell of several engines", hint=hint)


def _filled(text: str, members: Mapping[str, Sequence[str]]) -> str:
    """Return constraints with cells, and a Tcl script with the number of those that it assigns to SLRs."""
    filled = "\n".join(line for each in text.splitlines() for line in _lines(each, members)) + "\n"
    assigned = sum(len(cells.split()) for cells in _ASSIGNED.findall(filled))
    return re.sub(r"-assigned \d+", f"-assigned {assigned}", filled)


def _lines(line: str, members: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line with cells for its module: one for each in XDC, in Tcl all in one."""
    # The longest name first: one module's may begin another's.
    module = max((name for name in members if f"{_MEMBERS}{name}" in line), key=len, default=None)
    if module is None:
        yield line
    elif "get_cells" in line:
        yield from (line.replace(f"{_MEMBERS}{module}", cell) for cell in members[module])
    else:
        for name in sorted(members, key=len, reverse=True):
            line = line.replace(f"{_MEMBERS}{name}", " ".join(members[name]))
        yield line
