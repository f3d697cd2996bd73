"""What a search begins with: the model read, lowered and priced on the platform that was asked for, within its risk.

Caps and fills are a user's margins, and estimates may be off (`floorflow.dataflow.bands`): a request that these refuse
may fit all the same.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend, Costs, Source, backend_named
from floorflow.backends.clock import ClockTarget
from floorflow.channels import StreamPrices, not_convertible
from floorflow.dataflow.bands import LESS, MORE, fit_likelihood, moments
from floorflow.dataflow.measured import NO_MEASUREMENTS, Measurements
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.modules import stages
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, Refused, all_found, required, some
from floorflow.folding.balance import NO_BALANCE, Balance, layer_pairs
from floorflow.folding.problem import FoldingProblem, FoldingSolution, fitting
from floorflow.hardware import Platform
from floorflow.hardware.areas import with_keep_outs
from floorflow.hardware.copies import with_hosts
from floorflow.hardware.load import described_fpgas, load_platform, require_described
from floorflow.plugins import added_names
from floorflow.presets import ALVEO_MHZ
from floorflow.request import RESOURCES_ALONE, Request
from floorflow.resources import RESOURCE_NAMES, ZERO, Fractions, Resources, SomeFractions, scaled_down, total
from floorflow.search.candidate.context import (
    LEAST_HOPS,
    PlanningContext,
    largest_pblocks,
    longest_interval,
    slot_limits,
)
from floorflow.search.candidate.engine_limits import EngineLimits, Places, engine_limits
from floorflow.search.candidate.given_pblocks import read_previous, slots_before, stated_pblocks, within_pblocks
from floorflow.search.candidate.slot_problem import Use
from floorflow.search.candidate.solvers import solvers_of, with_limits
from floorflow.search.candidate.wishes import Wishes, read_wishes
from floorflow.stats import count


def settled(request: Request) -> Request:
    """Return the request with the number of FPGAs that its platform's file describes, if it is a platform file.

    InputError if both a risk and the caps or fills in whose place it stands were asked for, or other options that
    contradict; PlatformError if another number was asked for.
    """
    if request.platform.startswith(RESOURCES_ALONE):
        raise InputError(
            f"--platform {request.platform}: its resources alone are known, so nothing can be placed there",
            hint="floorflow plan cuts and folds networks on it, in Python floorflow.plan_resources",
        )
    asked = [option for option in ("cap", "fill") if option in request.model_fields_set]
    if request.risk is not None and asked:
        raise InputError(
            f"--risk {request.risk:g}: it takes the place of --{asked[0]}", hint="leave out one of the two"
        )
    _require_a_search(request)
    if request.reuse != "no":
        request = _of_modules_made_once(request)
    if request.backend_options.stitches:
        request = _in_hard_pblocks(request)
    described = described_fpgas(request.platform)
    if described is None:
        return request
    if request.has_copies:
        raise InputError(f"--replicas {request.replicas}: it is for equal cards, {request.platform} describes others")
    if "fpgas" in request.model_fields_set:
        require_described(request.platform, described, request.fpgas)
    return request.changed(fpgas=described)


def _in_hard_pblocks(request: Request) -> Request:
    """Return the request with hard pblocks: what is implemented alone must stay in its own."""
    if request.constraint_style not in ("auto", "hard"):
        asked = f"--constraint-style {request.constraint_style}"
        raise InputError(f"--flow stitch: each module stays in its pblock, so not with {asked}", hint="leave one out")
    return request.changed(constraint_style="hard")


def _of_modules_made_once(request: Request) -> Request:
    """Return the request with modules that never merge, and engines whose contents can be written afterwards."""
    others = {"--keep-folding": request.keep_folding, "--replicas": request.has_copies}
    others[f"--reconfigure {request.reconfigure}"] = request.reconfigure != "none"
    others[f"--fold-method {request.fold_method}"] = request.fold_method != "exact"
    others["--objective latency"] = request.goal == "latency"
    others["--granularity slot"] = request.granularity == "slot"
    others["--constraints"] = request.constraints is not None
    others["--stay-near and --from"] = request.stay_near is not None or request.start_from is not None
    for other in (option for option, given in others.items() if given):
        raise InputError(
            f"--reuse {request.reuse}: modules alike are folded alike, so not with {other}", "leave it out"
        )
    return request.changed(keep_granularity=True, backend_options=request.backend_options.for_reuse())


def _require_a_search(request: Request) -> None:
    """Refuse what says how to search where that is not searched for; requests that follow from one may keep it."""
    if request.gap and (request.goal != "throughput" or request.reconfigure != "none"):
        raise InputError(f"--gap {request.gap:g}: it ends the search for the highest rate", hint="leave it out")
    others = {"--stay-near": request.stay_near, "--keep-folding": request.keep_folding}
    others["--objective latency"] = request.goal == "latency"
    for other in (option for option, given in others.items() if given and request.start_from is not None):
        hint = "leave out one of the two"
        raise InputError(f"--from {request.start_from}: slots fold anew, so not with {other}", hint=hint)


def platform_of(request: Request, fpgas: int | None = None, hosts: Sequence[str | None] = ()) -> Platform:
    """Return the request's platform, of ``fpgas`` FPGAs if that is given; of one where their number is yet to be found.

    ``hosts``: the memory channel of each copy of the network, where a card has several.

    PlatformError as `load_platform`.
    """
    count = fpgas or (1 if request.fpgas == "auto" or request.has_copies else request.fpgas)
    # A topology that nobody asked for contradicts no file.
    topology = request.topology if "topology" in request.model_fields_set else None
    asked = request.platform, count, request.clock_mhz, request.link, topology
    platform = with_hosts(load_platform(*asked, host_port=request.host_port), hosts)
    platform = with_keep_outs(platform, request.keep_out)
    own = request.backend_options
    require_one_design(request, len(platform.fpgas), 1)
    platform = replace(platform, crossing_fifos=own.crossing_fifos, crossing_slices=own.crossing_slices)
    most_mhz = ALVEO_MHZ.get(request.preset)
    if request.clock_mhz is not None or most_mhz is None:
        return platform
    return replace(platform, asked_mhz=platform.own_mhz(most_mhz))


def require_one_design(request: Request, fpgas: int, networks: int) -> None:
    """Refuse what is for one design of one network.

    That are stitched modules, and register slices at SLR boundaries, which the back end's tool links for one card.
    """
    own = request.backend_options
    if not own.crossing_slices and not own.stitches:
        return
    many = f"{fpgas} FPGAs" if fpgas > 1 and own.crossing_slices else f"{networks} networks" if networks > 1 else ""
    many = f"--reconfigure {request.reconfigure}" if request.reconfigure != "none" else many
    many = f"--replicas {request.replicas}" if request.has_copies else many
    if many and own.stitches:
        raise InputError(f"--flow stitch: it is for one design of one network, this is {many}", hint="leave --flow out")
    if many:
        raise InputError(
            f"--crossings vendor: its script is for one design of one network on one card, this is {many}",
            hint="use --crossings fifo",
        )


def clock_target(platform: Platform, slots: Collection[str] = ()) -> ClockTarget:
    """Return the platform's clock and parts, each part once; ``slots`` are those that the design is known to use."""
    used = [(slot.fpga, slot.slr) for slot in platform.slots if slot.name in slots]
    dies = Counter(fpga for fpga, _ in set(used))
    parts = tuple(dict.fromkeys(fpga.board.part for fpga in platform.fpgas))
    return ClockTarget(platform.clock_mhz, parts, several_dies=any(count > 1 for count in dies.values()))


def likelihood(context: PlanningContext, folding: FoldingSolution) -> float | None:
    """Return how likely all that is available, in all slots together, holds a folding; None if errors are not known."""
    if not context.costs.has_bands:
        return None
    engines = {engine.name: engine for engine in context.dataflow.engines}
    use: dict[str, Resources] = defaultdict(lambda: ZERO)
    for name, option in folding.options.items():
        use[option.kind or engines[name].kind] += option.resources
        for kind, doubt in zip((LESS, MORE), context.costs.doubt(engines[name], option), strict=True):
            use[kind] += doubt
    # The rest is width converters and FIFOs.
    use[context.costs.fifo_kind] += folding.resources - total(option.resources for option in folding.options.values())
    available = total(slot.available for slot in context.platform.slots)
    return fit_likelihood(use, available, context.costs.band)


def at_risk(request: Request, dataflow: Dataflow, groups: Iterable[OptionGroup], costs: Costs) -> Request:
    """Return the request with the caps that its risk allows, and pblocks as full as they can be; without one as it is.

    A slot that is filled up to such a cap by estimate needs more than it has with that probability, resource by
    resource: by the errors of the network's kinds, which weigh as the least that its engines may need.

    InputError if nothing is known of how far the cost model may be off.
    """
    if request.risk is None:
        return request
    if not costs.has_bands:
        raise InputError(
            f"--risk {request.risk:g}: how far these costs may be off is not known", hint="use --costs calibrated"
        )
    caps = _caps(request.risk, least_by_kind(dataflow, groups), costs)
    return request.changed(cap=Fractions(**caps), fill=SomeFractions(**dict.fromkeys(RESOURCE_NAMES, 1.0)))


def least_risk(context: PlanningContext, folding: FoldingSolution) -> float | None:
    """Return the least risk, in hundredths, whose caps hold a folding in all slots together, up to one half."""
    least = least_by_kind(context.dataflow, context.problem.groups)
    for hundredths in range(1, 51):
        caps = _caps(hundredths / 100, least, context.costs)
        if folding.resources.fits(total(scaled_down(slot.available, caps) for slot in context.platform.slots)):
            return hundredths / 100
    return None


def _caps(risk: float, least: Use, costs: Costs) -> dict[str, float]:
    z = NormalDist().inv_cdf(1 - risk)
    return {name: _cap(least, name, z, costs) for name in RESOURCE_NAMES}


def _cap(use: Use, resource: str, z: float, costs: Costs) -> float:
    """Return estimate over the amount that is exceeded by chance beyond ``z`` standard deviations, at most 1."""
    estimate = total(use.values()).as_dict()[resource]
    mean, deviation = moments(use, resource, costs.band)
    return min(1.0, estimate / (mean + z * deviation)) if estimate and mean + z * deviation > 0 else 1.0


def least_by_kind(dataflow: Dataflow, groups: Iterable[OptionGroup]) -> Use:
    """Return the least of each resource that the engines of each kind may need."""
    kinds = {engine.name: engine.kind for engine in dataflow.engines}
    use: dict[str, Resources] = defaultdict(lambda: ZERO)
    for group in groups:
        for engine, least in zip(group.engines, group.engine_use.min(axis=0).tolist(), strict=True):
            use[kinds[engine]] += Resources(*least)
    return use


PRICED_S = 2e-3
"""Work of lowering and pricing an engine."""


def read(request: Request) -> Source:
    """Read the request's model, as far as its back end can."""
    try:
        return backend_named(request.backend).read(request.model, request.backend_options)
    except InputError as error:
        others = [name for name in added_names() if name != request.backend]
        if "backend" in request.model_fields_set or not others:
            raise
        hint = f"if it is a model of another back end, name that with --backend: {some(others)}"
        raise InputError(str(error), "; ".join(filter(None, (error.hint, hint)))) from error


@dataclass(frozen=True)
class Priced:
    """A network, or a part of it, lowered for a platform, with every engine's foldings and what they cost."""

    request: Request
    platform: Platform
    backend: Backend
    costs: Costs
    dataflow: Dataflow
    groups: tuple[OptionGroup, ...]
    measured: Measurements = NO_MEASUREMENTS

    def part(self, dataflow: Dataflow) -> "Priced":
        """Return the same of a part that takes each group whole or not at all."""
        inside = {engine.name for engine in dataflow.engines}
        return replace(self, dataflow=dataflow, groups=tuple(g for g in self.groups if inside.issuperset(g.engines)))


def prepare(source: Source, request: Request, fpgas: int, measured: Measurements = NO_MEASUREMENTS) -> PlanningContext:
    """Lower the model, price every engine's foldings, or the one to be kept, and keep those that fit some slot.

    This is for whoever goes on only with that.

    InfeasibleError if an engine has none.
    """
    return required(context_of(priced(source, request, fpgas, measured)))


def priced(
    source: Source,
    request: Request,
    fpgas: int,
    measured: Measurements = NO_MEASUREMENTS,
    hosts: Sequence[str | None] = (),
) -> Priced:
    """Lower the model, and price every engine's foldings, or the one to be kept; ``hosts`` as `platform_of` has it."""
    platform = platform_of(request, fpgas, hosts)
    technology = platform.technology
    backend = backend_named(request.backend)
    boards = {fpga.board.name: fpga.board.shell.name if fpga.board.shell else "" for fpga in platform.fpgas}
    backend.check_boards(request.backend_options, boards)
    dataflow = backend.lower(source, technology, request.backend_options)
    count(PRICED_S * len(dataflow.engines))
    if request.folding is not None:
        dataflow = backend.with_folding(dataflow, request.folding, technology)
    costs = backend.costs(technology, request.backend_options)
    if not request.keep_folding:
        costs = costs.reaching(clock_target(platform))
    groups = _kept(dataflow, request, backend, costs) if request.keep_folding else costs.groups(dataflow)
    request = at_risk(request, dataflow, groups, costs)
    repriced = tuple(measured.repriced(dataflow, groups))
    return Priced(request, platform, backend, costs, dataflow, repriced, measured)


def elsewhere(found: Priced, request: Request, platform: Platform) -> Priced:
    """Return a network that is priced for another platform of the same boards, and asked for otherwise."""
    request = at_risk(request, found.dataflow, found.groups, found.costs)
    return replace(found, request=request, platform=platform)


def context_of(found: Priced) -> PlanningContext | Refused:
    """Return what a search of the network begins with: the foldings that fit some slot, within the limits on engines.

    It is refused if an engine has none.
    """
    request, platform, backend = found.request, found.platform, found.backend
    dataflow, costs, measured = found.dataflow, found.costs, found.measured
    limits, largest = slot_limits(platform, request), largest_pblocks(platform, request)
    places = tuple(_places(request, limits, largest))
    longest = longest_interval(platform, request)
    stated = stated_pblocks(platform, request)
    drawn = within_pblocks(_writable(found), stated, platform, request)
    groups = drawn if isinstance(drawn, Refused) else _fitting(dataflow, costs, drawn, places, longest)
    if isinstance(groups, Refused):
        return groups
    # At the least that any memory of each FIFO costs: what is infeasible so is infeasible in every other.
    channels = StreamPrices(costs, prices=None, joins=not costs.sizes_fifos).couplings(dataflow, groups)
    paths = dataflow.engine_pairs if request.goal == "latency" else None
    balance = NO_BALANCE if request.epsilon is None else Balance(layer_pairs(dataflow), request.epsilon)
    ties = (*channels, *balance.bars(groups))
    problem = FoldingProblem(groups, total(limits.values()), platform.silicon, ties, paths)
    whole = stages(dataflow.engines, dataflow.engine_pairs)
    wishes = read_wishes(request.constraints, dataflow, platform, whole, by_engine=request.granularity == "layer")
    asked = engine_limits(request, platform, dataflow, backend, wishes)
    # A folding that is kept is told of, not limited.
    single = asked.without(asked.names) if request.keep_folding else _that_can_be_kept(asked, groups, places)
    solvers = solvers_of(request, costs, single)
    option = "--stay-near" if request.start_from is None else "--from"
    before = read_previous(request.stay_near or request.start_from, platform, option)
    hops, parts = request.max_hops or LEAST_HOPS, (platform, request, backend, costs)
    context = PlanningContext(
        dataflow,
        *parts,
        problem,
        problem,
        single,
        places,
        solvers,
        largest,
        hops,
        balance=balance,
        measured=measured,
        previous=before,
        slots_before=slots_before(request, before, dataflow),
        wishes=wishes,
        link_streams=request.link_streams
        or _streams_a_link(platform, backend.streams_a_cable(request.backend_options)),
    )
    return with_limits(context, single)


def _writable(found: Priced) -> tuple[OptionGroup, ...]:
    """Return the groups without foldings that the host has to write where none of these can be built."""
    if found.request.keep_folding:
        return found.groups

    def written(group: OptionGroup, name: str) -> NDArray[np.bool_]:
        return found.backend.host_writes(found.dataflow.engine(name), group.options_of(name))

    slots = [len(fpga.slots) for fpga in found.platform.fpgas]
    could_be = (name for group in found.groups for name in group.engines if written(group, name).any())
    never = found.backend.unwritable(found.dataflow, could_be, slots, found.request.backend_options)

    def writable(group: OptionGroup) -> OptionGroup:
        rows = [written(group, name) for name in group.engines if name in never]
        keep = ~np.any(rows, axis=0) if rows else None
        return group if keep is None or keep.all() or not keep.any() else group.subset(keep)

    return tuple(writable(group) for group in found.groups)


def with_wishes(context: PlanningContext, wishes: Wishes) -> PlanningContext:
    """Return the same with other wishes for slots."""
    asked = engine_limits(context.request, context.platform, context.dataflow, context.backend, wishes)
    return replace(context, wishes=wishes, engine_limits=replace(context.engine_limits, homes=asked.homes))


def _streams_a_link(platform: Platform, of_a_cable: int | None) -> int | None:
    """Return how many streams every link can carry in one direction, by the cables that boards have cages for."""
    ends = Counter(platform.fpga_of[slot].name for link in platform.links for slot in (link.source, link.target))
    cages = {fpga.name: fpga.board.link.max_links for fpga in platform.fpgas if fpga.board.link is not None}
    cables = [max(1, most // ends[name]) for name, most in cages.items() if most is not None and ends[name]]
    return None if of_a_cable is None or not cables else of_a_cable * min(cables)


def _that_can_be_kept(limits: EngineLimits, groups: Iterable[OptionGroup], places: Places) -> EngineLimits:
    """Return the limits, lifted for engines that have no folding within them."""
    for group in groups:
        if not limits.allowed(group, places).any():
            limits = limits.lifted_for(group, places)
    return limits


def _fitting(
    dataflow: Dataflow,
    costs: Costs,
    priced: Iterable[OptionGroup],
    places: Sequence[tuple[str, Resources]],
    longest: int | None,
) -> tuple[OptionGroup, ...] | Refused:
    """Keep the foldings that fit some place in time; a refusal says what the clock left out, which is an estimate."""
    answer = all_found(fitting(group, places, longest) for group in priced)
    if not isinstance(answer, Refused):
        return answer
    slow = {name for refusal in answer.refusals if refusal.what == "engine too slow" for name in refusal.names}
    left_out = costs.left_out(replace(dataflow, engines=tuple(e for e in dataflow.engines if e.name in slow)))
    return replace(answer, message="; but ".join([answer.message, *left_out]))


def _places(
    request: Request, limits: Mapping[str, Resources], largest: Mapping[str, tuple[Resources, ...]]
) -> list[tuple[str, Resources]]:
    """Return what an engine may have in each slot: all of it, unless modules are never to become a slot's only one."""
    if not request.keep_granularity:
        return list(limits.items())
    return [(slot, limits[slot].least(held)) for slot, sizes in largest.items() for held in sizes]


def _kept(dataflow: Dataflow, request: Request, backend: Backend, costs: Costs) -> tuple[OptionGroup, ...]:
    """Price the folding that is to be kept."""
    groups = backend.given_groups(dataflow, costs, carried=request.folding is None)
    unlike = list(not_convertible(dataflow, groups, costs))
    if unlike:
        raise InputError(
            f"the folding to be kept needs width converters that cannot be built: {some(unlike)}",
            hint="give both ends of each widths that the back end can convert",
        )
    return groups
