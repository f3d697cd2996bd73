"""floorflow: from a quantised network to a legal multi-die FPGA floorplan.

    import floorflow as ff

    plan = ff.plan(ff.read("cnv.onnx"), ff.platform("alveo-u250", fpgas=2), fps=1000)
    plan.save("out")

`floorflow.api` holds what these names stand for; it is imported when the first of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floorflow.api import (
        Audit,
        Best,
        BoundPlan,
        Calibration,
        Comparison,
        Diff,
        Event,
        Explanation,
        FloorflowError,
        FloorplanFinding,
        FloorplanVerdict,
        FolderWarning,
        Infeasible,
        InputError,
        Inspection,
        Interrupted,
        InterruptedCalibration,
        LimitReached,
        Model,
        Pareto,
        Picture,
        Plan,
        Platform,
        Refusal,
        ResourcePlan,
        ResourcePlanInterrupted,
        SweepResult,
        ToolFailed,
        Verdict,
        Violation,
        audit,
        bind,
        calibrate,
        check,
        check_floorplan,
        compare,
        cost,
        diff,
        explain,
        inspect,
        load,
        pareto,
        plan,
        plan_resources,
        platform,
        platforms,
        read,
        sweep,
        utilisation,
    )

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Best",
    "BoundPlan",
    "Calibration",
    "Comparison",
    "Diff",
    "Event",
    "Explanation",
    "FloorflowError",
    "FloorplanFinding",
    "FloorplanVerdict",
    "FolderWarning",
    "Infeasible",
    "InputError",
    "Inspection",
    "Interrupted",
    "InterruptedCalibration",
    "LimitReached",
    "Model",
    "Pareto",
    "Picture",
    "Plan",
    "Platform",
    "Refusal",
    "ResourcePlan",
    "ResourcePlanInterrupted",
    "SweepResult",
    "ToolFailed",
    "Verdict",
    "Violation",
    "__version__",
    "audit",
    "bind",
    "calibrate",
    "check",
    "check_floorplan",
    "compare",
    "cost",
    "diff",
    "explain",
    "inspect",
    "load",
    "pareto",
    "plan",
    "plan_resources",
    "platform",
    "platforms",
    "read",
    "sweep",
    "utilisation",
]


def __getattr__(name: str) -> Any:
    """Import the API when one of its names is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'floorflow' has no attribute '{name}'")
    from floorflow.importing import whole_imports

    with whole_imports():
        return getattr(import_module("floorflow.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
