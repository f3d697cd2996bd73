"""What the planner took sparingly, in words: engines that the host writes, and engines beyond the usual size."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.emit.tables import rate
from floorflow.facts import Extras, HostWeightsEntry, Options, PhaseEntry, PhaseNetworkEntry, Plan
from floorflow.request import products_from
from floorflow.resources import RESOURCE_NAMES


def host_told(plan: Plan, part: PhaseNetworkEntry) -> str:
    """Return which engines of a network the host has to write and what that buys; empty if there are none."""
    found = part.host_weights
    if found is None or not found.engines:
        return ""
    count = len(found.engines)
    least = "no folding has fewer" if found.least == count else f"no folding has fewer than {found.least}"
    return (
        f"weights of {count} engine{'s' * (count != 1)} must be written by software before the first frame "
        f"({', '.join(found.engines)}; {least}): {_bought(plan, found)}"
    )


def _bought(plan: Plan, found: HostWeightsEntry) -> str:
    if found.without_bound_cycles is None:
        return "without that nothing fits"
    if found.sought and found.without_cycles is None:
        return "without that no plan was found"
    cycles = found.without_cycles
    if plan.options.objective == "latency" and cycles is not None:
        return f"without that the latency found is {cycles:,} cycles"
    if cycles is not None:
        return f"without that {_rate(plan, cycles)} were found"
    return f"without that at most {_rate(plan, found.without_bound_cycles)}, by the folding bound"


def host_could(plan: Plan, part: PhaseNetworkEntry) -> str:
    """Return what weights written by the host would allow where there are none; empty if nothing, or not known."""
    found = part.host_weights
    if found is None or found.engines or not found.bound_cycles or found.bound_cycles >= part.interval_cycles:
        return ""
    most = _rate(plan, found.bound_cycles)
    return f"all weights are in the bitstream; written by software at run time they would allow at most {most}"


def without_limits_told(plan: Plan, extras: Extras | None) -> str:
    """Return what lifting the limits on single engines would give, by the folding bound; empty if not known."""
    found = None if extras is None else extras.without_limits
    if found is None:
        return ""
    if not found.options:
        return "without limits on single engines the folding bound would be the same"
    options = " ".join(f"--{name.replace('_', '-')} none" for name in found.options)
    shorter = f"{found.bound_cycles:,} cycles ({_rate(plan, found.bound_cycles)})"
    return f"limits on single engines cost rate: without them the folding bound is {shorter}, with {options}"


def _rate(plan: Plan, cycles: int) -> str:
    return f"{rate(plan.options.clock_mhz * 1e6 / cycles)} frames/s"


def limits_told(options: Options) -> str:
    """Return the limits on single engines as they were asked for."""
    shares = options.max_engine_share.as_dict()
    most = products_from(options.max_products)
    told = [] if most is None else [f"at most {_products_told(most)} (HLS)"]
    told += [f"{name} {shares[name]:.0%} of a slot" for name in RESOURCE_NAMES if shares[name] < 1]
    return ", ".join(told) or "none"


def _products_told(most: Mapping[int, int]) -> str:
    """Return limits on products by the width of operands, each of which holds up to the next."""
    first, *others = (
        f"{count:,} {'products' if bits == 1 else f'from {bits} bits on'}" for bits, count in most.items()
    )
    return ", ".join([first, *others])


def large_engines(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return the engines larger than any that is known to have been built, and those above a limit."""
    beyond = [(entry.products, name) for name, entry in phase.engines.items() if entry.beyond_known_builds]
    lines = [
        f"{name} forms {products:,} products at once: more than any engine known to have been built "
        "with operands as wide"
        for products, name in sorted(beyond, key=lambda pair: (-pair[0], pair[1]))
    ]
    lines += [
        f"{entry.engine} has {entry.value:,} {entry.limit}, {entry.allowed:,} allowed: limit lifted ({entry.reason})"
        for entry in plan.limits_lifted
        if entry.phase == phase.name
    ]
    return lines
