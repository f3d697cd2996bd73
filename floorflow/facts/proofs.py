"""How good the answer is: the gap of every stage to its bound."""

from __future__ import annotations

from floorflow.facts.context import Context
from floorflow.facts.extras import left_out, without_limits
from floorflow.facts.floorplan import PlacementTerms
from floorflow.facts.phase import PhaseNetworkEntry
from floorflow.facts.plan import Plan
from floorflow.facts.search import BOUND, proofs
from floorflow.facts.text import number, table, wrapped
from floorflow.facts.values import Stats


def gaps(view: Context) -> list[str]:
    """Return status, bound and gap of interval and folding of each network, of the partition and of each placement."""
    plan, phase, extras = view.plan, view.phase, view.extras
    rows: list[tuple[str, ...]] = [("", "status", "found", "bound", "gap", "what, and by which method")]
    for part in phase.networks:
        of = f" of {part.network}" if len(plan.networks) > 1 else ""
        rows += [(f"{name}{of}", *rest) for name, *rest in _network(plan, part)]
    rows.append(
        (
            "fullness of slots",
            *_shares(phase.partition.fullness, f"of a limit, {plan.fullest_in(phase)}".removesuffix(", ")),
        )
    )
    what = "wires x b (b + 1) / 2 over b boundaries, a link counts 10"
    what += " (bound: with as many streams and wires over links)" * (len(plan.platform.fpgas) > 1)
    rows.append(("partition", *_stats(phase.partition.stats, what)))
    for fpga, floorplan in phase.floorplan.items():
        if floorplan.pblocks:
            rows.append((f"placement of {fpga}", *_stats(floorplan.stats, _placed(floorplan.terms))))
        else:
            rows.append((f"placement of {fpga}", "empty", "-", "-", "-", "no module lies here"))
    beside = [without_limits(extras, plan.options.clock_mhz), *left_out(extras, "without_limits")]
    return [*table(rows, left=2), *wrapped(filter(None, beside))]


def _placed(terms: PlacementTerms) -> str:
    """Say what placement minimised: wires alone, unless another term counts."""
    return "wires, late streams and congestion; bound: of wires" if terms.reach or terms.congestion else "wire length"


def _network(plan: Plan, part: PhaseNetworkEntry) -> list[tuple[str, ...]]:
    search, objective = plan.network(part.network).search, plan.options.objective
    rows: list[tuple[str, ...]] = []
    # With several phases the bound is of the longest interval among them; the overview compares those.
    if objective == "throughput" and len(plan.phases) == 1:
        rows += proofs(search)
    rows.append(("fullness", *_shares(part.folding.fullness, "of the summed limits; what folding counted")))
    what = "latency in cycles" if objective == "latency" else "scarcity"
    rows.append(("folding", *_stats(part.folding.stats, what)))
    latency, whole = part.folding.stats.objective, part.folding.whole_budget_bound
    if objective == "latency" and latency and whole is not None:
        status, gap = ("optimal", 0.0) if latency <= whole else ("feasible", (latency - whole) / latency)
        rows.append(("latency", status, number(latency), number(whole), f"{gap:.1%}", BOUND))
    return rows


def _stats(stats: Stats, what: str) -> tuple[str, ...]:
    gap = "unknown" if stats.gap is None else f"{stats.gap:.1%}"
    return stats.status, number(stats.objective), number(stats.bound), gap, f"{what}; {stats.method}"


def _shares(stats: Stats, what: str) -> tuple[str, ...]:
    """Return what is known of a share."""
    gap = "unknown" if stats.gap is None else f"{stats.gap:.1%}"
    found, bound = ("-" if share is None else f"{share:.1%}" for share in (stats.objective, stats.bound))
    return stats.status, found, bound, gap, f"{what}; {stats.method}"
