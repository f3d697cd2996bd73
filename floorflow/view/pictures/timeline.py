"""The timeline: how the phases of a plan are loaded and run, one after the other, over one period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.view.box import Box
from floorflow.view.names import Plan, frames_text, network_names, networks_in, networks_text, platform_text
from floorflow.view.palette import BAR, QUIET, RULE, TRACK, darker, network_colour
from floorflow.view.parts import MARGIN, Axis, draw_key, time_text, time_unit, write_head
from floorflow.view.sheet import Sheet, Style
from floorflow.view.text import shortened

_HEADER, _AXIS, _KEY = 62.0, 32.0, 16.0
"""Title, axis and key in points."""
_NAMES, _PLOT, _TEXT, _GAP = 170.0, 420.0, 200.0, 10.0
"""Widths of names, of the plot, and of the times right of it, and what lies between, in points."""
_HEAD, _LANE, _SIZE, _BETWEEN = 15.0, 12.0, 7.5, 10.0
"""Heights of a step's first line and of a network's, font size, and what lies between steps, in points."""
_LOADING: Style = {"fill": "#f4dfc0", "edge": "#b07800", "hatch": "/", "width": 0.6}


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

    @property
    def height(self) -> float:
        """Height in the picture in points."""
        return _HEAD + _LANE * len(self.runs) + _BETWEEN


def read_timeline(plan: Plan) -> tuple[StepView, ...]:
    """Read the steps of the schedule.

    Raises InputError if the plan has none.
    """
    schedule, names = plan["schedule"], network_names(plan)
    if schedule is None:
        raise InputError("plan.json: schedule is null", hint="a plan of one phase has no timeline")
    batch, clock_mhz = schedule["batch"], plan["options"]["clock_mhz"]
    phases = {phase["name"]: number for number, phase in enumerate(plan["phases"])}
    steps: list[StepView] = []
    done_us = 0.0
    for step in schedule["steps"]:
        number = phases[step["phase"]]
        runs = tuple(
            RunView(names.index(entry["network"]), entry["network"], entry["interval_cycles"],
                    batch * entry["interval_cycles"] / clock_mhz)
            for entry in networks_in(plan, number)
        )  # fmt: skip
        load_us, begins = step.get("load_start_us"), step.get("run_start_us")
        start_us = done_us if load_us is None else load_us
        run_start_us = start_us + step["load_us"] if begins is None else begins
        region = plan["phases"][number].get("region") or ""
        steps.append(StepView(step["phase"], start_us, step["load_us"], run_start_us, step["run_us"], region, runs))
        done_us = run_start_us + step["run_us"]
    return tuple(steps)


def timeline_chart(plan: Plan) -> Sheet:
    """Draw each phase's loading and running over one period, with what each network in it takes of the run."""
    steps, names = read_timeline(plan), network_names(plan)
    title = f"Timeline of {networks_text(names)} on {platform_text(plan)}"
    return _chart(title, plan["schedule"], steps, several=len(names) > 1)


def partitions_chart(plan: Plan) -> Sheet:
    """Draw the same of the partitions in schedule.json: a network on a platform of resources alone."""
    steps: list[StepView] = []
    start_us, name = 0.0, plan["network"]["name"]
    for part in plan["partitions"]:
        run = RunView(0, name, part["interval_cycles"], part["run_us"])
        run_start_us = start_us + part["load_us"]
        steps.append(StepView(part["name"], start_us, part["load_us"], run_start_us, part["run_us"], "", (run,)))
        start_us = run_start_us + part["run_us"]
    title = f"Timeline of {name} on {plan['platform']['name']}"
    return _chart(title, plan, steps, several=False)


def _chart(title: str, schedule: Mapping[str, Any], steps: Sequence[StepView], *, several: bool) -> Sheet:
    """Draw steps; ``schedule`` has the batch and the period."""
    body, period_us = sum(step.height for step in steps), schedule["period_us"]
    left, bottom = MARGIN + _NAMES, MARGIN + _KEY + _AXIS
    sheet = Sheet(left + _PLOT + _GAP + _TEXT + MARGIN, bottom + body + _HEADER)
    write_head(sheet, title, _subtitle(schedule["batch"], period_us, steps))
    area = Box(left, bottom, left + _PLOT, bottom + body)
    unit, size_us = time_unit(period_us)
    Axis(area, 0.0, period_us / size_us).draw(sheet, f"time in {unit}, one period")
    sheet.rectangle(area, edge=RULE, z=3)
    top = area.top
    for step in steps:
        _draw_step(sheet, Axis(area, 0.0, period_us), step, top, several=several)
        top -= step.height
    lane = "what each network takes of it, in the network's colour" if several else "what the network takes of it"
    running: Style = {"fill": TRACK, "edge": RULE}
    texts = (("loading the phase", _LOADING), ("running it on the batch", running), (lane, {"fill": BAR}))
    draw_key(sheet, MARGIN - 2, [(text, "area", style) for text, style in texts])
    return sheet


def _subtitle(batch: int, period_us: float, steps: Sequence[StepView]) -> str:
    # A load that hides behind a run takes no time of its own.
    loading_us = period_us - sum(step.run_us for step in steps)
    return (
        f"batch {batch:,} frame{'s' * (batch != 1)}   ·   period {time_text(period_us)}   ·   "
        f"{frames_text(batch * 1e6 / period_us)} frames/s   ·   loading takes {loading_us / period_us:.1%} of the time"
    )


def _draw_step(sheet: Sheet, axis: Axis, step: StepView, top: float, *, several: bool) -> None:
    """Draw a phase: its name, the hatched load, the run, and a lane for each network of it."""
    area, bottom = axis.area, top - step.height
    text_left = area.right + _GAP
    sheet.line((MARGIN, bottom), (sheet.width - MARGIN, bottom), colour=RULE, width=0.4)

    def between(start_us: float, length_us: float, low: float, high: float) -> Box:
        left = axis.at(start_us)
        return Box(left, low, max(axis.at(start_us + length_us), left + 0.8), high)

    low, high = bottom + _BETWEEN / 2, top - _BETWEEN / 2
    if step.load_us > 0:
        sheet.rectangle(between(step.start_us, step.load_us, low, high), z=4, **_LOADING)
    sheet.rectangle(between(step.run_start_us, step.run_us, low, high), fill=TRACK, z=2)
    y = high - _HEAD / 2
    where = f" in {step.region}" if step.region else ""
    sheet.write(MARGIN, y, shortened(f"phase {step.phase}{where}", _NAMES * 0.85, 9), 9, middle=True, bold=True)
    times = f"load {time_text(step.load_us)}, run {time_text(step.run_us)}"
    sheet.write(text_left, y, times, _SIZE, middle=True, bold=True)
    for run in step.runs:
        y -= _LANE
        colour = network_colour(run.number) if several else BAR
        box = between(step.run_start_us, run.run_us, y - 0.36 * _LANE, y + 0.36 * _LANE)
        sheet.rectangle(box, fill=colour, edge=darker(colour) if several else None, width=0.6, z=5)
        sheet.write(MARGIN + 8, y, shortened(run.name, _NAMES - 14, _SIZE), _SIZE, middle=True)
        text = f"{time_text(run.run_us)}, interval {run.interval_cycles:,} cycles"
        sheet.write(text_left + 8, y, text, _SIZE, middle=True, colour=QUIET)
