"""A network planned in two phases inside a region of a PYNQ-Z1, from the model to the files."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from floorflow import flow
from floorflow.backends.backend import Backend
from floorflow.emit import bundle
from floorflow.hardware import Platform, confined, load_platform
from floorflow.output import write
from floorflow.placement.region import RegionNeed, choose_regions
from floorflow.record.platform import platform_entry
from floorflow.record.regions import in_regions, needs_of, reconfigurable_entry, region_problem, static_parts
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.schema import Plan
from floorflow.search import preparing
from tests.conftest import TFC

ROOM = Resources(lut=9000, ff=9000, bram18=40)
DECOUPLER = Resources(lut=300, ff=600)


def planned_in_region(out: Path) -> Plan:
    """Write the plan's folder; the planner is given a platform that is the region and nothing else."""
    whole = load_platform("pynq-z1", 1)
    fpga = whole.fpgas[0]
    static = static_parts(fpga.board, ["r0"], DECOUPLER)
    problem = region_problem(fpga, [RegionNeed("r0", ROOM)], static)
    found = choose_regions(problem)
    owned = {fpga.slots[0].name: found.regions[0].owned}
    asked = Request(
        TFC, "pynq-z1", reconfigure="full", batch=256_000, plots=False, cap={"LUT": 0.36}, constraint_style="hard"
    )
    whole_platform, backends = preparing.platform_of, list[Backend]()

    def inside(request: Request, fpgas: int) -> Platform:
        return confined(whole_platform(request, fpgas), owned)

    def held(plan: Plan, platform: Platform, backend: Backend) -> dict[str, str | bytes]:
        backends.append(backend)
        return bundle(plan, platform, backend)

    with patch.object(preparing, "platform_of", inside), patch.object(flow, "bundle", held):
        plan = flow.plan(asked).plan
    phases = in_regions(plan.phases, ["r0"] * len(plan.phases))
    entry = reconfigurable_entry(found, problem, fpga, {"r0": "top_i/r0"}, needs_of(phases))
    changed = {"phases": phases, "reconfigurable": entry, "platform": platform_entry(whole)}
    plan = plan.model_copy(update=changed)
    write(out, bundle(plan, whole, backends[0]), {})
    return plan
