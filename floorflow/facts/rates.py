"""What every network of a phase reaches: its rate, what sets it, and the price that it pays."""

from __future__ import annotations

from math import floor

from floorflow.errors import some
from floorflow.facts.channel import ChannelEntry
from floorflow.facts.context import Context
from floorflow.facts.estimates import lost
from floorflow.facts.folding import host_could, host_writes
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.plan import Plan
from floorflow.facts.search import balance
from floorflow.facts.text import wrapped


def rates(view: Context) -> list[str]:
    """Return rate, bottleneck and outside streams of each network."""
    return view.by_network(lambda part: _rate(view, part))


def host_words(plan: Plan, part: PhaseNetworkEntry) -> str:
    """Return which engines of a network the host has to write and what that buys; empty if there are none."""
    return host_writes(part.host_weights, plan.options.objective, plan.options.clock_mhz)


def balance_words(plan: Plan, part: PhaseNetworkEntry) -> str:
    """Return how the rates of a network are balanced, and the price of it; empty where they are not."""
    options, search = plan.options, plan.network(part.network).search
    return balance(options.epsilon, search, part.folding, options.objective)


def _rate(view: Context, part: PhaseNetworkEntry) -> list[str]:
    plan, e, interval, longer = view.plan, part.estimates, part.interval_cycles, view.longer(part)
    asked = "" if plan.options.fps is None else f" ({plan.options.fps:,g} were asked for)"
    believed = e.expected_cycles or interval
    frames = f"{floor(e.believed_fps * 10) / 10:,.1f} frames/s{asked}: one frame every {believed:,} cycles"
    host = wrapped(
        filter(None, (host_words(plan, part), host_could(part.host_weights, interval, plan.options.clock_mhz)))
    )
    lines = [*host, *lost(e), f"{frames} at {e.clock_mhz:g} MHz"]
    if not e.is_simulated:  # a rough figure
        lines.append(f"latency {e.latency} (every engine in turn; streaming overlaps them)")
    if believed > interval:
        small = "" if e.is_simulated else ", with small FIFOs"
        lines.append(f"the slowest engine takes {interval:,} of them; the rest is that {longer} each frame{small}")
    lines += _slowest(plan, part)
    balanced = balance_words(plan, part)
    lines += [f"balance: {balanced}"] if balanced else []
    return [*lines, *(_outside_stream(c, e.believed_fps) for c in _outside(view.phase, part))]


def _slowest(plan: Plan, part: PhaseNetworkEntry) -> list[str]:
    """Return which engines set the interval, and which come next."""
    folded = part.folding.engines
    slowest = [name for name in plan.engines if name in folded and folded[name].cycles == part.interval_cycles]
    widths = [(name, folded[name].width) for name in slowest]
    lines = ["bottleneck: " + some([plan.named(name, width) for name, width in widths])]
    others = [entry.cycles for entry in folded.values() if entry.cycles < part.interval_cycles]
    if others:
        behind = [name for name, entry in folded.items() if entry.cycles == max(others)]
        lines.append(f"next slowest: {some([plan.named(name) for name in behind])} with {max(others):,} cycles")
    return lines


def _outside(phase: PhaseEntry, part: PhaseNetworkEntry) -> list[ChannelEntry]:
    """Return the channels of a network that enter or leave the phase."""
    mine = part.folding.engines
    return [c for c in phase.channels if (c.source in mine) != (c.target in mine)]


def _outside_stream(channel: ChannelEntry, fps: float) -> str:
    gbps = channel.bits_per_frame * fps / 1e9
    return f"{channel.name}: {channel.width_bits:,} bits a word, {gbps:.3g} Gb/s"
