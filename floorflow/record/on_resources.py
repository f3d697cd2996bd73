"""What a platform of resources alone runs one part after another, in the form that schedule.json holds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from floorflow import __version__
from floorflow.backends.backend import Source
from floorflow.channels import Channel, connect
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream, renamings
from floorflow.facts.plan import without_usual
from floorflow.facts.resource_plan import (
    FoldedEngine,
    PartitionInTime,
    ResourceFacts,
    ResourceNetwork,
    ResourceOptions,
    ResourcePlan,
    StreamEntry,
)
from floorflow.facts.values import InputFile
from floorflow.record.network import engine_entry, folding_entry
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, total
from floorflow.search.many.on_resources import OnResources
from floorflow.segments.in_time import MEMORY_PREFIX
from floorflow.several import plain_name
from floorflow.stats import SolveStats


@dataclass(frozen=True)
class FinishedPartition:
    """A partition with the kinds and names that its foldings give engines in the whole, and its realised streams."""

    name: str
    folded: FoldedDataflow
    channels: tuple[Channel, ...]
    folding: SolveStats


def finished_partitions(found: OnResources) -> tuple[Dataflow, list[FinishedPartition]]:
    """Return the whole network as it is built, and its partitions: the back end numbers all engines together."""
    options = {name: option for part in found.partitions for name, option in part.folding.options.items()}
    before, backend = found.whole.dataflow, found.whole.backend
    whole = backend.finished(FoldedDataflow(before, options)).dataflow
    named = renamings(before, whole)
    named |= {
        f"{MEMORY_PREFIX}s{number}": f"{MEMORY_PREFIX}{stream.source}.{stream.source_port}"
        for number, stream in enumerate(whole.streams)
    }
    engines = {engine.name: engine for engine in whole.engines}
    made = []
    for number, part in enumerate(found.partitions):
        streams = tuple(
            replace(s, source=named.get(s.source, s.source), target=named.get(s.target, s.target))
            for s in part.dataflow.streams
        )
        own = replace(
            part.dataflow, engines=tuple(engines[named[e.name]] for e in part.dataflow.engines), streams=streams
        )
        folded = FoldedDataflow(own, {named[name]: option for name, option in part.folding.options.items()})
        made.append(FinishedPartition(f"p{number}", folded, connect(folded, found.whole.costs), part.folding.stats))
    return whole, made


def record_on_resources(
    request: Request, source: Source, found: OnResources, whole: Dataflow, parts: list[FinishedPartition]
) -> ResourcePlan:
    """Return the plan of a network on a platform of resources alone."""
    partitions = [_partition(found, part, first=not number) for number, part in enumerate(parts)]
    period_us = sum(part.load_us + part.run_us for part in partitions)
    warnings = [*whole.notes]
    for part in parts:
        warnings += found.whole.backend.warnings(part.folded, _clock_mhz(found), request.backend_options)
    return ResourcePlan.of(
        found,
        schema="floorflow-schedule/1",
        version=__version__,
        options=_options(request, found),
        inputs=[InputFile(path=request.model.name, sha256=source.sha256)],
        platform=_facts(found),
        network=ResourceNetwork(name=plain_name(source.network.name), engines=[*map(engine_entry, whole.engines)]),
        batch=found.frames,
        period_us=period_us,
        reload_us=found.device.load_us if len(parts) > 1 else 0.0,
        fps=found.frames * 1e6 / period_us,
        stats=replace(found.stats, objective=period_us, bound=_bound(found.stats, period_us)),
        partitions=partitions,
        warnings=[*dict.fromkeys(warnings)],
    )


def _clock_mhz(found: OnResources) -> float:
    return found.whole.platform.clock_mhz


def _bound(stats: SolveStats, period_us: float) -> float | None:
    """Return the bound, which is the time itself where that is proven optimal: sums are rounded in another order."""
    return period_us if stats.status == "optimal" else stats.bound


def _options(request: Request, found: OnResources) -> ResourceOptions:
    return ResourceOptions.of(
        request,
        models=[request.model.name],
        backend_options=without_usual(request.backend_options.model_dump()),
        reconfigure="none" if request.reconfigure == "none" else "full",
        objective="latency" if request.objective == "latency" else "throughput",
        clock_mhz=_clock_mhz(found),
        cap=request.cap.as_dict() if "cap" in request.model_fields_set else None,
    )


def _facts(found: OnResources) -> ResourceFacts:
    device = found.device
    part = found.whole.platform.fpgas[0].board.part
    return ResourceFacts.of(device, part=part, reconfiguration_us=device.load_us, limits=found.limits)


def _partition(found: OnResources, part: FinishedPartition, *, first: bool) -> PartitionInTime:
    interval, clock_mhz = part.folded.interval_cycles, _clock_mhz(found)
    options = part.folded.options
    used = total([*(o.resources for o in options.values()), *(c.resources for c in part.channels)])
    if not used.fits(found.limits):
        raise ValueError(f"partition {part.name} needs {used}, allowed {found.limits}")
    limits = found.limits.as_dict()
    loaded = _bits(channel.stream for channel in part.channels if channel.stream.from_outside)
    stored = _bits(channel.stream for channel in part.channels if channel.stream.to_outside)
    return PartitionInTime.of(
        part,
        interval_cycles=interval,
        load_us=0.0 if first else found.device.load_us,
        run_us=found.frames * interval / clock_mhz,
        engines={engine.name: _engine(found, engine, options[engine.name]) for engine in part.folded.dataflow.engines},
        streams=[_stream(channel) for channel in part.channels],
        resources=used,
        shares={name: used.as_dict()[name] / limits[name] for name in RESOURCE_NAMES if limits[name]},
        loaded_bits=loaded,
        stored_bits=stored,
        gbps=(loaded + stored) * clock_mhz / interval / 1e3,
    )


def _bits(streams: Iterable[Stream]) -> int:
    return sum(stream.elements * stream.element_bits for stream in streams)


def _engine(found: OnResources, engine: Engine, option: Option) -> FoldedEngine:
    return FoldedEngine.of(option, **folding_entry(found.whole.backend, engine, option))


def _stream(channel: Channel) -> StreamEntry:
    stream = {name: getattr(channel.stream, name) for name in StreamEntry.model_fields if hasattr(channel.stream, name)}
    return StreamEntry.of(channel, **stream | {"name": channel.name, "fifo_depth": channel.fifo_depth_words})
