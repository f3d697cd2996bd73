"""The whole Plan: summary, options, inputs, platform, networks and phases."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floorflow import __version__
from floorflow.backends.backend import Source
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import renamings
from floorflow.facts import Extras, InputFile, MemoryScheduleEntry, NetworkEntry, PhaseEntry, Plan
from floorflow.facts.channel import slice_warnings
from floorflow.facts.estimates import EstimatesEntry, throughput_warnings
from floorflow.facts.folding import lifted_warnings
from floorflow.facts.links import Links
from floorflow.facts.options import Options
from floorflow.facts.plan import SCHEMA, UNBUILT, CalibrationEntry
from floorflow.facts.platform import BoundaryCrossing, FpgaEntry, PlatformEntry
from floorflow.facts.power import power_of, power_warnings
from floorflow.facts.region import ReconfigurableEntry
from floorflow.facts.replicas import ReplicasEntry
from floorflow.facts.schedule import ScheduleEntry
from floorflow.facts.summary import summarise
from floorflow.facts.targets import TargetsEntry
from floorflow.hardware import Board, Fpga, Platform, assumed_facts, stages_at_boundary
from floorflow.network import Network
from floorflow.reading import read_bytes
from floorflow.record.network import lifted, network_entry
from floorflow.record.part import Part, PhaseRun, alone
from floorflow.record.phase import phase
from floorflow.record.streams import far_streams
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.placing import pblocks_of
from floorflow.search.candidate.progress import Progress
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
    asked: Request | None = None,
    replicas: ReplicasEntry | None = None,
) -> Plan:
    """Return the Plan of networks in phases, which share a platform and, but for model and rate, their request.

    ``whole`` has all of the platform where phases are confined to ``regions`` of it; ``targets``: what each of several
    networks that were planned together is to reach; ``shared``: the schedule of the external memory, if they share it;
    ``replicas``: the networks are copies of one, for which the user ``asked`` otherwise than for each.

    Raises ValueError if several phases have no schedule.
    """
    if schedule is None and len(runs) > 1:
        raise ValueError(f"{len(runs)} phases without a schedule")
    phases, contexts = [phase(run) for run in runs], _contexts(sources, runs)
    context = contexts[0]
    target = (whole or context).platform
    fpgas = [_fpga(fpga, target) for fpga in target.fpgas]
    platform = PlatformEntry.of(target, fpgas=fpgas, files=sorted(target.files))
    request = _with_modules(asked or context.request, runs)
    if context.backend.streams_a_cable(context.request.backend_options) is None:
        phases = [entry.model_copy(update={"link_kernels": Links(platform, entry).charged}) for entry in phases]
    options = options_entry(request, target, [own.request.model.name for own in contexts], targets, shared)
    networks = _networks([source.network for source in sources], runs, phases)
    # What a phase is cut from was read with assumptions too.
    notes = dict.fromkeys(n for own in (*filter(None, [whole]), *contexts) for n in own.dataflow.notes)
    above = [entry for run in runs for part in run.parts for entry in lifted(run.name, part)]
    boards = {fpga.board.name: fpga.board.shell.name if fpga.board.shell else "" for fpga in target.fpgas}
    linked = replicas is not None or (targets is not None and len(fpgas) == 1)
    built = 1 if linked and context.backend.links_copies(boards) else len(networks)
    power = power_of(platform, phases, options.clock_mhz, 1 if replicas is None else replicas.cards)
    warnings = _unbuilt(context, platform, phases, built, in_regions=regions is not None)
    if warnings:
        links = [Links(platform, entry) for entry in phases]
        warnings += [sentence for each in links for sentence in each.objections(request.cap)]
    warnings += [
        *notes,
        *tried,
        *(told for entry in phases for told in Links(platform, entry).limits(options.clock_mhz)),
        *lifted_warnings(above, context.request),
        *_warnings(runs, phases, alike=replicas is not None),
        *_reused(phases, request.reuse),
        *power_warnings(power, fpgas),
    ]
    warnings.sort(key=lambda warning: not warning.startswith(UNBUILT))  # those of layers, too, stand first
    interrupted = any(part.result.interrupted for run in runs for part in run.parts)
    return Plan(
        schema=SCHEMA,
        summary=summarise(
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
        replicas=None if replicas is None else _with_rate(replicas, phases[0].networks[0].estimates),
        limits_lifted=above,
        power=power,
        warnings=warnings,
        interrupted=interrupted,
    )


def _unbuilt(
    context: PlanningContext,
    platform: PlatformEntry,
    phases: Sequence[PhaseEntry],
    networks: int,
    *,
    in_regions: bool,
) -> list[str]:
    """Return the warnings that come first: what keeps the back end's tool from building the plan."""
    backend, options = context.backend, context.request.backend_options
    clauses = [*backend.unbuilt([f.board for f in platform.fpgas], networks, options, in_regions=in_regions)]
    clauses += backend.unjoined(platform, phases, options) if len(platform.fpgas) > 1 else ()
    shared = sum(module.reused for entry in phases for module in entry.modules)
    if options.stitches and shared:
        clauses.append(
            f"{shared} modules share implementations, and would compute with the weights and thresholds of the "
            "first of each: nothing of floorflow's writes those of the others into the placed cells yet "
            "(docs/stitching.md)"
        )
    return [f"{UNBUILT}{clause}" for clause in clauses]


def _reused(phases: Sequence[PhaseEntry], asked: str) -> Iterator[str]:
    """Yield how much of a design is made once, where that was asked for."""
    modules = [(module.resources.LUT, module.reused) for entry in phases for module in entry.modules]
    if asked != "no":
        share = sum(lut for lut, reused in modules if reused) / max(1, sum(lut for lut, _ in modules))
        yield f"--reuse {asked}: {share:.1%} of the LUTs lie in modules whose implementation serves two or more"


def _with_rate(replicas: ReplicasEntry, each: EstimatesEntry) -> ReplicasEntry:
    """Return copies with the rate to believe of all together."""
    return replicas.model_copy(update={"fps": replicas.copies * each.believed_fps})


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
            yield InputFile(path=path.name, sha256=hashlib.sha256(read_bytes(path, "model", "put it back")).hexdigest())
    yield from {context.wishes.file: None for context in contexts if context.wishes.file}
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


def _warnings(runs: Sequence[PhaseRun], phases: Sequence[PhaseEntry], *, alike: bool = False) -> Iterator[str]:
    """Yield what is to be said of the platform, and of each network in each phase, by name if there are several.

    Of networks that are ``alike`` it is said once.
    """
    yield from doubts(runs[0].context.platform)
    several = len({part.network for run in runs for part in run.parts}) > 1
    for run, entry in zip(runs, phases, strict=True):
        for part in run.parts[: 1 if alike else None]:
            about = ([part.network] if several and not alike else []) + ([f"phase {run.name}"] if len(runs) > 1 else [])
            where = f"{', '.join(about)}: " if about else ""
            timed = entry.network(part.network).estimates.throughput
            said = throughput_warnings(timed, part.candidate.fifo_slack)
            yield from (where + sentence for sentence in (*warnings_of(part), *said))
        where = f"phase {run.name}: " if len(runs) > 1 else ""
        tool = run.context.backend.tool(run.context.request.backend_options)
        yield from (
            where + sentence for sentence in slice_warnings(entry.channels, tool, slices_built=entry.slices_built)
        )


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


def warnings_of(part: Part) -> list[str]:
    """Return what is to be said of a network in a phase."""
    context, result = part.context, part.result
    options = context.request.backend_options
    own = list(context.backend.warnings(result.candidate.folded, context.platform.clock_mhz, options))
    own += part.likely_clock.notes if part.likely_clock is not None else ()
    warnings = [part.told(sentence) for sentence in own]
    far = far_streams(part)
    if far:
        why = result.hop_proof or f"--max-hops {result.max_hops} allows it"
        streams = f"{len(far)} stream{'s cross' if len(far) > 1 else ' crosses'} up to {max(s.hops for s in far)}"
        warnings.append(
            f"{streams} SLR boundaries of an FPGA one after the other ({why}), and rely on registers at each that no "
            "tool inserts by itself: report.txt lists them"
        )
    warnings += result.notes
    if result.repair:
        warnings.append(f"to place the design: {result.repair}")
    return warnings


def options_entry(
    request: Request,
    platform: Platform,
    models: Sequence[str],
    targets: TargetsEntry | None = None,
    shared: MemoryScheduleEntry | None = None,
) -> Options:
    """Return the options with what the request left open; ``models``: the file of each network, by name.

    Of several networks that were planned together ``targets`` hold the rates, of those that share the memory
    ``shared``.
    """
    return Options(
        **{name: getattr(request, name) for name in Request.model_fields}
        | {
            "models": list(models),
            "folding": request.folding and request.folding.name,
            "constraints": request.constraints and request.constraints.name,
            "stay_near": request.stay_near and request.stay_near.name,
            "start_from": request.start_from and request.start_from.name,
            "platform": platform.name,
            "link": _link(request, platform),
            "clock_mhz": platform.clock_mhz,
            "max_fpgas": max(request.max_fpgas, len(platform.fpgas)),
            "objective": request.goal,
        }
        | ({} if targets is None else _of_several(targets))
        | ({} if shared is None else _at_memory(shared))
    )


def _of_several(targets: TargetsEntry) -> dict[str, Any]:
    """Return the options that stand for a rate: least resources are sought only where every network meets its own."""
    met = all(row.fps is not None and row.share == 1 for row in targets.networks)
    return {
        "fps": None,
        "objective": "resources" if met else "throughput",
        "rates": {row.network: row.fps for row in targets.networks if row.fps is not None},
        "min_rate": {row.network: row.least_fps for row in targets.networks if row.least_fps is not None},
    }


def _at_memory(shared: MemoryScheduleEntry) -> dict[str, Any]:
    """Return the rates that were asked for; nothing else was sought but to come close to them, with few resources."""
    return {
        "fps": None,
        "objective": "resources",
        "rates": {row.network: row.asked_fps for row in shared.networks if row.asked_fps is not None},
        "min_rate": {row.network: row.least_fps for row in shared.networks if row.must},
    }


def _link(request: Request, platform: Platform) -> str | None:
    """Return the name, not the path, of the kind of link that was asked for."""
    link = platform.fpgas[0].board.link
    return None if request.link is None or link is None else link.kind


def _fpga(fpga: Fpga, platform: Platform) -> FpgaEntry:
    board = fpga.board
    return FpgaEntry.of(
        fpga,
        board=board.name,
        part=board.part,
        device=fpga.device.part,
        host_memory=board.host_memory,
        crossing=BoundaryCrossing(
            registers=stages_at_boundary(board, fifos=platform.crossing_fifos, slices=platform.crossing_slices),
            fifos=platform.crossing_fifos,
            slices=platform.crossing_slices,
        ),
        power_limit_w=board.power and board.power.limit_w,
        power_base_w=board.power and board.power.base_w,
        unstated=board.unstated,
    )


def doubts(platform: Platform) -> list[str]:
    """Say, once for each board, what its file leaves open, and once what host port and links are in doubt."""
    boards = {fpga.board.name: fpga.board for fpga in platform.fpgas}.values()
    ports = {fpga.board.name: fpga.board.at_host for fpga in (platform.fpgas[0], platform.fpgas[-1])}
    assumed = [
        f"host port {memory.name} of {board} in {memory.slr}: place and price are assumed: confirm with platforminfo"
        for board, memory in ports.items()
        if memory is not None and memory.assumed
    ]
    lossy = [
        f"link {kind} loses packets and sends none again: a frame that loses one is wrong or never ends; take "
        "aurora-100g, or add a layer that sends again (no link kernels are made for it)"
        for kind in sorted({link.kind for link in platform.links if not link.reliable})
    ]
    guessed = [f"{board.name}: {fact}" for board in boards for fact in assumed_facts(board)]
    return [*_unstated(boards), *guessed, *assumed, *lossy]


def _unstated(boards: Collection[Board]) -> list[str]:
    """Say what the files of boards leave open."""
    return [
        f"{board.name + ': ' if len(boards) > 1 else ''}{board.doubt}; "
        f"state the field{'s' if len(board.unstated) > 1 else ''}, or 'none' (platforms/README.md)"
        for board in boards
        if board.doubt
    ]


@dataclass(frozen=True)
class PlanWithFiles:
    """A plan on its platform, and its files, content by relative path; pictures and run.json come with the API.

    ``seconds``: what its steps took, where that is told; run.json alone may hold them. ``extras`` works out what is
    told beside the plan once it stands, None where there is nothing.
    """

    plan: Plan
    platform: Platform
    files: dict[str, str | bytes]
    seconds: Mapping[str, float] = field(default_factory=dict)
    extras: Callable[[Progress], Extras | None] | None = None
