"""The independent verdict on a plan, and a plan whose constraints name the cells of a build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from floorflow.api.folders import require_folder
from floorflow.api.results import Plan, SavedPlan, encoded, load
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.output import write
from floorflow.reading import exists, shown, why


@dataclass(frozen=True)
class Violation:
    """A rule that a plan breaks: its name, where in plan or files, and what is wrong there."""

    name: str
    where: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a plan. It counts as true if the plan is legal: ``assert floorflow.check("out")``.

    ``checked``: how many things of each kind were judged.
    """

    violations: tuple[Violation, ...]
    checked: dict[str, int]

    @property
    def legal(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.legal

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, as ``floorflow check --json`` prints it."""
        return {
            "verdict": "legal" if self.legal else "violations",
            "violations": [{"name": v.name, "where": v.where, "message": v.message} for v in self.violations],
            "checked": self.checked,
        }


def check(plan: str | Path | SavedPlan, *, build: str | Path | None = None) -> Verdict:
    """Check a plan and its files independently: a folder that was written, or a plan as its ``save`` would write it.

    ``build`` is FINN's output_dir, or its folder of kernels, that the plan was bound to: every name is judged by it.

    Raises
    ------
    InputError
        If the folder holds no plan, or there is no such build.

    """
    if isinstance(plan, SavedPlan):
        with TemporaryDirectory(prefix="floorflow-") as folder:
            write(Path(folder), plan.files, {})
            return check(folder, build=build)
    require_folder(Path(plan), "the folder that floorflow plan wrote")
    if build is not None and not exists(Path(build)):
        raise InputError(f"{build}: no such folder", hint="give FINN's output_dir or its kernel_partitions")
    with whole_imports():
        from floorflow.verify import NotAPlan, judge

    try:
        found = judge(Path(plan), None if build is None else Path(build))
    except NotAPlan as error:
        raise InputError(str(error), hint="give the folder that floorflow plan wrote") from error
    except OSError as error:  # a name too long, or a folder that may not be read
        where = shown(error.filename or str(plan))
        raise InputError(f"{where}: {why(error)}", hint="give the folder that floorflow plan wrote") from error
    return Verdict(tuple(Violation(v.name, v.where, v.message) for v in found.violations), found.checked)


if TYPE_CHECKING:
    from floorflow.backends.builds import Binding

_UNBOUND = "pblocks.unbound.tcl"
MOST_TOLD = 3
"""Violations that stand in the sentence that refuses a folder."""


class BoundPlan:
    """A plan bound to a build: ``plan`` with the constraints by the names of the build's cells.

    ``cells`` are the engines' cells; ``renamed`` are the engines that the build calls otherwise, with its name;
    ``notes`` say where the build differs in what does not stop it.
    """

    def __init__(self, plan: Plan, binding: Binding) -> None:
        self.plan = plan
        self.cells: Mapping[str, str] = dict(binding.cells)
        self.renamed: Sequence[tuple[str, str]] = tuple(binding.renamed)
        self.notes: Sequence[str] = tuple(binding.notes)
        kept = {name: data for name, data in plan.files.items() if not name.endswith(_UNBOUND)}
        plan.files = kept | encoded(binding.files)

    def as_dict(self) -> dict[str, Any]:
        """Return what was bound as plain data, as ``floorflow bind --json`` prints it."""
        renamed = [{"engine": engine, "node": node} for engine, node in self.renamed]
        return {"cells": dict(self.cells), "renamed": renamed, "notes": list(self.notes)}

    def save(self, folder: str | Path, *, force: bool = False, command: Sequence[str] | None = None) -> tuple[str, ...]:
        """Write the bound plan to a folder, as `Plan.save` does."""
        return self.plan.save(folder, force=force, command=command)

    def __repr__(self) -> str:
        return f"<floorflow.BoundPlan of {self.plan!r}>"


def bind(plan: str | Path, build: str | Path) -> BoundPlan:
    """Bind the plan in a folder to a build of it: kernels are read, and constraints name the cells that they have.

    ``build`` is FINN's output_dir, the folder of its kernels, or for a bare part the graph behind its stitched IP.

    Raises
    ------
    InputError
        If `check` finds violations in the folder; if the build is not that of the plan, or it cannot be told which cell
        is which; names both candidates.

    """
    require_folder(Path(plan), "a folder that plan wrote")
    found = load(plan)
    _require_legal(Path(plan))
    with whole_imports():
        from floorflow.backends.backend import backend_named
    backend = backend_named(found.plan.options.backend)
    return BoundPlan(found, backend.bind(found.plan, found.files, Path(build)))


def _require_legal(plan: Path) -> None:
    """Refuse a folder that was changed or spoilt: what is bound goes into a build of hours."""
    broken = check(plan).violations
    if broken:
        count = f"{len(broken)} violation{'s' * (len(broken) > 1)}"
        told = "; ".join(f"{v.name}: {v.where}: {v.message}" for v in broken[:MOST_TOLD])
        more = f"; and {len(broken) - MOST_TOLD} more" if len(broken) > MOST_TOLD else ""
        raise InputError(
            f"{plan}: {count}, so it is not bound: {told}{more}",
            hint=f"floorflow check {plan} lists them all; plan again, or take back what was changed",
        )
