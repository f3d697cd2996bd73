"""The folding of engines: how parallel each is, what it takes, limits on one, and weights that the host writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from floorflow.errors import some
from floorflow.facts.text import rate
from floorflow.facts.values import Amount, Amounts, AttributeValue, PlainName, PlanModel, Stats
from floorflow.request.choices import Objective
from floorflow.request.model import Request
from floorflow.request.readers import products_from
from floorflow.resources import RESOURCE_NAMES


class ParallelismEntry(PlanModel):
    """How parallel an engine is in one way: the attribute of the back end, its value and the most it can have."""

    name: str
    value: int
    most: int


class DoubtEntry(PlanModel):
    """What an engine may need less and more than told: by versions that were not given, or as one build alone shows."""

    less: Amounts
    more: Amounts


class FoldedEntry(PlanModel):
    """The folding of one engine; ``attributes`` are the back end's own, by its own names.

    ``products`` are those that an engine of high-level synthesis forms at once, 0 for others; ``beyond_known_builds``:
    no engine with so many is known to have been built. ``doubt`` is null where there is none.
    """

    cycles: int
    resources: Amounts
    attributes: dict[str, AttributeValue]
    parallelism: list[ParallelismEntry]
    products: Amount = 0
    beyond_known_builds: bool = False
    doubt: DoubtEntry | None = None

    @property
    def is_widest(self) -> bool:
        """Whether no wider folding exists."""
        return bool(self.parallelism) and all(way.value >= way.most for way in self.parallelism)

    @property
    def width(self) -> str:
        """How parallel it is, and how parallel it could be; empty where its kind has no folding."""
        return ", ".join(f"{way.name} {way.value:,} of {way.most:,}" for way in self.parallelism)


class FoldingEntry(PlanModel):
    """The folding of a network's engines; ``resources`` count converters and FIFOs of the least depth as well.

    ``fullness`` is of the largest share of all slots' limits together that these take.
    """

    engines: dict[str, FoldedEntry]
    resources: Amounts
    budget: Amounts
    fullness: Stats
    stats: Stats
    whole_budget_bound: float | None

    @property
    def latency(self) -> str:
        """The latency in cycles that was minimised, and the bound on it."""
        cycles, bound = self.stats.objective, self.whole_budget_bound
        if bound is None or not cycles:
            return f"{cycles or 0:,.0f} cycles along the longest path"
        gap = f"bound {bound:,.0f}, gap {max(0.0, cycles - bound) / cycles:.1%}"
        return f"{cycles:,.0f} cycles along the longest path, {gap}"


class HostWeightsEntry(PlanModel):
    """The engines whose weights the host writes at run time, where these are to be few, and what they buy.

    ``least``: no folding at this interval has fewer. ``bound_cycles``: the folding bound if any engine may be written,
    ``without_bound_cycles``: if none may; null: nothing fits, 0: not worked out. ``without_cycles``: of the design that
    was found without, if one was ``sought``. Cycles are intervals, or latencies if that is the objective.
    """

    engines: list[str]
    least: Amount
    bound_cycles: Amount | None
    without_bound_cycles: Amount | None
    without_cycles: Amount | None
    sought: bool


def host_writes(found: HostWeightsEntry | None, objective: Objective, clock_mhz: float) -> str:
    """Return which engines of a network the host has to write and what that buys; empty if there are none."""
    if found is None or not found.engines:
        return ""
    count = len(found.engines)
    least = "no folding has fewer" if found.least == count else f"at least {found.least} of any folding"
    least = least if found.least else "whether a folding needs none is not known"
    return (
        f"weights of {count} engine{'s' * (count != 1)} must be written by software before the first frame "
        f"({', '.join(found.engines)}; {least}): {_bought(found, objective, clock_mhz)}"
    )


def _bought(found: HostWeightsEntry, objective: Objective, clock_mhz: float) -> str:
    if found.without_bound_cycles is None:
        return "without that nothing fits"
    if found.sought and found.without_cycles is None:
        return "without that no plan was found"
    cycles = found.without_cycles
    if objective == "latency" and cycles is not None:
        return f"without that the latency found is {cycles:,} cycles"
    if cycles is not None:
        return f"without that {rate_at(clock_mhz, cycles)} were found"
    return f"without that at most {rate_at(clock_mhz, found.without_bound_cycles)}, by the folding bound"


def host_could(found: HostWeightsEntry | None, interval_cycles: int, clock_mhz: float) -> str:
    """Return what weights written by the host would allow where there are none; empty if nothing, or not known."""
    if found is None or found.engines or not found.bound_cycles or found.bound_cycles >= interval_cycles:
        return ""
    most = rate_at(clock_mhz, found.bound_cycles)
    return f"all weights are in the bitstream; written by software at run time they would allow at most {most}"


def rate_at(clock_mhz: float, cycles: int) -> str:
    """Return the frame rate of an interval, in words."""
    return f"{rate(clock_mhz * 1e6 / cycles)} frames/s"


_WHY = {
    "folding kept": "the folding was given",
    "none of the engine": "no folding within the limit is fast enough and fits",
    "none of the network": "the network has no folding in which fewer engines are above limits",
    "no plan found": "no plan was found within the limits",
}


class LiftedEntry(PlanModel):
    """An engine above a limit on single engines: what it has of ``limit``, what is allowed, and why it may."""

    phase: PlainName
    engine: str
    limit: Annotated[str, Field(pattern=r"^(products|LUT|FF|BRAM18|URAM|DSP)$")]
    value: Amount
    allowed: Amount
    reason: Literal["folding kept", "none of the engine", "none of the network", "no plan found"]


def lifted_warnings(entries: Sequence[LiftedEntry], request: Request) -> Iterator[str]:
    """Yield a sentence for each limit and reason."""
    for limit, reason in dict.fromkeys((entry.limit, entry.reason) for entry in entries):
        own = [entry for entry in entries if (entry.limit, entry.reason) == (limit, reason)]
        share = request.max_engine_share.as_dict()
        option = (
            f"--max-products {request.max_products}"
            if limit == "products"
            else f"--max-engine-share {limit}={share[limit]:g}"
        )
        engines = some([f"{e.engine} ({e.value:,} {e.limit}, {e.allowed:,} allowed)" for e in own])
        yield f"above {option}, as {_WHY[reason]}: {engines}"


def engine_limits(options: Request) -> str:
    """Return the limits on single engines as they were asked for."""
    shares = options.max_engine_share.as_dict()
    most = products_from(options.max_products)
    limits = [] if most is None else [f"at most {_products(most)} (HLS)"]
    limits += [f"{name} {shares[name]:.0%} of a slot" for name in RESOURCE_NAMES if shares[name] < 1]
    return ", ".join(limits) or "none"


def _products(most: Mapping[int, int]) -> str:
    """Return limits on products by the width of operands, each of which holds up to the next."""
    first, *others = (
        f"{count:,} {'products' if bits == 1 else f'from {bits} bits on'}" for bits, count in most.items()
    )
    return ", ".join([first, *others])


def large_engines(engines: Mapping[str, FoldedEntry], lifted: Sequence[LiftedEntry], phase: str) -> list[str]:
    """Return the engines of a phase larger than any that is known to have been built, and those above a limit."""
    beyond = [(entry.products, name) for name, entry in engines.items() if entry.beyond_known_builds]
    lines = [
        f"{name} forms {products:,} products at once: more than any engine known to have been built "
        "with operands as wide"
        for products, name in sorted(beyond, key=lambda pair: (-pair[0], pair[1]))
    ]
    lines += [
        f"{entry.engine} has {entry.value:,} {entry.limit}, {entry.allowed:,} allowed: limit lifted ({entry.reason})"
        for entry in lifted
        if entry.phase == phase
    ]
    return lines
