"""Calibration of a build folder without a plan: its own graph is planned, with what was measured of its nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from floorflow.backends.backend import Backend, backend_named
from floorflow.backends.builds import Build, BuildFile, BuiltNode
from floorflow.backends.instances import RejectedMatch
from floorflow.backends.reports import SYNTHESIS
from floorflow.dataflow.measured import MeasuredEngine, Measurements, factors_of
from floorflow.errors import InputError, PlatformError
from floorflow.plugins import DEFAULT_BACKEND
from floorflow.request import Request
from floorflow.resources import ZERO, Resources, total
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.study.audit.audit import Audit, audit, tool_of
from floorflow.study.audit.target import Target
from floorflow.study.calibration.calibrate import Calibration, Planner
from floorflow.study.calibration.matching import Matches, Measurement, StreamRows
from floorflow.study.calibration.replan import Overrides
from floorflow.study.calibration.timing import read_timing
from floorflow.study.reports import read_reports


def calibrate_build(folder: Path, overrides: Overrides, progress: Progress = SILENT, *, plan: Planner) -> Calibration:
    """Plan the network of a build folder, its measured engines at what they took; nothing was planned before.

    ``overrides``: the platform, if the build does not tell it, and whether the folding is to stay as built. A model or
    a folding is not taken: the build has its own.

    Raises InputError if the folder holds no build or no report of its synthesis, or no board is known for its part;
    InfeasibleError if the network proves too large with what was measured.
    """
    if overrides.model is not None or overrides.folding is not None:
        raise InputError("--model and --folding belong to a plan, and none was given", hint="leave them out")
    platform = None if overrides.platform is None else str(overrides.platform)
    backend = backend_named(DEFAULT_BACKEND)
    if tool_of(folder) != DEFAULT_BACKEND:
        raise InputError(
            f"{folder}: is a project of {tool_of(folder)}, not of FINN", hint="give the plan that was built"
        )
    found = audit(folder, platform, backend=DEFAULT_BACKEND, progress=progress)
    if found.analysis is None:
        raise InputError(
            f"{folder}: has reports, but no graph of FINN's engines that could be planned",
            hint="give the build's intermediate_models beside its reports, or the plan that was built",
        )
    request = _request(folder, found, overrides)
    with progress.stage("reports"):
        reports = read_reports(folder, backend)
        matches = _matches(found.build)
    engines = _measured(found)
    if not engines:
        raise _nothing(folder, found.build, backend)
    kinds = {engine.name: engine.kind for engine in found.folded.dataflow.engines}
    estimates = {name: option.resources for name, option in found.folded.options.items()}
    pairs: dict[str, list[tuple[Resources, Resources]]] = defaultdict(list)
    for name, engine in engines.items():
        pairs[kinds[name]].append((estimates[name], engine.resources))
    used = _rows_file(found.build)
    reported = {} if used is None else {used.file: used.sha256}
    measured = Measurements(engines, factors_of(pairs), reported)
    after = plan(request, progress, measured)
    timing = read_timing(folder, None)
    return Calibration(None, after, reports, matches, measured, estimates, kinds, request, matches.rejected, timing)


def _request(folder: Path, found: Audit, overrides: Overrides) -> Request:
    board = _board(found.target, overrides.platform)
    return Request(
        folder / found.build.files["graph"].file,
        board,
        finn=found.options.finn,
        vivado=found.options.vivado,
        clock_mhz=found.build.clock.asked_mhz,
        keep_folding=overrides.keep_folding,
        plots=overrides.plots,
    )


def _board(target: Target, given: Path | None) -> str:
    """Return what is planned on: a part alone has no floorplan."""
    if target.infrastructure is None:
        raise PlatformError(
            f"part {target.part}: no board with it is known, and a plan needs one"
            if target.part
            else "the build does not tell its part, and a plan needs a board",
            hint="name a board, or a YAML file of one, with --platform",
        )
    is_file = given is not None and given.suffix in {".yaml", ".yml"}
    return str(given) if is_file else target.name


def _measured(found: Audit) -> dict[str, MeasuredEngine]:
    """Return the engines whose rows are surely theirs; one that uses nothing was dissolved, and tells nothing."""
    options = found.folded.options
    return {
        node.engine: MeasuredEngine(options[node.engine].folding, node.built)
        for node in found.build.nodes
        if node.engine is not None and node.built not in {None, ZERO} and node.built is not None and not node.rivals
    }


def _matches(build: Build) -> Matches:
    """Return the rows as calibrations with a plan list them."""
    used = _rows_file(build)
    file = "" if used is None else used.file
    engines = {
        node.engine: {SYNTHESIS: Measurement(node.instance or node.name, (file,), node.built)}
        for node in build.nodes
        if node.engine is not None and node.built is not None and not node.rivals
    }
    rejected = tuple(_doubt(node) for node in build.nodes if node.engine and node.built is not None and node.rivals)
    unmatched = [(file, row.instance, row.resources) for row in build.unmatched]
    unmatched += [(file, n.instance, n.built) for n in build.nodes if n.role in {"DMA", "other"} and n.instance]
    designs: Mapping[str, Resources] = {} if build.whole is None else {file: build.whole}
    return Matches(engines, rejected, tuple(unmatched), _streams(build.nodes), designs)


_ROWS = ("synthesis", "utilisation by hierarchy", "amounts")
"""Roles of files with a row a node, the first that is there goes."""


def _rows_file(build: Build) -> BuildFile | None:
    return next((build.files[role] for role in _ROWS if role in build.files), None)


def _doubt(node: BuiltNode) -> RejectedMatch:
    reason = f"FINN numbers a partition's nodes anew, and {', '.join(node.rivals[:5])} on a parallel branch may be it"
    return RejectedMatch(node.name, "number not sure", reason)


def _streams(nodes: Sequence[BuiltNode]) -> dict[str, StreamRows]:
    held: dict[str, list[Resources]] = defaultdict(list)
    for node in nodes:
        if node.role in {"FIFO", "converter"} and node.built is not None:
            held[node.kind].append(node.built)
    return {kind: StreamRows(len(rows), total(rows)) for kind, rows in sorted(held.items())}


def _nothing(folder: Path, build: Build, backend: Backend) -> InputError:
    """Return the error for a build of which no engine was measured."""
    report = backend.own_reports[0] if backend.own_reports else "a report of synthesis"
    why = "no row of it is surely an engine of its graph" if _rows_file(build) else f"it has no {report}"
    return InputError(f"{folder}: no engine of the build was measured: {why}", hint="build up to the bitfile")
