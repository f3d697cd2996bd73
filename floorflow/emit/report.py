"""report.txt: what an engineer wants to know before spending a week of Vivado time, as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from textwrap import wrap

from floorflow.emit.next_steps import next_steps
from floorflow.emit.tables import number, rate, table
from floorflow.emit.use import SlotUse, share, slot_uses, width_of
from floorflow.hardware import Platform, stream_wires
from floorflow.resources import RESOURCE_NAMES, Fractions
from floorflow.schema import (
    Amounts,
    ChannelEntry,
    EstimatesEntry,
    InfrastructureEntry,
    Options,
    PhaseEntry,
    Plan,
    Stats,
    ThroughputEntry,
)
from floorflow.text.lists import some

_WIDTH = 120
_COSTS = {
    "calibrated": "floorflow's estimates, fitted to real builds (docs/cost-model.md)",
    "estimated": "floorflow's estimates from structure (docs/cost-model.md)",
    "finn": "FINN's own estimates",
}


def _costs(options: Options) -> str:
    """Return what the cost model of the back end is called."""
    name = str(options.backend_options.model_dump().get("costs", options.backend))
    return _COSTS.get(name, name)


def report(plan: Plan, platform: Platform) -> str:
    """Return the report's text."""
    phase, slots = plan.phases[0], slot_uses(plan, platform)
    sections = [
        ("What was read and assumed", _read(plan)),
        ("Rate", _rate(plan, phase)),
        ("What one frame takes", _throughput(phase)),
        ("How far from optimal", _gaps(plan, phase)),
        ("What the search tried, and what ended it", _tried(plan)),
        ("Use of each slot", _slots(plan, slots)),
        ("How likely it is to fit", _fits(plan)),
        ("Streams between slots", _crossings(phase)),
        ("SLR boundaries and links", _loads(phase)),
        ("What to try next", _wrapped(next_steps(plan, platform, slots))),
        ("Modules", _modules(phase)),
    ]
    title = f"{plan.networks[0].name} on {plan.platform.name}, floorflow {plan.version}, seed {plan.seed}"
    body = [f"{heading}\n{'-' * len(heading)}\n" + "\n".join(lines) for heading, lines in sections if lines]
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *body]) + "\n"


def _read(plan: Plan) -> list[str]:
    network, options, fpga = plan.networks[0], plan.options, plan.platform.fpgas[0]
    macs = sum(operation.macs for operation in network.operations)
    files = ", ".join(f"{file.path} (sha256 {file.sha256[:12]})" for file in plan.inputs)
    kept = ", kept" if options.keep_granularity else ""
    counts = f"{len(network.operations)} operations, {macs:,} MACs a frame, {len(network.engines)} engines"
    rest = f"granularity {options.granularity}{kept}, effort {options.effort}"
    lines = [
        f"network    {files}: {counts}",
        f"platform   {len(plan.platform.fpgas)} x {fpga.board} ({fpga.part}), --fpgas {options.fpgas}",
        f"asked for  {_asked(options)} at {options.clock_mhz:g} MHz; {rest}",
        f"limits     cap {_fractions(options.cap)}; fill of pblocks {_fractions(options.fill)}",
        f"costs      {_costs(options)}",
        *_measured(plan),
    ]
    lines += [f"taken      {item.name} in {item.slot}: {_amounts(item.resources)}" for item in _infrastructure(plan)]
    for link in plan.platform.links:
        assumed = " (assumed)" if link.assumed else ""
        lines.append(
            f"link       {link.name}: {link.kind}, {link.gbps:g} Gb/s each way, {link.latency_us:g} us{assumed}"
        )
    return [*lines, *_wrapped(plan.warnings)]


def _measured(plan: Plan) -> list[str]:
    """Tell what a build said instead of estimates, and how it corrects the others."""
    known = plan.calibration
    if known is None:
        return []
    factors = [f"{kind} {name} x{x:.2f}" for kind, by in known.factors.items() for name, x in by.items()]
    rest = f"; estimates corrected: {', '.join(factors)}" if factors else ""
    return [f"measured   {len(known.measured)} of {len(plan.networks[0].engines)} engines (calibration.json){rest}"]


def _asked(options: Options) -> str:
    wanted = {"throughput": "the highest rate", "latency": "the lowest latency", "resources": "the least resources"}
    what = wanted[options.objective]
    if options.fps is None:
        return what
    return f"{what} at {options.fps:,g} frames/s{' or more' if options.objective == 'latency' else ''}"


def _wrapped(sentences: Sequence[str]) -> list[str]:
    """Return each sentence as an item of a list, over several lines if it is long."""
    items = (wrap(s, _WIDTH, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False) for s in sentences)
    return [line for item in items for line in item]


def _infrastructure(plan: Plan) -> list[InfrastructureEntry]:
    return [item for item in plan.platform.infrastructure if any(item.resources.model_dump().values())]


def _fractions(shares: Fractions) -> str:
    return ", ".join(f"{name} {value:.0%}" for name, value in shares.model_dump().items())


def _amounts(amounts: Amounts) -> str:
    return ", ".join(f"{amount:,} {name}" for name, amount in amounts.model_dump().items() if amount)


def _rate(plan: Plan, phase: PhaseEntry) -> list[str]:
    e = phase.estimates
    asked = "" if plan.options.fps is None else f" ({plan.options.fps:,g} were asked for)"
    engines = f"{floor(e.fps * 10) / 10:,.1f} frames/s{asked}: one frame every {e.cycles:,} cycles"
    lines = [*_lost(e), f"{engines} at {e.clock_mhz:g} MHz"]
    # Rough figures, for plans whose FIFOs were not analysed.
    analysed = e.throughput is not None and e.throughput.first_frame_cycles is not None and not e.throughput.shallow
    if not analysed:
        lines.append(f"latency at most {e.latency_us:,.1f} us (every engine in turn; streaming overlaps them)")
    folded = phase.folding.engines
    slowest = [engine for engine in plan.networks[0].engines if folded[engine.name].cycles == e.cycles]
    widths = [(engine.name, str(width_of(engine, folded[engine.name]))) for engine in slowest]
    if not analysed and e.expected_cycles and e.expected_cycles > e.cycles:
        more = f"{e.expected_cycles / e.cycles - 1:.1%}"
        lines.append(f"with small FIFOs expect {e.expected_cycles:,} cycles ({more} more): windows and HLS start anew")
    lines.append("bottleneck: " + some([f"{name} ({width})" if width else name for name, width in widths]))
    others = [entry.cycles for entry in folded.values() if entry.cycles < e.cycles]
    if others:
        behind = [name for name, entry in folded.items() if entry.cycles == max(others)]
        lines.append(f"next slowest: {some(behind)} with {max(others):,} cycles")
    return [*lines, *(_host_stream(channel, e.fps) for channel in phase.channels if _at_host(channel))]


def _lost(e: EstimatesEntry) -> list[str]:
    """Return what is kept of the rate where the planned FIFOs do not allow that of the engines."""
    if e.throughput is None or not e.throughput.loses_rate:
        return []
    kept = "the sustained rate is not known"
    if e.throughput.deadlock:
        kept = "no frame ever ends"
    elif e.sustained_fps is not None:
        kept = f"{floor(e.sustained_fps * 10) / 10:,.1f} frames/s are sustained"
    return [f"{kept} with the planned FIFOs, which do not allow the rate of the engines:"]


def _throughput(phase: PhaseEntry) -> list[str]:
    """Return latency and sustained rate with the planned FIFOs; what is too shallow, and what to do."""
    e, found = phase.estimates, phase.estimates.throughput
    if found is None:
        return []
    lines = []
    if found.first_word_cycles is not None and found.first_frame_cycles is not None:
        first, whole = found.first_word_cycles / e.clock_mhz, found.first_frame_cycles / e.clock_mhz
        lines.append(
            f"latency {whole:,.1f} us ({found.first_frame_cycles:,} cycles) from an empty pipeline; "
            f"the first word comes out after {first:,.1f} us"
        )
    if found.interval_cycles is not None:
        fps = floor(e.clock_mhz * 1e7 / found.interval_cycles) / 10
        # Bursts are taken not to stall midway, so that shallow FIFOs cost no more than this.
        most = " at most" if found.shallow else ""
        cycles = f"one every {found.interval_cycles:,} cycles{most} with the planned FIFOs"
        lines.append(f"sustained {fps:,.1f} frames/s: {cycles}")
    if found.interval_cycles is not None and found.interval_cycles > e.cycles:
        lines.append(
            f"that is {found.interval_cycles / e.cycles - 1:.1%} longer than the estimate above, {_why(found)}"
        )
    if found.deadlock:
        lines += _wrapped([f"deadlock: {some(found.deadlock)} stop each other"])
    if found.shallow:
        lines.append("FIFOs too shallow for the full rate; give them the depth needed (FINN: inFIFODepths):")
        rows = [
            ("channel", "planned", "needed"),
            *((s.channel, f"{s.planned:,}", f"{s.needed:,}") for s in found.shallow),
        ]
        lines += table(rows)
    elif found.interval_cycles is not None:
        lines.append("every FIFO is deep enough for the full rate; none can deadlock")
    if found.not_analysed:
        lines += _wrapped([f"not analysed: {found.not_analysed}"])
    return lines


def _why(found: ThroughputEntry) -> str:
    if found.interval_cycles == found.full_rate_cycles:
        return "which leaves out how windows start"
    return "since FIFOs are too shallow"


def _at_host(channel: ChannelEntry) -> bool:
    return "host:" in channel.source + channel.target


def _host_stream(channel: ChannelEntry, fps: float) -> str:
    gbps = channel.words_per_frame * channel.width_bits * fps / 1e9
    return f"{channel.name}: {channel.width_bits:,} bits a word, {gbps:.3g} Gb/s"


def _gaps(plan: Plan, phase: PhaseEntry) -> list[str]:
    search, objective = plan.search, plan.options.objective
    status = "optimal" if search.interval_cycles == search.bound_cycles else "feasible"
    bound = "cycles; bound: the folding optimum under the summed limits"
    interval = (number(search.interval_cycles), number(search.bound_cycles), f"{search.gap:.1%}", bound)
    rows: list[tuple[str, ...]] = [("", "status", "found", "bound", "gap", "what, and by which method")]
    if objective == "throughput":
        rows.append(("interval", status, *interval))
    rows.append(
        ("folding", *_stats(phase.folding.stats, "latency in cycles" if objective == "latency" else "scarcity"))
    )
    found, whole = phase.folding.stats.objective, phase.folding.whole_budget_bound
    if objective == "latency" and found and whole is not None:
        status, gap = ("optimal", 0.0) if found <= whole else ("feasible", (found - whole) / found)
        what = "cycles; bound: the folding optimum under the summed limits"
        rows.append(("latency", status, number(found), number(whole), f"{gap:.1%}", what))
    rows.append(("partition", *_stats(phase.partition.stats, "wires x boundaries, a link counts 10")))
    for fpga, floorplan in phase.floorplan.items():
        if floorplan.pblocks:
            rows.append((f"placement of {fpga}", *_stats(floorplan.stats, "HPWL")))
        else:
            rows.append((f"placement of {fpga}", "empty", "-", "-", "-", "no module lies here"))
    return table(rows, left=2)


def _stats(stats: Stats, what: str) -> tuple[str, ...]:
    gap = "unknown" if stats.gap is None else f"{stats.gap:.1%}"
    return stats.status, number(stats.objective), number(stats.bound), gap, f"{what}; {stats.method}"


def _tried(plan: Plan) -> list[str]:
    clock_hz = plan.options.clock_mhz * 1e6
    rows = [("interval", "frames/s", "verdict", "stage", "")]
    rows += [
        (f"{row.interval_cycles:,}", rate(clock_hz / row.interval_cycles), row.verdict, row.stage, row.detail)
        for row in plan.trace
    ]
    return [f"ended by: {plan.search.ended_by}", *table(rows, left=0)]


def _slots(plan: Plan, slots: Sequence[SlotUse]) -> list[str]:
    utilisation, caps = plan.phases[0].partition.utilisation, plan.options.cap.model_dump()
    rows: list[tuple[str, ...]] = [("of what is available", *RESOURCE_NAMES, "fullest, of its limit")]
    for slot in slots:
        shares = utilisation[slot.name]
        rows.append((slot.name, *(f"{shares[r]:.0%}" for r in RESOURCE_NAMES), _fullest(slot)))
    return table([*rows, ("allowed", *(f"{caps[r]:.0%}" for r in RESOURCE_NAMES), "")])


def _fullest(slot: SlotUse) -> str:
    used, name = slot.fullest
    if not used:
        return "empty"
    return f"{name}: {slot.demand.as_dict()[name]:,} of {slot.limit.as_dict()[name]:,} ({used:.0%})"


def _fits(plan: Plan) -> list[str]:
    """Return the least likely slot and what each may need; nothing where the cost model knows no error."""
    fits = {name: fit for name, fit in plan.phases[0].estimates.fits.items() if any(fit.high.model_dump().values())}
    if not fits:
        return []
    worst = min(fits, key=lambda name: fits[name].likelihood)
    have = {slot.name: slot.available.model_dump() for fpga in plan.platform.fpgas for slot in fpga.slots}
    rows: list[tuple[str, ...]] = [("eight of ten lie in", "likely to fit", *RESOURCE_NAMES)]
    for name, fit in fits.items():
        low, high = fit.low.model_dump(), fit.high.model_dump()
        spans = [_span(low[r], high[r], have[name][r]) for r in RESOURCE_NAMES]
        rows.append((name, f"{fit.likelihood:.1%}", *spans))
    whole = f"the whole design fits with a likelihood of {fits[worst].likelihood:.1%}, that of {worst}"
    return [*_wrapped([f"{whole}; shares are of what is available in the slot"]), *table(rows)]


def _span(low: int, high: int, have: int) -> str:
    return f"{low / have:.0%} to {high / have:.0%}" if have else "-"


def _crossings(phase: PhaseEntry) -> list[str]:
    rows = [("from", "to", "kind", "bits", "wires", "Gb/s", "channel")]
    for c in phase.partition.crossings:
        wires = f"{stream_wires(c.width_bits):,}" if c.kind == "sll" else ""
        rows.append((c.source, c.target, c.kind, f"{c.width_bits:,}", wires, f"{c.gbps:.3g}", c.channel))
    none = ["none: every module lies in the same slot as its neighbours"]
    return table(rows, left=2) if phase.partition.crossings else none


def _loads(phase: PhaseEntry) -> list[str]:
    units = {"sll": "SLL wires", "link": "Gb/s"}
    rows = [("boundary or link", "used", "of", "share", "")]
    rows += [
        (load.name, number(load.use), number(load.capacity), f"{share(load):.1%}", units[load.kind])
        for load in phase.partition.loads
    ]
    return table(rows) if phase.partition.loads else []


def _modules(phase: PhaseEntry) -> list[str]:
    rows: list[tuple[str, ...]] = [("module", "slot", *RESOURCE_NAMES, "engines")]
    for module in phase.modules:
        amounts = module.resources.model_dump()
        slot = phase.partition.assignment[module.name]
        rows.append((module.name, slot, *(f"{amounts[r]:,}" for r in RESOURCE_NAMES), str(len(module.engines))))
    return table(rows, left=2)
