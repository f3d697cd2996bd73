"""One network on a platform, several at once, and several at one external memory."""

from functools import partial

from floorflow.errors import Refused, outcome_of
from floorflow.facts import Extras, Plan
from floorflow.modes.run import ModeResult, Run, with_files
from floorflow.record.run import PlanWithFiles, record
from floorflow.record.several import record_at_memory, record_several
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Outcome
from floorflow.search.candidate.progress import Progress, part_of
from floorflow.search.interval.least_full import weighed
from floorflow.search.interval.search import search
from floorflow.search.many.at_memory import networks_at_memory, search_at_memory
from floorflow.search.many.several import Networks, SeveralFound, networks_of, search_several
from floorflow.search.policy.other_requests import Again, extras
from floorflow.search.policy.relaxation import (
    MORE_CONFIDENTLY,
    RELAXATIONS,
    fewest_fpgas,
    outcome_under,
    rate_kept,
    searched_alone,
    searched_under,
)
from floorflow.search.policy.reuse import search_reusing
from floorflow.several import SeveralRequest


def one_network(run: Run) -> ModeResult[PlanWithFiles] | Refused:
    """Search for one network, on as few FPGAs as will do."""
    progress = run.progress
    one = partial(search if run.request.reuse == "no" else search_reusing, progress=progress)
    steps = fewest_fpgas(run.request, partial(run.prepared, progress=progress), progress)
    relaxations = (rate_kept(partial(_without_rate, run, progress)), *RELAXATIONS)
    on_fpgas = outcome_under(steps, relaxations, one, progress)
    if isinstance(on_fpgas, Refused):
        return on_fpgas
    context, found = on_fpgas.context, weighed(on_fpgas.result, progress)

    def recorded() -> Plan:
        progress.best(found.candidate.interval_cycles, max(found.bound_cycles, found.joint_bound_cycles or 0))
        return record(run.models[0], context, found, on_fpgas.tried, run.measured)

    def again(context: PlanningContext) -> Outcome:
        return outcome_under(searched_alone(context), RELAXATIONS, search)

    def beside(plan_sha256: str, most_work: float, progress: Progress) -> Extras | Refused | None:
        return extras(plan_sha256, context, found, most_work, progress, again=Again(run.prepared, again))

    return ModeResult(with_files(context, recorded), found.interrupted, beside)


def _without_rate(run: Run, progress: Progress, context: PlanningContext) -> PlanningContext | Refused | None:
    """Prepare the search for the highest rate, if foldings are to be chosen."""
    request = context.request
    if request.keep_folding:
        return None
    return run.prepared(request.changed(fps=None, objective=None), len(context.platform.fpgas), progress)


def several_networks(run: Run, request: SeveralRequest) -> ModeResult[PlanWithFiles] | Refused:
    """Search for several networks: each is lowered as if alone; one search folds, cuts and places all engines."""
    progress, each = run.progress, part_of(run.progress)
    known: dict[int, Networks] = {}
    made: list[SeveralFound] = []

    def prepared(asked: Request, fpgas: int) -> PlanningContext | Refused:
        with progress.stage("lowering"):
            networks = outcome_of(partial(networks_of, request.like(asked), run.models, fpgas))
            if isinstance(networks, Refused):
                return networks
            known[fpgas] = networks
            return networks.at_least()

    def searched(context: PlanningContext) -> Outcome:
        searches = (searched_under(each), searched_under(each, (*RELAXATIONS[1:-1], MORE_CONFIDENTLY)))
        answer = search_several(known[len(context.platform.fpgas)], *searches, progress)
        if isinstance(answer, Refused):
            return answer
        made.append(answer)
        return answer.result

    on_fpgas = outcome_under(fewest_fpgas(run.request, prepared, progress), (), searched, progress)
    if isinstance(on_fpgas, Refused):
        return on_fpgas
    found = made[-1]
    recorded = partial(record_several, run.models, found, on_fpgas.tried)
    return ModeResult(with_files(found.context, recorded), found.result.interrupted)


def at_memory(run: Run, request: SeveralRequest) -> ModeResult[PlanWithFiles] | Refused:
    """Search for engines that share the external memory: chosen together, scheduled, and placed as any other."""
    with run.progress.stage("lowering"):
        networks, wishes = networks_at_memory(request, run.models)
    one = searched_under(part_of(run.progress))
    found = search_at_memory(request, networks, wishes, one, run.progress)
    if isinstance(found, Refused):
        return found
    recorded = partial(record_at_memory, run.models, found)
    made = with_files(found.placed.context, recorded, found.choice.seconds)
    return ModeResult(made, found.placed.result.interrupted)
