"""When phases in regions load and run: nothing before its time, nothing later than it could, and the period.

One port loads one region at a time; a region is loaded when its last phase has run; a phase runs when it is loaded and
the batch of the phase before it lies in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.verify.records import Record
from floorflow.verify.schedule import in_regions
from floorflow.verify.violations import Findings

TIMELINE = "wrong-timeline"


def check_timeline(plan: Record, findings: Findings) -> None:
    """Judge the times of a plan whose phases are swapped in regions; others are left alone."""
    schedule = plan["schedule"]
    if schedule is None or not in_regions(plan):
        return
    steps = schedule["steps"]
    unstated = [s["phase"] for s in steps if s.get("load_start_us") is None or s.get("run_start_us") is None]
    if unstated:
        findings.add(TIMELINE, "schedule.steps", f"do not say when {', '.join(unstated)} load and run")
        return
    loads = _loads(plan)
    region_of = {phase["name"]: phase.get("region") for phase in plan["phases"]}
    port_free, ran = 0.0, 0.0
    region_free: dict[str | None, float] = {}
    for step in steps:
        region, where = region_of.get(step["phase"]), f"schedule.steps {step['phase']}"
        findings.expect(TIMELINE, where, "load_us", step["load_us"], loads.get(region, 0.0))
        begin = max(port_free, region_free.get(region, 0.0))
        findings.expect(TIMELINE, where, "load_start_us", step["load_start_us"], begin)
        port_free = begin + step["load_us"]
        start = max(port_free, ran)
        findings.expect(TIMELINE, where, "run_start_us", step["run_start_us"], start)
        ran = region_free[region] = start + step["run_us"]
    findings.expect(TIMELINE, "schedule", "period_us", schedule["period_us"], ran)
    findings.expect(TIMELINE, "schedule", "reload_us", schedule.get("reload_us", 0.0), 0.0)


def _loads(plan: Record) -> Mapping[str | None, float]:
    """Return what each region takes to load, as the plan states it; that is judged with the regions."""
    entry = plan.get("reconfigurable") or {"regions": []}
    return {region["name"]: region["load_us"] for region in entry["regions"]}
