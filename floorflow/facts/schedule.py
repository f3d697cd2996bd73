"""How phases follow one another: what a batch takes in all of them, and what of it goes into loading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from floorflow.facts.text import number, rate, table
from floorflow.facts.values import PlanModel, Stats


class ScheduleStep(PlanModel):
    """One phase in a period: how long it takes to load, and to run on the whole batch.

    Where phases are loaded into regions it is told when each load and run begins: a region may be loaded while another
    runs. Else the phases follow one another, each loaded and then run.
    """

    phase: str
    load_us: float
    run_us: float
    load_start_us: float | None = None
    run_start_us: float | None = None


class ScheduleEntry(PlanModel):
    """How phases follow one another: each is loaded and run on ``batch`` frames, then the next.

    The first phase is on the device when a batch comes; to run another batch it is loaded again, in ``reload_us``.
    ``memory_gbps``: what the board's memory carries. ``alone_us``: what one phase alone would take at least, null where
    none is possible. ``stats`` are of ``period_us``; null where nothing was sought.
    """

    kind: Literal["reconfigure"]
    objective: Literal["latency", "throughput"] = "throughput"
    batch: int = Field(ge=1)
    period_us: float
    reload_us: float = 0.0
    memory_gbps: float | None = None
    alone_us: float | None = None
    stats: Stats | None = None
    steps: list[ScheduleStep]

    @property
    def loading_share(self) -> float:
        """Share of a period in which nothing runs; a load that hides behind a run takes no time of its own."""
        return max(0.0, 1 - sum(step.run_us for step in self.steps) / self.period_us)

    @property
    def period(self) -> dict[str, Any]:
        """The schedule in three figures."""
        return {"batch": self.batch, "period_us": self.period_us, "loading_share": self.loading_share}


def phase_by_phase(schedule: ScheduleEntry, networks: Mapping[str, str]) -> list[str]:
    """Return what each phase takes of the period; ``networks``: those of each phase."""
    rows: list[tuple[str, ...]] = [("phase", "load us", "run us", "networks")]
    rows += [(s.phase, number(s.load_us), number(s.run_us), networks[s.phase]) for s in schedule.steps]
    period = f"{schedule.batch:,} frames in {number(schedule.period_us)} us, phase by phase:"
    return [f"{schedule.kind}: {period}", *table(rows)]


def schedule_lines(schedule: ScheduleEntry) -> list[str]:
    """Tell how long a batch takes in all phases, how much of that goes into loading them, and what is proven of it."""
    batch = f"batch {schedule.batch:,} frame{'s' * (schedule.batch != 1)}"
    loading = f"loading takes {schedule.loading_share:.1%} of the time"
    lines = [f"  schedule  {batch}, period {schedule.period_us / 1000:,.3f} ms, {loading}"]
    if schedule.stats is None:
        return lines
    if schedule.stats.bound is not None:
        lines[0] += f"; {schedule.stats.status}, bound {schedule.stats.bound / 1000:,.3f} ms"
    alone = "one partition alone: " + (
        "proven not to fit" if schedule.alone_us is None else f"{schedule.alone_us / 1000:,.3f} ms at least"
    )
    lines.append(f"            {alone}{_again(schedule)}")
    return lines


def _again(schedule: ScheduleEntry) -> str:
    """Tell what batch after batch comes to, for which the first phase is loaded again."""
    if not schedule.reload_us:
        return ""
    us = schedule.period_us + schedule.reload_us
    return f"; batch after batch, the first phase loaded again: {rate(schedule.batch * 1e6 / us)} frames/s"
