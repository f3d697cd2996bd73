"""The whole Plan: options, inputs, platform, network, phases, search and trace."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from floorflow import __version__
from floorflow.backends.finn.config.style_file import style_file_beside
from floorflow.backends.finn.options import finn_options
from floorflow.backends.finn.read.source import Source
from floorflow.backends.finn.specialise import PREFERENCE, renamings
from floorflow.channels import Channel
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import Dataflow
from floorflow.hardware import Platform
from floorflow.network import Network
from floorflow.record.phase import phase
from floorflow.record.throughput import throughput_warnings
from floorflow.record.values import amounts, plain, rectangle
from floorflow.request import Request
from floorflow.schema import (
    CalibrationEntry,
    EngineEntry,
    EstimatesEntry,
    FpgaEntry,
    InfrastructureEntry,
    InputFile,
    IntervalBound,
    LinkEntry,
    NetworkEntry,
    OperationEntry,
    Options,
    Plan,
    PlatformEntry,
    SllEntry,
    SlotEntry,
    TraceEntry,
)
from floorflow.search.context import RATE_TOLERANCE, PlanningContext
from floorflow.search.search import SearchResult
from floorflow.text.lists import some

DMA_BITS = 512
"""Widest memory interface of FINN's DMA engines (InsertIODMA)."""


def record(
    source: Source,
    context: PlanningContext,
    result: SearchResult,
    tried: Sequence[str] = (),
    measured: Measurements = NO_MEASUREMENTS,
) -> Plan:
    """Return the Plan of a finished search; ``tried`` says why fewer FPGAs would not do."""
    request = context.request
    names = renamings(context.dataflow, result.candidate.folded.dataflow)
    measured_engines = [names[name] for name in measured.among(result.candidate.folding.options)]
    only = phase(context, result, measured_engines)
    return Plan(
        schema="floorflow-plan/1",
        version=__version__,
        seed=request.seed,
        options=_options(request, context.platform),
        inputs=[
            InputFile(path=request.model.name, sha256=source.sha256),
            *(InputFile(path=path.name, sha256=_sha256(path)) for path in _folding_files(request, context.dataflow)),
        ],
        calibration=None if measured == NO_MEASUREMENTS else _calibration(measured, measured_engines),
        platform=_platform(context.platform),
        networks=[_network(source.network, result.candidate.folded.dataflow)],
        phases=[only],
        search=_bound(result, request, only.estimates),
        trace=[TraceEntry(**asdict(row)) for row in result.trace],
        warnings=[
            *context.dataflow.notes,
            *tried,
            *_warnings(context, result),
            *throughput_warnings(only.estimates.throughput),
        ],
        interrupted=result.interrupted,
    )


def _calibration(measured: Measurements, measured_engines: Collection[str]) -> CalibrationEntry:
    return CalibrationEntry(
        measured=sorted(measured_engines),
        factors={kind: dict(factors) for kind, factors in measured.factors.items()},
        reports=[InputFile(path=name, sha256=digest) for name, digest in sorted(measured.reports.items())],
    )


def _folding_files(request: Request, dataflow: Dataflow) -> Iterator[Path]:
    """Yield, if the folding was given, the file of it and the one of styles that goes with that."""
    if request.folding is not None:
        yield request.folding
        styles = style_file_beside(request.folding) if dataflow.unspecialised else None
        if styles is not None:
            yield styles


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _options(request: Request, platform: Platform) -> Options:
    return Options(
        **{name: getattr(request, name) for name in Request.model_fields}
        | {
            "model": request.model.name,
            "folding": request.folding and request.folding.name,
            "platform": platform.name,
            "link": _link(request, platform),
            "clock_mhz": platform.clock_mhz,
            "max_fpgas": max(request.max_fpgas, len(platform.fpgas)),
            "objective": request.goal,
        }
    )


def _link(request: Request, platform: Platform) -> str | None:
    """Return the name, not the path, of the kind of link that was asked for."""
    link = platform.fpgas[0].board.link
    return None if request.link is None or link is None else link.kind


def _platform(platform: Platform) -> PlatformEntry:
    return PlatformEntry(
        name=platform.name,
        fpgas=[
            FpgaEntry(
                name=fpga.name,
                board=fpga.board.name,
                part=fpga.board.part,
                device=fpga.device.part,
                host_slot=fpga.host_slot,
                host_port=rectangle(fpga.host_port),
                link_port=None if fpga.link_port is None else rectangle(fpga.link_port),
                crossing_registers=fpga.board.crossing_registers,
                unstated=list(fpga.board.unstated),
                slots=[
                    SlotEntry(
                        name=slot.name,
                        slr=slot.slr,
                        capacity=amounts(slot.capacity),
                        available=amounts(slot.available),
                    )
                    for slot in fpga.slots
                ],
            )
            for fpga in platform.fpgas
        ],
        links=[LinkEntry(**asdict(link)) for link in platform.links],
        infrastructure=[
            InfrastructureEntry(name=i.name, slot=i.slot, resources=amounts(i.resources))
            for i in platform.infrastructure
        ],
        slls=[SllEntry(lower=b.lower, upper=b.upper, wires=b.wires) for b in platform.boundaries],
        files=sorted(platform.files),
    )


def _network(network: Network, dataflow: Dataflow) -> NetworkEntry:
    return NetworkEntry(
        name=network.name,
        operations=[
            OperationEntry(name=o.name, type=o.type, inputs=list(o.inputs), outputs=list(o.outputs), macs=o.macs)
            for o in network.operations
        ],
        engines=[
            EngineEntry(
                name=e.name,
                kind=e.kind,
                operation=e.operation,
                attributes={name: plain(value) for name, value in sorted(e.attributes.items())},
                weight_bits=e.weight_bits,
                input_bits=e.input_bits,
                output_bits=e.output_bits,
            )
            for e in dataflow.engines
        ],
    )


def _bound(result: SearchResult, request: Request, estimates: EstimatesEntry) -> IntervalBound:
    interval = result.candidate.interval_cycles
    if result.bound_cycles > interval:
        raise ValueError(f"an interval of {interval} cycles was found below its bound of {result.bound_cycles}")
    return IntervalBound(
        interval_cycles=interval,
        bound_cycles=result.bound_cycles,
        gap=round((interval - result.bound_cycles) / interval, 6),
        ended_by=result.ended_by + _missed(request.fps, estimates),
    )


def _missed(fps: float | None, estimates: EstimatesEntry) -> str:
    """Say that a rate is met by the engines alone, where the planned FIFOs keep less, or less than all is known."""
    kept = estimates.sustained_fps
    if fps is None or (kept is not None and kept >= fps * (1 - RATE_TOLERANCE)):
        return ""
    if kept is not None:
        return f", by the engines; the planned FIFOs keep {kept:,.1f} frames/s"
    shallow = estimates.throughput is not None and estimates.throughput.shallow
    return ", by the engines; the planned FIFOs are too shallow, and what they keep is not known" if shallow else ""


def _fed_by_dma(context: PlanningContext, channel: Channel) -> int:
    """Return the frames a second, rounded down, that one DMA engine feeds into a channel."""
    bits = channel.stream.elements * channel.stream.element_bits
    return int(context.platform.clock_mhz * 1e6 / -(-bits // DMA_BITS))


def _style_warning(result: SearchResult) -> list[str]:
    """Say which engines FINN makes as they are planned only if it is told to."""
    other = [engine.name for engine in result.candidate.folded.dataflow.engines if PREFERENCE in engine.attributes]
    if not other:
        return []
    return [f"hls or rtl against FINN's own choice, which specialize_layers_config.json tells it: {some(other)}"]


def _doubts(platform: Platform) -> list[str]:
    """Say, once for each board, what its file leaves open."""
    boards = {fpga.board.name: fpga.board for fpga in platform.fpgas}.values()
    return [
        f"{board.name + ': ' if len(boards) > 1 else ''}{board.doubt}; "
        f"state the field{'s' if len(board.unstated) > 1 else ''}, or 'none' (platforms/README.md)"
        for board in boards
        if board.doubt
    ]


def _warnings(context: PlanningContext, result: SearchResult) -> list[str]:
    options = result.candidate.folded.options
    written = sorted(n for n, o in options.items() if o.folding.get("runtime_writeable_weights"))
    warnings = _doubts(context.platform)
    if written:
        warnings.append(
            f"URAM cannot be initialised: the weights of {some(written)} must be written at run time over AXI-lite"
        )
    wide = [c for c in result.candidate.channels if c.stream.from_outside and c.width_bits > DMA_BITS]
    warnings += _style_warning(result)
    warnings += [
        f"{c.stream.source} takes {c.width_bits:,} bits a word, FINN's DMA engines give {DMA_BITS} a cycle at most: "
        f"the rate holds only if the host's memory keeps up; --fps {_fed_by_dma(context, c)} is what they feed"
        for c in wide
    ]
    if result.repair:
        warnings.append(f"to place the design: {result.repair}")
    if finn_options(context.request).costs == "finn":
        warnings.append("costs are FINN's own estimates, in which some hardware costs nothing; real use is higher")
    return warnings
