"""What balanced rates cost, as a sentence."""

from __future__ import annotations

from floorflow.emit.tables import gap_of, number
from floorflow.facts import PhaseNetworkEntry, Plan, WithoutBalanceEntry


def balance(plan: Plan, part: PhaseNetworkEntry) -> str:
    """Tell how the rates of a network are balanced, and the price of it; empty where they are not."""
    epsilon, search = plan.options.epsilon, plan.network(part.network).search
    if epsilon is None:
        return ""
    told = f"cycles of consecutive layers differ by at most {epsilon:g} times the lesser (--epsilon)"
    free = search.without_balance
    prices = [] if free is None else [*_of_rate(free, search.bound_cycles), *_of_folding(plan, part, free)]
    return "; ".join([told, *prices])


def _of_rate(free: WithoutBalanceEntry, bound: int) -> list[str]:
    if free.bound_cycles is None:
        return []
    if free.bound_cycles >= bound:
        return ["costs no rate: the folding bound is the same without it"]
    cycles = f"the folding bound is {bound:,} cycles with it, {free.bound_cycles:,} without"
    return [f"costs {gap_of(bound, free.bound_cycles)} of the rate: {cycles}"]


def _of_folding(plan: Plan, part: PhaseNetworkEntry, free: WithoutBalanceEntry) -> list[str]:
    """Tell the least that folding finds under all of the budget, with and without balance."""
    least, loose = part.folding.whole_budget_bound, free.folding_bound
    if least is None or loose is None:
        return []
    what = "latency in cycles" if plan.options.objective == "latency" else "scarcity at this interval"
    more = f" ({least / loose - 1:.1%} more)" if loose and least > loose else ""
    return [f"least {what} {number(least)} with it, {number(loose)} without{more}"]
