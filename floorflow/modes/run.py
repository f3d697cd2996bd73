"""What every mode is given and what it hands over, and how that is recorded with its files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic

from floorflow.backends.backend import Source
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.emit import bundle, plan_digest
from floorflow.errors import INTERRUPTED, Made, Refused, Stop, outcome_of, required
from floorflow.facts import Extras, Plan
from floorflow.record.run import PlanWithFiles, cut_short
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.preparing import context_of, priced
from floorflow.search.candidate.progress import SILENT, Progress


@dataclass(frozen=True)
class Run:
    """A request with its models, read; of one network the only one."""

    models: Sequence[Source]
    request: Request
    progress: Progress = SILENT
    measured: Measurements = NO_MEASUREMENTS

    def prepared(self, request: Request, fpgas: int, progress: Progress = SILENT) -> PlanningContext | Refused:
        """Lower and price the one network for another request."""
        with progress.stage("lowering"):
            found = outcome_of(partial(priced, self.models[0], request, fpgas, self.measured))
            return found if isinstance(found, Refused) else context_of(found)


@dataclass(frozen=True)
class ModeResult(Generic[Made]):
    """What a search found, as how it is made final, ``interrupted`` or not.

    ``extras`` works out what is told beside the plan of that digest, in at most so much work.
    """

    make: Callable[[bool], Made]
    interrupted: bool
    extras: Callable[[str, float, Progress], Extras | Refused | None] | None = None


def with_files(
    context: PlanningContext, recorded: Callable[[], Plan], seconds: Mapping[str, float] | None = None
) -> Callable[[bool], PlanWithFiles]:
    """Return how a plan is recorded with its files, ``interrupted`` or not; ``seconds``: what its steps took."""

    def made(interrupted: bool) -> PlanWithFiles:
        result = cut_short(recorded()) if interrupted else recorded()
        return PlanWithFiles(result, context.platform, bundle(result, context.platform, context.backend), seconds or {})

    return made


def recorded(found: ModeResult[Made] | Refused, progress: Progress) -> Made | Refused:
    """Record what was found, marked if its search was interrupted.

    A signal meanwhile has it recorded once more, and marked, for it is final and that is short; another ends it.
    """
    if isinstance(found, Refused):
        return found
    with Stop(), progress.stage("recording"):
        return found.make(found.interrupted)
    if found.interrupted:
        return INTERRUPTED
    return recorded(replace(found, interrupted=True), progress)


LEAST_BESIDE, SHARE_BESIDE = 0.5, 0.1
"""Units of work that extras may take at least, and the share of the plan's own."""


def with_extras(made: PlanWithFiles, found: ModeResult[PlanWithFiles], plan_units: float) -> PlanWithFiles:
    """Return how the extras of a plan that took so much work are worked out, too; an interrupted one has none."""
    extras = found.extras
    if extras is None or made.plan.interrupted:
        return made
    most_work = max(LEAST_BESIDE, SHARE_BESIDE * plan_units)

    def work_out(progress: Progress) -> Extras | None:
        beside = extras(plan_digest(made.files), most_work, progress)
        return None if beside is None else required(beside)

    return replace(made, extras=work_out)
