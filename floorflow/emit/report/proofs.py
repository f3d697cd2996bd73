"""How good the answer is: the gap of every stage to its bound, and what the search tried."""

from __future__ import annotations

from floorflow.emit.bargains import left_out
from floorflow.emit.sparing import without_limits_told
from floorflow.emit.tables import gap_of, number, rate, table, wrapped
from floorflow.facts import (
    Extras,
    NetworkEntry,
    PhaseEntry,
    PhaseNetworkEntry,
    PlacementTerms,
    Plan,
    SearchEntry,
    Stats,
)

_BOUND = "cycles; bound: the folding optimum under the summed limits"
_JOINT_BOUND = "cycles; joint bound: each engine in one slot, with streams and links"


def gaps(plan: Plan, phase: PhaseEntry, extras: Extras | None) -> list[str]:
    """Return status, bound and gap of interval and folding of each network, of the partition and of each placement."""
    rows: list[tuple[str, ...]] = [("", "status", "found", "bound", "gap", "what, and by which method")]
    for part in phase.networks:
        of = f" of {part.network}" if len(plan.networks) > 1 else ""
        rows += [(f"{name}{of}", *rest) for name, *rest in _network(plan, part)]
    rows.append(("fullness of slots", *_shares(phase.partition.fullness, f"of a slot's limit{fullest(plan, phase)}")))
    rows.append(
        ("partition", *_stats(phase.partition.stats, "wires x b (b + 1) / 2 over b boundaries, a link counts 10"))
    )
    for fpga, floorplan in phase.floorplan.items():
        if floorplan.pblocks:
            rows.append((f"placement of {fpga}", *_stats(floorplan.stats, _placed(floorplan.terms))))
        else:
            rows.append((f"placement of {fpga}", "empty", "-", "-", "-", "no module lies here"))
    told = [without_limits_told(plan, extras), *left_out(extras, "without_limits")]
    return [*table(rows, left=2), *wrapped(filter(None, told))]


def _placed(terms: PlacementTerms) -> str:
    """Say what placement minimised: wires alone, unless another term counts."""
    return "wires, late streams and congestion; bound: of wires" if terms.reach or terms.congestion else "HPWL"


def _network(plan: Plan, part: PhaseNetworkEntry) -> list[tuple[str, ...]]:
    search, objective = plan.network(part.network).search, plan.options.objective
    rows: list[tuple[str, ...]] = []
    # With several phases the bound is of the longest interval among them; the overview compares those.
    if objective == "throughput" and len(plan.phases) == 1:
        rows += _interval(search)
    rows.append(("fullness", *_shares(part.folding.fullness, "of the summed limits; what folding counted")))
    what = "latency in cycles" if objective == "latency" else "scarcity"
    rows.append(("folding", *_stats(part.folding.stats, what)))
    latency, whole = part.folding.stats.objective, part.folding.whole_budget_bound
    if objective == "latency" and latency and whole is not None:
        status, gap = ("optimal", 0.0) if latency <= whole else ("feasible", (latency - whole) / latency)
        rows.append(("latency", status, number(latency), number(whole), f"{gap:.1%}", _BOUND))
    return rows


def _interval(search: SearchEntry) -> list[tuple[str, ...]]:
    """Return the interval against the folding bound and, where it is known, against the joint bound."""
    bounds = [(search.bound_cycles, _BOUND)]
    bounds += [] if search.joint_bound_cycles is None else [(search.joint_bound_cycles, _JOINT_BOUND)]
    found = search.interval_cycles
    status = "optimal" if any(found == bound for bound, _ in bounds) else "feasible"
    return [("interval", status, number(found), number(bound), gap_of(found, bound), what) for bound, what in bounds]


def _stats(stats: Stats, what: str) -> tuple[str, ...]:
    gap = "unknown" if stats.gap is None else f"{stats.gap:.1%}"
    return stats.status, number(stats.objective), number(stats.bound), gap, f"{what}; {stats.method}"


def _shares(stats: Stats, what: str) -> tuple[str, ...]:
    """Return what is known of a share."""
    gap = "unknown" if stats.gap is None else f"{stats.gap:.1%}"
    found, bound = ("-" if share is None else f"{share:.1%}" for share in (stats.objective, stats.bound))
    return stats.status, found, bound, gap, f"{what}; {stats.method}"


def fullest(plan: Plan, phase: PhaseEntry) -> str:
    """Say where the plan is fullest of what it may use, if that is in this phase."""
    found = plan.summary.fullness
    return f", {found.resource} of {found.slot}" if found is not None and found.phase == phase.name else ""


def tried(plan: Plan) -> list[str]:
    """Return every interval that was tried for each network, and what ended its search."""
    if len(plan.networks) == 1:
        return _tried(plan, plan.networks[0])
    return [
        line
        for network in plan.networks
        for line in (f"{network.name}:", *(f"  {line}" for line in _tried(plan, network)))
    ]


def _tried(plan: Plan, network: NetworkEntry) -> list[str]:
    clock_hz = plan.options.clock_mhz * 1e6
    rows: list[tuple[str, ...]] = [("interval", "frames/s", "verdict", "stage", "")]
    rows += [
        (f"{row.interval_cycles:,}", rate(clock_hz / row.interval_cycles), row.verdict, row.stage, row.detail)
        for row in network.trace
    ]
    if len(plan.phases) > 1:
        names = ["phase", *(row.phase for row in network.trace)]
        rows = [(name, *row) for name, row in zip(names, rows, strict=True)]
    return [f"ended by: {network.search.ended_by}", *table(rows, left=0)]
