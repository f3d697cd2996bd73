"""The Python API, and all that the command line uses of the package.

What is slow to import (solvers, onnx, matplotlib) is imported by the functions that need it, once they have refused
what can be refused without. There is no global state: calls may run in several threads at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from floorflow.api.events import Best, Callback, Event
from floorflow.api.folders import LATER
from floorflow.api.models import Model, read
from floorflow.api.options import OPTIONS, Option
from floorflow.api.pictures import Picture, Pictures, require_picture_file
from floorflow.api.planning import plan
from floorflow.api.resource_plans import ResourcePlan, ResourcePlanInterrupted, is_resources_alone, plan_resources
from floorflow.api.results import Interrupted, Plan, load
from floorflow.api.targets import Platform, bare_parts, link_kinds, new_board, platform, platforms
from floorflow.errors import FloorflowError, InputError, Refusal, some
from floorflow.errors import InfeasibleError as Infeasible
from floorflow.errors import LimitError as LimitReached
from floorflow.errors import ToolError as ToolFailed
from floorflow.importing import whole_imports
from floorflow.output import FolderWarning, require_free, write_file
from floorflow.reading import exists, is_file, is_folder, resolved, shown
from floorflow.request import known_methods
from floorflow.resources import RESOURCE_NAMES

if TYPE_CHECKING:
    from floorflow.api.auditing import Audit, audit
    from floorflow.api.bug_reports import bug_report
    from floorflow.api.building import MODULES, BuildResult, build
    from floorflow.api.calibrating import Calibration, InterruptedCalibration, calibrate
    from floorflow.api.checking import BoundPlan, Verdict, Violation, bind, check
    from floorflow.api.checking_files import FloorplanFinding, FloorplanVerdict, check_floorplan
    from floorflow.api.chunking import AREAS, CHUNK_METHODS, SIZE_STEP, Chunks, chunk_case, chunks
    from floorflow.api.diffing import diff
    from floorflow.api.explaining import explain
    from floorflow.api.inspecting import INSPECTED_PART, Inspection, inspect
    from floorflow.api.pricing import cost, lines_of
    from floorflow.api.reporting import (
        DEPTH,
        beside_plan,
        utilisation,
        utilisation_data,
        utilisation_picture,
        utilisation_text,
    )
    from floorflow.api.scheduling import CASE_METHODS, CaseComparison, compare_case, compare_reconfigured
    from floorflow.api.studies import FEWEST_POINTS, MOST_POINTS, POINTS, Comparison, Pareto, Study, compare, pareto
    from floorflow.api.sweeping import SweepResult, sweep
    from floorflow.facts.diff import Diff
    from floorflow.facts.explain import Explanation

_LATER = {
    "auditing": ("Audit", "audit"),
    "bug_reports": ("bug_report",),
    "building": ("MODULES", "BuildResult", "build"),
    "calibrating": ("Calibration", "InterruptedCalibration", "calibrate"),
    "checking": ("BoundPlan", "Verdict", "Violation", "bind", "check"),
    "checking_files": ("FloorplanFinding", "FloorplanVerdict", "check_floorplan"),
    "chunking": ("AREAS", "CHUNK_METHODS", "SIZE_STEP", "Chunks", "chunk_case", "chunks"),
    "diffing": ("Diff", "diff"),
    "explaining": ("Explanation", "explain"),
    "inspecting": ("INSPECTED_PART", "Inspection", "inspect"),
    "pricing": ("cost", "lines_of"),
    "scheduling": ("CASE_METHODS", "CaseComparison", "compare_case", "compare_reconfigured"),
    "studies": ("FEWEST_POINTS", "MOST_POINTS", "POINTS", "Comparison", "Pareto", "Study", "compare", "pareto"),
    "sweeping": ("SweepResult", "sweep"),
    "reporting": (
        *("DEPTH", "beside_plan", "utilisation", "utilisation_data", "utilisation_picture", "utilisation_text"),
    ),
}
"""What only some commands need, by the module that has it."""


def __getattr__(name: str) -> Any:
    """Import what only some commands need when it is first asked for (PEP 562)."""
    home = next((module for module, names in _LATER.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with whole_imports():
        return getattr(import_module(f"{__name__}.{home}"), name)
