"""Limits on single engines, and the engines above one or beyond any that is known to have been built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from floorflow.errors import some
from floorflow.facts.folding import FoldedEntry
from floorflow.facts.values import Amount, PlainName, PlanModel
from floorflow.request import Request, products_from
from floorflow.resources import RESOURCE_NAMES

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
