"""Anybody's floorplan, judged without a plan: a reader of XDC and pblock Tcl of its own, and rules on one die."""

from floorflow.verify.tcl.words import LimitError, UnreadableError
from floorflow.verify.xdc.judge import Judged, Sources, judge_floorplan
from floorflow.verify.xdc.targets import NoTargetError, Target, find_target
