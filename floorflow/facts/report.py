"""report.txt: what an engineer wants to know before spending a week of Vivado time, as plain text.

Its first lines are the summary, which the command line prints. Each section is made by the fact that it tells of;
`SECTIONS` is their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from floorflow.facts import brief, channel, constraint, memory_schedule, module, partition, schedule, targets
from floorflow.facts.closing import closing, closing_rows
from floorflow.facts.context import Context
from floorflow.facts.estimates import clocks, one_frame
from floorflow.facts.extras import LESS_RATE, bargains
from floorflow.facts.floorplan import routing
from floorflow.facts.folding import engine_limits, large_engines
from floorflow.facts.links import Links
from floorflow.facts.memory import memories
from floorflow.facts.network import NetworkEntry
from floorflow.facts.next_steps import next_steps
from floorflow.facts.options import goal, preset_lines, room
from floorflow.facts.partition import fits
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.plan import Plan
from floorflow.facts.platform import host_lines
from floorflow.facts.power import power_lines
from floorflow.facts.proofs import gaps
from floorflow.facts.rates import balance_words, host_words, rates
from floorflow.facts.replicas import replicas, replicas_line
from floorflow.facts.run_times import run_times
from floorflow.facts.search import ended, price_of_order, tried
from floorflow.facts.text import gap_of, number, rate, table, wrapped

Lines = Callable[[Context], list[str]]


def report(views: Sequence[Context]) -> str:
    """Return the report's text of a plan by its phases."""
    plan = views[0].plan
    networks = " and ".join(network.name for network in plan.networks)
    title = f"{networks} on {plan.platform.name}, floorflow {plan.version}, seed {plan.seed}"
    body = [f"{heading}\n{'-' * len(heading)}\n" + "\n".join(lines) for heading, lines in _sections(views) if lines]
    return "\n\n".join(["\n".join([title, "=" * len(title), brief.summary(views, rest="below")]), *body]) + "\n"


def _sections(views: Sequence[Context]) -> Iterator[tuple[str, list[str]]]:
    """Yield headings and lines; with several phases their networks first, and the phase's name in each heading."""
    plan, several = views[0].plan, len(views) > 1
    yield "In figures", figures(plan)
    yield "What was read and assumed", _assumptions(views[0])
    yield "Power", power_lines(plan.power, plan.platform.fpgas)
    if several:
        yield "Networks and phases", _overview(plan)
        yield _TRIED, _tried(plan)
    for view in views:
        for heading, lines in SECTIONS:
            if not several:
                yield heading, lines(view)
            elif heading != _TRIED:
                yield f"{heading}, in {view.phase.name}", lines(view)


def _unless_shared(lines: Lines) -> Lines:
    """Return lines that are left out where networks share the memory: what sets rates there is said with it."""
    return lambda view: lines(view) if view.plan.memory_schedule is None else []


def _throughput(view: Context) -> list[str]:
    depths = view.backend.fifo_depths
    return view.by_network(lambda part: one_frame(part.estimates, part.interval_cycles, view.longer(part), depths))


def _targets(view: Context) -> list[str]:
    fps = {row.network: row.fps for row in view.plan.summary.networks}
    return targets.targets(view.plan.targets, view.plan.options.clock_mhz, fps)


def _longest(view: Context) -> list[str]:
    phase, count = view.phase, sum(each.slices for each in view.phase.channels)
    return channel.longest_streams(view.plan.longest_streams(phase), count, view.plan.options.clock_mhz, view.names)


def _bargains(view: Context) -> list[str]:
    plan = view.plan
    measured, caps = plan.calibration is not None, plan.options.cap.as_dict()
    return bargains(view.extras, plan.networks[0].search.interval_cycles, caps, measured=measured)


def _fits(view: Context) -> list[str]:
    available = {slot.name: slot.available for slot in view.plan.slots_in(view.phase)}
    told = _confidence(view.plan, view.phase)
    return [*wrapped([told] if told else []), *fits(view.phase.fits, available)]


def _constrained(view: Context) -> list[str]:
    plan, phase = view.plan, view.phase
    asked, fpgas = plan.options.constraint_style, plan.platform.fpgas
    return constraint.constrained(asked, fpgas, view.platform, phase.floorplan, phase.constraint_styles)


def _wishes(view: Context) -> list[str]:
    return partition.wishes(view.phase.partition.wishes, max(part.interval_cycles for part in view.phase.networks))


def _far_streams(view: Context) -> list[str]:
    if max(len(fpga.slots) for fpga in view.plan.platform.fpgas) < 3:
        return []
    built = view.plan.crossings_built(view.phase) and view.plan.build_ends
    return partition.far_streams(view.phase.partition.hops, view.plan.options.max_hops, view.names, built=built)


def _modules(view: Context) -> list[str]:
    phase, layers = view.phase, {}
    for each in phase.modules:
        layers[each.name] = [view.plan.layer_of(engine) or engine for engine in each.engines]
    return module.modules(phase.modules, phase.joined, phase.partition.assignment, phase.pblocks, layers)


def _run_times(view: Context) -> list[str]:
    plan = view.plan
    return run_times(view.phase, plan.fpga_of) if plan.options.backend_options.stitches else []


def _tried(plan: Plan) -> list[str]:
    """Return every interval that was tried for each network, and what ended its search."""
    clock_mhz, in_phases = plan.options.clock_mhz, len(plan.phases) > 1
    own = {each.name: tried(each.search, each.trace, clock_mhz, in_phases=in_phases) for each in plan.networks}
    if len(own) == 1:
        return own[plan.networks[0].name]
    return [line for name, lines in own.items() for line in (f"{name}:", *(f"  {line}" for line in lines))]


_TRIED = "What the search tried, and what ended it"
SECTIONS: Sequence[tuple[str, Lines]] = (
    ("How the memory is shared", lambda view: memory_schedule.sharing(view.plan.memory_schedule)),
    ("Rate", _unless_shared(rates)),
    (
        "Rate of the engines, if the memory never waits",
        lambda view: [] if view.plan.memory_schedule is None else rates(view),
    ),
    ("What each network gets", _targets),
    ("Copies", lambda view: replicas(view.plan.replicas)),
    ("Clock", _unless_shared(lambda view: view.by_network(lambda part: clocks(part.estimates)))),
    ("What makes it hard to close", lambda view: table(closing_rows(view.plan, view.phase), left=4)),
    ("Longest streams", _longest),
    ("What one frame takes", _throughput),
    (LESS_RATE, _bargains),
    ("How far from optimal", gaps),
    ("Fullness against crossings", lambda view: partition.evenness(view.phase.partition.evenness)),
    (_TRIED, lambda view: _tried(view.plan)),
    ("Use of each slot", lambda view: partition.slots(view.plan.options.cap.as_dict(), view.slots)),
    ("What wishes for slots cost", _wishes),
    (
        "Large engines",
        lambda view: wrapped(large_engines(view.phase.engines, view.plan.limits_lifted, view.phase.name)),
    ),
    (
        "Where large memories lie",
        lambda view: memories(
            view.phase.memories,
            view.phase.slot_of | view.phase.fifo_slot_of,
            view.slots,
            view.names,
        ),
    ),
    ("How likely it is to fit", _fits),
    ("What is constrained", _constrained),
    (
        "Streams between slots",
        lambda view: partition.crossings(view.phase.partition, view.platform.stream_wires, view.names),
    ),
    ("Streams over several SLR boundaries", _far_streams),
    (
        "Registers at SLR boundaries",
        lambda view: partition.at_boundaries(
            view.plan.registers_at_boundaries(view.phase), by_script=view.plan.platform.fpgas[0].crossing.slices
        ),
    ),
    ("SLR boundaries and links", lambda view: partition.loads(view.phase.partition)),
    ("Wires on each die", lambda view: routing(view.phase.floorplan)),
    ("What to try next", _unless_shared(lambda view: wrapped(next_steps(view)))),
    ("Modules", _modules),
    ("What Vivado takes for it", _run_times),
)
"""Heading and lines of each section of a phase, in order; one without lines is left out."""


def _assumptions(view: Context) -> list[str]:
    """Return what was read and assumed: networks, platform, request, limits."""
    plan, options, shared = view.plan, view.plan.options, view.plan.memory_schedule
    kept = ", kept" if options.keep_granularity else ""
    rest = f"granularity {options.granularity}{kept}, effort {options.effort}"
    fairness, with_bands = None if shared is None else shared.fairness, any(phase.bands for phase in plan.phases)
    return [
        *_networks(plan),
        f"platform   {plan.platform.boards}, --fpgas {options.fpgas}",
        f"asked for  {goal(options, fairness)} at {options.clock_mhz:g} MHz; {rest}",
        *preset_lines(options, view.platform.own_mhz),
        f"engines    {engine_limits(options)}",
        f"pblocks    {room(options, with_bands=with_bands)}",
        f"costs      {view.backend.cost_model(plan)}",
        *(f"fifos      {text}" for text in _fifos(plan)),
        *_measured(plan),
        *(
            f"taken      {item.name} in {item.slot}: {item.resources}"
            for item in plan.platform.infrastructure
            if str(item.resources)
        ),
        *host_lines(view.platform),
        *(f"link       {link}" for link in plan.platform.links),
    ]


def _fifos(plan: Plan) -> list[str]:
    """Tell whose FIFO depths a plan assumes, what the emitted build sets, and what they hold; nothing without any."""
    timed = [part.estimates.throughput for phase in plan.phases for part in phase.networks]
    known = all(found is not None and found.interval_cycles is not None for found in timed)
    whose = plan.options.backend_options.fifos_told(knows_depths=known)
    waiting = sum(phase.partition.waiting_bits for phase in plan.phases)
    return channel.fifos([each for phase in plan.phases for each in phase.channels], whose, waiting)


def _networks(plan: Plan) -> list[str]:
    files = ", ".join(f"{file.path} (sha256 {file.sha256[:12]})" for file in plan.inputs)
    if len(plan.networks) == 1:
        return [f"network    {files}: {plan.networks[0].counts}"]
    return [f"inputs     {files}", *(f"network    {network.name}: {network.counts}" for network in plan.networks)]


def _measured(plan: Plan) -> list[str]:
    """Tell what a build said instead of estimates, and how it corrects the others."""
    known = plan.calibration
    if known is None:
        return []
    factors = [f"{kind} {name} x{x:.2f}" for kind, by in known.factors.items() for name, x in by.items()]
    rest = f"; estimates corrected: {', '.join(factors)}" if factors else ""
    return [f"measured   {len(known.measured)} of {len(plan.engines)} engines (calibration.json){rest}"]


def _overview(plan: Plan) -> list[str]:
    """Return the rate of every network in the schedule, and what each phase takes of its period."""
    rows: list[tuple[str, ...]] = [
        ("network", "frames/s", "longest interval", "folding bound", "gap", "joint bound", "gap", "bottleneck")
    ]
    for entry in plan.summary.networks:
        interval, joint = entry.interval_cycles, entry.joint_bound_cycles
        folding_bound = number(entry.bound_cycles), gap_of(interval, entry.bound_cycles)
        joint_bound = ("-", "-") if joint is None else (number(joint), gap_of(interval, joint))
        rows.append((entry.network, rate(entry.fps), number(interval), *folding_bound, *joint_bound, entry.bottleneck))
    networks = {phase.name: ", ".join(part.network for part in phase.networks) for phase in plan.phases}
    return [*table(rows), *([] if plan.schedule is None else schedule.phase_by_phase(plan.schedule, networks))]


def figures(plan: Plan) -> list[str]:
    """Return what cannot be built, whole, then of each network and stage what was found with its bound, and notes."""
    lines = [*plan.unbuilt, *_unlikely(plan)]
    lines += [] if plan.replicas is None else [f"{plan.replicas.network}: {replicas_line(plan.replicas)}"]
    # All copies are alike.
    told = plan.networks if plan.replicas is None else plan.networks[:1]
    lines += [line for network in told for line in _of_network(plan, network)]
    lines += [] if plan.schedule is None else schedule.schedule_lines(plan.schedule)
    lines += [] if plan.memory_schedule is None else memory_schedule.memory_lines(plan.memory_schedule)
    for phase in plan.phases:
        lines += [*_running(plan, phase), *_of_phase(plan, phase)]
    lines += [f"  note: {warning}" for warning in plan.warnings if warning not in plan.unbuilt]
    return lines


def _of_network(plan: Plan, network: NetworkEntry) -> list[str]:
    """Return rate and bottleneck of a network, how far that is from the bound, and what ended its search."""
    parts, objective = plan.parts(network.name), plan.options.objective
    if plan.memory_schedule is not None:
        own, (_, part) = plan.memory_schedule.network(network.name), parts[0]
        return memory_schedule.network_lines(own, str(plan.platform), part.folding, part.estimates.fps)

    def in_each(label: str, text: Callable[[PhaseNetworkEntry], str]) -> list[str]:
        words = [(f"{phase.name}: " if len(plan.phases) > 1 else "", text(part)) for phase, part in parts]
        return [f"  {label:<10}{where}{each}" for where, each in words if each]

    share = targets.share_of(plan.targets, network.name)
    return [
        f"{network.name} on {plan.platform}: {_whole_rate(plan, network.name)}",
        *in_each("host", lambda part: host_words(plan, part)),
        *([f"  target    {share}"] if share else []),
        *([f"  interval  {network.search.bounds}"] if objective == "throughput" else []),
        *(in_each("latency", _latency) if objective == "latency" else []),
        f"            {ended(network.search, network.trace)}",
        *in_each("balance", lambda part: balance_words(plan, part)),
    ]


def _confidence(plan: Plan, phase: PhaseEntry) -> str:
    return partition.confidence_words(phase.confidence, plan.options.confidence_bound, plan.options.clock_mhz)


def _unlikely(plan: Plan) -> list[str]:
    """Return of each phase that no plan was found that is as likely to fit as is sought."""
    several = len(plan.phases) > 1
    return [
        f"less likely to fit than asked: {f'phase {phase.name}: ' if several else ''}{_confidence(plan, phase)}"
        for phase in plan.phases
        if phase.confidence is not None and not phase.confidence.held
    ]


def _latency(part: PhaseNetworkEntry) -> str:
    return f"{part.estimates.latency}; what was minimised: {part.folding.latency}"


def _whole_rate(plan: Plan, network: str) -> str:
    """Return a network's rate and bottleneck: with a schedule what comes of it there, and the phase that is slowest."""
    if plan.schedule is None or len(plan.phases) == 1:
        return _part_rate(plan, plan.parts(network)[0][1])
    found = next(entry for entry in plan.summary.networks if entry.network == network)
    where = plan.slowest_phase(network).name
    return f"{rate(found.fps)} frames/s over the schedule (bottleneck {plan.named(found.bottleneck)} in phase {where})"


def _part_rate(plan: Plan, part: PhaseNetworkEntry) -> str:
    interval, between = f"interval {part.interval_cycles:,} cycles", part.estimates.expected_cycles
    interval = f"one every {between:,} cycles, {interval}" if between != part.interval_cycles and between else interval
    interval = f"{interval} at {plan.summary.clock_mhz:g} MHz"
    phase = next(phase for phase in plan.phases if part in phase.networks)
    cycles, link = Links(plan.platform, phase).slowest(part, plan.summary.clock_mhz)
    over = f", over link {link} {rate(plan.summary.clock_mhz * 1e6 / cycles)} at most" if cycles else ""
    return f"{part.estimates.frames}{over} ({interval}, bottleneck {plan.named(part.estimates.bottleneck)})"


def _running(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return of one phase of several what each network reaches while it runs."""
    if len(plan.phases) == 1:
        return []
    own = [f"    {part.network} while it runs: {_part_rate(plan, part)}" for part in phase.networks]
    return [f"  phase {phase.name}: {', '.join(part.network for part in phase.networks)}", *own]


def _of_phase(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return where a phase is fullest, how its streams go over links, and what is hard to close."""
    hard = [f"  hard      {item}" for item in closing(plan, phase) if item.is_hard]
    return [
        f"  crossing  {phase.partition.counted}",
        *_fullness(plan, phase),
        *_order(plan, phase),
        *(hard or ["  closing   nothing beyond what is comfortable"]),
    ]


def _order(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Say which way streams go over links, and what the order of FPGAs costs each network; nothing on one FPGA."""
    fpgas = plan.platform.fpgas
    if len(fpgas) == 1:
        return []
    fpga_of = {slot.name: number for number, fpga in enumerate(fpgas) for slot in fpga.slots}
    links = [abs(fpga_of[link.source] - fpga_of[link.target]) for link in plan.platform.links]
    # The host's streams enter the first FPGA and leave the last: in a chain each link is passed.
    least = len(links) if links == [1] * (len(fpgas) - 1) else 1
    told, in_order = partition.order_of_fpgas(phase.partition, fpga_of, least)
    prices = [price_of_order(plan.network(part.network).search, in_order=in_order) for part in phase.networks]
    return [f"  order     {'; '.join(filter(None, [told, *prices]))}"]


def _fullness(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return the largest share of a limit, and below what it cannot be."""
    found, place = plan.summary.fullness, plan.fullest_in(phase)
    if found is None or not place:
        return []
    known = "" if found.bound is None else f"; {phase.partition.fullness.method}: {found.bound:.1%}"
    return [f"  fullest   {place}, {found.share:.1%} of its limit{known}"]
