"""The search for equal copies of one network on a card: one is planned for the tightest place, and placed in each.

A copy is one implementation: foldings, FIFOs and memories are the same in every place, so that one kernel serves all.
Places do not overlap, so what fits each of them fits the card. What is proven is a bound by sums: no more equal copies,
and none faster, than what all slots may hold together, divided among them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from floorflow.channels.slices import Slices
from floorflow.errors import Refusal, Refused
from floorflow.hardware.copies import Division, Place, divisions, in_all
from floorflow.hardware.reach import comfortable_tiles
from floorflow.request import Request
from floorflow.resources import Resources, total
from floorflow.search.candidate.candidate import Candidate
from floorflow.search.candidate.context import PlanningContext, reachable_fps
from floorflow.search.candidate.findings import Search, SearchResult
from floorflow.search.candidate.placing import with_slices
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.slot_problem import partition_problem
from floorflow.search.interval.state import SearchState, shortest_possible

Seen = Callable[[Request, Sequence[str | None]], PlanningContext | Refused]
"""Prepares the network on a card that has copies at these memory channels, the first of them its own."""
MOST_TRIED = 6
"""Divisions of a card in which `auto` searches."""


@dataclass(frozen=True)
class Copy:
    """One copy: its place, what it was placed under, and the design, which is the same in all places."""

    place: Place
    context: PlanningContext
    result: SearchResult


@dataclass(frozen=True)
class CopiesFound:
    """Copies on a card, and what is proven: no so many equal copies have a shorter interval than ``bound_cycles``.

    ``whole``: the network on the card with what stands beside all copies. ``tried``: why other numbers were not taken.
    """

    copies: tuple[Copy, ...]
    whole: PlanningContext
    bound_cycles: int
    tried: tuple[str, ...] = ()

    @property
    def interval_cycles(self) -> int:
        """The interval of every copy."""
        return self.copies[0].result.candidate.interval_cycles

    @property
    def frames_per_s(self) -> float:
        """Frames a second of all copies on the card."""
        return len(self.copies) * self.whole.platform.clock_mhz * 1e6 / self.interval_cycles


@dataclass(frozen=True)
class _DoesNotFit:
    """Why there are no copies, and the place that one did not fit which was planned for another."""

    why: Refused
    place: Place | None = None


@dataclass(frozen=True)
class CopiesSearch:
    """How copies are searched for: ``seen`` prepares, ``search`` plans one, ``settle`` places one that is given."""

    request: Request
    seen: Seen
    search: Search
    settle: Search
    progress: Progress = SILENT
    _known: dict[Place, PlanningContext | Refused] = field(default_factory=dict, init=False, repr=False)

    def exactly(self, count: int) -> CopiesFound | Refused:
        """Return so many copies on a card, in the first division with places for them; or why there are none."""
        base = self.seen(self.request, ())
        if isinstance(base, Refused):
            return base
        refused: Refused | None = None
        for way in (way for way in divisions(base.platform.fpgas[0]) if len(way) >= count):
            found = self._in_places(self._roomiest(way, count))
            if isinstance(found, CopiesFound):
                return found
            refused = found
            if found.interrupted or found.why == "proven":
                break
        return refused or _no_places(base, count)

    def most(self) -> CopiesFound | Refused:
        """Return the number of copies with the highest rate of all together, of equal ones the most."""
        base = self.seen(self.request, ())
        if isinstance(base, Refused):
            return base
        best: CopiesFound | None = None
        refused: Refused | None = None
        notes: list[str] = []
        for bound_fps, places in self._most_promising(base):
            if best is not None and best.frames_per_s >= bound_fps:
                break
            found = self._in_places(places)
            if isinstance(found, Refused):
                notes.append(f"{len(places)} copies: {found}")
                refused = refused or found
                if found.interrupted:
                    return found if best is None else best
            elif best is None or found.frames_per_s > best.frames_per_s:
                best = found
        if best is None:
            return refused or _no_places(base, 1)
        return replace(best, tried=tuple(notes))

    def _most_promising(self, base: PlanningContext) -> list[tuple[float, Division]]:
        """Return places with a bound on the rate of copies in them, the highest first."""
        rows = []
        known = {len(way): way for way in reversed(divisions(base.platform.fpgas[0]))}
        for count in range(1, max(known, default=0) + 1):
            way = known[min(places for places in known if places >= count)]
            places = self._roomiest(way, count)
            each = self._each(places)
            if isinstance(each, Refused):
                continue
            context = _within_all(each, base)
            run = SearchState(context, SILENT)
            intervals, index = shortest_possible(run)
            if run.is_feasible(intervals[index]):
                rows.append((count * context.platform.clock_mhz * 1e6 / intervals[index], places))
        return sorted(rows, key=lambda row: (-row[0], -len(row[1])))[:MOST_TRIED]

    def _own(self, place: Place) -> PlanningContext | Refused:
        """Prepare the network for a place alone: the rest of the card is kept free."""
        if place not in self._known:
            keep_out = (*self.request.keep_out, *place.keep_out)
            asked = self.request.changed(fpgas=1, host_port=place.memory, keep_out=keep_out, bargains="none")
            self._known[place] = self.seen(asked, ())
        return self._known[place]

    def _roomiest(self, way: Division, count: int) -> Division:
        """Return so many places, those with most LUTs, in their order on the card."""
        if len(way) == count:
            return way
        own = [self._own(place) for place in way]
        room = [-1 if isinstance(context, Refused) else in_all(context.platform).lut for context in own]
        best = sorted(range(len(way)), key=lambda k: (-room[k], -k))[:count]
        return tuple(way[k] for k in sorted(best))

    def _each(self, places: Sequence[Place]) -> list[tuple[Place, PlanningContext]] | Refused:
        """Prepare the network for each place, that with fewest LUTs first; refused if one holds no engine of it."""
        found = []
        for place in places:
            context = self._own(place)
            if isinstance(context, Refused):
                return context
            found.append((place, context))
        return sorted(found, key=lambda pair: in_all(pair[1].platform).lut)

    def _in_places(self, places: Division) -> CopiesFound | Refused:
        memories = [place.memory for place in places]
        whole = self.seen(self.request.changed(fpgas=1, host_port=memories[0]), memories)
        if isinstance(whole, Refused):
            return whole
        bound, each = _bound_by_sums(whole, len(places)), self._each(places)
        if isinstance(bound, Refused):
            return bound
        if isinstance(each, Refused):
            return each
        tried: list[Place] = []
        while True:
            tried.append(each[0][0])
            found = self._planned_for(each, whole)
            if isinstance(found, tuple):
                cycles = found[0].result.candidate.interval_cycles
                copies = tuple(sorted(found, key=lambda copy: places.index(copy.place)))
                if found[0].context.engine_limits.exempt:
                    bound = _bound_by_sums(whole, len(places), lifted=True)
                    if isinstance(bound, Refused):
                        return bound
                return CopiesFound(copies, whole, min(bound, cycles) if self.request.goal == "throughput" else cycles)
            if found.place is None or found.place in tried:
                return found.why
            # It may fit the others if it is planned for the place that it did not fit.
            each.sort(key=lambda pair: pair[0] != found.place)

    def _planned_for(
        self, each: Sequence[tuple[Place, PlanningContext]], whole: PlanningContext
    ) -> tuple[Copy, ...] | _DoesNotFit:
        """Return copies planned for the first place, within what all have; or why not, and where they do not fit."""
        place = each[0][0]
        self.progress.note(f"a copy in {', '.join(place.slots)}, one of {len(each)} places")
        result = self.search(_within_all(each, whole))
        if isinstance(result, Refused):
            # What is proven of one place is not of all ways to divide the card.
            told = f"{len(each)} copies: none was found that fits {', '.join(place.slots)}: {result}"
            return _DoesNotFit(result if result.interrupted else replace(result, message=told, why="limit"))
        copies = [Copy(place, result.context, result)]
        for other, context in each[1:]:
            copy = self._settled(copies[0], other, context)
            if isinstance(copy, Refused):
                return _DoesNotFit(copy, None if copy.interrupted else other)
            copies.append(copy)
        alike = _with_equal_slices(copies)
        return _DoesNotFit(alike) if isinstance(alike, Refused) else alike

    def _settled(self, first: Copy, place: Place, context: PlanningContext) -> Copy | Refused:
        """Return the same design in another place."""
        before = first.context
        limits = replace(context.engine_limits, exempt=before.engine_limits.exempt)
        context = replace(context, engine_limits=limits, max_hops=before.max_hops)
        candidate = moved(first.result.candidate, first.place, place, context)
        where = ", ".join(place.slots)
        if not candidate.problem.is_legal(candidate.partition.slot_of):
            return Refused(f"a copy planned for {', '.join(first.place.slots)} does not fit {where}")
        self.progress.note(f"the same copy in {where}")
        found = self.settle(replace(context, given=candidate))
        if isinstance(found, Refused):
            return found
        if _fifos(found.candidate) != _fifos(first.result.candidate):
            return Refused(f"in {where} the copy would need other FIFOs than in {', '.join(first.place.slots)}")
        own = replace(found.candidate, folding=first.result.candidate.folding)
        result = replace(first.result, candidate=own, placements=found.placements, repair=found.repair, context=context)
        return Copy(place, context, replace(result, interrupted=first.result.interrupted or found.interrupted))


def _within_all(each: Sequence[tuple[Place, PlanningContext]], whole: PlanningContext) -> PlanningContext:
    """Return what the first place begins with, within the limits of all, and within an equal share of each slot's."""
    place, context = each[0]
    limits, held = dict(context.limits), Counter(slot for other, _ in each for slot in other.slots)
    for number, slot in enumerate(place.slots):
        for other, there in each:
            name = other.slots[number]
            share = Resources(*(amount // held[name] for amount in whole.limits[name].as_tuple()))
            limits[slot] = limits[slot].least(there.limits[name]).least(share)
    if limits == context.limits:
        return context
    budget = total(limits.values())
    problem = context.problem.with_budget(budget)
    return replace(context, narrowed=limits, problem=problem, unlimited=context.unlimited.with_budget(budget))


def moved(candidate: Candidate, here: Place, there: Place, context: PlanningContext) -> Candidate:
    """Return a design with its modules in the slots of another place."""
    names, index = dict(zip(here.slots, there.slots, strict=True)), list(context.limits)
    slot_of = {module: names[slot] for module, slot in candidate.slot_of.items()}
    parts = candidate.modules, candidate.demands, candidate.channels
    problem = partition_problem(context, *parts, folded=candidate.folded)
    answer = replace(candidate.partition, slot_of={module: index.index(slot) for module, slot in slot_of.items()})
    joined = tuple(replace(one, slot=names[one.slot]) for one in candidate.joined)
    own = replace(candidate, slot_of=slot_of, partition=answer, problem=problem, joined=joined)
    return replace(own, narrowed=None, slices=Slices())


def _kernel(copy: Copy) -> tuple[object, ...]:
    """Return what one implementation needs to serve a copy: foldings, FIFOs with their memories, converters, slices."""
    candidate, slots = copy.result.candidate, copy.place.slots
    slices = {name: tuple(map(slots.index, held)) for name, held in candidate.slices.slots.items() if held}
    return dict(candidate.folded.options), _fifos(candidate), slices


def _fifos(candidate: Candidate) -> list[tuple[object, ...]]:
    return [(c.name, c.width_bits, c.converter, c.fifo_depth_words, c.fifo_style) for c in candidate.channels]


def _sliced(copy: Copy, least: Mapping[str, int], without: Collection[str]) -> Copy:
    result = copy.result
    own = with_slices(copy.context, result.candidate, result.placements, least, without)
    return replace(copy, result=replace(result, candidate=own))


def _with_equal_slices(copies: Sequence[Copy]) -> tuple[Copy, ...] | Refused:
    """Return the copies with as many slices on each stream as it needs in any place; with none where one lacks room."""
    least: dict[str, int] = {}
    reach = comfortable_tiles(copies[0].context.platform.clock_mhz)
    for copy in copies:
        for name, placed in copy.result.candidate.slices.ways.items():
            least[name] = max(least.get(name, 0), placed.way.slices(reach))
    without = set[str]()
    alike = [_sliced(copy, least, without) for copy in copies]
    while lacking := {name for copy in alike for name in copy.result.candidate.slices.left_out} - without:
        without |= lacking
        alike = [_sliced(copy, least, without) for copy in copies]
    if any(_kernel(copy) != _kernel(alike[0]) for copy in alike):
        return Refused("the copies would need other register slices in some places than in others")
    return tuple(alike)


def _bound_by_sums(whole: PlanningContext, count: int, *, lifted: bool = False) -> int | Refused:
    """Return the shortest interval whose resources, times so many copies, all slots may hold together.

    The limits on single engines hold, unless they are ``lifted``, or nothing fits within them.
    """
    share = Resources(*(amount // count for amount in whole.problem.budget.as_tuple()))
    free = whole.unlimited.with_budget(share)
    problem = free if lifted else whole.problem.with_budget(share)
    run = SearchState(replace(whole, problem=problem, unlimited=free), SILENT)
    longest = problem.intervals()[-1]
    if run.is_feasible(longest):
        intervals, index = shortest_possible(run)
        return intervals[index]
    if not lifted:
        return _bound_by_sums(whole, count, lifted=True)
    refusals = run.trace[-1].refusals
    fps = reachable_fps(whole.platform, longest)
    message = f"proven infeasible by the cost model: {count} equal copies need more than {whole.platform.name} has"
    return Refused(f"{message}, even at {fps} frames/s each", "fewer copies, or more cards", refusals, "proven")


def _no_places(base: PlanningContext, count: int) -> Refused:
    most = max((len(way) for way in divisions(base.platform.fpgas[0])), default=0)
    refusal = Refusal("no room", place=base.platform.name, needed=count, allowed=most)
    message = f"{base.platform.name} has places for {most} copies, each with the host's memory, not for {count}"
    return Refused(message, "fewer copies, or more cards: --fpgas auto", (refusal,))
