"""Methods that cut a network into partitions in time, side by side on a case: options given, no model read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.stats import method_names

if TYPE_CHECKING:
    from floorflow.study.comparison import cases

CASE_METHODS = method_names("schedule/methods")
DEFAULT_CASE_METHODS = ("exact", "rule", "annealing")


class CaseComparison:
    """Scheduling methods on one case; ``found`` holds all of them."""

    def __init__(self, found: cases.CaseComparison) -> None:
        self.found = found

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow compare --case FILE --json`` prints it."""
        return self.found.as_dict()

    def __repr__(self) -> str:
        return f"<floorflow.CaseComparison of {self.found.case}>"


def compare_case(case: str | Path, *, methods: Sequence[str] = (), seed: int = 0) -> CaseComparison:
    """Solve a case file by every method: exact, rule and annealing unless told; annealing from three seeds on.

    Raises
    ------
    InputError
        If the file is no case, with file and field named, or a method is unknown.

    """
    named = tuple(methods) or DEFAULT_CASE_METHODS
    for name in named:
        if name not in CASE_METHODS:
            raise InputError(f"--methods {name}: unknown method, expected one of {', '.join(CASE_METHODS)}")
    if not Path(case).is_file():
        raise InputError(f"--case {case}: there is no such file", hint="give a case as docs/schedule.md has it")
    with whole_imports():
        from floorflow.schedule import read_case
        from floorflow.study.comparison.cases import compare_on_case

    return CaseComparison(compare_on_case(read_case(Path(case)), str(case), named, seed))
