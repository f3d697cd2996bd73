"""What every network of a phase reaches: its rate, what sets it, and what one frame takes."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from floorflow.emit.backend import PlanBackend
from floorflow.emit.balance import balance
from floorflow.emit.sparing import host_could, host_told
from floorflow.emit.tables import table, wrapped
from floorflow.emit.use import width_of
from floorflow.errors import some
from floorflow.facts import ChannelEntry, EstimatesEntry, PhaseEntry, PhaseNetworkEntry, Plan, ThroughputEntry


def by_network(plan: Plan, phase: PhaseEntry, lines: Callable[[PhaseNetworkEntry], list[str]]) -> list[str]:
    """Return the lines of each network in a phase, under its name if the plan has several."""
    if len(plan.networks) == 1:
        return lines(phase.networks[0])
    told = {part.network: lines(part) for part in phase.networks}
    return [line for name, own in told.items() if own for line in (f"{name}:", *(f"  {line}" for line in own))]


def rates(plan: Plan, phase: PhaseEntry, backend: PlanBackend) -> list[str]:
    """Return rate, bottleneck and outside streams of each network."""
    return by_network(plan, phase, lambda part: _rate(plan, phase, part, backend))


def throughput(plan: Plan, phase: PhaseEntry, backend: PlanBackend) -> list[str]:
    """Return latency and sustained rate of each network with the planned FIFOs; what is too shallow, and what to do."""
    return by_network(plan, phase, lambda part: _throughput(part, backend))


def _rate(plan: Plan, phase: PhaseEntry, part: PhaseNetworkEntry, backend: PlanBackend) -> list[str]:
    e, interval = part.estimates, part.interval_cycles
    asked = "" if plan.options.fps is None else f" ({plan.options.fps:,g} were asked for)"
    engines = f"{floor(e.fps * 10) / 10:,.1f} frames/s{asked}: one frame every {interval:,} cycles"
    host = wrapped(filter(None, (host_told(plan, part), host_could(plan, part))))
    lines = [*host, *_lost(e), f"{engines} at {e.clock_mhz:g} MHz"]
    # Rough figures, for plans whose FIFOs were not analysed.
    analysed = e.throughput is not None and e.throughput.first_frame_cycles is not None and not e.throughput.shallow
    if not analysed:
        lines.append(f"latency at most {e.latency_us:,.1f} us (every engine in turn; streaming overlaps them)")
    if not analysed and e.expected_cycles and e.expected_cycles > interval:
        more = f"{e.expected_cycles / interval - 1:.1%}"
        lines.append(f"with small FIFOs expect {e.expected_cycles:,} cycles ({more} more): {backend.start_ups}")
    if analysed and e.expected_cycles and e.expected_cycles > interval:
        kept = (
            f"{floor(e.clock_mhz * 1e7 / e.expected_cycles) / 10:,.1f} frames/s, one every {e.expected_cycles:,} cycles"
        )
        lines.append(f"believe {kept}: {backend.start_ups} each frame, which the cycles of an engine leave out")
    lines += _slowest(plan, part)
    balanced = balance(plan, part)
    lines += [f"balance: {balanced}"] if balanced else []
    return [*lines, *(_outside_stream(c, e.fps) for c in _outside(phase, part))]


def _slowest(plan: Plan, part: PhaseNetworkEntry) -> list[str]:
    """Return which engines set the interval, and which come next."""
    folded = part.folding.engines
    slowest = [name for name in plan.engines if name in folded and folded[name].cycles == part.interval_cycles]
    widths = [(name, str(width_of(folded[name]))) for name in slowest]
    lines = ["bottleneck: " + some([f"{name} ({width})" if width else name for name, width in widths])]
    others = [entry.cycles for entry in folded.values() if entry.cycles < part.interval_cycles]
    if others:
        behind = [name for name, entry in folded.items() if entry.cycles == max(others)]
        lines.append(f"next slowest: {some(behind)} with {max(others):,} cycles")
    return lines


def _outside(phase: PhaseEntry, part: PhaseNetworkEntry) -> list[ChannelEntry]:
    """Return the channels of a network that enter or leave the phase."""
    mine = part.folding.engines
    return [c for c in phase.channels if (c.source in mine) != (c.target in mine)]


def _outside_stream(channel: ChannelEntry, fps: float) -> str:
    gbps = channel.bits_per_frame * fps / 1e9
    return f"{channel.name}: {channel.width_bits:,} bits a word, {gbps:.3g} Gb/s"


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


def _throughput(part: PhaseNetworkEntry, backend: PlanBackend) -> list[str]:
    e, found = part.estimates, part.estimates.throughput
    if found is None:
        return []
    lines = []
    if found.first_word_cycles is not None and found.first_frame_cycles is not None:
        first, whole = found.first_word_cycles / e.clock_mhz, found.first_frame_cycles / e.clock_mhz
        lines.append(
            f"latency {whole:,.1f} us ({found.first_frame_cycles:,} cycles) from an empty pipeline; "
            f"the first word comes out after {first:,.1f} us"
        )
    lines += _sustained(part, found, backend)
    if found.deadlock:
        lines += wrapped([f"deadlock: {some(found.deadlock)} stop each other"])
    if found.shallow:
        lines += _too_shallow(found, backend)
    elif found.interval_cycles is not None:
        lines.append("every FIFO is deep enough for the full rate; none can deadlock")
    if found.not_analysed:
        lines += wrapped([f"not analysed: {found.not_analysed}"])
    return lines


def _sustained(part: PhaseNetworkEntry, found: ThroughputEntry, backend: PlanBackend) -> list[str]:
    if found.interval_cycles is None:
        return []
    fps = floor(part.estimates.clock_mhz * 1e7 / found.interval_cycles) / 10
    # Bursts are taken not to stall midway, so that shallow FIFOs cost no more than this.
    most = f" at most, {found.full_rate_cycles:,} at least," if found.shallow and found.full_rate_cycles else ""
    lines = [f"sustained {fps:,.1f} frames/s: one every {found.interval_cycles:,} cycles{most} with the planned FIFOs"]
    if found.interval_cycles > part.interval_cycles:
        longer = f"{found.interval_cycles / part.interval_cycles - 1:.1%}"
        lines.append(f"that is {longer} longer than the cycles of the slowest engine, {_why(found, backend)}")
    return lines


def _why(found: ThroughputEntry, backend: PlanBackend) -> str:
    if found.interval_cycles == found.full_rate_cycles:
        return f"since {backend.start_ups} each frame"
    return "since FIFOs are too shallow"


def _too_shallow(found: ThroughputEntry, backend: PlanBackend) -> list[str]:
    rows = [("channel", "planned", "needed"), *((s.channel, f"{s.planned:,}", f"{s.needed:,}") for s in found.shallow)]
    return [
        f"FIFOs too shallow for the full rate; give them the depth needed ({backend.fifo_depths}):",
        *table(rows),
    ]
