"""Engines above a limit on single engines: what the plan lists of them, and what a user is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from floorflow.dataflow.model import renamings
from floorflow.dataflow.modules import module_of
from floorflow.dataflow.options import OptionTable
from floorflow.errors import some
from floorflow.facts import LiftedEntry
from floorflow.record.part import Part
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES
from floorflow.search.candidate.engine_limits import PRODUCTS, EngineLimits, Reason, engine_limits

_WHY: Mapping[Reason, str] = {
    "folding kept": "the folding was given",
    "none of the engine": "no folding within the limit is fast enough and fits",
    "none of the network": "the network has no folding in which fewer engines are above limits",
    "no plan found": "no plan was found within the limits",
}


def products_of(part: Part) -> dict[str, int]:
    """Return the products that each engine forms at once, by name; 0 where that does not apply."""
    folded, backend = part.candidate.folded, part.context.backend
    return {
        engine.name: int(backend.products(engine, OptionTable.of([folded.options[engine.name]]))[0])
        for engine in folded.dataflow.engines
    }


def lifted(phase: str, part: Part) -> list[LiftedEntry]:
    """Return the engines of a network in a phase that are above a limit of the request, with why."""
    context, folded = part.context, part.candidate.folded
    limits = engine_limits(context.request, context.platform, context.dataflow, context.backend)
    unknown: Reason = "folding kept" if context.request.keep_folding else "no plan found"
    return [
        LiftedEntry(
            phase=phase,
            engine=part.id(new),
            limit=name,
            value=value,
            allowed=allowed,
            reason=part.result.exempt.get((old, name), unknown),
        )
        for old, new in renamings(context.dataflow, folded.dataflow).items()
        for name, value, allowed in _above(part, limits, old, new)
    ]


def _above(part: Part, limits: EngineLimits, old: str, engine: str) -> Iterator[tuple[str, int, int]]:
    """Yield each limit that an engine is above, with what it has and what is allowed; the limits go by its old name."""
    count, most_products = products_of(part)[engine], limits.products_allowed(old)
    if most_products is not None and count > most_products:
        yield PRODUCTS, count, most_products
    slot = part.candidate.slot_of[module_of(part.candidate.modules)[engine]]
    uses = part.candidate.folded.options[engine].resources.as_tuple()
    for name, use, most in zip(RESOURCE_NAMES, uses, limits.most[slot].as_tuple(), strict=True):
        if use > most:
            yield name, use, most


def lifted_warnings(entries: Sequence[LiftedEntry], request: Request) -> Iterator[str]:
    """Yield a sentence for each limit and reason."""
    for limit, reason in dict.fromkeys((entry.limit, entry.reason) for entry in entries):
        own = [entry for entry in entries if (entry.limit, entry.reason) == (limit, reason)]
        share = request.max_engine_share.as_dict()
        option = (
            f"--max-products {request.max_products}"
            if limit == PRODUCTS
            else f"--max-engine-share {limit}={share[limit]:g}"
        )
        engines = some([f"{e.engine} ({e.value:,} {e.limit}, {e.allowed:,} allowed)" for e in own])
        yield f"above {option}, as {_WHY[reason]}: {engines}"
