"""Mistakes in the times of a plan in regions, each with the finding that tells of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Plan = dict[str, Any]


def at(number: int, field: str, change: Callable[[float], float | None]) -> Callable[[Plan], None]:
    def spoil(plan: Plan) -> None:
        step = plan["schedule"]["steps"][number]
        step[field] = change(step[field])

    return spoil


def of(field: str, change: Callable[[float], float]) -> Callable[[Plan], None]:
    def spoil(plan: Plan) -> None:
        plan["schedule"][field] = change(plan["schedule"][field])

    return spoil


MISTAKES: dict[str, tuple[str, Callable[[Plan], None]]] = {
    "a run before its load ends": ("wrong-timeline", at(0, "run_start_us", lambda us: us - 1)),
    "a run before the batch lies in memory": ("wrong-timeline", at(1, "run_start_us", lambda us: us - 1)),
    "a run later than it could": ("wrong-timeline", at(1, "run_start_us", lambda us: us + 5)),
    "a load while the port is busy": ("wrong-timeline", at(1, "load_start_us", lambda us: us - 1)),
    "a load while its region runs": ("wrong-timeline", at(2, "load_start_us", lambda us: us - 1)),
    "a load in no time": ("wrong-timeline", at(1, "load_us", lambda _: 0.0)),
    "a load that is not told": ("wrong-timeline", at(1, "load_start_us", lambda _: None)),
    "a shorter period": ("wrong-timeline", of("period_us", lambda us: us * 0.9)),
    "a first load counted twice": ("wrong-timeline", of("reload_us", lambda us: us + 10)),
    "a run without the pipeline filled": ("wrong-schedule", at(0, "run_us", lambda us: us * 0.98)),
    "a memory that carries more": ("wrong-load-time", of("memory_gbps", lambda gbps: 2 * gbps)),
}
