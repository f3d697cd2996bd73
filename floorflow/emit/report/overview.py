"""What several phases reach together: a line a network, and a line a phase."""

from __future__ import annotations

from floorflow.emit.tables import gap_of, number, rate, table
from floorflow.facts import Plan, ScheduleEntry


def overview(plan: Plan) -> list[str]:
    """Return the rate of every network in the schedule, and what each phase takes of its period."""
    schedule = plan.schedule
    return [*_networks(plan), *([] if schedule is None else _schedule(plan, schedule))]


def _networks(plan: Plan) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("network", "frames/s", "longest interval", "folding bound", "gap", "joint bound", "gap", "bottleneck")
    ]
    for entry in plan.summary.networks:
        interval, joint = entry.interval_cycles, entry.joint_bound_cycles
        folding_bound = number(entry.bound_cycles), gap_of(interval, entry.bound_cycles)
        joint_bound = ("-", "-") if joint is None else (number(joint), gap_of(interval, joint))
        rows.append((entry.network, rate(entry.fps), number(interval), *folding_bound, *joint_bound, entry.bottleneck))
    return table(rows)


def _schedule(plan: Plan, schedule: ScheduleEntry) -> list[str]:
    lines = [f"{schedule.kind}: {schedule.batch:,} frames in {number(schedule.period_us)} us, phase by phase:"]
    rows: list[tuple[str, ...]] = [("phase", "load us", "run us", "networks")]
    for step in schedule.steps:
        networks = ", ".join(part.network for part in plan.phase(step.phase).networks)
        rows.append((step.phase, number(step.load_us), number(step.run_us), networks))
    return [*lines, *table(rows)]
