"""The plan in a few figures; all of them follow from the rest of it."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.facts.memory_schedule import MemoryScheduleEntry
from floorflow.facts.network import NetworkEntry
from floorflow.facts.options import Options
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.platform import PlatformEntry
from floorflow.facts.region import ReconfigurableEntry, slots_in
from floorflow.facts.schedule import ScheduleEntry
from floorflow.facts.values import Amount, PlainName, PlanModel
from floorflow.request import limits_of
from floorflow.resources import RESOURCE_NAMES


class NetworkSummary(PlanModel):
    """What a network reaches: rate and latency to believe; with several phases its rate is that of the schedule."""

    network: PlainName
    fps: float
    sustained_fps: float | None
    interval_cycles: int
    bound_cycles: int
    joint_bound_cycles: int | None
    gap: float
    latency_us: float | None
    bottleneck: str


class FullestEntry(PlanModel):
    """Where the design is fullest: the share of what is available of a resource in a slot."""

    phase: str
    slot: str
    resource: str
    share: float


class FullnessEntry(PlanModel):
    """The largest share of a limit, cap x available, of a resource in a slot.

    No plan at its interval is below ``bound`` (null: not known).
    """

    phase: str
    slot: str
    resource: str
    share: float
    bound: float | None


class SummaryEntry(PlanModel):
    """The plan in a few figures, for people and dashboards; all of them follow from the rest of the plan."""

    platform: str
    fpgas: Amount
    clock_mhz: float
    phases: Amount
    networks: list[NetworkSummary]
    fullest: FullestEntry | None
    fullness: FullnessEntry | None
    warnings: Amount
    interrupted: bool


def summarise(
    options: Options,
    platform: PlatformEntry,
    networks: Sequence[NetworkEntry],
    phases: Sequence[PhaseEntry],
    schedule: ScheduleEntry | None,
    *,
    warnings: Sequence[str],
    interrupted: bool,
    regions: ReconfigurableEntry | None = None,
    shared: MemoryScheduleEntry | None = None,
) -> SummaryEntry:
    """Return the summary of a plan that holds these parts; ``shared``: the memory, which then sets the rates."""
    return SummaryEntry(
        platform=platform.name,
        fpgas=len(platform.fpgas),
        clock_mhz=phases[0].networks[0].estimates.clock_mhz,
        phases=len(phases),
        networks=[_sharing(_network(network, phases, schedule), shared) for network in networks],
        fullest=_fullest(platform, phases),
        fullness=_fullness(options, platform, phases, regions),
        warnings=len(warnings),
        interrupted=interrupted,
    )


def _network(network: NetworkEntry, phases: Sequence[PhaseEntry], schedule: ScheduleEntry | None) -> NetworkSummary:
    parts = [part for phase in phases for part in phase.networks if part.network == network.name]
    slowest = max(parts, key=lambda part: part.interval_cycles)
    alone = None if len(phases) > 1 else slowest.estimates
    return NetworkSummary(
        network=network.name,
        fps=schedule.batch * 1e6 / schedule.period_us if schedule and alone is None else slowest.estimates.believed_fps,
        sustained_fps=None if alone is None else alone.sustained_fps,
        interval_cycles=slowest.interval_cycles,
        bound_cycles=network.search.bound_cycles,
        joint_bound_cycles=network.search.joint_bound_cycles,
        gap=network.search.gap,
        latency_us=None if alone is None else alone.believed_latency_us,
        bottleneck=slowest.estimates.bottleneck,
    )


def _sharing(alone: NetworkSummary, shared: MemoryScheduleEntry | None) -> NetworkSummary:
    """Return what a network reaches where the memory is shared by a schedule."""
    if shared is None:
        return alone
    own = shared.network(alone.network)
    return alone.model_copy(update={"fps": own.fps, "sustained_fps": own.fps, "latency_us": own.latency_us})


def _fullest(platform: PlatformEntry, phases: Sequence[PhaseEntry]) -> FullestEntry | None:
    """Return the largest share of a slot's resource; the first of equal ones, None where nothing is used."""
    shares = [
        FullestEntry(phase=phase.name, slot=slot.name, resource=name, share=used[slot.name][name])
        for phase in phases
        for used in (phase.partition.utilisation,)
        for slot in platform.slots
        for name in RESOURCE_NAMES
    ]
    fullest = max(shares, key=lambda entry: entry.share)
    return fullest if fullest.share > 0 else None


def _fullness(
    options: Options, platform: PlatformEntry, phases: Sequence[PhaseEntry], regions: ReconfigurableEntry | None
) -> FullnessEntry | None:
    """Return the largest share of a slot's limit; the first of equal ones, None where nothing is used."""
    found: FullnessEntry | None = None
    for phase in phases:
        for slot in slots_in(regions, phase.region, platform.slots):
            available = slot.available.resources
            limits = limits_of(options, available).as_dict()
            for name in RESOURCE_NAMES:
                used = round(phase.partition.utilisation[slot.name][name] * available.as_dict()[name])
                share = used / limits[name] if limits[name] else 0.0
                if share > (0.0 if found is None else found.share):
                    bound = phase.partition.fullness.bound
                    found = FullnessEntry(phase=phase.name, slot=slot.name, resource=name, share=share, bound=bound)
    return found
