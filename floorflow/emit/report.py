"""report.txt: what an engineer wants to know before spending a week of Vivado time, as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor

from floorflow.plan import PhaseEntry, Plan, Stats
from floorflow.resources import RESOURCE_NAMES

_CROWDED = 0.9
"""Share of a limit above which a slot, a boundary or a link counts as what holds the design back."""


def report(plan: Plan) -> str:
    """Return the report's text."""
    phase = plan.phases[0]
    sections = [
        ("What was read and assumed", _read(plan)),
        ("Rate", _rate(plan, phase)),
        ("How far from optimal", _gaps(plan, phase)),
        ("Use of each slot, against its limit", _slots(plan, phase)),
        ("Modules", _modules(phase)),
        ("Streams between slots", _crossings(phase)),
        ("Boundaries and links", _loads(phase)),
        ("What to try next", _advice(plan, phase)),
    ]
    title = f"{plan.networks[0].name} on {plan.platform.name}, floorflow {plan.version}, seed {plan.seed}"
    body = [f"{heading}\n{'-' * len(heading)}\n" + "\n".join(lines) for heading, lines in sections if lines]
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *body]) + "\n"


def _read(plan: Plan) -> list[str]:
    network = plan.networks[0]
    macs = sum(operation.macs for operation in network.operations)
    files = ", ".join(f"{file.path} (sha256 {file.sha256[:12]})" for file in plan.inputs)
    lines = [f"{files}: {len(network.operations)} operations, {macs:,} MACs a frame, {len(network.engines)} engines"]
    costs = {"estimated": "floorflow's estimates (docs/cost-model.md)", "finn": "FINN's own estimates"}
    return [*lines, f"costs: {costs[plan.options.costs]}", *(f"* {warning}" for warning in plan.warnings)]


def _rate(plan: Plan, phase: PhaseEntry) -> list[str]:
    e = phase.estimates
    asked = "" if plan.options.fps is None else f" ({plan.options.fps:,g} were asked for)"
    slowest = [name for name, entry in phase.folding.engines.items() if entry.cycles == e.cycles]
    return [
        f"{floor(e.fps * 10) / 10:,.1f} frames/s{asked}: one frame every {e.cycles:,} cycles at {e.clock_mhz:g} MHz",
        f"latency at most {e.latency_us:,.1f} us (every engine in turn; streaming overlaps them)",
        f"bottleneck: {', '.join(slowest)}",
    ]


def _gaps(plan: Plan, phase: PhaseEntry) -> list[str]:
    search = plan.search
    bound = f"folding alone allows {search.bound_cycles:,}, gap {search.gap:.1%}"
    lines = [
        f"interval   {search.interval_cycles:,} cycles, {bound}",
        f"           ended by: {search.ended_by}",
        f"folding    {_stats(phase.folding.stats)} (scarcity)",
        f"partition  {_stats(phase.partition.stats)} (wires x boundaries; a link counts 10)",
    ]
    lines += [f"placement  {name}: {_stats(f.stats)} (HPWL)" for name, f in phase.floorplan.items()]
    tried = [f"{row.interval_cycles:>12,}  {row.verdict} ({row.stage}) {row.detail}" for row in plan.trace]
    return [*lines, "intervals tried:", *tried]


def _stats(stats: Stats) -> str:
    numbers = [f"{name} {value:,.6g}" for name, value in (("found", stats.objective), ("bound", stats.bound)) if value]
    gap = "gap unknown" if stats.gap is None else f"gap {stats.gap:.1%}"
    return ", ".join([f"{stats.status} by {stats.method}", *numbers, gap])


def _slots(plan: Plan, phase: PhaseEntry) -> list[str]:
    caps = plan.options.cap.model_dump()
    rows: list[tuple[str, ...]] = [("slot", *RESOURCE_NAMES)]
    for slot, shares in phase.partition.utilisation.items():
        rows.append((slot, *(f"{shares[r]:.0%} of {caps[r]:.0%}" for r in RESOURCE_NAMES)))
    return _table(rows)


def _modules(phase: PhaseEntry) -> list[str]:
    rows: list[tuple[str, ...]] = [("module", "slot", *RESOURCE_NAMES, "engines")]
    for module in phase.modules:
        amounts = module.resources.model_dump()
        slot = phase.partition.assignment[module.name]
        rows.append((module.name, slot, *(f"{amounts[r]:,}" for r in RESOURCE_NAMES), str(len(module.engines))))
    return _table(rows)


def _crossings(phase: PhaseEntry) -> list[str]:
    rows = [("from", "to", "kind", "bits", "Gb/s", "channel")]
    rows += [
        (c.source, c.target, c.kind, f"{c.width_bits:,}", f"{c.gbps:.3g}", c.channel) for c in phase.partition.crossings
    ]
    return _table(rows) if phase.partition.crossings else ["none: every module lies in the same slot as its neighbours"]


def _loads(phase: PhaseEntry) -> list[str]:
    units = {"sll": "wires", "link": "Gb/s"}
    rows = [("boundary", "use", "capacity", "")]
    rows += [(x.name, f"{x.use:,.6g}", f"{x.capacity:,.6g}", units[x.kind]) for x in phase.partition.loads]
    return _table(rows) if phase.partition.loads else []


def _advice(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Name what holds the design back, and the options that would loosen it."""
    caps = plan.options.cap.model_dump()
    full = sorted(
        {r for use in phase.partition.utilisation.values() for r in RESOURCE_NAMES if use[r] > _CROWDED * caps[r]}
    )
    advice = [
        f"{r} is within 10% of its limit somewhere: --cap {r}={min(1.0, caps[r] + 0.05):.2f} shows what it costs"
        for r in full
    ]
    advice += [
        f"{x.name} carries {x.use / x.capacity:.0%} of its capacity: a cut elsewhere or a lower --fps relieves it"
        for x in phase.partition.loads
        if x.capacity and x.use > _CROWDED * x.capacity
    ]
    if plan.search.gap > 0:
        advice.append("the interval is above its bound: --effort best searches longer")
    if plan.options.fps is None:
        advice.append("if a lower rate is enough, --fps N gives the least resources at that rate")
    return [f"* {line}" for line in advice]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns: the first to the left, the others to the right, the last as it is."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [_row(row, widths).rstrip() for row in rows]


def _row(row: Sequence[str], widths: Iterable[int]) -> str:
    cells = [text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))]
    return "  ".join([*cells[:-1], row[-1]])
