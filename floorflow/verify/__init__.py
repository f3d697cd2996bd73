"""Verification of a plan folder, independent of what made it.

It reads plan.json, the emitted files and the raw platform files, derives everything again with its own code (XDC and
Tcl reader, tile-by-tile site count, table of legal foldings) and shares nothing with the stages that it checks.
"""

from floorflow.verify.verify import Verdict, check, judge
from floorflow.verify.violations import VIOLATIONS, NotAPlan, Violation
