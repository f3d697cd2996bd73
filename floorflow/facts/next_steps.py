"""What to try next: every step is derived from the plan's own figures and names the one that it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from floorflow.errors import some
from floorflow.facts.context import Context
from floorflow.facts.extras import without_limits
from floorflow.facts.links import Links
from floorflow.facts.network import NetworkEntry
from floorflow.facts.partition import SlotUse
from floorflow.facts.phase import PhaseNetworkEntry
from floorflow.facts.platform import cheaper_ports
from floorflow.facts.search import RefusalEntry, TraceEntry
from floorflow.facts.spare import controllers_of, spare
from floorflow.facts.text import chance, filled, number, rate
from floorflow.resources import RESOURCE_NAMES, total

_FULL = 0.9
"""Share of a limit, a boundary or a link from which it counts as what holds the design back."""

_WORTHWHILE = 0.05
"""Share of a resource below which nothing is said of it."""

_SUMS = ("budget", "slots together")
"""Refusals that say how much of a resource the whole design lacks."""
_ROOMY = 0.8
"""Share of the limits of fewer FPGAs below which the design may fit them."""


@dataclass(frozen=True)
class NetworkView:
    """A network of the phase."""

    view: Context
    network: NetworkEntry
    part: PhaseNetworkEntry

    @property
    def of(self) -> str:
        """What a sentence adds to say which network it is about; nothing if there is one."""
        return f" of {self.part.network}" if len(self.view.plan.networks) > 1 else ""

    @property
    def tried(self) -> list[TraceEntry]:
        """What was tried for this phase."""
        return [row for row in self.network.trace if row.phase == self.view.phase.name]

    @cached_property
    def stopped_by(self) -> TraceEntry | None:
        """The longest interval below the one found that was refused; None if the shortest was not asked for."""
        found = self.part.interval_cycles
        failed = [row for row in self.tried if row.verdict != "legal" and row.interval_cycles < found]
        asked = self.view.plan.options.objective != "throughput"
        return None if asked else max(failed, key=lambda row: row.interval_cycles, default=None)

    @property
    def short(self) -> RefusalEntry | None:
        """What the whole design lacked of a resource at that interval."""
        refusals = self.stopped_by.refusals if self.stopped_by is not None else []
        return next((refusal for refusal in refusals if refusal.what in _SUMS), None)


def networks_of(view: Context) -> list[NetworkView]:
    """Return what runs in the phase."""
    return [NetworkView(view, view.plan.network(part.network), part) for part in view.phase.networks]


def next_steps(view: Context) -> list[str]:
    """Return sentences, what holds the rate back first; none if nothing in the phase calls for a step."""
    own = view.backend.steps(view.plan, view.plan.phases.index(view.phase), view.limit - view.demand)
    return [*(step for steps in _STEPS for step in steps(view)), *own]


def _rate(view: Context) -> Iterator[str]:
    if view.plan.options.objective == "throughput":
        for one in networks_of(view):
            yield from _rate_of(one)


def _rate_of(one: NetworkView) -> Iterator[str]:
    view, row, short = one.view, one.stopped_by, one.short
    held = view.phase.confidence
    if held is not None and held.without is not None:
        fps = rate(view.plan.options.clock_mhz * 1e6 / held.without.interval_cycles)
        likely = f"a --confidence below {view.plan.options.confidence} allows more, none {fps} frames/s at "
        yield f"likelihoods stop the rate{one.of}: {likely}{chance(held.without.likelihood)}"
        return
    if row is None:
        yield from _widest(one)
        return
    goal = f"{row.interval_cycles:,} cycles ({rate(view.plan.options.clock_mhz * 1e6 / row.interval_cycles)} frames/s)"
    if short is None:
        ended = f"ended at the {_STAGES[row.stage]}: {row.detail}"
        yield f"the next shorter interval{one.of} that was tried, {goal}, {ended}"
        return
    name, need, have = short.resource, int(short.needed or 0), int(short.allowed or 0)
    ways = " or ".join(ways_to(view, name, need, have)) or "no cap and no further FPGA gives that"
    more = f"{need / have - 1:.1%} more than the {have:,} allowed" if have else "of which none is allowed"
    yield f"{name} stops the rate{one.of}: {goal} need {need:,}, {more}: {ways}"


_STAGES = {"fold": "folding", "partition": "partition", "place": "placement"}


def ways_to(view: Context, name: str, need: int, have: int) -> Iterator[str]:
    """Say what would raise the limit of a resource to what is needed."""
    if not have:
        return
    cap = ceil(view.plan.options.cap.model_dump()[name] * need / have * 100 + 1e-9) / 100
    if cap <= 1:
        yield f"--cap {name}={cap:.2f}"
    if view.more_fpgas is not None and have * view.more_fpgas >= need * len(view.plan.platform.fpgas):
        yield f"--fpgas {view.more_fpgas}"


def _widest(one: NetworkView) -> Iterator[str]:
    """No shorter interval was refused, so some engine that sets it has no faster folding that fits a slot."""
    view, cycles, folded = one.view, one.part.interval_cycles, one.part.folding.engines
    engines = {name: entry for name, entry in view.plan.engines.items() if name in folded}
    widths = {name: folded[name].width for name in engines if folded[name].cycles == cycles}
    whole = [name for name in widths if folded[name].is_widest]
    if whole:
        other = view.backend.faster_by_hand([engines[name] for name in whole])
        maps = f" or {other}" if other else ""
        clock = f"a higher --clock-mhz (now {view.plan.options.clock_mhz:g})"
        yield (
            f"{some([view.plan.named(name, widths[name]) for name in whole])}: the widest folding there is takes all "
            f"{cycles:,} cycles, which no cap and no FPGA shortens; {clock}{maps} would"
        )
        return
    name = max(widths, key=lambda n: _tightest(view, n)[0])
    others = f", the largest of {len(widths)} engines with {cycles:,} cycles," if len(widths) > 1 else ""
    extras = view.extras
    if extras is not None and extras.without_limits is not None and extras.without_limits.options:
        yield f"{view.plan.named(name)}{others} sets the rate; {without_limits(extras, view.plan.options.clock_mhz)}"
        return
    yield f"{view.plan.named(name, widths[name])}{others} sets the rate: {_too_wide(view, name)}"


def _tightest(view: Context, engine: str) -> tuple[float, str, SlotUse]:
    """Return the share that an engine takes of the slot with the most room for it, the resource and the slot."""
    need = view.phase.engines[engine].resources.resources.as_dict()
    found = [max((_share(need[r], s.limit.as_dict()[r]), r) for r in RESOURCE_NAMES) for s in view.slots]
    position = min(range(len(found)), key=lambda i: found[i][0])
    return *found[position], view.slots[position]


def _too_wide(view: Context, name: str) -> str:
    _, scarcest, slot = _tightest(view, name)
    need = view.phase.engines[name].resources.resources.as_dict()[scarcest]
    cap = view.plan.options.cap.model_dump()[scarcest]
    limit, pblocks = slot.limit.as_dict()[scarcest], slot.pblock_limit.as_dict()[scarcest]
    most = min(int(slot.cap_limit.as_dict()[scarcest] / cap), pblocks)
    loosened = f" ({most:,} with --cap {scarcest}=1)" if most > limit else ""
    return (
        f"its wider foldings fit no slot alone, or {view.backend.folding_limit}. It takes {need:,} {scarcest}, "
        f"the next ones up to twice as much; {slot.name} allows {limit:,}{loosened}. More FPGAs do not help"
    )


def _share(need: int, limit: int) -> float:
    return need / limit if limit else float(need > 0)


def _lacking(view: Context) -> set[str]:
    """Return the resources that stopped the search for a shorter interval of some network."""
    return {one.short.resource for one in networks_of(view) if one.short is not None}


def _full_slots(view: Context) -> Iterator[str]:
    full = sorted((slot for slot in view.slots if slot.tightest[0] >= _FULL), key=lambda slot: -slot.tightest[0])
    if not full:
        return
    first, (_, name) = full[0], full[0].tightest
    have, used = first.limit.as_dict()[name], first.used[name]
    text = f"the fullest is {filled(f'{name} of {first.name}', used, used * have / first.demand.as_dict()[name])}"
    if len(full) > 1:
        text += f", {len(full)} of {len(view.slots)} slots are above {_FULL:.0%} of a limit"
    cap, most = view.plan.options.cap.model_dump()[name], first.pblock_limit.as_dict()[name]
    if most <= first.cap_limit.as_dict()[name]:
        given = view.plan.options.fill.as_dict()
        text += "; its pblocks hold no more" + (f" at --fill {name}={given[name]:g}" if name in given else "")
    elif name not in _lacking(view) and cap <= 0.95:
        more = min(round(have * (cap + 0.05) / cap), most) - have
        text += f"; --cap {name}={cap + 0.05:.2f} allows {more:,} more there"
    if view.more_fpgas is not None:
        mean = view.demand.as_dict()[name] / view.limit.as_dict()[name]
        after = mean * len(view.plan.platform.fpgas) / view.more_fpgas
        text += f"; --fpgas {view.more_fpgas} lowers the mean from {mean:.0%} to about {after:.0%}"
    yield text


def _spare_fpgas(view: Context) -> Iterator[str]:
    """Say once, in the first phase, what holds for all of them."""
    step = spare_fpgas(view) if view.phase is view.plan.phases[0] else ""
    if step:
        yield step


def spare_fpgas(view: Context) -> str:
    """Return the step that takes fewer FPGAs, or nothing where none is called for."""
    plan, count = view.plan, len(view.plan.platform.fpgas)
    if count == 1 or plan.options.fpgas == "auto":
        return ""
    idle = [f.name for f in plan.platform.fpgas if not any(phase.floorplan[f.name].pblocks for phase in plan.phases)]
    return _without(idle, count, described=view.platform.described) if idle else _on_fewer(view, count - 1)


def _without(idle: list[str], count: int, *, described: bool) -> str:
    # A platform file says which FPGAs there are; --fpgas beside it is refused.
    way = f"--fpgas {count - len(idle)}"
    if described:
        way = f"the platform file without {'it' if len(idle) == 1 else 'them'}"
    return f"{some(idle)} hold{'s' * (len(idle) == 1)} no module: {way} should give the same rate"


def _on_fewer(view: Context, fewer: int) -> str:
    if view.platform.described:
        return ""
    used, name = max(_fullest(replace(view, phase=phase), fewer) for phase in view.plan.phases)
    if used >= _ROOMY:
        return ""
    return f"all modules together need {used:.0%} of the {name} that {fewer} allow: --fpgas {fewer} may do"


def _fullest(view: Context, fewer: int) -> tuple[float, str]:
    """Return the largest share that a phase needs of what so many FPGAs allow, and of which resource."""
    need, have, scale = view.demand.as_dict(), view.limit.as_dict(), len(view.plan.platform.fpgas) / fewer
    shares = {r: need[r] * scale / have[r] for r in RESOURCE_NAMES if have[r]}
    name = max(shares, key=lambda r: shares[r])
    return shares[name], name


def _full_links(view: Context) -> Iterator[str]:
    crossings, fpga_of = view.phase.partition.crossings, {slot.name: slot.fpga for slot in view.plan.platform.slots}
    over_links = [(f"{fpga_of[c.source]}>{fpga_of[c.target]}", c) for c in crossings if c.kind == "link"]
    links = Links(view.plan.platform, view.phase).directions(view.plan.summary.clock_mhz)
    needs = {link.name: link.needed_gbps / link.gbps for link in links}
    for load in view.loads("link"):
        share = max(load.share, needs.get(load.name, 0.0))
        if share >= _FULL:
            most = max((c for name, c in over_links if name == load.name), key=lambda c: c.gbps)
            told = f"{load.share:.0%}" + (f", {share:.0%} with all headers" if share > load.share + 0.005 else "")
            yield (
                f"link {load.name} carries {number(load.use)} of {number(load.capacity)} Gb/s ({told}), "
                f"{number(most.gbps)} of it {most.channel}: it bounds the rate of this cut to "
                f"{rate(_fps_of(view, most.channel) / share)} frames/s"
            )
    for load in view.loads("sll"):
        if load.share >= _FULL:
            used = f"{number(load.use)} of {load.capacity:,.0f} SLL wires ({load.share:.0%})"
            yield f"SLR boundary {load.name} uses {used}: a lower --fps folds streams narrower"


def _fps_of(view: Context, channel: str) -> float:
    """Return the rate of the network that a channel is of."""
    ends = next({c.source, c.target} for c in view.phase.channels if c.name == channel)
    return next(part.estimates.fps for part in view.phase.networks if ends & part.folding.engines.keys())


def _gaps(view: Context) -> Iterator[str]:
    """Say what more work, or area, may be had; nothing by the bound on wire length, which is known to be weak."""
    phase, best = view.phase, view.plan.options.effort == "best"
    stats = phase.partition.stats
    if stats.gap is None or stats.gap > 0:
        loads = [*view.loads("sll")[:1], *view.loads("link")[:1]]
        fullest = " and ".join(f"{load.name} is {load.share:.1%} full" for load in loads)
        longer = "even at --effort best" if best else "--effort best searches longer"
        cut = f"the cut (cost {number(stats.objective)}) is not proven the cheapest"
        yield f"{cut}, {longer}; {fullest or 'all in one slot'}"
    for one in networks_of(view):
        if one.part.folding.stats.gap:
            yield (
                f"the folding{one.of} takes up to {one.part.folding.stats.gap:.1%} more than the least at this "
                "interval, which was given up for channels and packing: that much area, no rate, is to be had"
            )


def _hops(view: Context) -> Iterator[str]:
    """Say what more hops might give where they stood in the way of a shorter interval."""
    most = view.phase.partition.hops.most
    for one in networks_of(view):
        row = one.stopped_by
        if row is not None and any(refusal.what in ("hops", "slots and hops") for refusal in row.refusals):
            yield (
                f"streams that cross {most} SLR boundar{'y' if most == 1 else 'ies'} at most keep the interval{one.of} "
                f"above {row.interval_cycles:,} cycles: --max-hops {most + 1} may allow less, with registers at each"
            )


def _spare(view: Context) -> Iterator[str]:
    """Say what copies in empty SLRs might give."""
    told = spare(view.plan, controllers_of(view.platform.memories, view.platform.host_slr))
    yield from [told] if told else []


def _host_port(view: Context) -> Iterator[str]:
    """Say what another memory channel would free of the host's slot, where that is full."""
    at_host = {*view.platform.host_slots}
    if any(slot.name in at_host and slot.tightest[0] >= _FULL for slot in view.slots):
        yield from cheaper_ports(view.platform)


def _overhead(view: Context) -> Iterator[str]:
    """FIFOs and converters between modules, where they cost much."""
    phase, granularity = view.phase, view.plan.options.granularity
    spent = total(channel.resources.resources for channel in phase.channels).lut
    if granularity in ("stage", "layer") and view.demand.lut and spent / view.demand.lut >= 2 * _WORTHWHILE:
        coarser = "block" if granularity == "stage" else "stage"
        yield (
            f"FIFOs and converters take {spent:,} LUT ({spent / view.demand.lut:.0%} of the design) around "
            f"{len(phase.modules)} modules: --granularity {coarser} needs fewer"
        )


def _packing(view: Context) -> Iterator[str]:
    for one in networks_of(view):
        failed = [row for row in one.tried if row.stage == "place" and row.verdict != "legal"]
        if not failed:
            continue
        kept = view.plan.options.keep_granularity
        way = "without --keep-granularity neighbours may share pblocks" if kept else _looser(view)
        cycles = some([f"{row.interval_cycles:,}" for row in failed])
        yield f"{len(failed)} partitioned candidates{one.of} ({cycles} cycles) could not be placed: {way}"


def _looser(view: Context) -> str:
    fill, modules = view.plan.options.fullest_fill["LUT"], len(view.phase.modules)
    ways = [f"--granularity block makes fewer pblocks than these {modules}"] if modules > 1 else []
    ways += [f"--fill LUT={fill + 0.05:.2f} makes denser ones"] if fill <= 0.95 else []
    return ", ".join(ways) or "a lower --fps needs less room"


_SLOTS = (_hops, _full_slots, _host_port, _spare_fpgas, _full_links)

_STEPS = (_rate, _spare, *_SLOTS, _packing, _gaps, _overhead)
