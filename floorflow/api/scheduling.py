"""Methods that cut a network into partitions in time, side by side: on a case with its options, or on a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from floorflow.api.asking import asked, paper, require_platform
from floorflow.api.events import Callback, told_to
from floorflow.api.models import AnyModel
from floorflow.api.options import ReconfigureOptions, require_options, with_options
from floorflow.api.targets import Platform
from floorflow.errors import InputError
from floorflow.reading import require_file
from floorflow.request import RESOURCES_ALONE
from floorflow.stats import method_names

CASE_METHODS = method_names("papers/samo")
DEFAULT_CASE_METHODS = ("exact", "rule", "annealing")


class CaseComparison:
    """Scheduling methods on one case; ``found`` holds all of them as plain data."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow compare --case FILE --json`` prints it."""
        return dict(self.found)

    def __repr__(self) -> str:
        return f"<floorflow.CaseComparison of {self.found['case']}>"


def compare_case(case: str | Path, *, methods: Sequence[str] = (), seed: int = 0) -> CaseComparison:
    """Solve a case file by every method: exact, rule and annealing unless told; annealing from three seeds on.

    Raises
    ------
    InputError
        If the file is no case, with file and field named, or a method is unknown.

    """
    named = _known(methods)
    require_file(Path(case), "give a case as docs/schedule.md has it", "--case ")
    read = paper("samo.case_file").read_case(Path(case))
    return CaseComparison(paper("samo.case_file").compare_on_case(read, str(case), named, seed))


@with_options(ReconfigureOptions)
def compare_reconfigured(
    model: AnyModel,
    platform: str | Path | Platform,
    *,
    methods: Sequence[str] = (),
    progress: Callback | None = None,
    **options: Unpack[ReconfigureOptions],
) -> CaseComparison:
    """Cut a network into partitions in time by every method: exact, rule and annealing unless told. No floorplan.

    Streams between engines cost nothing here, so what `plan` finds is never better than ``exact``.

    Raises
    ------
    InputError
        If a model, a platform, an option or a method is not what was expected.
    Infeasible
        If an engine fits no slot.

    """
    require_options(options, ReconfigureOptions, "compare --reconfigure")
    named = _known(methods)
    request, source = asked(model, platform, {"reconfigure": "full", **options})
    if request.reconfigure == "partial":
        told = "compare --reconfigure partial: its methods cut for devices that are loaded as a whole"
        raise InputError(told, hint="floorflow chunks compares methods for regions")
    if not request.platform.startswith(RESOURCES_ALONE):
        require_platform(request)
    return CaseComparison(paper("samo.network").compare_in_time(request, named, told_to(progress), source))


def _known(methods: Sequence[str]) -> tuple[str, ...]:
    if not CASE_METHODS:
        paper("samo.methods")
    named = tuple(methods) or DEFAULT_CASE_METHODS
    for name in named:
        if name not in CASE_METHODS:
            raise InputError(f"--methods {name}: unknown method, expected one of {', '.join(CASE_METHODS)}")
    return named
