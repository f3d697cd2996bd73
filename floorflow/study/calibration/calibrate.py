"""Measured beats estimated: read the reports of a build, put them in the place of estimates, and plan again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from floorflow.backends.backend import Backend, Costs, backend_named
from floorflow.backends.instances import RejectedMatch
from floorflow.backends.reports import POWER, SYNTHESIS, BuiltFoldings
from floorflow.dataflow.measured import MeasuredEngine, Measurements, factors_of
from floorflow.dataflow.model import AttributeValue, Dataflow, Option, renamings
from floorflow.errors import InputError, PlatformError, some
from floorflow.facts import FoldedEntry, Plan, read_plan
from floorflow.record.run import PlanWithFiles
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.search.candidate.preparing import platform_of, settled
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.study.calibration.matching import Matches, match
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.study.calibration.timing import NO_TIMING, Timing, read_timing
from floorflow.study.reports import Folder, read_reports

Planner = Callable[[Request, Progress, Measurements], PlanWithFiles]
"""What plans anew: `flow.plan`, given by the API so that studies need not know the driver of all stages."""


@dataclass(frozen=True)
class Calibration:
    """What was measured of ``before``, and the plan that follows. ``estimates`` are of every engine as it was built.

    ``before`` is None where a build was calibrated that floorflow had not planned.
    ``kinds``: op type of every engine. ``request``: what the new plan answers. ``used``: the engines whose rows
    replaced estimates are ``measured.engines``.
    """

    before: Plan | None
    after: PlanWithFiles
    folder: Folder
    matches: Matches
    measured: Measurements
    estimates: Mapping[str, Resources]
    kinds: Mapping[str, str]
    request: Request
    rejected: tuple[RejectedMatch, ...]
    timing: Timing = NO_TIMING

    @property
    def first(self) -> Plan:
        """The plan that was built, else the first there is."""
        return self.before or self.after.plan

    @property
    def unmeasured(self) -> list[str]:
        """Engines of the plan for which no report has a row that could be used."""
        return sorted(set(self.estimates) - set(self.measured.engines))


def calibrate(
    out: Path, reports: Path, overrides: Overrides | None = None, progress: Progress = SILENT, *, plan: Planner
) -> Calibration:
    """Plan again, by ``plan``, what ``out`` holds, with what the reports of its build say instead of estimates.

    A row counts for the folding that was built alone; other foldings of the engine keep their estimates, which are
    corrected where enough engines of the kind were measured (`dataflow.measured`).

    Raises InputError if the plan, its model or a report cannot be read, has several networks or phases, or no row of
    the reports is an engine of the plan; InfeasibleError if the network proves too large with what was measured.
    """
    before = read_plan(out / "plan.json")
    _require_one(out, before)
    folded = before.only_phase.engines
    request = replanned_request(out, before, overrides or Overrides())
    backend = backend_named(request.backend)
    with progress.stage("reports"):
        folder = read_reports(reports, backend, several=len(before.platform.fpgas) > 1)
        matches = match(before, folder.reports, backend)
    refolded = _refolded(before, folder.foldings)
    rows = {name: row for name, row in matches.of(SYNTHESIS).items() if name not in {other.name for other in refolded}}
    if not rows:
        raise _nothing(reports, before, matches, refolded, backend)
    costs, own = replanned_engines(request)
    planned = _as_planned(own, before, request)
    options = _planned_options(planned, before, request, costs)
    other = {new.name: new.kind for old, new in zip(own.engines, planned.engines, strict=True) if old.kind != new.kind}
    engines = {
        name: MeasuredEngine(_folding(folded[name]), row.resources, other.get(name, ""))
        for name, row in rows.items()
        if row.resources
    }
    kinds = {engine.name: engine.kind for engine in planned.engines}
    pairs: dict[str, list[tuple[Resources, Resources]]] = {}
    for name, on_chip in engines.items():
        pairs.setdefault(kinds[name], []).append((options[name].resources, on_chip.resources))
    measured = Measurements(engines, factors_of(pairs), folder.digests)
    after = plan(request, progress, measured.renamed(renamings(planned, own)))
    estimates = {name: option.resources for name, option in options.items()}
    return Calibration(
        before,
        after,
        folder,
        matches,
        measured,
        estimates,
        kinds,
        request,
        (*matches.rejected, *refolded),
        read_timing(reports, out),
    )


def _require_one(out: Path, plan: Plan) -> None:
    """Refuse a plan of several networks or phases: it has no one request to which measurements would belong."""
    if len(plan.networks) != 1 or len(plan.phases) != 1:
        found = f"networks: {len(plan.networks)}, phases: {len(plan.phases)}"
        raise InputError(f"{out}: calibrate takes plans of one network and one phase, found {found}")


def replanned_engines(request: Request) -> tuple[Costs, Dataflow]:
    """Return the engines of the request's model, of the kinds that the back end itself chooses, and their prices."""
    try:
        platform = platform_of(settled(request))
    except PlatformError as error:
        hint = "give the board's file that was planned with --platform FILE"
        raise PlatformError(str(error), hint=hint) from error
    technology = platform.technology
    backend, options = backend_named(request.backend), request.backend_options
    dataflow = backend.lower(backend.read(request.model, options), technology, options)
    if request.folding is not None:
        dataflow = backend.with_folding(dataflow, request.folding, technology)
    return backend.costs(technology, options, own_kinds=True), dataflow


def _as_planned(own: Dataflow, plan: Plan, request: Request) -> Dataflow:
    """Return the engines of the kinds that the plan has.

    Raises InputError if this floorflow makes other engines of the model than the plan has.
    """
    engines = plan.only_network.engines
    pairs = zip(own.engines, engines, strict=False)
    kinds = {mine.name: its.kind for mine, its in pairs if mine.kind != its.kind}
    planned = backend_named(request.backend).with_kinds(own, kinds)
    if [engine.name for engine in planned.engines] != [engine.name for engine in engines]:
        raise InputError(
            f"{request.model}: lowers to other engines than the plan has, which floorflow {plan.version} made",
            hint="plan it again with this version, and calibrate that plan if the build is the same",
        )
    return planned


def _planned_options(planned: Dataflow, plan: Plan, request: Request, costs: Costs) -> dict[str, Option]:
    """Return every engine's option in a plan, with what the cost model, not a build, says of it."""
    folded = plan.only_phase.engines
    engines = tuple(replace(e, folding={**e.folding, **_folding(folded[e.name])}) for e in planned.engines)
    folded_as_planned = replace(planned, engines=engines)
    groups = backend_named(request.backend).given_groups(folded_as_planned, costs, carried=False)
    return {name: option for group in groups for name, option in zip(group.engines, group.rows[0], strict=True)}


def _folding(entry: FoldedEntry) -> dict[str, AttributeValue]:
    """Return a folding of plan.json with its lists as tuples."""
    chosen = {name: tuple(v) if isinstance(v, list) else v for name, v in entry.attributes.items()}
    return cast("dict[str, AttributeValue]", chosen)


def _refolded(plan: Plan, files: Sequence[BuiltFoldings]) -> list[RejectedMatch]:
    """Return the engines that the build's own files have in another folding than the plan; the last that names one."""
    built = {name: (folding, Path(each.file).name) for each in files for name, folding in each.foldings.items()}
    rejected = []
    for name, entry in sorted(plan.only_phase.engines.items()):
        planned = _folding(entry)
        folding, file = built.get(name, ({}, ""))
        wrong = [key for key, value in folding.items() if key in planned and value != planned[key]]
        if wrong:
            differences = ", ".join(f"{key} = {folding[key]}, planned {planned[key]}" for key in wrong)
            rejected.append(RejectedMatch(name, "built otherwise", f"was built with {differences} ({file})"))
    return rejected


def _nothing(
    reports: Path, plan: Plan, matches: Matches, refolded: Sequence[RejectedMatch], backend: Backend
) -> InputError:
    """Return the error for reports that measure no engine of the plan, with names of both sides."""
    known = sorted(plan.only_phase.engines)
    rejected = [*matches.rejected, *refolded]
    if rejected:
        why = f"{len(rejected)} in doubt, such as {rejected[0].name}: {rejected[0].reason}"
    elif matches.rows:
        others = sorted({evidence for row in matches.rows.values() for evidence in row})
        why = f"they hold only {', '.join(others)} figures; an estimate or a power does not replace an estimate of area"
    else:
        instances = [instance for _, instance, _ in matches.unmatched] or ["a whole design"]
        why = f"they name {some(instances)}; the plan has {some(known)}"
    own = f", or {backend.own_reports[0]}" if backend.own_reports else ""
    hint = f"use report_utilization -hierarchical with a depth that reaches the engines{own}"
    return InputError(f"{reports}: no row measures an engine of {plan.only_network.name}: {why}", hint=hint)


def power_milliwatts(calibration: Calibration) -> dict[str, float]:
    """Return the dynamic power of the engines that power reports list."""
    rows = calibration.matches.of(POWER)
    return {name: row.milliwatts for name, row in rows.items() if row.milliwatts is not None}
