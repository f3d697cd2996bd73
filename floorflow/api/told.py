"""A plan as a few lines for a person: what is printed by the command line, and by ``print(plan)``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from floorflow.errors import some
from floorflow.resources import RESOURCE_NAMES

if TYPE_CHECKING:
    from floorflow.facts import (
        EstimatesEntry,
        Extras,
        MemoryScheduleEntry,
        NetworkEntry,
        NetworkSummary,
        PhaseEntry,
        PhaseNetworkEntry,
        Plan,
        ScheduleEntry,
        SharingNetwork,
        Stats,
    )
    from floorflow.facts.resource_plan import ResourcePlan


Parts: TypeAlias = "Sequence[tuple[PhaseEntry, PhaseNetworkEntry]]"
"""The phases of a network, each with its part there."""


def told(plan: Plan) -> str:
    """Return what a user wants to see first: what cannot be built, then rate, bottleneck, fullness, every gap."""
    lines = list(plan.unbuilt)
    lines += [line for network in plan.networks for line in _network(plan, network)]
    if plan.schedule is not None:
        lines += _schedule(plan.schedule)
    if plan.memory_schedule is not None:
        lines += _memory(plan.memory_schedule)
    for phase in plan.phases:
        lines += [*_running(plan, phase), *_phase(plan, phase)]
    lines += _fifos(plan)
    lines += [f"  note: {warning}" for warning in plan.warnings if warning not in plan.unbuilt]
    return "\n".join(lines)


def told_beside(plan: Plan, extras: Extras) -> str:
    """Return what extras tell: what limits on single engines cost, the best bargain, what was left out."""
    from floorflow.emit.bargains import best_bargains, left_out
    from floorflow.emit.sparing import without_limits_told

    found = extras.without_limits
    lines = [f"  limits    {without_limits_told(plan, extras)}"] if found is not None and found.options else []
    lines += [f"  bargain   {line}" for line in best_bargains(extras)]
    return "\n".join([*lines, *(f"  note: {line}" for line in left_out(extras))])


def next_steps(plan: Plan, files: Collection[str], folder: Path) -> list[str]:
    """Return what to do with the files of the first phase that were written to a folder: the back end's, Vivado's."""
    from floorflow.backends.backend import backend_named

    own = plan.phase_folder(0)
    first = backend_named(plan.options.backend).next_step(plan, 0, folder / own)
    scripts = sorted(name for name in files if name.startswith(own) and name.endswith("/pblocks.tcl"))
    return [*([first] if first else []), *(f"Vivado: source {folder / name}" for name in scripts[:1])]


def _network(plan: Plan, network: NetworkEntry) -> list[str]:
    """Tell rate and bottleneck of a network, how far that is from the bound, and what ended its search."""
    found = next(entry for entry in plan.summary.networks if entry.network == network.name)
    parts = plan.parts(network.name)
    if plan.memory_schedule is not None:
        return _sharing(plan, plan.memory_schedule.network(network.name), parts[0][1])
    lines = [f"{network.name} on {_boards(plan)}: {_whole_rate(plan, found, parts)}"]
    lines += [f"  host      {_in_phase(plan, phase)}{host}" for phase, part in parts if (host := _host(plan, part))]
    lines += [f"  target    {told}"] if (told := _target(plan, network.name)) else []
    if plan.options.objective == "throughput":
        lines.append(f"  interval  {_bounds(found)}")
    if plan.options.objective == "latency":
        lines += [f"  latency   {_in_phase(plan, phase)}{_latency(part)}" for phase, part in parts]
    lines.append(f"            {network.search.ended_by}")
    lines += [f"  clock     {_in_phase(plan, phase)}{_clocks(part)}" for phase, part in parts]
    return [*lines, *(f"  balance   {_in_phase(plan, phase)}{text}" for phase, text in _balances(plan, parts))]


def _sharing(plan: Plan, own: SharingNetwork, part: PhaseNetworkEntry) -> list[str]:
    """Tell what a network reaches at a memory that it shares, and what would stand in its place."""
    from floorflow.emit.tables import rate

    asked = f"{own.fps / own.target_fps:.0%} of its target of {rate(own.target_fps)}"
    lines = [f"{own.network} on {_boards(plan)}: {rate(own.fps)} frames/s, {asked}{', starved' * own.starved}"]
    (engine,) = part.folding.engines.values()
    width = ", ".join(f"{name} {value}" for name, value in engine.attributes.items())
    alone = f"{rate(own.alone_fps)} alone on the platform, {rate(own.unaware_fps)} without a schedule (simulated)"
    return [*lines, f"  engine    {width}: {rate(part.estimates.fps)} with a memory that never waits; {alone}"]


def _memory(shared: MemoryScheduleEntry) -> list[str]:
    """Tell of the memory's schedule: its period, what is proven of it and of the engines, and the error."""
    counts = ", ".join(f"{own.repetitions} {own.network}" for own in shared.networks)
    carried = f"{shared.bandwidth_gbs:.4g} of {shared.memory_gbs:g} GB/s planned with"
    error = f"{shared.error:.4g} ({shared.fairness}), no engines with any schedule are below {shared.error_bound:.4g}"
    room = "" if shared.limits_share == 1 else f" within {shared.limits_share:.0%} of the limits"
    lowest = "" if shared.schedule.bound is None else f", bound {shared.schedule.bound / 1000:,.3f} ms"
    return [
        f"  memory    period {shared.period_us / 1000:,.3f} ms for frames: {counts}; {carried}",
        f"            schedule {_stats(shared.schedule)}{lowest}; rounds of {shared.slots_total} slots",
        f"  error     {error}; engines with constant shares{room}: {_stats(shared.choice)}",
    ]


def _target(plan: Plan, network: str) -> str:
    """Tell what one of several networks gets of its target."""
    from floorflow.emit.report.targets import share_told

    return share_told(plan, network)


def _host(plan: Plan, part: PhaseNetworkEntry) -> str:
    from floorflow.emit.sparing import host_told

    return host_told(plan, part)


def _clocks(part: PhaseNetworkEntry) -> str:
    """Tell that the clock is assumed, and what the rate would be at others."""
    from floorflow.emit.closing import assumed_clock, clock_rates
    from floorflow.emit.tables import rate

    rates = [f"{rate(fps)} at {mhz:g}" for mhz, fps in clock_rates(part.estimates)]
    return f"{assumed_clock(part)}; frames/s: {', '.join(rates)}"


def _balances(plan: Plan, parts: Parts) -> list[tuple[PhaseEntry, str]]:
    """Tell how rates are balanced and what that costs, in each phase; nothing where they are not."""
    from floorflow.emit.balance import balance

    told = ((phase, balance(plan, part)) for phase, part in parts)
    return [(phase, text) for phase, text in told if text]


def _bounds(found: NetworkSummary) -> str:
    """Tell the folding bound and, where it is known, the joint bound, each with the distance of the interval."""
    from floorflow.emit.tables import gap_of

    folding = f"bound {found.bound_cycles:,} cycles, gap {found.gap:.1%}"
    joint = found.joint_bound_cycles
    if joint is None:
        return folding
    return f"folding {folding}; joint bound {joint:,} cycles, gap {gap_of(found.interval_cycles, joint)}"


def _whole_rate(plan: Plan, found: NetworkSummary, parts: Parts) -> str:
    """Tell a network's rate and bottleneck: with a schedule what comes of it there, and the phase that is slowest."""
    if plan.schedule is None or len(plan.phases) == 1:
        return _part_rate(plan, parts[0][1])
    from floorflow.emit.tables import rate

    where = slowest_phase(parts).name
    return f"{rate(found.fps)} frames/s over the schedule (bottleneck {found.bottleneck} in phase {where})"


def slowest_phase(parts: Parts) -> PhaseEntry:
    """Return the phase in which a network's interval is longest, the first of equal ones: its bottleneck is there."""
    return max(parts, key=lambda pair: pair[1].interval_cycles)[0]


def summary(plan: Plan) -> dict[str, Any]:
    """Return plan.json's summary, with rates by phase and by clock, the schedule, and what is hard to close."""
    from floorflow.emit.closing import clock_rates, closing

    figures = plan.summary.model_dump()
    for entry in figures["networks"]:
        parts = plan.parts(entry["network"])
        entry["bottleneck_phase"] = slowest_phase(parts).name
        entry["phases"] = [
            {"phase": phase.name, "fps": part.estimates.fps, "interval_cycles": part.interval_cycles}
            for phase, part in parts
        ]
        entry["clocks"] = [
            {"phase": phase.name, "clock_mhz": mhz, "fps": fps}
            for phase, part in parts
            for mhz, fps in clock_rates(part.estimates)
        ]
    figures["closing"] = [
        {"phase": phase.name, **asdict(item)} for phase in plan.phases for item in closing(plan, phase)
    ]
    figures["longest"] = [
        {"phase": phase.name, "fpga": fpga, **row.model_dump(), "slices_built": phase.slices_built}
        for phase in plan.phases
        for fpga, floorplan in phase.floorplan.items()
        for row in floorplan.longest
    ]
    return {**figures, "schedule": None if plan.schedule is None else _period(plan.schedule)}


def _period(schedule: ScheduleEntry) -> dict[str, Any]:
    return {"batch": schedule.batch, "period_us": schedule.period_us, "loading_share": schedule.loading_share}


def _part_rate(plan: Plan, part: PhaseNetworkEntry) -> str:
    interval = f"interval {part.interval_cycles:,} cycles at {plan.summary.clock_mhz:g} MHz"
    return f"{_rate(part.estimates)} ({interval}, bottleneck {part.estimates.bottleneck})"


def _schedule(schedule: ScheduleEntry) -> list[str]:
    """Tell how long a batch takes in all phases, how much of that goes into loading them, and what is proven of it."""
    batch = f"batch {schedule.batch:,} frame{'s' * (schedule.batch != 1)}"
    loading = f"loading takes {schedule.loading_share:.1%} of the time"
    lines = [f"  schedule  {batch}, period {schedule.period_us / 1000:,.3f} ms, {loading}"]
    if schedule.stats is None:
        return lines
    if schedule.stats.bound is not None:
        lines[0] += f"; {schedule.stats.status}, bound {schedule.stats.bound / 1000:,.3f} ms"
    alone = "one partition alone: " + (
        "proven not to fit" if schedule.alone_us is None else f"{schedule.alone_us / 1000:,.3f} ms at least"
    )
    lines.append(f"            {alone}{_again(schedule)}")
    return lines


def _again(schedule: ScheduleEntry) -> str:
    """Tell what batch after batch comes to, for which the first phase is loaded again."""
    if not schedule.reload_us:
        return ""
    from floorflow.emit.tables import rate

    us = schedule.period_us + schedule.reload_us
    return f"; batch after batch, the first phase loaded again: {rate(schedule.batch * 1e6 / us)} frames/s"


def told_of_resources(plan: ResourcePlan) -> str:
    """Return the same of a network on a platform of resources alone: rate, what is proven, how full partitions are."""
    from floorflow.emit.tables import rate

    stats, count = plan.stats, len(plan.partitions)
    slowest = max(plan.partitions, key=lambda part: part.interval_cycles)
    bottleneck = next(name for name, each in slowest.engines.items() if each.cycles == slowest.interval_cycles)
    interval = f"interval {slowest.interval_cycles:,} cycles at {plan.options.clock_mhz:g} MHz"
    lines = [f"{plan.network.name} on {plan.platform.name}: {rate(plan.fps)} frames/s ({interval}, {bottleneck})"]
    batch = f"batch {plan.batch:,} frame{'s' * (plan.batch != 1)}, period {plan.period_us / 1000:,.3f} ms"
    bound = "" if stats.bound is None else f", bound {stats.bound / 1000:,.3f} ms, gap {stats.gap or 0:.1%}"
    lines.append(f"  schedule  {batch}; {count} partition{'s' * (count != 1)}, {stats.status}{bound}")
    if plan.reload_us:
        again = plan.batch * 1e6 / (plan.period_us + plan.reload_us)
        lines.append(f"            batch after batch, the first phase loaded again: {rate(again)} frames/s")
    for part in plan.partitions:
        used = [f"{name} {share:.0%}" for name, share in part.shares.items() if share]
        times = f"load {part.load_us / 1000:,.3f} ms, run {part.run_us / 1000:,.3f} ms"
        lines.append(f"  {part.name}        {part.interval_cycles:,} cycles, {times}; {', '.join(used)}")
    lines.append("  placement none: of the platform its resources alone are known")
    return "\n".join([*lines, *(f"  note: {warning}" for warning in plan.warnings)])


def _running(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Tell of one phase of several what each network reaches while it runs."""
    if len(plan.phases) == 1:
        return []
    rates = [f"    {part.network} while it runs: {_part_rate(plan, part)}" for part in phase.networks]
    return [f"  phase {phase.name}: {', '.join(part.network for part in phase.networks)}", *rates]


def _in_phase(plan: Plan, phase: PhaseEntry) -> str:
    return f"{phase.name}: " if len(plan.phases) > 1 else ""


def _phase(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Tell of each stage how good its answer is, and how full the slots are."""
    several = len(plan.networks) > 1
    folded = phase.networks if plan.memory_schedule is None else ()  # there all are chosen together
    lines = [f"  folding   {f'{part.network}: ' if several else ''}{_stats(part.folding.stats)}" for part in folded]
    lines += _fullness(plan, phase)
    lines.append(f"  partition {_stats(phase.partition.stats)}; {_crossings(phase)}")
    lines += [
        f"  placement {_stats(floorplan.stats)}; {len(floorplan.pblocks)} pblocks, HPWL {floorplan.hpwl:,.0f}"
        for floorplan in phase.floorplan.values()
    ]
    lines.append(f"  pblocks   {_pblocks(phase)}")
    caps = plan.options.cap.model_dump()
    for slot, shares in phase.partition.utilisation.items():
        used = [f"{name} {shares[name]:.0%} of {caps[name]:.0%}" for name in RESOURCE_NAMES if shares[name] > 0]
        lines.append(f"  {slot}  {', '.join(used) or 'empty'}")
    return [*lines, *_streams(plan, phase), *_hard(plan, phase)]


def _fifos(plan: Plan) -> list[str]:
    """Tell whose FIFO depths the plan assumes."""
    from floorflow.emit.report.assumptions import fifos_told

    return [f"  fifos     {text}" for text in fifos_told(plan)]


def _streams(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Tell of the longest streams."""
    from floorflow.emit.long_streams import summarised

    return [f"  longest   {text}" for text in summarised(plan, phase)]


def _hard(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Tell what makes a phase hard to close, each with what would be comfortable."""
    from floorflow.emit.closing import closing

    hard = [str(item) for item in closing(plan, phase) if item.is_hard]
    return [f"  hard      {text}" for text in hard] or ["  closing   nothing beyond what is comfortable"]


def _pblocks(phase: PhaseEntry) -> str:
    """Tell what is constrained, and the pblock that is least likely to hold its module."""
    from floorflow.emit.constraints import STYLE_WORDS
    from floorflow.emit.report.area import least_likely

    styles = phase.constraint_styles
    used = {slot: style for slot, style in styles.items() if slot in phase.partition.assignment.values()}
    told = [
        f"{STYLE_WORDS[style]} ({some([s for s in used if used[s] == style])})" for style in sorted({*used.values()})
    ]
    likely, short = (
        least_likely(phase),
        sum(e.short for held in phase.floorplan.values() for e in held.pblocks.values()),
    )
    told += [f"{short} short of room"] if short else []
    return "; ".join([f"constrained: {', '.join(told)}", *([f"least likely to fit: {likely}"] if likely else [])])


def _fullness(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Tell the largest share of a limit, and below what it cannot be."""
    found = plan.summary.fullness
    if found is None or found.phase != phase.name:
        return []
    known = "" if found.bound is None else f"; {phase.partition.fullness.method}: {found.bound:.1%}"
    return [f"  fullness  {found.share:.1%} of its cap, {found.resource} of {found.slot}{known}"]


def _rate(estimates: EstimatesEntry) -> str:
    """Tell the frame rate: where the planned FIFOs do not allow that of the engines, what they keep."""
    from floorflow.emit.tables import rate

    engines = f"{rate(estimates.fps)} frames/s"
    if estimates.throughput is None or not estimates.throughput.loses_rate:
        return engines
    if estimates.throughput.deadlock:
        return f"no frames, the planned FIFOs deadlock; {engines} by the engines alone"
    if estimates.sustained_fps is None:
        return f"sustained rate not known, FIFOs are too shallow; {engines} by the engines alone"
    return f"{rate(estimates.sustained_fps)} frames/s with the planned FIFOs; {engines} by the engines alone"


def _latency(part: PhaseNetworkEntry) -> str:
    """Tell the latency, and the bound on its cycles."""
    cycles, bound = part.folding.stats.objective, part.folding.whole_budget_bound
    known = "" if bound is None or not cycles else f", bound {bound:,.0f}, gap {max(0.0, cycles - bound) / cycles:.1%}"
    return f"{part.estimates.latency_us:,.1f} us: {cycles or 0:,.0f} cycles along the longest path{known}"


def _boards(plan: Plan) -> str:
    """Return ``alveo-u250`` or ``2 x alveo-u250``; a platform that a file describes by its name alone."""
    count, name = len(plan.platform.fpgas), plan.platform.name
    return name if count == 1 or name != plan.platform.fpgas[0].board else f"{count} x {name}"


def _crossings(phase: PhaseEntry) -> str:
    kinds = [crossing.kind for crossing in phase.partition.crossings]
    links = f", {kinds.count('link')} over links" if "link" in kinds else ""
    return f"{kinds.count('sll')} SLR crossings{links}"


def _stats(stats: Stats) -> str:
    gap = "gap unknown" if stats.gap is None else f"gap {stats.gap:.1%}"
    return f"{stats.status} ({stats.method}, {gap})"
