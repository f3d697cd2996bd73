"""The summary: at most ten lines of at most a hundred characters, in the words of whoever brought the network."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from floorflow.facts import memory_schedule, targets
from floorflow.facts.closing import closing
from floorflow.facts.constraint import filled_by_one
from floorflow.facts.context import Context
from floorflow.facts.estimates import EstimatesEntry
from floorflow.facts.links import Links
from floorflow.facts.network import NetworkEntry
from floorflow.facts.next_steps import NetworkView, networks_of, ways_to
from floorflow.facts.phase import PhaseNetworkEntry
from floorflow.facts.plan import UNBUILT, Plan
from floorflow.facts.search import BY_THE_FASTEST, ended
from floorflow.facts.spare import controllers_of, spare_copies
from floorflow.facts.text import chance, rate
from floorflow.resources import NONE

MOST_LINES = 10
WIDTH = 100
"""Characters of a line; paths and commands are whole even where that makes it longer."""
_LABEL = 12
_IN_REPORT, _PAGE = "report.txt", "report.html"
_ROUTED = " after routing"
"""Left out of a line that is too long with it."""
NEXT_FILE = "NEXT.md"


@dataclass(frozen=True)
class Line:
    """A line with its label, empty for one that begins at the margin; the largest ``rank`` is left out first."""

    label: str
    text: str
    rank: int = 0
    is_whole: bool = False

    def __str__(self) -> str:
        text = f"{self.label:<{_LABEL}}{self.text}" if self.label else self.text
        text = text if len(text) <= WIDTH else text.removesuffix(_ROUTED)
        return text if self.is_whole else _fitted(text, WIDTH)


def summary(views: Sequence[Context], ways: Iterable[Line] = (), *, rest: str = _IN_REPORT) -> str:
    """Return the summary of a plan by its phases, and ``ways`` on from it; ``rest``: where all else is told."""
    return ten_lines([*summary_lines(views, rest), *ways])


def ways_on(folder: str, names: Collection[str], command: str) -> list[Line]:
    """Return what to open of the files in a folder, and the next command."""
    first = _PAGE if _PAGE in names else first_picture(names)
    files = [*([first] if first else []), *(name for name in (_IN_REPORT, NEXT_FILE) if name in names)]
    while len(files) > 1 and _LABEL + len(f"{folder}: {', '.join(files)}") > WIDTH:
        files.pop()
    return [Line("open", f"{folder}: {', '.join(files)}", is_whole=True), Line("next", command, is_whole=True)]


def first_picture(names: Collection[str]) -> str:
    """Return the picture to look at first of the files in a folder, empty where there is none."""
    drawn = sorted(name for name in names if name.endswith(".png"))
    # Where nothing is placed there is no floorplan.
    return next((name for name in drawn if "plots/floorplan_" in name), drawn[0] if drawn else "")


def ten_lines(lines: Iterable[Line]) -> str:
    """Return the lines of a summary as text."""
    return "\n".join(map(str, most_important(lines)))


def most_important(lines: Iterable[Line]) -> list[Line]:
    """Return as many lines as a summary has, those that matter least left out."""
    lines = list(lines)
    while len(lines) > MOST_LINES:
        least = max(range(len(lines)), key=lambda number: (lines[number].rank, number))
        del lines[least]
    return lines


def summary_lines(views: Sequence[Context], rest: str = _IN_REPORT) -> Iterator[Line]:
    """Yield what a summary may tell, the most important of each label first; ``rest``: where all else is told."""
    plan = views[0].plan
    yield from _unbuilt(plan, rest)
    yield from _rates(plan)
    worst = worst_network(plan)
    view = next(view for view in views if view.phase is plan.slowest_phase(worst.name))
    part = view.phase.network(worst.name)
    yield Line("limited by", _limit(view, part))
    yield from (Line("lifted by", text, rank=min(4 * number, 5)) for number, text in enumerate(_lifts(view, part)))
    yield from _sought_first(plan, worst)
    yield from _fullest(plan)
    yield from _fits(plan)
    yield Line("proven", _proven(view, worst))
    yield from _without_floorplan(plan)
    yield from _hard(views, rest)
    yield from _notes(plan, rest)


def _unbuilt(plan: Plan, rest: str) -> Iterator[Line]:
    """Yield what keeps the tools from building the plan, whole in the report."""
    for warning in plan.unbuilt[:1]:
        others = len(plan.unbuilt) - 1
        more = f" (and {others} more: {rest})" if others else f" ({rest})"
        yield Line("", UNBUILT + clause(warning.removeprefix(UNBUILT), WIDTH - len(UNBUILT) - len(more)) + more)


def clause(text: str, width: int) -> str:
    """Return a sentence, or its first clause where it is longer than the width, cut behind a comma or a word."""
    for mark in (": ", "; ", " ("):
        text = text.partition(mark)[0] if len(text) > width else text
    while len(text) > width and ", " in text:
        text = text.rpartition(", ")[0]
    return _fitted(text, width)


def _fitted(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    return f"{text[: width - 3].rpartition(' ')[0] or text[: width - 3]}..."


def _rates(plan: Plan) -> Iterator[Line]:
    """Yield the rate and the likely clock of each network."""
    if plan.replicas is not None:
        own, copies = plan.phases[0].networks[0].estimates, plan.replicas.copies
        cards = f" on {plan.replicas.cards} cards" if plan.replicas.cards > 1 else ""
        told = f"{copies} cop{'y' if copies == 1 else 'ies'}{cards}, {rate(plan.replicas.fps)} frames/s"
        yield Line("", f"{plan.replicas.network} on {plan.platform}: {told}{_clock(own)}")
        return
    fps = {row.network: row.fps for row in plan.summary.networks}
    for number, network in enumerate(plan.networks):
        own = plan.slowest_phase(network.name).network(network.name).estimates
        reached = f"{rate(fps[network.name])} frames/s"
        if plan.memory_schedule is None and len(plan.phases) == 1:
            reached = _reached(own)
        asked = plan.options.fps or plan.options.rates.get(network.name)
        reached += f" ({asked:,g} asked for)" if asked else ""
        reached = f"{own.latency}, {reached}" if plan.options.objective == "latency" else reached
        over = f" over {len(plan.phases)} phases" if len(plan.phases) > 1 else ""
        yield Line("", f"{network.name} on {plan.platform}: {reached}{over}{_clock(own)}", rank=3 * min(number, 2))


def _reached(own: EstimatesEntry) -> str:
    """Return the rate to believe; that there is none to believe where FIFOs stop or hold the stream."""
    if own.loses_rate and own.throughput is not None:
        if own.throughput.deadlock:
            return "no frames, the planned FIFOs deadlock"
        if own.sustained_fps is None:
            return f"below {rate(own.fps)} frames/s, FIFOs are too shallow"
    return f"{rate(own.believed_fps)} frames/s"


def _clock(own: EstimatesEntry) -> str:
    likely = "is assumed" if own.likely_clock is None else f"assumed, {own.likely_clock} likely{_ROUTED}"
    return f"; {own.clock_mhz:g} MHz {likely}"


def worst_network(plan: Plan) -> NetworkEntry:
    """Return the network that gets least of its target, or is slowest."""
    shares = {} if plan.targets is None else {row.network: row.share for row in plan.targets.networks}
    slowest: Mapping[str, int] = {row.network: row.interval_cycles for row in plan.summary.networks}
    return min(plan.networks, key=lambda network: (shares.get(network.name, 1.0), -slowest[network.name]))


def _limit(view: Context, part: PhaseNetworkEntry) -> str:
    """Return the layer and engine, or the link, that sets the rate, with its cycles of those between frames."""
    cycles, link = Links(view.plan.platform, view.phase).slowest(part, view.plan.summary.clock_mhz)
    own = part.estimates
    between = own.expected_cycles or part.interval_cycles
    if cycles:
        return f"link {link}, {cycles:,} of {max(between, cycles):,} cycles a frame"
    count = sum(entry.cycles == part.interval_cycles for entry in part.folding.engines.values())
    layer = view.plan.layer_of(own.bottleneck)
    name = f"layer {layer} ({own.bottleneck})" if layer else f"layer {own.bottleneck}"
    others = f", and {count - 1} more as slow" if count > 1 else ""
    return f"{name}: {part.interval_cycles:,} of {between:,} cycles a frame{others}"


def _lifts(view: Context, part: PhaseNetworkEntry) -> Iterator[str]:
    """Yield options that would raise the rate, with what they give, as far as that is known."""
    plan, clock_hz = view.plan, view.plan.options.clock_mhz * 1e6
    if plan.options.objective != "throughput" or plan.memory_schedule is not None:
        return
    copies = spare_copies(plan, controllers_of(view.platform.memories, view.platform.host_slr))
    if copies > 1:
        fps = rate(copies * part.estimates.believed_fps)
        yield f"--replicas {copies}: about {fps} frames/s, by the sums of resources, not planned"
    free = None if view.extras is None else view.extras.without_limits
    if free is not None and free.options:
        options = " ".join(f"--{name.replace('_', '-')} none" for name in free.options)
        yield f"{options}: {rate(clock_hz / free.bound_cycles)} frames/s at most, not planned"
    yield from _lifts_of_search(next(one for one in networks_of(view) if one.part is part), clock_hz)


def _lifts_of_search(one: NetworkView, clock_hz: float) -> Iterator[str]:
    """Yield options by what the search found at its end."""
    view, held = one.view, one.view.phase.confidence
    if held is not None and held.without is not None:
        fps = rate(clock_hz / held.without.interval_cycles)
        yield f"--confidence none: {fps} frames/s, {chance(held.without.likelihood)} likely to fit"
        return
    row, short = one.stopped_by, one.short
    if row is None:
        slowest = [entry for entry in one.part.folding.engines.values() if entry.cycles == one.part.interval_cycles]
        if any(entry.is_widest for entry in slowest):
            mhz, reached = max(one.part.estimates.clock_rates)
            more = f" ({rate(reached)} frames/s at {mhz:g})" if mhz * 1e6 > clock_hz else ""
            yield f"--clock-mhz above {clock_hz / 1e6:g}{more}; the layer is as parallel as it can be"
        return
    fps = rate(clock_hz / row.interval_cycles)
    ways = [] if short is None else [*ways_to(view, short.resource, int(short.needed or 0), int(short.allowed or 0))]
    if ways:
        yield f"{' or '.join(ways)}: {fps} frames/s may fit"
    elif any(refusal.what in ("hops", "slots and hops") for refusal in row.refusals):
        yield f"--max-hops {view.phase.partition.hops.most + 1}: {fps} frames/s may fit"


def _sought_first(plan: Plan, network: NetworkEntry) -> Iterator[Line]:
    """Yield that --fps seeks the highest rate first, and which of both designs the plan is."""
    options = plan.options
    if options.fps and options.objective == "resources" and not (options.keep_folding or options.start_from):
        told = "the least resources that were found for it; the highest rate was sought first, to compare"
        if network.search.ended_by.startswith(BY_THE_FASTEST):
            told = "the highest rate, sought first, is the plan: nothing that was found with less is better"
        yield Line("--fps", told, rank=3)


def _fullest(plan: Plan) -> Iterator[Line]:
    for phase in plan.phases:
        where = f"in phase {phase.name}, " if len(plan.phases) > 1 else ""
        if told := plan.fullest_in(phase):
            yield Line("fullest", where + told, rank=1)


def _fits(plan: Plan) -> Iterator[Line]:
    """Yield how likely the least likely slot or pblock is to hold its part, and whether that is what was asked for."""
    found = least_likely(plan)
    if found is None:
        yield Line("fits", "how likely is not known: these costs tell no error", rank=4)
        return
    likely, place = found
    unheld = any(phase.confidence is not None and not phase.confidence.held for phase in plan.phases)
    asked = f", {plan.options.confidence_bound:.0%} was asked for" if unheld else ""
    least = chance(likely).removeprefix("over ")
    each = "only" if unheld else "at least" if least == chance(likely) else "over"
    yield Line("fits", f"each part {each} {least} likely{asked}; least: {place}")


def least_likely(plan: Plan) -> tuple[float, str] | None:
    """Return how likely the least likely slot or pblock is to hold its part, and which; None where that is not known.

    The costs of some back ends know no error.
    """
    known = [
        (entry.likelihood, f"{entry.slot}, {plan.named(phase.core_of(name))}")
        for phase in plan.phases
        for name, entry in phase.pblocks.items()
        if entry.likelihood is not None
    ]
    known += [(fit.likelihood, slot) for phase in plan.phases for slot, fit in phase.fits.items()]
    return min(known, default=None)


def _proven(view: Context, network: NetworkEntry) -> str:
    """Return what is proven of the plan, or the gap, in a sentence."""
    plan = view.plan
    if plan.memory_schedule is not None:
        return memory_schedule.proven(plan.memory_schedule)
    if plan.targets is not None:
        return f"{targets.worst(plan.targets).capitalize()}."
    if plan.replicas is not None:
        engines = plan.replicas.copies * plan.phases[0].networks[0].estimates.fps
        return gap_told(plan.replicas.bound_fps / engines - 1, "set of equal copies", "faster")
    if plan.schedule is not None and plan.schedule.stats is not None:
        stats, us = plan.schedule.stats, plan.schedule.period_us
        return gap_told(None if stats.bound is None else us / stats.bound - 1, "schedule", "faster")
    return _proven_of_folding(view, network)


def _proven_of_folding(view: Context, network: NetworkEntry) -> str:
    plan, objective = view.plan, view.plan.options.objective
    if plan.options.keep_folding:
        return "The folding was given, and no other was sought."
    if objective == "latency":
        part = view.phase.network(network.name)
        cycles, bound = part.folding.stats.objective, part.folding.whole_budget_bound
        return gap_told(None if not cycles or bound is None else 1 - bound / cycles, "folding", "lower in latency")
    if objective == "resources":
        stats = view.phase.network(network.name).folding.stats
        return gap_told(stats.gap, "folding", "smaller at this rate")
    return _proven_rate(view, network)


def gap_told(gap: float | None, what: str, better: str) -> str:
    """Say that nothing is better, or by how much it might be."""
    if gap is None:
        return f"Whether a {what} is {better} is not known."
    if gap <= 0:
        return f"No {what} is {better}: proven."
    least = "less than 0.1%" if gap < 0.001 else f"up to {gap:.1%}"
    return f"A {what} {least} {better} is not excluded; none was found."


def _proven_rate(view: Context, network: NetworkEntry) -> str:
    plan, search = view.plan, network.search
    count = len(plan.platform.fpgas)
    here = "this board" if count == 1 else f"these {count} boards"
    best = max(search.bound_cycles, search.joint_bound_cycles or 0)
    if search.interval_cycles > best:
        cut = " (the search was cut short)" if plan.interrupted else ""
        return f"{gap_told(search.interval_cycles / best - 1, 'folding', 'faster')}{cut}"
    if search.interval_cycles == search.bound_cycles:
        return f"No faster folding fits {here}{_within_limits(view)}: proven."
    crossing = ended(search, network.trace).partition(" while ")[2]
    return f"No faster folding fits the dies{f', where {crossing}' if crossing else f' of {here}'}: proven."


def _within_limits(view: Context) -> str:
    """Return that larger engines are not allowed, where they are not and may be faster."""
    options, extras = view.plan.options, view.extras
    if extras is not None and extras.without_limits is not None and not extras.without_limits.options:
        return ""
    limited = options.max_products != NONE or any(share < 1 for share in options.max_engine_share.as_dict().values())
    return ", with engines of the allowed size" if limited else ""


def _without_floorplan(plan: Plan) -> Iterator[Line]:
    """Yield that nothing is constrained, where one module has each die to itself: pictures show no floorplan then."""
    held = [(phase, own.pblocks) for phase in plan.phases for own in phase.floorplan.values() if own.pblocks]
    alone = [filled_by_one(plan.options.constraint_style, pblocks) for _, pblocks in held]
    styles = {phase.constraint_styles[entry.slot] for phase, pblocks in held for entry in pblocks.values()}
    if styles == {"none"} and all(alone):
        yield Line("floorplan", f"none: {alone[0].removeprefix('no floorplan: ')}", rank=3)


def _hard(views: Sequence[Context], rest: str) -> Iterator[Line]:
    """Yield the first of what makes timing hard to close."""
    hard = [item for view in views for item in closing(view.plan, view.phase) if item.is_hard]
    for item in hard[:1]:
        more = f"; {len(hard) - 1} more: {rest}" if len(hard) > 1 else ""
        text, room = f"{item.what} {item.where}, {item.found}", WIDTH - _LABEL - len(more)
        whole = f"{text} (comfortable: {item.comfortable})"
        yield Line("hard", (whole if len(whole) <= room else clause(text, room)) + more, rank=2)


def _notes(plan: Plan, rest: str) -> Iterator[Line]:
    """Yield what must be known before the first frame, or the first thing assumed."""
    written = [name for phase in plan.phases for part in phase.networks for name in _written(part)]
    notes = [warning for warning in plan.warnings if warning not in plan.unbuilt]
    unstated = plan.platform.fpgas[0].unstated
    # What a board is not known to hold back weighs more than how the network was read.
    told = f"the board's file says nothing of {', '.join(unstated)}" if unstated else "".join(notes[:1])
    if written:
        count = f"weights of {len(written)} engine{'s' * (len(written) != 1)}"
        yield Line("before use", f"software writes the {count} before the first frame: {rest}", rank=1)
    if notes:
        more = f"; {len(notes) - 1} more: {rest}" if len(notes) > 1 else ""
        yield Line("assumed", clause(told, WIDTH - _LABEL - len(more)) + more, rank=2 if unstated else 3)


def _written(part: PhaseNetworkEntry) -> Sequence[str]:
    return () if part.host_weights is None else part.host_weights.engines
