"""The whole Plan: summary, options, inputs, platform, networks and phases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from floorflow import __version__
from floorflow.backends.backend import Source
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import renamings
from floorflow.facts import (
    CalibrationEntry,
    InputFile,
    MemoryScheduleEntry,
    NetworkEntry,
    PhaseEntry,
    Plan,
    ReconfigurableEntry,
    ScheduleEntry,
    TargetsEntry,
)
from floorflow.facts.plan import SCHEMA, UNBUILT
from floorflow.network import Network
from floorflow.reading import read_bytes
from floorflow.record.engine_limits import lifted, lifted_warnings
from floorflow.record.long_streams import slice_warnings
from floorflow.record.network import network_entry
from floorflow.record.options import options_entry
from floorflow.record.part import Part, PhaseRun, alone
from floorflow.record.phase import phase
from floorflow.record.platform import platform_entry
from floorflow.record.summary import summary
from floorflow.record.throughput import throughput_warnings
from floorflow.record.warnings import doubts, warnings_of
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.placing import pblocks_of
from floorflow.several import plain_name


def record(
    source: Source,
    context: PlanningContext,
    result: SearchResult,
    tried: Sequence[str] = (),
    measured: Measurements = NO_MEASUREMENTS,
) -> Plan:
    """Return the Plan of a finished search; ``tried`` says why fewer FPGAs would not do."""
    names = renamings(context.dataflow, result.candidate.folded.dataflow)
    known = [names[name] for name in measured.among(result.candidate.folding.options)]
    run = alone(Part(plain_name(source.network.name), context, result, measured=known))
    return record_runs([source], [run], None, tried, measured)


def _with_modules(request: Request, runs: Sequence[PhaseRun]) -> Request:
    """Return the request with the pblocks that it states by the modules that have them."""
    if not request.fix_pblock:
        return request
    found = [pblocks_of(part.context, part.result.candidate) for run in runs for part in run.parts]
    fixed = {name: pblock.text for each in found for name, pblock in each.items()}
    return request.changed(fix_pblock=fixed)


def record_runs(
    sources: Sequence[Source],
    runs: Sequence[PhaseRun],
    schedule: ScheduleEntry | None,
    tried: Sequence[str] = (),
    measured: Measurements = NO_MEASUREMENTS,
    *,
    whole: PlanningContext | None = None,
    regions: ReconfigurableEntry | None = None,
    targets: TargetsEntry | None = None,
    shared: MemoryScheduleEntry | None = None,
) -> Plan:
    """Return the Plan of networks in phases, which share a platform and, but for model and rate, their request.

    ``whole`` has all of the platform where phases are confined to ``regions`` of it; ``targets``: what each of several
    networks that were planned together is to reach; ``shared``: the schedule of the external memory, if they share it.

    Raises
    ------
    ValueError
        If several phases have no schedule.

    """
    if schedule is None and len(runs) > 1:
        raise ValueError(f"{len(runs)} phases without a schedule")
    phases, contexts = [phase(run) for run in runs], _contexts(sources, runs)
    context = contexts[0]
    target = (whole or context).platform
    platform = platform_entry(target)
    request = _with_modules(context.request, runs)
    options = options_entry(request, target, [own.request.model.name for own in contexts], targets, shared)
    networks = _networks([source.network for source in sources], runs, phases)
    notes = dict.fromkeys(note for own in contexts for note in own.dataflow.notes)
    above = [entry for run in runs for part in run.parts for entry in lifted(run.name, part)]
    boards = [fpga.board for fpga in platform.fpgas]
    warnings = _unbuilt(context, boards, len(networks), in_regions=regions is not None)
    warnings += [*notes, *tried, *lifted_warnings(above, context.request), *_warnings(runs, phases)]
    interrupted = any(part.result.interrupted for run in runs for part in run.parts)
    return Plan(
        schema=SCHEMA,
        summary=summary(
            options,
            platform,
            networks,
            phases,
            schedule,
            warnings=warnings,
            interrupted=interrupted,
            regions=regions,
            shared=shared,
        ),
        version=__version__,
        seed=context.request.seed,
        options=options,
        inputs=list(_inputs(sources, contexts)),
        calibration=None if measured == NO_MEASUREMENTS else _calibration(measured, runs),
        platform=platform,
        networks=networks,
        phases=phases,
        schedule=schedule,
        targets=targets,
        reconfigurable=regions,
        memory_schedule=shared,
        limits_lifted=above,
        warnings=warnings,
        interrupted=interrupted,
    )


def _unbuilt(context: PlanningContext, boards: Sequence[str], networks: int, *, in_regions: bool) -> list[str]:
    """Return the warnings that come first: what keeps the back end's tool from building the plan."""
    clauses = context.backend.unbuilt(boards, networks, context.request.backend_options, in_regions=in_regions)
    return [f"{UNBUILT}{clause}" for clause in clauses]


def cut_short(plan: Plan) -> Plan:
    """Return a plan marked as interrupted: a signal came before it stood."""
    summed = plan.summary.model_copy(update={"interrupted": True})
    return plan.model_copy(update={"interrupted": True, "summary": summed})


def _contexts(sources: Sequence[Source], runs: Sequence[PhaseRun]) -> list[PlanningContext]:
    """Return the context of each network, of the first phase in which it runs."""
    parts = [part for run in runs for part in run.parts]
    names = [plain_name(source.network.name) for source in sources]
    return [next(part.context for part in parts if part.network == name) for name in names]


def _inputs(sources: Sequence[Source], contexts: Sequence[PlanningContext]) -> Iterator[InputFile]:
    """Yield the model of every network, each with the files of its folding if that was given; then the earlier plan."""
    for source, context in zip(sources, contexts, strict=True):
        yield InputFile(path=context.request.model.name, sha256=source.sha256)
        for path in _folding_files(context):
            yield InputFile(path=path.name, sha256=_sha256(path))
    # All networks stay near the same plan.
    yield from {context.previous.file: None for context in contexts if context.previous.file}


def _networks(
    networks: Sequence[Network], runs: Sequence[PhaseRun], phases: Sequence[PhaseEntry]
) -> list[NetworkEntry]:
    """Return every network with what all its phases tell of it."""
    entries = []
    for network in networks:
        name = plain_name(network.name)
        pairs = [
            (run.name, part, entry.network(name).estimates)
            for run, entry in zip(runs, phases, strict=True)
            for part in run.parts
            if part.network == name
        ]
        entries.append(network_entry(network, pairs))
    return entries


def _warnings(runs: Sequence[PhaseRun], phases: Sequence[PhaseEntry]) -> Iterator[str]:
    """Yield what is to be said of the platform, and of each network in each phase, by name if there are several."""
    yield from doubts(runs[0].context.platform)
    several = len({part.network for run in runs for part in run.parts}) > 1
    for run, entry in zip(runs, phases, strict=True):
        for part in run.parts:
            about = ([part.network] if several else []) + ([f"phase {run.name}"] if len(runs) > 1 else [])
            where = f"{', '.join(about)}: " if about else ""
            timed = entry.network(part.network).estimates.throughput
            said = throughput_warnings(timed, part.candidate.fifo_slack)
            yield from (where + sentence for sentence in (*warnings_of(part), *said))
        where = f"phase {run.name}: " if len(runs) > 1 else ""
        tool = run.context.backend.tool(run.context.request.backend_options)
        yield from (where + sentence for sentence in slice_warnings(entry, tool))


def _calibration(measured: Measurements, runs: Sequence[PhaseRun]) -> CalibrationEntry:
    """Return what was measured, the engines by their ids."""
    measured_engines = {part.id(name) for run in runs for part in run.parts for name in part.measured}
    return CalibrationEntry(
        measured=sorted(measured_engines),
        factors={kind: dict(factors) for kind, factors in measured.factors.items()},
        reports=[InputFile(path=name, sha256=digest) for name, digest in sorted(measured.reports.items())],
    )


def _folding_files(context: PlanningContext) -> Iterator[Path]:
    """Yield, if the folding was given, the files that it was read from."""
    folding = context.request.folding
    if folding is not None:
        yield from context.backend.folding_inputs(context.dataflow, folding)


def _sha256(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, "model", "put it back")).hexdigest()
