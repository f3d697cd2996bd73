"""A network in the form that plan.json holds, and what runs of it in a phase: folding, estimates, search."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from floorflow.backends.backend import Backend
from floorflow.dataflow.model import Engine, Option, renamings
from floorflow.dataflow.modules import module_of
from floorflow.dataflow.options import OptionTable
from floorflow.facts.estimates import EstimatesEntry, LikelyClockEntry, ThroughputEntry, expected_cycles, sustained
from floorflow.facts.folding import (
    DoubtEntry,
    FoldedEntry,
    FoldingEntry,
    HostWeightsEntry,
    LiftedEntry,
    ParallelismEntry,
)
from floorflow.facts.network import EngineEntry, NetworkEntry
from floorflow.facts.phase import PhaseNetworkEntry
from floorflow.facts.search import SearchEntry, TraceEntry, missed
from floorflow.network import Network
from floorflow.rates import LinkPace
from floorflow.rates.fifo_sizing import throughput
from floorflow.record.part import Part
from floorflow.request import Objective, at_width
from floorflow.resources import RESOURCE_NAMES, ZERO
from floorflow.search.candidate.candidate import (
    NO_LINKS,
    Candidate,
    latency_us,
    route_delays,
    words_held,
    written_by_host,
)
from floorflow.search.candidate.context import RATE_TOLERANCE, PlanningContext
from floorflow.search.candidate.engine_limits import PRODUCTS, EngineLimits, Reason, engine_limits
from floorflow.search.candidate.findings import SearchResult


def network_entry(network: Network, parts: Sequence[tuple[str, Part, EstimatesEntry]]) -> NetworkEntry:
    """Return a network that runs in these phases, by name, with what is promised of it in each."""
    searched = [_search(part, estimates) for _, part, estimates in parts]
    engines = {
        part.renamed.get(engine.name, engine.name): engine
        for _, part, _ in parts
        for engine in part.candidate.folded.dataflow.engines
    }
    return NetworkEntry.of(
        network,
        name=parts[0][1].network,
        engines=[engine_entry(engine, name) for name, engine in engines.items()],
        search=max(searched, key=lambda entry: entry.interval_cycles),
        trace=[TraceEntry.of(row, phase=phase) for phase, part, _ in parts for row in part.result.trace],
    )


def engine_entry(engine: Engine, name: str = "") -> EngineEntry:
    """Return an engine by its own name, or as the plan calls it."""
    attributes, label = dict(sorted(engine.attributes.items())), engine.label or engine.kind
    return EngineEntry.of(engine, name=name or engine.name, label=label, attributes=attributes)


def _search(part: Part, estimates: EstimatesEntry) -> SearchEntry:
    result, interval = part.result, part.candidate.interval_cycles
    joint = _joint_bound_cycles(result, part.context.request.goal)
    bound = max(result.bound_cycles, joint or 0)
    if bound > interval:
        raise ValueError(f"an interval of {interval} cycles was found below its bound of {bound}")
    cycles = {name: option.cycles for name, option in part.candidate.folding.options.items()}
    if not part.context.balance.is_kept(cycles):
        raise ValueError(f"rates are not balanced to {part.context.balance.epsilon:g}")
    return SearchEntry.of(
        result,
        interval_cycles=interval,
        joint_bound_cycles=joint,
        gap=round((interval - result.bound_cycles) / interval, 6),
        ended_by=result.ended_by + missed(part.context.request.fps, estimates, RATE_TOLERANCE),
    )


def _joint_bound_cycles(result: SearchResult, goal: Objective) -> int | None:
    """Return the joint bound of a search for the shortest interval, None of any other or where it is not known.

    The folding bound is one too: the joint bound is never below it.
    """
    if goal != "throughput" or result.joint_bound_cycles is None:
        return None
    return max(result.joint_bound_cycles, result.bound_cycles)


def network_part(part: Part, paces: Mapping[str, LinkPace]) -> PhaseNetworkEntry:
    """Return interval, folding and estimates of a network in a phase; ``paces``: of links, by the plan's channels."""
    found, folding = part.result, part.candidate.folding
    host = found.host_weights
    written = [] if host is None else [part.id(name) for name in written_by_host(part.context, part.candidate)]
    return PhaseNetworkEntry(
        network=part.network,
        interval_cycles=part.candidate.interval_cycles,
        folding=FoldingEntry.of(
            folding,
            engines=_engines(part),
            fullness=found.fullness.folding,
            whole_budget_bound=found.whole_budget_bound,
        ),
        estimates=_estimates(part, paces),
        host_weights=None if host is None else HostWeightsEntry.of(host, engines=written),
    )


def _engines(part: Part) -> dict[str, FoldedEntry]:
    folded, backend = part.candidate.folded, part.context.backend
    engines, products = {engine.name: engine for engine in folded.dataflow.engines}, _products_of(part)
    return {
        part.id(name): FoldedEntry.of(
            option,
            **folding_entry(backend, engines[name], option),
            products=products[name],
            beyond_known_builds=products[name] > _known_products(backend, engines[name]),
            doubt=_doubt(part, engines[name], option),
        )
        for name, option in folded.options.items()
    }


def folding_entry(backend: Backend, engine: Engine, option: Option) -> dict[str, Any]:
    """Return attributes and parallelism of a folded engine, as entries have them."""
    ways = backend.parallelism(engine, option)
    return {
        "attributes": dict(sorted(option.folding.items())),
        "parallelism": [ParallelismEntry(name=name, value=value, most=most) for name, value, most in ways],
    }


def _known_products(backend: Backend, engine: Engine) -> float:
    """Return the products of the largest engine known to have been built with operands as wide."""
    return at_width(backend.known_products, engine.operand_bits) if backend.known_products else inf


def _doubt(part: Part, engine: Engine, option: Option) -> DoubtEntry | None:
    less, more = part.context.costs.doubt(engine, option)
    return None if less == more == ZERO else DoubtEntry.model_validate({"less": less, "more": more})


def _estimates(part: Part, paces: Mapping[str, LinkPace]) -> EstimatesEntry:
    clock_mhz, candidate = part.context.platform.clock_mhz, part.candidate
    options, likely = candidate.folded.options, part.likely_clock
    timed = throughput_of(part.context, candidate, part.channel_name, paces)
    slowest = next(name for name, option in options.items() if option.cycles == candidate.interval_cycles)
    return EstimatesEntry(
        clock_mhz=clock_mhz,
        fps=part.frames_per_s,
        sustained_fps=sustained(timed, clock_mhz),
        latency_us=latency_us(part.context, part.candidate),
        bottleneck=part.id(slowest),
        expected_cycles=expected_cycles(
            timed.interval_cycles, candidate.interval_cycles, part.context.backend.expected_interval(candidate.folded)
        ),
        throughput=timed,
        likely_clock=None
        if likely is None
        else LikelyClockEntry.of(likely, engine=likely.engine and part.id(likely.engine)),
    )


def throughput_of(
    context: PlanningContext,
    candidate: Candidate,
    name: Callable[[str], str] = str,
    paces: Mapping[str, LinkPace] = NO_LINKS,
) -> ThroughputEntry:
    """Analyse the finished design with its planned FIFO depths and what lies on the channels' routes.

    ``name`` tells how the plan, and so ``paces``, names a channel of the candidate.
    """
    inside = {channel.name: channel.fifo_depth_words for channel in candidate.channels}
    own = {channel: paces[name(channel)] for channel in inside if name(channel) in paces}
    depths, delays = words_held(candidate, own), route_delays(context, candidate, own)
    found = throughput(candidate.folded, depths, delays, slack=candidate.fifo_slack, known=context.backend)
    return ThroughputEntry.of(
        found,
        deadlock=[f"{name(row.fifo)} ({row.state})" for row in found.deadlock],
        shallow=[
            {
                "channel": name(row.channel),
                "planned": inside[row.channel],
                "needed": row.needed_words - row.planned_words + inside[row.channel],
            }
            for row in found.shallow
        ],
    )


def _products_of(part: Part) -> dict[str, int]:
    """Return the products that each engine forms at once, by name; 0 where that does not apply."""
    folded, backend = part.candidate.folded, part.context.backend
    return {
        engine.name: int(backend.products(engine, OptionTable.of([folded.options[engine.name]]))[0])
        for engine in folded.dataflow.engines
    }


def lifted(phase: str, part: Part) -> list[LiftedEntry]:
    """Return the engines of a network in a phase that are above a limit of the request, with why."""
    context, folded = part.context, part.candidate.folded
    limits = engine_limits(context.request, context.platform, context.dataflow, context.backend)
    unknown: Reason = "folding kept" if context.request.keep_folding else "no plan found"
    return [
        LiftedEntry(
            phase=phase,
            engine=part.id(new),
            limit=name,
            value=value,
            allowed=allowed,
            reason=part.result.exempt.get((old, name), unknown),
        )
        for old, new in renamings(context.dataflow, folded.dataflow).items()
        for name, value, allowed in _above(part, limits, old, new)
    ]


def _above(part: Part, limits: EngineLimits, old: str, engine: str) -> Iterator[tuple[str, int, int]]:
    """Yield each limit that an engine is above, with what it has and what is allowed; the limits go by its old name."""
    count, most_products = _products_of(part)[engine], limits.products_allowed(old)
    if most_products is not None and count > most_products:
        yield PRODUCTS, count, most_products
    slot = part.candidate.slot_of[module_of(part.candidate.modules)[engine]]
    uses = part.candidate.folded.options[engine].resources.as_tuple()
    for name, use, most in zip(RESOURCE_NAMES, uses, limits.most[slot].as_tuple(), strict=True):
        if use > most:
            yield name, use, most
