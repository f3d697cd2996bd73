"""The independent verdict on a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from floorflow.api.resource_plans import ResourcePlan
from floorflow.api.results import Plan
from floorflow.errors import InputError
from floorflow.output import recover, write
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


def check(plan: str | Path | Plan | ResourcePlan, *, build: str | Path | None = None) -> Verdict:
    """Check a plan and its files independently: a folder that was written, or a plan as its ``save`` would write it.

    ``build`` is FINN's output_dir, or its folder of kernels, that the plan was bound to: every name is judged by it.

    Raises
    ------
    InputError
        If the folder holds no plan, or there is no such build.

    """
    if isinstance(plan, Plan | ResourcePlan):
        with TemporaryDirectory(prefix="floorflow-") as folder:
            write(Path(folder), plan.files, {})
            return check(folder, build=build)
    from floorflow.verify import NotAPlan, judge

    try:
        if build is not None and not exists(Path(build)):
            raise InputError(f"{build}: no such folder", hint="give FINN's output_dir or its kernel_partitions")
        recover(Path(plan))
        found = judge(Path(plan), None if build is None else Path(build))
    except NotAPlan as error:
        raise InputError(str(error), hint="give the folder that floorflow plan wrote") from error
    except OSError as error:  # a name too long, or a folder that may not be read
        where = shown(error.filename or str(plan))
        raise InputError(f"{where}: {why(error)}", hint="give the folder that floorflow plan wrote") from error
    return Verdict(tuple(Violation(v.name, v.where, v.message) for v in found.violations), found.checked)
