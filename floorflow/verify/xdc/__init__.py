"""Anybody's floorplan, judged without a plan: a reader of XDC and pblock Tcl of its own, and rules on one die."""

from floorflow.verify.xdc.judge import Judged, Sources, judge_floorplan
from floorflow.verify.xdc.targets import NoTargetError, Target, find_target
from floorflow.verify.xdc.words import LimitError, UnreadableError

__all__ = [
    "Judged",
    "LimitError",
    "NoTargetError",
    "Sources",
    "Target",
    "UnreadableError",
    "find_target",
    "judge_floorplan",
]
