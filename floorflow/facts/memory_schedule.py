"""How engines of several networks share the external memory: a static schedule of who moves bytes when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.folding import FoldingEntry
from floorflow.facts.text import rate, table, wrapped
from floorflow.facts.values import Amount, PlainName, PlanModel, Stats

Count = Annotated[int, Field(ge=1)]


class SubgraphEntry(PlanModel):
    """A part of a network that its engine runs in one go: time at full speed, and bytes to and from memory."""

    name: str
    latency_us: float
    traffic_bytes: float


class SharingNetwork(PlanModel):
    """What a network gets of the memory, and what it reaches with it, in frames a second.

    It runs ``repetitions`` times a period, which begins with subgraph ``first``. ``asked_fps``: null if nobody asked
    for a rate. ``target_fps``: what the error is measured from; ``least_fps``: below it the network is ``starved``,
    which one of ``must`` never is. ``alone_fps``: with the whole platform to itself. ``fps``: by the schedule;
    ``unaware_fps``: the same engines without one, simulated. ``latency_us``: the longest that a frame takes.
    """

    network: PlainName
    engine: str
    repetitions: Count
    first: Amount
    asked_fps: float | None
    target_fps: float
    least_fps: float
    must: bool
    alone_fps: float
    fps: float
    unaware_fps: float
    latency_us: float
    starved: bool
    subgraphs: Annotated[list[SubgraphEntry], Field(min_length=1)]


class TransferEntry(PlanModel):
    """A run of a subgraph, or a part of one: the bytes that it moves from one time to another.

    ``slots`` of each round are its own; ``speed``: of what the engine does at full speed, a slow-down of f-CNN^x.
    """

    network: PlainName
    run: Amount
    subgraph: str
    start_us: float
    end_us: float
    traffic_bytes: float
    slots: Count
    speed: float


class JointFrontEntry(PlanModel):
    """The least error of engines and constant shares within a share of the limits, least rates aside."""

    share: float
    fps: dict[str, float]
    stats: Stats


class MemoryScheduleEntry(PlanModel):
    """The periodic schedule of the external memory (f-CNN^x, FPL 2018).

    ``memory_gbs``: what the memory carries, GB/s; ``bandwidth_gbs``: what is planned with. ``period_us`` is that of the
    table, whose shares are ``slots`` of ``slots_total``; ``schedule`` is about the period before they were rounded.
    ``error``: eq. 5 or 6 of the rates; ``error_bound``: no engines with any schedule are below it, least rates aside.
    ``choice``: of the engines with constant shares, chosen within ``limits_share`` of the limits: less than all where
    what was chosen within more could not be placed.
    """

    memory_gbs: float
    bandwidth_gbs: float
    fairness: Literal["fps-error", "throughput-error"]
    two_sided: bool
    burst_beats: Count
    slots_total: Count
    period_us: float
    error: float
    error_bound: float
    limits_share: Annotated[float, Field(gt=0, le=1)]
    choice: Stats
    schedule: Stats
    networks: Annotated[list[SharingNetwork], Field(min_length=1)]
    transfers: Annotated[list[TransferEntry], Field(min_length=1)]
    front: list[JointFrontEntry]

    def network(self, name: str) -> SharingNetwork:
        """Return the network of that name."""
        return next(network for network in self.networks if network.network == name)


_BYTES_PER_US = 1000
"""Of 1 GB/s."""


def sharing(shared: MemoryScheduleEntry | None) -> list[str]:
    """Return rates, targets and the schedule; nothing where the memory is not shared."""
    if shared is None:
        return []
    rows: list[tuple[str, ...]] = [
        ("network", "frames/s", "target", "of it", "least", "ms a frame", "alone", "without schedule", "a period", "")
    ]
    rows += [_row(own) for own in shared.networks]
    return [*table(rows), *wrapped(_facts(shared))]


def _row(own: SharingNetwork) -> tuple[str, ...]:
    figures = (own.fps, own.target_fps)
    return (
        own.network,
        *map(rate, figures),
        f"{own.fps / own.target_fps:.0%}",
        rate(own.least_fps),
        f"{own.latency_us / 1000:,.1f}",
        rate(own.alone_fps),
        rate(own.unaware_fps),
        f"{own.repetitions}",
        "starved" if own.starved else "",
    )


def _facts(shared: MemoryScheduleEntry) -> Iterator[str]:
    """Yield what the period is made of, and what is proven of schedule, engines and error."""
    carried = sum(own.repetitions * sum(s.traffic_bytes for s in own.subgraphs) for own in shared.networks)
    gbs = carried / shared.period_us / _BYTES_PER_US
    busiest = max(shared.networks, key=_busy_us)
    period = f"period {shared.period_us:,.1f} us in rounds of {shared.slots_total} slots"
    yield f"{period}; before shares were rounded to slots {_proof(shared.schedule, ' us')}"
    planned = f"{gbs / shared.bandwidth_gbs:.0%} of the {shared.bandwidth_gbs:.4g} that are planned with"
    busy = f"the engine of {busiest.network} works {_busy_us(busiest) / shared.period_us:.0%} of the time"
    yield f"the memory carries {gbs:.4g} GB/s on average, {planned}; {busy}: what is near 100% holds all back"
    sided = "more than a target is a fault too" if shared.two_sided else "more than a target is no fault"
    bound = f"no engines with any schedule are below {shared.error_bound:.4g}, least rates aside"
    yield f"error {shared.error:.4g} ({shared.fairness}, {sided}); {bound}"
    room = "" if shared.limits_share == 1 else f", within {shared.limits_share:.0%} of the limits"
    yield f"engines with constant shares of the memory{room}: {_proof(shared.choice, '')}"
    yield (
        "alone: with the whole platform; without schedule: the same engines, simulated at 0.45 of the memory's "
        "bandwidth, shared in proportion to demand; a period: frames"
    )


def _busy_us(own: SharingNetwork) -> float:
    """Return what a network's engine would take at full speed for the frames of a period."""
    return own.repetitions * sum(subgraph.latency_us for subgraph in own.subgraphs)


def _proof(stats: Stats, unit: str) -> str:
    bound = "no bound known" if stats.bound is None else f"bound {stats.bound:,.4f}{unit}"
    gap = "" if stats.gap is None else f", gap {stats.gap:.2%}"
    return f"{stats.status} ({stats.method}): {stats.objective or 0:,.4f}{unit}, {bound}{gap}"


def network_lines(own: SharingNetwork, platform: str, folding: FoldingEntry, engines_fps: float) -> list[str]:
    """Return what a network reaches at a memory that it shares, and what would stand in its place."""
    asked = f"{own.fps / own.target_fps:.0%} of its target of {rate(own.target_fps)}"
    (engine,) = folding.engines.values()
    width = ", ".join(f"{name} {value}" for name, value in engine.attributes.items())
    alone = f"{rate(own.alone_fps)} alone on the platform, {rate(own.unaware_fps)} without a schedule (simulated)"
    return [
        f"{own.network} on {platform}: {rate(own.fps)} frames/s, {asked}{', starved' * own.starved}",
        f"  engine    {width}: {rate(engines_fps)} with a memory that never waits; {alone}",
    ]


def proven(shared: MemoryScheduleEntry) -> str:
    """Return in a sentence how far targets are missed, and that nothing misses them by less than so much."""
    found, bound = shared.error, shared.error_bound
    return f"Targets are missed by {found:.4g} ({shared.fairness}); no engines with any schedule are below {bound:.4g}."


def memory_lines(shared: MemoryScheduleEntry) -> list[str]:
    """Tell of the memory's schedule: its period, what is proven of it and of the engines, and the error."""
    counts = ", ".join(f"{own.repetitions} {own.network}" for own in shared.networks)
    carried = f"{shared.bandwidth_gbs:.4g} of {shared.memory_gbs:g} GB/s planned with"
    error = f"{shared.error:.4g} ({shared.fairness}), no engines with any schedule are below {shared.error_bound:.4g}"
    room = "" if shared.limits_share == 1 else f" within {shared.limits_share:.0%} of the limits"
    lowest = "" if shared.schedule.bound is None else f", bound {shared.schedule.bound / 1000:,.3f} ms"
    return [
        f"  memory    period {shared.period_us / 1000:,.3f} ms for frames: {counts}; {carried}",
        f"            schedule {shared.schedule}{lowest}; rounds of {shared.slots_total} slots",
        f"  error     {error}; engines with constant shares{room}: {shared.choice}",
    ]
