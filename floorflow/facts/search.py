"""How the folding of a network was searched: bounds on the interval, what was tried, and what ended the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from floorflow.errors import What
from floorflow.facts.estimates import EstimatesEntry
from floorflow.facts.folding import FoldingEntry
from floorflow.facts.text import gap_of, number, rate, table
from floorflow.facts.values import PlainName, PlanModel
from floorflow.request.choices import Objective

BOUND = "cycles; bound: the folding optimum under the summed limits"
BY_THE_FASTEST = "the requested rate was met by the fastest design found"
"""How ``ended_by`` begins where --fps was asked for, and the design of the highest rate is the plan."""
JOINT_BOUND = "cycles; joint bound: each engine in one slot, with streams and links"


class RefusalEntry(PlanModel):
    """Why a stage had no answer: what stood in the way, short of which resource, where, and by how much.

    ``resource`` and ``place`` are empty and ``needed`` and ``allowed`` null where they do not apply or are not known;
    ``names`` are the engines, modules or edges concerned.
    """

    what: What
    resource: str
    place: str
    needed: int | float | None
    allowed: int | float | None
    proven: bool
    names: list[str]


Stage = Literal["fold", "partition", "place"]


class EndedAtEntry(PlanModel):
    """The try that ended the search: its interval, which stage had no answer, and why."""

    interval_cycles: int
    stage: Stage
    refusals: list[RefusalEntry]


class WithoutBalanceEntry(PlanModel):
    """What folding could do, under all of the budget, if the cycles of consecutive layers might differ.

    ``bound_cycles`` bounds the interval (null: the shortest was not sought); ``folding_bound`` what folding minimises
    at the plan's interval (null: not known).
    """

    bound_cycles: int | None
    folding_bound: float | None


class OtherOrderEntry(PlanModel):
    """What streams that go back to earlier FPGAs would give, or, where the plan's may, what streams in order would.

    ``cycles``: the interval of a design that was folded and cut, not placed (null: none was found; of those out of
    order none faster than the plan). ``proven``: there is none, or with ``allow_cycles`` the plan itself is in order.
    """

    cycles: int | None
    proven: bool


class SearchEntry(PlanModel):
    """How far the interval is from what is proven impossible, and what ended the search.

    ``interval_cycles`` is the longest of the network's phases. ``bound_cycles`` is the folding optimum under the
    platform's summed limits; ``joint_bound_cycles`` (null: not known) also knows that an engine lies in one slot, what
    streams cost and what links carry. ``ended_at`` is the try that ``ended_by`` tells of, null where none ended it.
    Both bounds are those under the limits on single engines.
    """

    interval_cycles: int
    bound_cycles: int
    joint_bound_cycles: int | None
    gap: float
    ended_by: str
    ended_at: EndedAtEntry | None
    without_balance: WithoutBalanceEntry | None = None
    other_order: OtherOrderEntry | None = None

    @property
    def bounds(self) -> str:
        """The folding bound and, where it is known, the joint bound, each with the distance of the interval."""
        folding, joint = f"bound {self.bound_cycles:,} cycles, gap {self.gap:.1%}", self.joint_bound_cycles
        if joint is None:
            return folding
        return f"folding {folding}; joint bound {joint:,} cycles, gap {gap_of(self.interval_cycles, joint)}"


class TraceEntry(PlanModel):
    """One interval that the search tried for a phase; ``detail`` is the sentence that ``refusals`` make."""

    phase: PlainName
    interval_cycles: int
    verdict: Literal["legal", "proven infeasible", "not found within the limit"]
    stage: Stage
    detail: str
    refusals: list[RefusalEntry]


def proofs(search: SearchEntry) -> list[tuple[str, ...]]:
    """Return the interval against the folding bound and, where it is known, against the joint bound."""
    bounds = [(search.bound_cycles, BOUND)]
    bounds += [] if search.joint_bound_cycles is None else [(search.joint_bound_cycles, JOINT_BOUND)]
    found = search.interval_cycles
    status = "optimal" if any(found == bound for bound, _ in bounds) else "feasible"
    return [("interval", status, number(found), number(bound), gap_of(found, bound), what) for bound, what in bounds]


def tried(search: SearchEntry, trace: Sequence[TraceEntry], clock_mhz: float, *, in_phases: bool) -> list[str]:
    """Return every interval that was tried for a network, and what ended its search."""
    return [
        f"ended by: {ended(search, trace)}",
        *table(tried_rows(search, trace, clock_mhz, in_phases=in_phases), left=0),
    ]


def tried_rows(
    search: SearchEntry, trace: Sequence[TraceEntry], clock_mhz: float, *, in_phases: bool
) -> list[tuple[str, ...]]:
    """Return the table of what was tried, its heading first."""
    clock_hz = clock_mhz * 1e6
    rows: list[tuple[str, ...]] = [("interval", "frames/s", "verdict", "stage", "")]
    # In one phase, a faster design that was found and is not the plan is less likely to fit than was asked for.
    least = 0 if in_phases else search.interval_cycles
    for row in trace:
        verdict = f"{row.verdict}, not taken" if row.verdict == "legal" and row.interval_cycles < least else row.verdict
        reached = rate(clock_hz / row.interval_cycles)
        rows.append((f"{row.interval_cycles:,}", reached, verdict, row.stage, _told(row.detail)))
    if in_phases:
        names = ["phase", *(row.phase for row in trace)]
        rows = [(name, *row) for name, row in zip(names, rows, strict=True)]
    return rows


def ended(search: SearchEntry, trace: Sequence[TraceEntry]) -> str:
    """Return what ended the search; where streams that cross more SLR boundaries were not allowed, that too."""
    found = search.interval_cycles
    if found == search.bound_cycles or found != search.joint_bound_cycles:
        return search.ended_by
    refusals = [refusal for row in trace if row.interval_cycles < found for refusal in row.refusals]
    most = next((int(r.allowed or 0) for r in refusals if r.what == "slots and hops"), None)
    if most is None:
        return search.ended_by
    return f"{search.ended_by} while streams cross at most {most} SLR boundar{'y' if most == 1 else 'ies'}"


def _told(detail: str) -> str:
    """Return what is told of a try; its wires are those before pblocks grew, not those of the plan."""
    return detail.replace("hpwl ", "wires before pblocks grew ")


def balance(epsilon: float | None, search: SearchEntry, folding: FoldingEntry, objective: Objective) -> str:
    """Tell how the rates of a network are balanced, and the price of it; empty where they are not."""
    if epsilon is None:
        return ""
    balanced = f"cycles of consecutive layers differ by at most {epsilon:g} times the lesser (--epsilon)"
    free = search.without_balance
    prices = [] if free is None else [*_of_rate(free, search.bound_cycles), *_of_folding(free, folding, objective)]
    return "; ".join([balanced, *prices])


def _of_rate(free: WithoutBalanceEntry, bound: int) -> list[str]:
    if free.bound_cycles is None:
        return []
    if free.bound_cycles >= bound:
        return ["costs no rate: the folding bound is the same without it"]
    cycles = f"the folding bound is {bound:,} cycles with it, {free.bound_cycles:,} without"
    return [f"costs {gap_of(bound, free.bound_cycles)} of the rate: {cycles}"]


def _of_folding(free: WithoutBalanceEntry, folding: FoldingEntry, objective: Objective) -> list[str]:
    """Tell the least that folding finds under all of the budget, with and without balance."""
    least, loose = folding.whole_budget_bound, free.folding_bound
    if least is None or loose is None:
        return []
    what = "latency in cycles" if objective == "latency" else "scarcity at this interval"
    more = f" ({least / loose - 1:.1%} more)" if loose and least > loose else ""
    return [f"least {what} {number(least)} with it, {number(loose)} without{more}"]


def price_of_order(search: SearchEntry, *, in_order: bool) -> str:
    """Tell what the order of FPGAs costs, or would cost; empty where that was not asked."""
    other = search.other_order
    if other is None or (in_order and other.cycles == search.interval_cycles):
        return ""
    if other.cycles is None:
        found = "no design" if other.proven else "no design was found that"
        return f"{found} is faster out of order" if in_order else f"{found} is in order"
    gap = gap_of(max(other.cycles, search.interval_cycles), min(other.cycles, search.interval_cycles))
    cycles = f"{other.cycles:,} cycles, {gap} {'less' if in_order else 'more'}; that was folded and cut, not placed"
    return f"out of order a design takes {cycles} (--allow-cycles)" if in_order else f"in order a design takes {cycles}"


def missed(fps: float | None, estimates: EstimatesEntry, tolerance: float) -> str:
    """Say that a rate is met by the engines alone, where the planned FIFOs keep less, or less than all is known."""
    kept = estimates.sustained_fps
    if fps is None or (kept is not None and kept >= fps * (1 - tolerance)):
        return ""
    if kept is not None:
        return f", by the engines; the planned FIFOs keep {kept:,.1f} frames/s"
    shallow = estimates.throughput is not None and estimates.throughput.shallow
    return ", by the engines; the planned FIFOs are too shallow, and what they keep is not known" if shallow else ""
