"""Measured beats estimated: a plan made again with what its build reported."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.command import command_line
from floorflow.api.events import Callback, told_to
from floorflow.api.folders import require_folder
from floorflow.api.results import Interrupted, Plan, plan_of
from floorflow.importing import whole_imports

if TYPE_CHECKING:
    from floorflow.study.calibration import calibrate as study


class Calibration:
    """What a build measured, and the ``plan`` that follows; ``found`` holds every match and its reasons."""

    def __init__(self, found: study.Calibration, plan: Plan) -> None:
        from floorflow.study.calibration import data

        self.found = found
        self.plan = plan
        plan.files = {**plan.files, data.FILE: data.text(found).encode()}

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow calibrate --json`` prints it."""
        from floorflow.study.calibration import data

        return data.as_dict(self.found)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row a measured engine: what was estimated and what was measured of each resource."""
        return [
            {
                "engine": name,
                "kind": entry["kind"],
                **{f"{resource}_estimated": amount for resource, amount in entry["estimate"].items()},
                **{f"{resource}_measured": amount for resource, amount in entry["measured"].items()},
            }
            for name, entry in self.as_dict()["engines"].items()
        ]

    def save(self, folder: str | Path, *, force: bool = False, command: Sequence[str] | None = None) -> tuple[str, ...]:
        """Write the new plan with calibration.json to a folder, as `Plan.save` does."""
        return self.plan.save(folder, force=force, command=command)

    def __repr__(self) -> str:
        return f"<floorflow.Calibration of {self.plan!r}>"


class InterruptedCalibration(Interrupted):
    """Ctrl-C while a plan was made again; ``calibration`` is what was measured, and the plan known by then."""

    def __init__(self, calibration: Calibration) -> None:
        super().__init__(calibration.plan)
        self.calibration = calibration


def calibrate(
    folder: str | Path | None,
    reports: str | Path,
    *,
    model: str | Path | None = None,
    folding: str | Path | None = None,
    platform: str | Path | None = None,
    keep_folding: bool = False,
    plots: bool = True,
    progress: Callback | None = None,
) -> Calibration:
    """Read the reports of a build of the plan in ``folder``, and plan again with what they say.

    Without a plan (None) ``reports`` is a build folder, whose own network is planned with what was measured of it.
    ``model``, ``folding`` and ``platform`` name files that were moved. ``keep_folding`` keeps the folding that was
    built and places it anew.

    Raises
    ------
    InputError
        If the plan, its model or a report cannot be read, or no row of the reports is an engine of the plan.
    Infeasible
        If the network proves too large with what was measured.
    InterruptedCalibration
        On Ctrl-C, with the best legal plan known by then and the calibration; a plain KeyboardInterrupt before that.

    """
    started = time.perf_counter()
    if folder is not None:
        require_folder(Path(folder), "a folder that plan wrote")
    require_folder(Path(reports), "the folder with the reports of the build")
    with whole_imports():
        from floorflow import flow
        from floorflow.study.calibration import built
        from floorflow.study.calibration import calibrate as study
        from floorflow.study.calibration.replan import Overrides

    given = Overrides(_path(model), _path(folding), _path(platform), keep_folding, plots)
    tell = told_to(progress)
    if folder is None:
        found = built.calibrate_build(Path(reports), given, tell, plan=flow.plan)
    else:
        found = study.calibrate(Path(folder), Path(reports), given, tell, plan=flow.plan)
    made = Calibration(
        found, plan_of(found.after, command_line("plan", found.request), plots=found.request.plots, started=started)
    )
    if made.plan.interrupted:
        raise InterruptedCalibration(made)
    return made


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
