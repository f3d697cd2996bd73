"""Read from plan.json how phases follow one another in time."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.errors import InputError
from floorflow.view.contents.names import Plan, frames_text, network_names, networks_in, networks_text, platform_text


@dataclass(frozen=True)
class RunView:
    """A network in a step: its place among the plan's, its interval, and how long it works on the batch."""

    number: int
    name: str
    interval_cycles: int
    run_us: float


@dataclass(frozen=True)
class StepView:
    """A phase in a period: when it begins to load and to run, how long each takes, and the networks in it.

    ``region``: that it is loaded into, if it is one.
    """

    phase: str
    start_us: float
    load_us: float
    run_start_us: float
    run_us: float
    region: str
    runs: tuple[RunView, ...]


@dataclass(frozen=True)
class TimelineView:
    """A period of a plan of several phases."""

    title: str
    subtitle: str
    period_us: float
    steps: tuple[StepView, ...]


def read_timeline(plan: Plan) -> TimelineView:
    """Read the schedule.

    Raises
    ------
    InputError
        If the plan has none.

    """
    schedule = plan["schedule"]
    if schedule is None:
        raise InputError("plan.json: schedule is null", hint="a plan of one phase has no timeline")
    steps: list[StepView] = []
    start_us = 0.0
    regions = {phase["name"]: phase.get("region") or "" for phase in plan["phases"]}
    for step in schedule["steps"]:
        name = step["phase"]
        runs = _runs(plan, name, schedule["batch"])
        load, run = step.get("load_start_us"), step.get("run_start_us")
        start_us = start_us if load is None else load
        run_start_us = start_us + step["load_us"] if run is None else run
        steps.append(StepView(name, start_us, step["load_us"], run_start_us, step["run_us"], regions[name], runs))
        start_us = run_start_us + step["run_us"]
    period_us = schedule["period_us"]
    title = f"Timeline of {networks_text(network_names(plan))} on {platform_text(plan)}"
    return TimelineView(title, _subtitle(schedule["batch"], period_us, steps), period_us, tuple(steps))


def read_partitions(plan: Plan) -> TimelineView:
    """Read the partitions of schedule.json: a network on a platform of resources alone."""
    steps: list[StepView] = []
    start_us, name = 0.0, plan["network"]["name"]
    for part in plan["partitions"]:
        run = RunView(0, name, part["interval_cycles"], part["run_us"])
        run_start_us = start_us + part["load_us"]
        steps.append(StepView(part["name"], start_us, part["load_us"], run_start_us, part["run_us"], "", (run,)))
        start_us = run_start_us + part["run_us"]
    title, period_us = f"Timeline of {name} on {plan['platform']['name']}", plan["period_us"]
    return TimelineView(title, _subtitle(plan["batch"], period_us, steps), period_us, tuple(steps))


def _subtitle(batch: int, period_us: float, steps: list[StepView]) -> str:
    # A load that hides behind a run takes no time of its own.
    loading_us = period_us - sum(step.run_us for step in steps)
    return (
        f"batch {batch:,} frame{'s' * (batch != 1)}   ·   period {time_text(period_us)}   ·   "
        f"{frames_text(batch * 1e6 / period_us)} frames/s   ·   loading takes {loading_us / period_us:.1%} of the time"
    )


def _runs(plan: Plan, phase: str, batch: int) -> tuple[RunView, ...]:
    number = next(index for index, item in enumerate(plan["phases"]) if item["name"] == phase)
    names = network_names(plan)
    return tuple(
        RunView(
            names.index(entry["network"]),
            entry["network"],
            entry["interval_cycles"],
            batch * entry["interval_cycles"] / plan["options"]["clock_mhz"],
        )
        for entry in networks_in(plan, number)
    )


def time_unit(time_us: float) -> tuple[str, float]:
    """Return the unit in which a time is a number of few digits, and its microseconds."""
    return ("s", 1e6) if time_us >= 1e6 else ("ms", 1e3) if time_us >= 1e3 else ("µs", 1.0)


def time_text(time_us: float) -> str:
    """Write a time with four digits: ``12.34 ms``."""
    unit, size_us = time_unit(time_us)
    amount = time_us / size_us
    return f"{amount:,.0f} {unit}" if amount >= 1000 else f"{amount:.4g} {unit}"
