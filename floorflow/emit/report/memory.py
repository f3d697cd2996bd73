"""How networks share the external memory: what each reaches, what the period is made of, and what is proven of it."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.emit.tables import rate, table, wrapped
from floorflow.facts import MemoryScheduleEntry, SharingNetwork, Stats

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
    yield f"{period}; before shares were rounded to slots {_told(shared.schedule, ' us')}"
    planned = f"{gbs / shared.bandwidth_gbs:.0%} of the {shared.bandwidth_gbs:.4g} that are planned with"
    busy = f"the engine of {busiest.network} works {_busy_us(busiest) / shared.period_us:.0%} of the time"
    yield f"the memory carries {gbs:.4g} GB/s on average, {planned}; {busy}: what is near 100% holds all back"
    sided = "more than a target is a fault too" if shared.two_sided else "more than a target is no fault"
    bound = f"no engines with any schedule are below {shared.error_bound:.4g}, least rates aside"
    yield f"error {shared.error:.4g} ({shared.fairness}, {sided}); {bound}"
    room = "" if shared.limits_share == 1 else f", within {shared.limits_share:.0%} of the limits"
    yield f"engines with constant shares of the memory{room}: {_told(shared.choice, '')}"
    yield (
        "alone: with the whole platform; without schedule: the same engines, simulated at 0.45 of the memory's "
        "bandwidth, shared in proportion to demand; a period: frames"
    )


def _busy_us(own: SharingNetwork) -> float:
    """Return what a network's engine would take at full speed for the frames of a period."""
    return own.repetitions * sum(subgraph.latency_us for subgraph in own.subgraphs)


def _told(stats: Stats, unit: str) -> str:
    bound = "no bound known" if stats.bound is None else f"bound {stats.bound:,.4f}{unit}"
    gap = "" if stats.gap is None else f", gap {stats.gap:.2%}"
    return f"{stats.status} ({stats.method}): {stats.objective or 0:,.4f}{unit}, {bound}{gap}"
