"""FPGAs that a plan could do without: those that no phase uses, and how many may do for all of its phases."""

from __future__ import annotations

from floorflow.emit.use import slot_uses
from floorflow.errors import some
from floorflow.facts import PhaseEntry, Plan
from floorflow.hardware import Platform
from floorflow.resources import RESOURCE_NAMES, total

_ROOMY = 0.8
"""Share of the limits of fewer FPGAs below which the design may fit them."""


def spare_fpgas(plan: Plan, platform: Platform) -> str:
    """Return the step that takes fewer FPGAs, or nothing where none is called for."""
    if len(platform.fpgas) == 1 or plan.options.fpgas == "auto":
        return ""
    idle = [f.name for f in platform.fpgas if not any(phase.floorplan[f.name].pblocks for phase in plan.phases)]
    return _without(idle, platform) if idle else _on_fewer(plan, platform)


def _without(idle: list[str], platform: Platform) -> str:
    # A platform file says which FPGAs there are; --fpgas beside it is refused.
    way = f"--fpgas {len(platform.fpgas) - len(idle)}"
    if platform.described:
        way = f"the platform file without {'it' if len(idle) == 1 else 'them'}"
    return f"{some(idle)} hold{'s' * (len(idle) == 1)} no module: {way} should give the same rate"


def _on_fewer(plan: Plan, platform: Platform) -> str:
    if platform.described:
        return ""
    fewer = len(platform.fpgas) - 1
    used, name = max(_fullest(plan, phase, platform, fewer) for phase in plan.phases)
    if used >= _ROOMY:
        return ""
    return f"all modules together need {used:.0%} of the {name} that {fewer} allow: --fpgas {fewer} may do"


def _fullest(plan: Plan, phase: PhaseEntry, platform: Platform, fewer: int) -> tuple[float, str]:
    """Return the largest share that a phase needs of what so many FPGAs allow, and of which resource."""
    uses, scale = slot_uses(plan, phase, platform), len(platform.fpgas) / fewer
    need, have = total(use.demand for use in uses).as_dict(), total(use.limit for use in uses).as_dict()
    shares = {r: need[r] * scale / have[r] for r in RESOURCE_NAMES if have[r]}
    name = max(shares, key=lambda r: shares[r])
    return shares[name], name
