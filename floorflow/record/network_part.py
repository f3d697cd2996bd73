"""What runs of a network in a phase: its folding, and what is promised of it."""

from __future__ import annotations

from dataclasses import asdict
from math import inf

from floorflow.backends.backend import Backend
from floorflow.dataflow.model import Engine, Option
from floorflow.facts import (
    DoubtEntry,
    EstimatesEntry,
    FoldedEntry,
    FoldingEntry,
    HostWeightsEntry,
    LikelyClockEntry,
    ParallelismEntry,
    PhaseNetworkEntry,
)
from floorflow.record.engine_limits import products_of
from floorflow.record.part import Part
from floorflow.record.throughput import expected_cycles, sustained_fps, throughput_of
from floorflow.record.values import amounts, plain, statistics
from floorflow.request import at_width
from floorflow.resources import ZERO
from floorflow.search.candidate.candidate import latency_us, written_by_host


def network_part(part: Part) -> PhaseNetworkEntry:
    """Return interval, folding and estimates of a network in a phase."""
    return PhaseNetworkEntry(
        network=part.network,
        interval_cycles=part.candidate.interval_cycles,
        folding=_folding(part),
        estimates=_estimates(part),
        host_weights=_host_weights(part),
    )


def _host_weights(part: Part) -> HostWeightsEntry | None:
    found = part.result.host_weights
    if found is None:
        return None
    engines = [part.id(name) for name in written_by_host(part.context, part.candidate)]
    return HostWeightsEntry(engines=engines, **asdict(found))


def _folding(part: Part) -> FoldingEntry:
    folding = part.candidate.folding
    return FoldingEntry(
        engines=_engines(part),
        resources=amounts(folding.resources),
        budget=amounts(folding.budget),
        fullness=statistics(part.result.fullness.folding),
        stats=statistics(folding.stats),
        whole_budget_bound=part.result.whole_budget_bound,
    )


def _engines(part: Part) -> dict[str, FoldedEntry]:
    folded, backend = part.candidate.folded, part.context.backend
    engines, products = {engine.name: engine for engine in folded.dataflow.engines}, products_of(part)
    return {
        part.id(name): FoldedEntry(
            cycles=option.cycles,
            resources=amounts(option.resources),
            attributes={key: plain(value) for key, value in sorted(option.folding.items())},
            parallelism=[
                ParallelismEntry(name=attribute, value=value, most=most)
                for attribute, value, most in backend.parallelism(engines[name], option)
            ],
            products=products[name],
            beyond_known_builds=products[name] > _known_products(backend, engines[name]),
            doubt=_doubt(part, engines[name], option),
        )
        for name, option in folded.options.items()
    }


def _known_products(backend: Backend, engine: Engine) -> float:
    """Return the products of the largest engine known to have been built with operands as wide."""
    return at_width(backend.known_products, engine.operand_bits) if backend.known_products else inf


def _doubt(part: Part, engine: Engine, option: Option) -> DoubtEntry | None:
    less, more = part.context.costs.doubt(engine, option)
    return None if less == more == ZERO else DoubtEntry(less=amounts(less), more=amounts(more))


def _estimates(part: Part) -> EstimatesEntry:
    clock_mhz, candidate = part.context.platform.clock_mhz, part.candidate
    options = candidate.folded.options
    timed = throughput_of(part.context, candidate, part.channel_name)
    slowest = next(name for name, option in options.items() if option.cycles == candidate.interval_cycles)
    return EstimatesEntry(
        clock_mhz=clock_mhz,
        fps=part.frames_per_s,
        sustained_fps=sustained_fps(timed, clock_mhz),
        latency_us=latency_us(part.context, part.candidate),
        bottleneck=part.id(slowest),
        expected_cycles=expected_cycles(
            timed.interval_cycles, candidate.interval_cycles, part.context.backend.expected_interval(candidate.folded)
        ),
        throughput=timed,
        likely_clock=_likely_clock(part),
    )


def _likely_clock(part: Part) -> LikelyClockEntry | None:
    found = part.likely_clock
    if found is None:
        return None
    engine = part.id(found.engine) if found.engine else ""
    return LikelyClockEntry(low_mhz=found.low_mhz, high_mhz=found.high_mhz, engine=engine, path=found.path)
