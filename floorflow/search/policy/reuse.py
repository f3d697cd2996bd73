"""`--reuse`: engines alike are folded alike, so that the modules that they make up are one circuit, made once.

1. Engines of one kind, dimensions and types are a class. All of a class take one folding, one whose constants can be
   written once it is placed, if there is any: a fold of the whole with a group a class, so that the class pays for it.
2. At that folding the network has one folding an engine. Modules are clustered and stay as they are: a search folds
   nothing more, it gives each a slot and a place.
3. Where that has no plan the next longer interval is tried. What it all costs is told against foldings that are free.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.channels import StreamPrices
from floorflow.channels.implementations import Circuits, Likeness, in_windows_alike, likenesses
from floorflow.dataflow.model import Option, renamings
from floorflow.dataflow.options import OptionGroup, TableRows
from floorflow.errors import Refused, some, unproven
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, FoldingSolution, fold_at_interval
from floorflow.folding.least_full import least_full
from floorflow.resources import RESOURCE_NAMES
from floorflow.search.candidate.assignment import clustered
from floorflow.search.candidate.candidate import folded_by
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Outcome, SearchResult
from floorflow.search.candidate.made_once import in_logic
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.candidate.wishes import Wish, Wishes
from floorflow.search.interval.least_full import fullness_of
from floorflow.search.interval.search import scarcity_bound, search, with_bound
from floorflow.search.interval.state import SearchState, share_of

LONGER = (1.1, 1.4, 1.8, 2.3, 3.0, 4.0, 6.0)
"""Times the shortest interval of equal foldings that are tried, the first with a plan counts."""
LUT_SHARE, LUT_SHARE_ALONE = 0.85, 0.4
"""Shares of the LUTs that a module may use beside all of each other resource, where it is made small: its LUTs are the
least sure estimate. One that no other is like takes what is no LUT first, so that more of these lie in what is reused.
"""
SHARES = (0.7, 0.8, 0.9, 1.0)
"""Shares of the summed limits within which the network is folded, the first in which it can be."""
WORTH_IT = 0.5
"""Share of the LUTs in modules made once from which on no longer interval is tried for more."""
WORK = 30.0
"""Units of work that each may take."""


def search_reusing(context: PlanningContext, progress: Progress = SILENT) -> Outcome:
    """Find the best legal design, of modules that are made once as far as the request asks for it."""
    if context.given is not None:
        return search(context, progress)
    alike = _Alike(context)
    shortest = alike.shortest_cycles
    if shortest is not None:
        alike = alike.of_more_alike(shortest)
        context = alike.context
    if shortest is None:
        # What does not fit so may fit with foldings that are free: whether, the search says.
        refused = search(context, progress)
        return refused if isinstance(refused, Refused) else _no_common_folding(context)
    best, refused = _Found(), _no_common_folding(context)
    for interval in alike.intervals_to_try(shortest):
        progress.note(f"engines alike folded alike at {interval:,} cycles")
        folding = alike.folded(interval)
        if folding is None or best.share >= WORTH_IT:
            continue
        outcome = search(alike.with_one_folding(folding), progress)
        if isinstance(outcome, Refused):
            # Of other foldings nothing is proven.
            message = f"--reuse {context.request.reuse}, with equal foldings at {interval:,} cycles: {outcome.message}"
            unsure = replace(outcome, message=message, refusals=unproven(outcome.refusals), why="limit")
            refused = outcome if outcome.interrupted else unsure
        else:
            share = reused_share(context, outcome)
            best = _Found(outcome, folding, share) if share > best.share else best
        if outcome.interrupted:
            break
    if best.result is None or best.folding is None:
        return refused
    unlike = _not_shared(context, best.result) if context.request.reuse == "require" else ""
    if unlike:
        # That other foldings, modules or windows would not do either is shown only where no engine has a twin.
        twins = any(len(members) > 1 for members in alike.classes)
        return Refused(unlike, "ask for --reuse prefer", why="limit" if twins else "proven")
    return alike.told(best, shortest, progress)


@dataclass(frozen=True)
class _Found:
    """The design of which most is reused, and that share of its LUTs."""

    result: SearchResult | None = None
    folding: FoldingSolution | None = None
    share: float = -1.0


def _made(context: PlanningContext, found: SearchResult) -> list[Likeness]:
    """Return each module of a design beside its equals; where nothing is placed windows do not count."""
    candidate = found.candidate
    constants = in_logic(context, candidate.folded)
    every = likenesses(Circuits(candidate.modules, candidate.folded, candidate.channels, constants))
    device = {slot.name: fpga.device for fpga in context.platform.fpgas for slot in fpga.slots}
    regions = {name: region for placed in found.placements.values() for name, region in placed.regions.items()}
    homes = {name: (device[candidate.slot_of[name]], region) for name, region in regions.items()}
    return in_windows_alike(every, homes) if homes else list(every)


def _shared(made: Sequence[Likeness]) -> set[str]:
    """Return the modules whose implementation serves two or more."""
    count = Counter(likeness.implementation for likeness in made)
    return {likeness.module for likeness in made if count[likeness.implementation] > 1}


def reused_share(context: PlanningContext, found: SearchResult) -> float:
    """Return the share of a design's LUTs in modules whose implementation serves two or more."""
    lut = {name: need.lut for name, need in found.candidate.demands.items()}
    return sum(lut[name] for name in _shared(_made(context, found))) / max(1, sum(lut.values()))


def _not_shared(context: PlanningContext, found: SearchResult) -> str:
    """Return which modules alike share no implementation and why, empty where all do."""
    made = _made(context, found)
    count, shared = Counter(likeness.like for likeness in made), _shared(made)
    alone = [one for one in made if count[one.like] > 1 and one.module not in shared]
    if not alone and any(number > 1 for number in count.values()):
        return ""
    if not alone:
        return "--reuse require: no two modules are alike"
    told = [f"{one.module} ({one.why_not})" for one in alone]
    return f"--reuse require: {len(alone)} modules share no implementation with those like them: {some(told)}"


def _no_common_folding(context: PlanningContext) -> Refused:
    asked = f"--reuse {context.request.reuse}"
    message = f"{asked}: engines that are alike have no foldings in common that fit {context.platform.name} together"
    return Refused(message, "leave it out, or ask for a lower --fps", why="proven")


@dataclass(frozen=True)
class _Alike:
    """The network with a class for each sort of engines."""

    context: PlanningContext

    @cached_property
    def classes(self) -> list[list[OptionGroup]]:
        """Groups whose engines are alike one by one and have the same foldings, in order of the first of each."""
        engines = {engine.name: engine for engine in self.context.dataflow.engines}
        found: dict[tuple[object, ...], list[OptionGroup]] = defaultdict(list)
        for group in self.context.problem.groups:
            own = [engines[name] for name in group.engines]
            key = tuple((e.kind, repr(sorted(e.attributes.items())), e.weight_bits, e.input_bits) for e in own)
            tables = tuple(group.options_of(name).numbers.tobytes() for name in group.engines)
            found[key, tables].append(group)
        return list(found.values())

    @cached_property
    def tied(self) -> FoldingProblem:
        """The problem with one group a class, of foldings whose constants can be written, where there are such."""
        groups = []
        for members in self.classes:
            rows = members[0].subset(self.writable(members[0])) if len(members) > 1 else members[0]
            tables = [rows.options_of(name) for name in rows.engines]
            names = tuple(name for member in members for name in member.engines)
            groups.append(OptionGroup(names, TableRows(tuple(tables * len(members)))))
        return self._problem(groups)

    def _problem(self, groups: list[OptionGroup]) -> FoldingProblem:
        context = self.context
        streams = StreamPrices(context.costs, prices=None, joins=not context.costs.sizes_fifos)
        couplings = streams.couplings(context.dataflow, groups)
        return replace(context.problem, groups=tuple(groups), couplings=couplings, memo={})

    def writable(self, group: OptionGroup) -> NDArray[np.bool_]:
        """Mark the foldings of a group whose constants can be written, (n_rows,); all where there are none."""
        keep = np.ones(len(group.rows), dtype=np.bool_)
        for name in group.engines:
            engine, backend = self.context.dataflow.engine(name), self.context.backend
            options = group.options_of(name)
            keep &= [
                not backend.in_logic(replace(engine, kind=o.kind or engine.kind), o, written_later=True)
                for o in options
            ]
        keep = keep if keep.any() else np.ones_like(keep)
        if len(self.context.limits) == len(self.context.platform.fpgas):
            return keep
        # There are few columns of URAM: what needs one fits few places.
        anywhere = keep & (group.use[:, RESOURCE_NAMES.index("URAM")] == 0)
        return anywhere if anywhere.any() else keep

    @cached_property
    def shortest_cycles(self) -> int | None:
        """The shortest interval at which one folding a class fits the summed limits."""
        return FeasibilityOracle(self.tied).shortest(lambda answer: not isinstance(answer, FoldingInfeasible))

    def of_more_alike(self, shortest: int) -> "_Alike":
        """Return the network with its joins in modules of their own, if too little could be reused otherwise."""
        apart = _Alike(replace(self.context, joins_apart=True))
        answers = (fold_at_interval(self.tied, one, branch=False) for one in self.intervals_to_try(shortest))
        first = next((answer for answer in answers if isinstance(answer, FoldingSolution)), None)
        if first is None or self._possible(first) >= WORTH_IT:
            return self
        return apart if apart._possible(first) > self._possible(first) else self

    def _possible(self, folding: FoldingSolution) -> float:
        """Return the share of the LUTs in modules that others are like."""
        lut = {name: option.resources.lut for name, option in folding.options.items()}
        sorts = self._sorts(self.modules(folding)).values()
        alike = (name for modules in sorts if len(modules) > 1 for engines in modules for name in engines)
        return sum(lut[name] for name in alike) / max(1, sum(lut.values()))

    def intervals_to_try(self, shortest: int) -> Iterator[int]:
        """Yield intervals from the shortest on, ascending; with a rate to keep the longest that does first."""
        least = max(shortest, self.context.least_cycles)
        every = [cycles for cycles in self.tied.intervals() if cycles >= least]
        if self.context.request.fps is not None:
            yield from every[-1:]
            return
        last = 0
        for times in LONGER if every else ():
            interval = next((cycles for cycles in every if cycles >= times * least), every[-1])
            if interval > last:
                yield interval
            last = interval

    def folded(self, interval: int) -> FoldingSolution | None:
        """Return a folding of the classes at an interval that leaves slots room for whole modules, each small.

        First that of the whole: the least scarce in as small a share of what there is as can be.
        """
        budget = self.tied.budget
        for share in SHARES:
            left = self.tied.with_budget(share_of(budget, share))
            answer = fold_at_interval(left, interval, branch=False)
            if isinstance(answer, FoldingSolution):
                return self._with_small_modules(answer, interval)
        return None

    def _with_small_modules(self, first: FoldingSolution, interval: int) -> FoldingSolution:
        """Fold each sort of module for itself, its ports as they are: for a window that no resource makes large."""
        context, options = self.context, dict(first.options)
        for members in self._sorts(self.modules(first)).values():
            problem = self._of_sort(members[0], first, several=len(members) > 1)
            answer = least_full(problem, interval)
            chosen = answer.options if isinstance(answer, FoldingSolution) else first.options
            for engines in members:
                options |= {own: chosen[name] for own, name in zip(engines, members[0], strict=True)}
        made = SearchState(context, SILENT).least_priced(options, "exact by sort of module")
        return made if made.resources.fits(context.problem.budget) else first

    def _sorts(self, modules: list[list[str]]) -> Mapping[tuple[int, ...], list[list[str]]]:
        """Return modules whose engines are of the same classes, by these."""
        sort_of = {name: n for n, members in enumerate(self.classes) for group in members for name in group.engines}
        sorts: dict[tuple[int, ...], list[list[str]]] = defaultdict(list)
        for engines in modules:
            sorts[tuple(sort_of[name] for name in engines)].append(engines)
        return sorts

    def _of_sort(self, engines: list[str], first: FoldingSolution, *, several: bool) -> FoldingProblem:
        """Return the folding of one module, with the widths that a folding has at its ports."""
        context, inside = self.context, set(engines)
        groups = []
        for group in (group for group in context.problem.groups if inside.issuperset(group.engines)):
            keep = self.writable(group) if several else np.ones(len(group.rows), dtype=np.bool_)
            for name in group.engines:
                table, option = group.options_of(name), first.options[name]
                widths = (*option.input_widths_bits, *option.output_widths_bits)
                for port in self._ports_outside(name, inside, table.inputs):
                    keep &= table.widths_bits[port] == widths[port]
            groups.append(group.subset(keep))
        dataflow = context.dataflow.segment(engines)
        streams = StreamPrices(context.costs, prices=None, joins=not context.costs.sizes_fifos)
        total = context.problem.budget
        budget = replace(total, lut=int((LUT_SHARE if several else LUT_SHARE_ALONE) * total.lut))
        couplings = streams.couplings(dataflow, groups)
        return replace(context.problem, groups=tuple(groups), couplings=couplings, budget=budget, memo={})

    def _ports_outside(self, name: str, inside: Collection[str], inputs: int) -> Iterator[int]:
        """Yield the ports of an engine, inputs first, whose streams lead to other modules."""
        for stream in self.context.dataflow.streams:
            if stream.source == name and stream.target not in inside and not stream.to_outside:
                yield inputs + stream.source_port
            if stream.target == name and stream.source not in inside and not stream.from_outside:
                yield stream.target_port

    def modules(self, folding: FoldingSolution) -> list[list[str]]:
        """Return the engines of each module that a folding gives, by their names before their kinds were chosen."""
        folded = folded_by(self.context, folding)
        earlier = {new: old for old, new in renamings(self.context.dataflow, folded.dataflow).items()}
        return [[earlier[name] for name in module.engines] for module in clustered(self.context, folded, {})]

    def with_one_folding(self, folding: FoldingSolution) -> PlanningContext:
        """Return the context of a search that has one folding an engine, and keeps modules whole."""
        context, options = self.context, folding.options
        modules = self.modules(folding)
        groups = [_of_module(engines, options) for engines in modules]
        problem = self._problem(groups)
        wishes = Wishes(tuple(self._apart(modules)), stages=tuple(map(tuple, modules)))
        work = min(WORK, context.work_limit)
        return replace(context, problem=problem, unlimited=problem, wishes=wishes, work_limit=work)

    def _apart(self, modules: list[list[str]]) -> Iterator[Wish]:
        """Yield wishes for pairs of engines that are not to share a slot: none has windows for so many modules alike.

        Where Laguna sites lie in the first and the last clock regions of each SLR there are two windows alike.
        """
        slots, sorts = len(self.context.limits), self._sorts(modules)
        for members in sorts.values() if slots > len(self.context.platform.fpgas) else ():
            if len(members) <= 2 * slots:
                firsts = [engines[0] for engines in members]
                near = 1 if len(members) <= slots else 2
                pairs = ((a, b) for i, a in enumerate(firsts) for b in firsts[i + near :])
                yield from (Wish("apart", pair, (), pair, frozenset(self.context.limits)) for pair in pairs)

    def told(self, best: _Found, shortest: int, progress: Progress) -> SearchResult:
        """Return what was found as all foldings have it, with bounds that hold for all, and what reuse costs."""
        found, folding = best.result, best.folding
        if found is None or folding is None:
            raise ValueError("nothing was found")
        context, interval = self.context, found.candidate.interval_cycles
        run = SearchState(context, progress)
        free = FeasibilityOracle(context.problem).shortest(lambda answer: not isinstance(answer, FoldingInfeasible))
        bound = interval if free is None or context.request.goal != "throughput" else free
        candidate = with_bound(run, found.candidate)
        fullness = fullness_of(run, candidate, bounded=not found.interrupted)
        ended = f"with --reuse {context.request.reuse} the shortest interval of equal foldings tried that has a plan"
        return replace(
            found,
            context=context,
            candidate=candidate,
            bound_cycles=min(bound, interval),
            joint_bound_cycles=None,
            ended_by=found.ended_by if context.request.fps is not None else ended,
            whole_budget_bound=scarcity_bound(context, interval),
            fullness=fullness,
            design=None,
            notes=(self._price(folding, free, shortest),),
        )

    def _price(self, folding: FoldingSolution, free_cycles: int | None, shortest: int) -> str:
        """Tell what equal foldings cost against free ones, at the bounds and at one interval."""
        told = f"at the least {shortest:,} cycles"
        if free_cycles is not None:
            told += f" where free foldings need {free_cycles:,}"
        loose = fold_at_interval(self.context.problem, folding.interval_cycles, branch=False)
        if isinstance(loose, FoldingSolution) and loose.resources.lut:
            more = folding.resources.lut / loose.resources.lut - 1
            told += f"; at {folding.interval_cycles:,} cycles {more:+.1%} LUT against foldings that are free"
        several = sum(len(members) > 1 for members in self.classes)
        return f"--reuse {self.context.request.reuse}: {several} sorts of engines fold alike, {told}"


def _of_module(engines: list[str], options: Mapping[str, Option]) -> OptionGroup:
    """Return the engines of a module as one that has one folding: none of them lies elsewhere."""
    return OptionGroup(tuple(engines), TableRows.of([tuple(options[name] for name in engines)]))
