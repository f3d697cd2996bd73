"""What differs between two plans that were made."""

from __future__ import annotations

from pathlib import Path

from floorflow import facts, reading
from floorflow.api.folders import files_in, require_folder
from floorflow.api.results import Plan
from floorflow.facts import read_plan
from floorflow.facts.brief import first_picture
from floorflow.facts.diff import Diff, diff_plans

AnyPlan = str | Path | Plan


def diff(a: AnyPlan, b: AnyPlan) -> Diff:
    """Return what differs between two plans: folders that ``plan`` wrote, their plan.json, or plans as they were made.

    Raises
    ------
    InputError
        If there is no plan, or it is not one of this version.

    """
    (first, *of_first), (second, *of_second) = _read(a), _read(b)
    return diff_plans(first, second, (of_first[0], of_second[0]), (of_first[1], of_second[1]))


def _read(given: AnyPlan) -> tuple[facts.Plan, str, str]:
    """Return a plan, how it was given, and the path of its floorplan's picture, empty where there is none."""
    if isinstance(given, Plan):
        return given.plan, given.name, ""
    path = Path(given)
    if path.suffix == ".json" and reading.is_file(path):
        return read_plan(path), str(path), ""
    require_folder(path, "a folder that plan wrote, or its plan.json")
    plan = read_plan(path / "plan.json")
    picture = first_picture(files_in(path))
    return plan, str(path), str(path / picture) if picture else ""
