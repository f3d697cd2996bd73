"""The search for several networks on one platform: each at its target, else the largest least share of the targets.

More than a target is no merit. Where all have a target and all can be met, the least full design is sought that meets
them; where not, the largest share that every network gets of its target, and then, one by one, more for those that can
have more. A network without a target gets what those with one leave; its share is then of its folding bound on the
platform alone, so that equal networks get equal rates.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from floorflow.backends.backend import Source
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import INTERRUPTED, Refusal, Refused, Stop, all_found, sentence
from floorflow.request import Objective
from floorflow.search.candidate.context import MORE_OF_ONE, TOGETHER, PlanningContext, longest_interval
from floorflow.search.candidate.findings import Search, SearchResult, TraceRow
from floorflow.search.candidate.members import Member, Pace, Together
from floorflow.search.candidate.preparing import Priced, context_of, priced
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.interval.state import SearchState, shortest_possible
from floorflow.several import LEAST_SHARE_OF_TARGET, SeveralRequest
from floorflow.stats import SolveStats

_Searched = tuple[PlanningContext, SearchResult]


@dataclass(frozen=True)
class Target:
    """What a network is to reach, as intervals in its own cycles.

    ``cycles``: the longest at which its target is met, which is its bound alone where no rate was ``asked`` for.
    ``most``: the longest that its least rate allows, None if none was asked for. ``alone``: the folding bound of the
    network with the platform to itself.
    """

    network: str
    asked_fps: float | None
    least_fps: float | None
    cycles: int
    most: int | None
    alone: int

    @property
    def is_asked(self) -> bool:
        """Whether its rate was asked for."""
        return self.asked_fps is not None

    def share(self, interval_cycles: int) -> Fraction:
        """Return the share of the target that an interval reaches, 1 at most."""
        return min(Fraction(1), Fraction(self.cycles, interval_cycles))

    def starves(self, interval_cycles: int) -> bool:
        """Whether a network has less than half the rate that was asked for, and nobody said that so little will do."""
        return self.is_asked and self.most is None and self.share(interval_cycles) < LEAST_SHARE_OF_TARGET


@dataclass(frozen=True)
class Networks:
    """Several networks priced on a platform, each as if it were alone, and what each is to reach."""

    request: SeveralRequest
    own: tuple[PlanningContext, ...]
    priced: tuple[Priced, ...]
    targets: tuple[Target, ...]
    alike: tuple[frozenset[int], ...] = ()
    """Networks, by their places, that are the same and are to reach the same: what one gets all get."""

    def context(
        self, longest: Sequence[int | None], scaled: Sequence[bool], goal: Objective
    ) -> PlanningContext | Refused:
        """Return what a search of all together begins with.

        ``longest``: of each network the longest interval that it may have, in its own cycles; ``scaled``: whether the
        search is for its share of its target, else any interval up to the longest will do. It is refused if an engine
        has no folding within the longest interval of its network.
        """
        slowest = max((t.cycles for t, paced in zip(self.targets, scaled, strict=True) if paced), default=1)
        members = []
        for target, one, most, paced in zip(self.targets, self.priced, longest, scaled, strict=True):
            groups = all_found(_within(group, most, target.network) for group in one.groups)
            if isinstance(groups, Refused):
                return groups
            pace = Pace(target.cycles, slowest) if paced else None
            members.append(Member(target.network, one.dataflow, groups, pace))
        first = self.priced[0]
        together = Together(tuple(members), first.backend)
        asked = first.request.changed(fps=None, objective=goal, bargains="none")
        whole = replace(first, request=asked, dataflow=together.dataflow, groups=together.groups)
        context = context_of(whole)
        if isinstance(context, Refused):
            return context
        # More than a target is no merit: the longest interval that meets it is the shortest that is sought.
        asked_for = all(target.is_asked for target, paced in zip(self.targets, scaled, strict=True) if paced)
        capped = goal == "throughput" and asked_for
        met = [cycles for cycles in context.problem.intervals() if cycles <= slowest] if capped else []
        enough = met[-1] if met else 0
        return replace(context, together=together, least_cycles=enough, search_limits=TOGETHER)

    def at_least(self) -> PlanningContext | Refused:
        """Return the context in which each network has at least what it must have, if all engines are fast enough."""
        asked = [target.is_asked for target in self.targets]
        return self.context([t.most for t in self.targets], asked if any(asked) else [True] * len(asked), "throughput")


def networks_of(request: SeveralRequest, sources: Sequence[Source], fpgas: int) -> Networks | Refused:
    """Lower and price each network for the platform, and say what it is to reach.

    It is refused if a network has no folding on the platform even alone.
    """
    found, own, targets = [], [], []
    # Each has DMA engines of its own beside it; of several cards only the first and the last have the board's.
    hosts = (None,) * len(sources) if fpgas == 1 else ()
    for name, one, source in zip(request.names, request.each, sources, strict=True):
        free = one.changed(fps=None)
        found.append(priced(source, free, fpgas, hosts=hosts))
        context = context_of(found[-1])
        if isinstance(context, Refused):
            return replace(context, message=f"{name}: {context}")
        alone, cycles = _bound_alone(context), longest_interval(context.platform, one)
        least = request.least_fps(name)
        most = None if least is None else longest_interval(context.platform, one.changed(fps=least))
        targets.append(Target(name, one.fps, least, alone if cycles is None else cycles, most, alone))
        own.append(context)
    return Networks(request, tuple(own), tuple(found), tuple(targets), _alike(sources, targets))


def _alike(sources: Sequence[Source], targets: Sequence[Target]) -> tuple[frozenset[int], ...]:
    """Return networks of one model and one target together."""
    keys = [(source.sha256, t.cycles, t.most) for source, t in zip(sources, targets, strict=True)]
    return tuple(frozenset(n for n, own in enumerate(keys) if own == key) for key in dict.fromkeys(keys))


def _bound_alone(context: PlanningContext) -> int:
    """Return the folding bound on the interval of a network with the platform to itself."""
    run = SearchState(context, SILENT)
    longest = context.problem.intervals()[-1]
    if not run.is_feasible(longest):
        return longest
    intervals, index = shortest_possible(run)
    return intervals[index]


def _within(group: OptionGroup, most: int | None, network: str) -> OptionGroup | Refused:
    """Keep the foldings that are fast enough."""
    if most is None or (group.cycles <= most).all():
        return group
    keep = group.cycles <= most
    if not keep.any():
        quickest = int(group.cycles.min())
        names = tuple(f"{network}/{engine}" for engine in group.engines)
        slow = Refusal("engine too slow", "cycles", "", quickest, most, proven=True, names=names)
        return Refused(f"proven infeasible: {slow}", "a lower rate for it, or a higher --clock-mhz", (slow,), "proven")
    return group.subset(keep)


@dataclass(frozen=True)
class Tried:
    """Rows of a search of all networks, and the paces by which it measured intervals."""

    together: Together
    longest: tuple[int | None, ...]
    rows: tuple[TraceRow, ...]

    def rows_of(self, place: int) -> tuple[TraceRow, ...]:
        """Return the rows with the longest interval that a network might have in each, in its own cycles."""
        pace, held = self.together.members[place].pace, self.longest[place]
        return tuple(
            replace(row, interval_cycles=held or 0 if pace is None else pace.own_cycles(row.interval_cycles))
            for row in self.rows
        )


@dataclass(frozen=True)
class SeveralFound:
    """The best design for all networks, how it was searched, and what is proven of the shares.

    ``stretch`` is how many times its target's interval the worst network's is, 1 where all meet their targets.
    """

    networks: Networks
    context: PlanningContext
    result: SearchResult
    tried: tuple[Tried, ...]
    stretch: SolveStats
    ended_by: str

    @property
    def intervals(self) -> tuple[int, ...]:
        """The interval of each network in its own cycles."""
        return _intervals(self.context, self.result)


def _intervals(context: PlanningContext, result: SearchResult) -> tuple[int, ...]:
    if context.together is None:
        raise ValueError("a search of several networks has them together")
    return tuple(part.interval_cycles for part in context.together.parts(result.candidate.folded))


def stretch_of(targets: Sequence[Target], intervals: Sequence[int]) -> Fraction:
    """Return how many times its target's interval the worst network's is, at least 1.

    As long as a rate that was asked for is missed, networks without one do not count.
    """
    ratios = [Fraction(cycles, target.cycles) for target, cycles in zip(targets, intervals, strict=True)]
    asked = [ratio for ratio, target in zip(ratios, targets, strict=True) if target.is_asked]
    counted = asked if any(ratio > 1 for ratio in asked) else ratios
    return max(Fraction(1), *counted)


def search_several(
    networks: Networks, search: Search, further: Search, progress: Progress = SILENT
) -> SeveralFound | Refused:
    """Find the best legal design for all networks.

    ``search`` may lift limits on single engines where there is no plan within them, ``further``, which only looks for
    more rate of some, does not. They may be proven not to fit together, each at its least rate or, without one, however
    slow.
    """
    return _Seeking(networks, search, further, progress).found()


@dataclass
class _Seeking:
    """A search of several networks on its way."""

    networks: Networks
    search: Search
    further: Search
    progress: Progress
    tried: list[Tried] = field(default_factory=list)

    @property
    def targets(self) -> tuple[Target, ...]:
        return self.networks.targets

    @property
    def asked(self) -> tuple[bool, ...]:
        """Which networks have a target that was asked for."""
        return tuple(target.is_asked for target in self.targets)

    def first(self) -> PlanningContext | Refused:
        """Return the context in which every rate that was asked for is met."""
        longest = [t.cycles if t.is_asked else t.most for t in self.targets]
        if all(self.asked):
            return self.networks.context(longest, self.asked, "resources")
        return self.networks.context(longest, [not asked for asked in self.asked], "throughput")

    def found(self) -> SeveralFound | Refused:
        """Return the best design."""
        first = self._searched(self.first(), self.search)
        if not isinstance(first, Refused):
            context, result = first
            ended = "all rates that were asked for are met" if any(self.asked) else ""
            bound = self._bound(context, result) if not all(self.asked) else Fraction(1)
            return self._raised(context, result, bound, ended)
        refused = first
        if refused.interrupted or not any(self.asked):
            return refused
        self.progress.note(f"not all rates that were asked for: {refused}")
        scaled = self.networks.context([t.most for t in self.targets], self.asked, "throughput")
        second = self._searched(scaled, self.search)
        if isinstance(second, Refused):
            return second
        context, result = second
        bound = max(self._bound(context, result), Fraction(1))
        can = "can be met" if refused.why == "proven" else "were found to be met"
        told = sentence(*refused.refusals[:3]) if refused.refusals else str(refused)
        why = f"not all rates that were asked for {can}: {told}"
        return self._raised(context, result, bound, why)

    def _searched(self, context: PlanningContext | Refused, search: Search) -> _Searched | Refused:
        """Return a context with what was found for it."""
        if isinstance(context, Refused):
            return context
        result = search(context)
        if isinstance(result, Refused):
            return result
        if context.together is not None:
            members = context.together.members
            longest = tuple(max(int(group.cycles.max()) for group in member.groups) for member in members)
            self.tried.append(Tried(context.together, longest, result.trace))
        return context, result

    def _bound(self, context: PlanningContext, result: SearchResult) -> Fraction:
        """Return the least stretch of the networks that were scaled that is not proven impossible."""
        cycles = max(result.bound_cycles, result.joint_bound_cycles or 0)
        return Fraction(1) if context.together is None else context.together.least_stretch(cycles)

    def _raised(self, context: PlanningContext, result: SearchResult, bound: Fraction, why: str) -> SeveralFound:
        """Give more to networks that can have more, the least share first, while the others keep what they have."""
        effort = self.networks.request.shared.effort
        order = self.networks.alike if effort != "fast" and not result.interrupted else ()
        for places in sorted(order, key=lambda own: self._share(own, context, result)):
            if self._share(places, context, result) >= 1:
                continue
            more: _Searched | Refused = INTERRUPTED
            with Stop():
                more = self._more_for(places, context, result)
            if not isinstance(more, Refused):
                context, result = more
            elif more.interrupted:
                result = replace(result, interrupted=True)
            if result.interrupted:
                break
        ratio = stretch_of(self.targets, _intervals(context, result))
        met = ratio <= bound
        stats = SolveStats("least share", "optimal" if met else "feasible", float(ratio), float(min(bound, ratio)))
        told = [why or f"the least share of any network's bound alone: {result.ended_by}"]
        return SeveralFound(self.networks, context, result, tuple(self.tried), stats, "; ".join(told))

    def _share(self, places: Iterable[int], context: PlanningContext, result: SearchResult) -> Fraction:
        """Return the least share of some networks."""
        intervals = _intervals(context, result)
        return min(self.targets[place].share(intervals[place]) for place in places)

    def _more_for(self, places: frozenset[int], context: PlanningContext, result: SearchResult) -> _Searched | Refused:
        """Return a design in which some networks have shorter intervals, and no other has a longer one."""
        intervals = _intervals(context, result)
        slowest = max(intervals[place] for place in places)
        longest = [slowest - 1 if number in places else cycles for number, cycles in enumerate(intervals)]
        scaled = [number in places for number in range(len(intervals))]
        more = self.networks.context(longest, scaled, "throughput")
        return self._searched(
            more if isinstance(more, Refused) else replace(more, search_limits=MORE_OF_ONE), self.further
        )
