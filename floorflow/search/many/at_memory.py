"""Networks at one external memory: lowered for the choice of their engines, and placed once these are chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from floorflow.backends.backend import Source
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, Refused, all_found
from floorflow.hardware import Platform
from floorflow.resources import NONE
from floorflow.search.candidate.findings import Search
from floorflow.search.candidate.preparing import Priced, context_of, priced
from floorflow.search.candidate.progress import Progress
from floorflow.search.many.several import Networks, SeveralFound, Target, Tried
from floorflow.search.many.sharing_memory import (
    ChosenEngines,
    MemoryChoice,
    MemoryWishes,
    choose_engines,
    share_memory,
    sharing_of,
    timed,
)
from floorflow.several import SeveralRequest
from floorflow.stats import SolveStats

LIMIT_SHARES = (1.0, 0.95, 0.9, 0.8)
"""Of the limits that engines are chosen within, one after the other until they can be placed."""
ENDED_BY = "the engine is the one that was chosen, with those of all networks, for their rates at the memory"


def networks_at_memory(request: SeveralRequest, sources: Sequence[Source]) -> tuple[dict[str, Priced], MemoryWishes]:
    """Lower and price each network as if it were alone, and say what is asked for.

    Limits on single engines are for units of one layer: here, where an engine is a whole network, they count only if
    they were asked for.

    InputError if the platform has several slots, or nobody says what its memory carries.
    """
    free = {} if "max_engine_share" in request.shared.model_fields_set else {"max_engine_share": NONE}
    pairs = zip(request.names, request.each, sources, strict=True)
    found = {name: priced(source, one.changed(fps=None, bargains="none", **free), 1) for name, one, source in pairs}
    platform = next(iter(found.values())).platform
    if len(platform.slots) > 1:
        message = f"--platform {platform.name}: has {len(platform.slots)} slots; engines share the memory of one"
        raise InputError(message, hint="name a board of one die, such as zc706")
    rates, own = request.rates, request.own
    gbs = own.memory_gbs if own.memory_gbs is not None else _memory_gbs(platform)
    return found, MemoryWishes(rates, own.min_rate, gbs, own.fairness, two_sided=own.two_sided)


def _memory_gbs(platform: Platform) -> float:
    gbps = platform.fpgas[0].board.memory_gbps
    if gbps is None:
        raise InputError(f"{platform.name}: its file does not say what the memory carries", hint="give --memory-gbs")
    return gbps / 8


@dataclass(frozen=True)
class AtMemory:
    """Engines that were chosen, placed and scheduled; ``tried`` says of which more resources could not be placed."""

    placed: SeveralFound
    choice: MemoryChoice
    tried: tuple[str, ...] = ()


def search_at_memory(
    request: SeveralRequest, networks: Mapping[str, Priced], asked: MemoryWishes, search: Search, progress: Progress
) -> AtMemory | Refused:
    """Choose engines, place them, and schedule the memory; what cannot be placed is chosen anew for less area.

    It is refused if there are no engines, or none that reach what they must, if none could be placed, or no schedule
    was found that keeps all rates.
    """
    seconds: dict[str, float] = {}
    with timed(progress, "pricing", seconds):
        known = sharing_of(networks, asked)
    if isinstance(known, Refused):
        return known
    tried: list[str] = []
    for share in LIMIT_SHARES:
        with timed(progress, "choosing", seconds):
            chosen = choose_engines(known, share)
        if isinstance(chosen, Refused):
            return chosen
        placed = placed_together(request, held(networks, chosen), search)
        if isinstance(placed, SeveralFound):
            choice = share_memory(known, chosen, request.shared.effort, seconds, progress)
            return choice if isinstance(choice, Refused) else AtMemory(placed, choice, tuple(tried))
        if placed.interrupted or share == LIMIT_SHARES[-1]:
            return placed
        tried.append(f"engines within {share:.0%} of the limits were not placed: {placed}")
    raise AssertionError


def held(networks: Mapping[str, Priced], chosen: ChosenEngines) -> dict[str, Priced]:
    """Return the networks with the engines that were chosen for them, and no others."""
    found = {}
    for (name, one), option in zip(networks.items(), chosen.options, strict=True):
        (group,) = one.groups
        found[name] = replace(one, groups=(OptionGroup(group.engines, ((option,),)),))
    return found


def placed_together(request: SeveralRequest, networks: Mapping[str, Priced], search: Search) -> SeveralFound | Refused:
    """Cut and place the engines that were chosen, of which each network has one."""
    cycles = [int(one.groups[0].cycles[0]) for one in networks.values()]
    targets = tuple(Target(name, None, None, each, None, each) for name, each in zip(networks, cycles, strict=True))
    own = all_found(context_of(one) for one in networks.values())
    if isinstance(own, Refused):
        return own
    asked = replace(request, each=tuple(one.request for one in networks.values()))
    known = Networks(asked, own, tuple(networks.values()), targets)
    several = len(networks) > 1
    context = known.context([None] * len(own), [True] * len(own), "throughput") if several else own[0]
    if isinstance(context, Refused):
        return context
    result = search(context)
    if isinstance(result, Refused):
        return result
    tried = [] if context.together is None else [Tried(context.together, tuple(cycles), result.trace)]
    met = SolveStats("least share", "optimal", 1.0, 1.0)
    return SeveralFound(known, context, result, tuple(tried), met, ENDED_BY)
