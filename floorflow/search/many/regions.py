"""Regions in which the parts of a network may be swapped: a ladder of sizes, each where it loads fastest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from floorflow.errors import InputError, LimitError, Refusal, Refused, outcome_of
from floorflow.hardware import Board, Fpga, Platform, Rect, confined
from floorflow.placement.region import RegionChoice, RegionNeed, RegionProblem, StaticPart, choose_regions
from floorflow.request import Request
from floorflow.resources import ZERO, Resources, scaled_down, total
from floorflow.segments.paths import parts_within
from floorflow.stats import SolveStats

STEPS = {1: 12}
"""In how many steps regions grow from nothing to all that the caps allow, by their number."""
STEPS_OF_SEVERAL = 6
"""The same for numbers that are not listed."""
DECOUPLER, PORT = "decoupler", "configuration port"
"""What stays beside the board's infrastructure: a decoupler for each region, and what drives the port."""
DECOUPLER_RESOURCES = Resources(lut=300, ff=600)
"""Of one region: registers on two AXI streams and a control port; assumed."""


@dataclass(frozen=True)
class SizedRegions:
    """Regions of one size, what was asked for, and what the platform is to each of them."""

    problem: RegionProblem
    choice: RegionChoice
    platforms: tuple[Platform, ...]
    """The platform of which only one region may be built on, region by region."""
    loads_us: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the regions, in the order of `platforms`."""
        return tuple(region.name for region in self.choice.regions)


def static_parts(
    board: Board, regions: Sequence[str], decoupler: Resources = DECOUPLER_RESOURCES
) -> tuple[StaticPart, ...]:
    """Return all that stays while regions are loaded.

    ``decoupler`` is the logic of one, for the streams and the control port of a region. The processor's own port (PCAP)
    loads bitstreams, so nothing of the fabric does.
    """
    own = (StaticPart(item.name, item.resources) for item in board.placed_infrastructure)
    decouplers = (StaticPart(f"{DECOUPLER} {name}", decoupler) for name in regions)
    return (*own, *decouplers, StaticPart(PORT, ZERO))


def region_problem(
    fpga: Fpga, needs: Sequence[RegionNeed], static: Sequence[StaticPart], request: Request | None = None
) -> RegionProblem:
    """Return the regions to be found on an FPGA, clear of where the host's streams leave the die.

    Regions and what stays are as full as hard pblocks with room, or as the request's cap says if that is more.
    """
    problem = RegionProblem(fpga.device, fpga.slots, tuple(needs), tuple(static), keep_outs=(fpga.host_port,))
    cap = {} if request is None else request.cap.as_dict()
    return replace(problem, fill={name: max(fill, cap.get(name, 0.0)) for name, fill in problem.fill.items()})


def load_us(board: Board, part_bytes: int) -> float:
    """Return what loading a part of a board's device takes; InputError if its file does not say."""
    stated = board.reconfiguration
    answer = None if stated is None or stated.kind != "partial" else stated.load_us(part_bytes)
    if answer is None:
        hint = "state reconfiguration: {kind: partial, ms: .., bytes: ..} in a file of the board of your own"
        raise InputError(f"the file of {board.name} does not say at what rate a part of its device is loaded", hint)
    return answer


def region_sizes(platform: Platform, request: Request) -> tuple[SizedRegions, ...] | Refused:
    """Return regions of all sizes that a platform of one FPGA can have, from small to large; refused if it has none."""
    fpga = platform.fpgas[0]
    found: dict[tuple[Rect, ...], SizedRegions] = {}
    last: Refused | None = None
    for problem in _problems(fpga, request):
        choice = outcome_of(partial(choose_regions, problem))
        if isinstance(choice, Refused):
            last = choice
            continue
        found.setdefault(tuple(region.rect for region in choice.regions), _sized(platform, problem, choice))
    if not found and last is not None:
        return last
    return _within_area(fpga, request.area, tuple(found.values()))


def _problems(fpga: Fpga, request: Request) -> Iterator[RegionProblem]:
    """Yield what is asked of regions of each size, from small to large."""
    names = [f"r{number}" for number in range(request.regions or 1)]
    static = static_parts(fpga.board, names)
    empty = region_problem(fpga, (), static, request)
    available = total(slot.available for slot in fpga.slots)
    steps = STEPS.get(len(names), STEPS_OF_SEVERAL)
    for sizes in sorted(parts_within(steps, len(names)), key=lambda sizes: (sum(sizes), sizes)):
        shares = (request.area * size / steps for size in sizes)
        amounts = ({name: share * fill for name, fill in empty.fill.items()} for share in shares)
        yield replace(empty, needs=tuple(map(RegionNeed, names, (scaled_down(available, each) for each in amounts))))


def _within_area(fpga: Fpga, area: float, sizes: Sequence[SizedRegions]) -> tuple[SizedRegions, ...] | Refused:
    """Return the regions that hold no more than a share of the LUTs together, if there are any."""
    held = [sum(region.supply.lut for region in sized.choice.regions) for sized in sizes]
    available = total(slot.available for slot in fpga.slots).lut
    most, least = area * available, min(held)
    if least > most:
        refusal = Refusal("slot", "LUT", f"all regions of {fpga.name} within --area", least, int(most), proven=True)
        allowed = f"--area {area:g} allows {int(most):,} of {available:,} LUT"
        hint = "a larger --area; a region is whole clock regions high, or fewer --regions"
        message = f"proven infeasible: {allowed}, the smallest regions hold {least:,}"
        return Refused(message, hint, (refusal,), "proven")
    return tuple(sized for sized, lut in zip(sizes, held, strict=True) if lut <= most)


def _sized(platform: Platform, problem: RegionProblem, choice: RegionChoice) -> SizedRegions:
    fpga = platform.fpgas[0]
    platforms = []
    for region in choice.regions:
        (slot,) = (slot for slot in fpga.slots if slot.region.contains(region.rect))
        platforms.append(confined(platform, {slot.name: region.owned}))
    loads = tuple(load_us(fpga.board, region.bytes) for region in choice.regions)
    return SizedRegions(problem, choice, tuple(platforms), loads)


def with_needs(sized: SizedRegions, needs: Sequence[RegionNeed]) -> SizedRegions:
    """Return the same regions for what is loaded into them, with what is proven of the smallest that would hold it."""
    problem, frames = replace(sized.problem, needs=tuple(needs)), sized.choice.stats.objective or 0.0
    # The regions that are there would do: where a limit ends it, only nothing is known of smaller ones.
    smallest = outcome_of(partial(choose_regions, problem), (LimitError,))
    least = None if isinstance(smallest, Refused) else smallest.stats.bound
    bound = None if least is None else min(frames, least)
    stats = SolveStats(sized.choice.stats.method, "optimal" if bound == frames else "feasible", frames, bound)
    regions = tuple(replace(r, need=need) for r, need in zip(sized.choice.regions, needs, strict=True))
    return replace(sized, problem=problem, choice=replace(sized.choice, regions=regions, stats=stats))
