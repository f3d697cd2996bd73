"""Files of a phase: what runs of each network, and cells whose names nobody can foresee.

``cells.json`` has every engine with its module and an empty ``cell``, which the user fills in; ``constraints.json``
beside it the constraints with ``members:<module>`` in the place of cells. ``floorflow bind`` puts the cells into these.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from floorflow.backends.builds import Binding
from floorflow.errors import InputError, some
from floorflow.facts import NetworkEntry, Plan
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

    Raises InputError if the file is missing or no JSON object of the plan's engines, or an engine has no cell, or two
    have one.
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


class Layer(Protocol):
    """What files tell of an engine: one of a plan, or of a folding that is in none."""

    @property
    def name(self) -> str:
        """The engine's name."""

    @property
    def kind(self) -> str:
        """The back end's class of layers."""

    @property
    def operation(self) -> str:
        """The operation that it computes."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """What is known of it before folding."""

    @property
    def weight_bits(self) -> int:
        """Bits of a weight."""

    @property
    def output_bits(self) -> int:
        """Bits of an element of its result."""


Layers = tuple[tuple[Layer, Mapping[str, Any]], ...]
"""Engines in order, each with its folding."""


@dataclass(frozen=True)
class Running:
    """A network in a phase: its engines in order, with how they are folded, and the folder of its files."""

    network: NetworkEntry
    engines: Layers
    folder: str


def running(plan: Plan, phase: int) -> Iterator[Running]:
    """Yield what runs of each network in a phase."""
    backend = plan.options.backend
    for part in plan.phases[phase].networks:
        network, folded = plan.network(part.network), part.folding.engines
        ids = {engine.name: plan.engine_id(network.name, engine.name) for engine in network.engines}
        engines = tuple((e, folded[ids[e.name]].attributes) for e in network.engines if ids[e.name] in folded)
        folder = backend if len(plan.networks) == 1 else f"{backend}/{network.name}"
        yield Running(network, engines, folder)


def parallel_rows(named: Mapping[str, tuple[int, int]]) -> tuple[tuple[str, int, int], ...]:
    """Return rows of parallelism: name, value and most, of what can be more than one."""
    return tuple((name, value, most) for name, (value, most) in named.items())
