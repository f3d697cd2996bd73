"""What v++ sets for the steps of Vivado: hook, directives, and the report behind the last of them."""

from collections import Counter
from collections.abc import Iterator, Sequence

STEPS = "prop=run.impl_1.STEPS."
HOOK = f"{STEPS}OPT_DESIGN.TCL.PRE=@HOOK@"
AFTER_ROUTING = "POST_ROUTE_PHYS_OPT_DESIGN"
"""The step behind routing, which a run has only where it is enabled (UG904)."""
SETTINGS = ("IS_ENABLED", "ARGS.DIRECTIVE", "TCL.PRE", "TCL.POST")
_PHYSICAL = (
    "Default Explore ExploreWithHoldFix ExploreWithAggressiveHoldFix AggressiveExplore AlternateReplication "
    "AggressiveFanoutOpt AddRetime AlternateFlowWithRetiming RuntimeOptimized"
)
DIRECTIVES = {
    "OPT_DESIGN": (
        "Default Explore ExploreArea ExploreSequentialArea ExploreWithRemap AddRemap NoBramPowerOpt RuntimeOptimized"
    ),
    "PLACE_DESIGN": (
        "Default Explore WLDrivenBlockPlacement EarlyBlockPlacement ExtraNetDelay_high ExtraNetDelay_low "
        "SSI_SpreadLogic_high SSI_SpreadLogic_low SSI_SpreadSLLs SSI_BalanceSLLs SSI_BalanceSLRs SSI_HighUtilSLRs "
        "AltSpreadLogic_high AltSpreadLogic_medium AltSpreadLogic_low ExtraPostPlacementOpt ExtraTimingOpt "
        "RuntimeOptimized Quick"
    ),
    "PHYS_OPT_DESIGN": _PHYSICAL,
    "ROUTE_DESIGN": (
        "Default Explore AggressiveExplore NoTimingRelaxation MoreGlobalIterations HigherDelayCost "
        "AdvancedSkewModeling AlternateCLBRouting RuntimeOptimized"
    ),
    "POST_ROUTE_PHYS_OPT_DESIGN": _PHYSICAL,
}
"""Directives of the steps of an implementation run: UG904 2022.2, of opt_design, place_design, phys_opt_design and
route_design, and its tables of strategies."""


def setting_faults(lines: Sequence[str], dies: int) -> Iterator[str]:
    """Yield what is missing of the settings, and what Vivado would refuse of them on so many dies."""
    last = AFTER_ROUTING if f"{STEPS}{AFTER_ROUTING}.IS_ENABLED=true" in lines else "ROUTE_DESIGN"
    # What is reported before the last step is no more true of what goes onto the card.
    for line in sorted({HOOK, f"{STEPS}{last}.TCL.POST=@REPORT@"} - {*lines}):
        yield f"lacks the line: {line}"
    seen: Counter[str] = Counter()
    for line in lines:
        if not line.startswith(STEPS):
            continue
        key, _, value = line.removeprefix(STEPS).partition("=")
        step, _, what = key.partition(".")
        seen[key] += 1
        known = DIRECTIVES.get(step, "").split()
        if not known or what not in SETTINGS or not value or seen[key] > 1:
            yield f"{line}: no setting of a step of Vivado, or set twice"
        elif what == "ARGS.DIRECTIVE" and (value not in known or (value.startswith("SSI_") and dies < 2)):
            yield f"{line}: {step} has no directive {value}, or it is for dies of several SLRs"
