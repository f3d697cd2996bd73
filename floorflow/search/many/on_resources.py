"""A network on a platform of resources alone: cut in time and folded with proof, placed nowhere.

Source: Montgomerie-Corcoran et al., SAMO (2022), equations 3 to 7. The dynamic program over cuts runs on bounds of all
segments; those of its best path are folded until all of them are.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from floorflow.backends.backend import Source
from floorflow.channels import StreamPrices
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import INTERRUPTED, Refused, Stop, all_found, sentence
from floorflow.folding import FoldingProblem, FoldingSolution, fitting, fold_at_interval
from floorflow.hardware.resource_platforms import ResourcePlatform, resource_platform
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.search.candidate.preparing import Priced, priced
from floorflow.search.candidate.progress import Progress
from floorflow.search.many.phases import phase_request
from floorflow.segments.in_time import BoardMemory, SegmentsInTime, shortest_cycles, slow_group, with_slow
from floorflow.segments.paths import Floats, Span, cheapest_path, lazy_path, with_known
from floorflow.segments.table import SpanTable
from floorflow.stats import SolveStats

METHOD = "bounds of all segments, those of the best path folded"


@dataclass(frozen=True)
class FoldedPartition:
    """A segment of the network as the device runs it, with its folding."""

    dataflow: Dataflow
    folding: FoldingSolution


@dataclass(frozen=True)
class OnResources:
    """A network cut and folded for a device; ``stats`` is of the time of a batch of ``frames`` in us.

    ``limits``: what each partition may use. ``interrupted``: Ctrl-C ended it before the best was proven.
    """

    whole: Priced
    device: ResourcePlatform
    limits: Resources
    frames: int
    partitions: tuple[FoldedPartition, ...]
    stats: SolveStats
    interrupted: bool


def search_on_resources(request: Request, source: Source, progress: Progress) -> OnResources | Refused:
    """Find the partitions and foldings whose batch takes least; one partition where no others were asked for.

    InputError if the platform is unknown.
    """
    device = resource_platform(request.platform)
    limits = device.limits(request)
    with progress.stage("lowering"):
        clock_mhz = request.clock_mhz or device.clock_mhz
        asked = phase_request(request.changed(platform=device.board, clock_mhz=clock_mhz))
        within = _within(priced(source, asked, 1), device.name, limits)
    if isinstance(within, Refused):
        return within
    whole = within
    frames = request.frames if request.reconfigure != "none" else 1
    prices = StreamPrices(whole.costs).couplings
    ties = prices(whole.dataflow, whole.groups)
    problem = FoldingProblem(whole.groups, limits, device.resources, ties)
    memory = BoardMemory(device.memory_gbps, clock_mhz)
    segments = SegmentsInTime(whole.dataflow, problem, prices, memory)
    with progress.stage("folding"):
        run = _Run(segments, progress, frames / clock_mhz, device.load_us, alone=request.reconfigure == "none")
        found = run.result(f"{whole.dataflow.name} on {device.name}")
        if isinstance(found, Refused):
            return found
        spans, stats, interrupted = found
        foldings = all_found(run.folding(span) for span in spans)
        if isinstance(foldings, Refused):
            return foldings
    pairs = zip(spans, foldings, strict=True)
    partitions = tuple(FoldedPartition(segments.dataflow(span), folding) for span, folding in pairs)
    return OnResources(whole, device, limits, frames, partitions, stats, interrupted)


def _within(whole: Priced, place: str, limits: Resources) -> Priced | Refused:
    """Return the network with the foldings that fit, without those for which the host has to write weights.

    Such foldings are for where much rests on them; an engine that has no others keeps them.
    """
    spared = whole.backend.spares_host(whole.request.backend_options)

    def kept(every: OptionGroup) -> OptionGroup | Refused:
        group = fitting(every, ((place, limits),))
        if isinstance(group, Refused) or not spared:
            return group
        engines = [(whole.dataflow.engine(name), group.options_of(name)) for name in group.engines]
        written = np.any([whole.backend.host_writes(*each) for each in engines], axis=0)
        return group if written.all() else group.subset(~written)

    groups = all_found(kept(group) for group in whole.groups)
    return groups if isinstance(groups, Refused) else replace(whole, groups=groups)


@dataclass
class _Run:
    """A search on its way: the problem and the shortest interval with a folding of each segment on the best path."""

    segments: SegmentsInTime
    progress: Progress
    us_per_cycle: float
    load_us: float
    alone: bool

    def __post_init__(self) -> None:
        self.table = SpanTable(self.segments.lowest, self._folded)

    def result(self, about: str) -> tuple[list[Span], SolveStats, bool] | Refused:
        """Return the segments of the best path, what is proven of it, and whether Ctrl-C ended the search."""
        with Stop() as stop:
            lazy_path(
                lambda: self._cheapest(with_known(self.segments.lowest, self._cycles())),
                lambda found: self.table.close(found[1] or ()),
            )
        nothing = np.full_like(self.segments.lowest, inf)
        cost, spans = self._cheapest(with_known(nothing, self._cycles()))
        if spans is None:
            return INTERRUPTED if stop.heard else self._nothing(about)
        bound, _ = self._cheapest(self.segments.lowest)
        return spans, SolveStats.bounded(METHOD, cost, bound), stop.heard

    def folding(self, span: Span) -> FoldingSolution | Refused:
        """Return the least scarce folding of a segment at the shortest interval that was found."""
        found = self.table[span]
        if found is None:
            return self._nothing("a segment")
        problem, cycles = found
        answer = fold_at_interval(problem, cycles)
        if not isinstance(answer, FoldingSolution):
            answer = fold_at_interval(problem, cycles, prove=False)
        if not isinstance(answer, FoldingSolution):
            return Refused(f"no folding at {cycles:,} cycles was found again", "try another --seed")
        return answer

    def _folded(self, span: Span) -> tuple[float, tuple[FoldingProblem, int] | None]:
        """Find the shortest interval of a segment that is not too fast for the memory (eq. 7)."""
        self.progress.note(f"blocks {span[0]} to {span[1] - 1} of {len(self.segments.blocks)}")
        shortest, slow_enough = self.segments.folded[span], int(self.segments.slow_enough[span])
        bound = float(self.segments.lowest[span])
        if shortest.interval_cycles is None:
            return bound, None
        problem = self.segments.folding_problem(span)
        if isinstance(problem, Refused):
            return inf, None
        if shortest.interval_cycles >= slow_enough:
            return bound, (problem, shortest.interval_cycles)
        number = slow_group(problem, slow_enough)
        if number is None:
            return inf, None
        problem = with_slow(problem, number, slow_enough)
        cycles = shortest_cycles(problem)
        if cycles is None:
            return bound, None
        is_there = isinstance(fold_at_interval(problem, cycles, prove=False), FoldingSolution)
        return max(bound, cycles), (problem, cycles) if is_there else None

    def _cycles(self) -> dict[Span, float]:
        """Return what was found of the segments that were folded, infinite where there is nothing."""
        return {span: inf if found is None else found[1] for span, found in self.table.answers.items()}

    def _cheapest(self, cycles: Floats) -> tuple[float, list[Span] | None]:
        """Return the cheapest path; where no partitions were asked for, the whole network is the only one."""
        if self.alone:
            cost = float(cycles[0, -1]) * self.us_per_cycle
            return cost, [(0, len(cycles) - 1)] if cost < inf else None
        return cheapest_path(cycles * self.us_per_cycle, self.load_us)

    def _nothing(self, about: str) -> Refused:
        """Return why there are no partitions: a part that has no folding however it is cut, or what was not found."""
        lowest, count = self.segments.lowest, len(self.segments.blocks)
        spans = [(0, count)] if self.alone else [(number, number + 1) for number in range(count)]
        closed = [span for span in spans if not np.isfinite(lowest[span])]
        if not closed:
            return Refused(f"{about}: no partitions were found, though none are proven impossible", "cap less")
        refused = self.segments.refusals(closed[0])
        engines = self.segments.engines(closed[0])
        why = sentence(*refused) if refused else "every folding is too fast for the memory"
        hint = "--reconfigure full cuts it in time" if self.alone else "a larger platform or a narrower network"
        message = f"proven infeasible by the cost model: {about}: {engines[0]} to {engines[-1]} alone: {why}"
        return Refused(message, hint, refused, "proven")
