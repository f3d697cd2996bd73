"""How phases follow one another: every phase once, its time on the whole batch, and the sum of all times.

Phases in regions fill their pipelines once a batch (Seyoum et al., eq. 5); others are told without that (SAMO, eq. 4).
"""

from __future__ import annotations

from floorflow.verify.records import Record
from floorflow.verify.violations import Findings

KINDS = ("reconfigure",)


def check_schedule(plan: Record, findings: Findings) -> None:
    """Judge the schedule, which a plan has if it has several phases, or if partitions in time were asked for."""
    schedule, phases, name = plan["schedule"], plan["phases"], "wrong-schedule"
    asked = is_reconfigured(plan)
    if schedule is None:
        if len(phases) > 1 or asked:
            why = "the plan has several phases" if len(phases) > 1 else "options.reconfigure asks for one"
            findings.add(name, "schedule", f"is null, {why}")
        return
    if len(phases) == 1 and not asked:
        findings.add(name, "schedule", "is given, the plan has one phase")
        return
    if schedule["kind"] not in KINDS:
        findings.add(name, "schedule.kind", f"is {schedule['kind']}, expected {', '.join(KINDS)}")
    if schedule["batch"] < 1:
        findings.add(name, "schedule.batch", "must be at least one frame")
    listed, expected = [step["phase"] for step in schedule["steps"]], [phase["name"] for phase in phases]
    if listed != expected:
        findings.add(name, "schedule.steps", f"are {', '.join(listed)}; the phases are {', '.join(expected)}")
        return
    for phase, step in zip(phases, schedule["steps"], strict=True):
        _check_step(plan, phase, step, findings)
    if in_regions(plan):
        return  # loads hide behind runs: `floorflow.verify.regions.timeline`
    total = sum(step["load_us"] + step["run_us"] for step in schedule["steps"])
    findings.expect(name, "schedule", "period_us", schedule["period_us"], total)


def is_reconfigured(plan: Record) -> bool:
    """Whether the options ask for parts that run one after another."""
    return bool(plan["options"].get("reconfigure", "none") != "none")


def in_regions(plan: Record) -> bool:
    """Whether the options ask for parts that are swapped in regions."""
    return bool(plan["options"].get("reconfigure", "none") == "partial")


def _check_step(plan: Record, phase: Record, step: Record, findings: Findings) -> None:
    where = f"schedule.steps {phase['name']}"
    if step["load_us"] < 0:
        findings.add("wrong-schedule", where, f"load_us is {step['load_us']}, no time is negative")
    longest = max((part["interval_cycles"] for part in phase["networks"]), default=0)
    clock_mhz = plan["options"]["clock_mhz"]
    if clock_mhz > 0:
        run_us = plan["schedule"]["batch"] * longest / clock_mhz
        if in_regions(plan):
            filled = max((part["estimates"]["latency_us"] for part in phase["networks"]), default=0)
            run_us += filled - longest / clock_mhz
        findings.expect("wrong-schedule", where, "run_us", step["run_us"], run_us)
