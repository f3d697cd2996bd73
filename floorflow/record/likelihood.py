"""How likely the plan is to fit: bands of the kinds that it uses, and what each slot may need in the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from floorflow.backends.finn.cost.bands import CROSSING, fit_likelihood, relative_band, spread
from floorflow.record.values import amounts
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources
from floorflow.schema import ChannelEntry, FitEntry
from floorflow.search.candidate import Candidate
from floorflow.search.context import PlanningContext

FIFO_KIND = "StreamingFIFO_rtl"
Use = dict[str, Resources]
"""Estimates by kind."""


def bands(
    candidate: Candidate, channels: list[ChannelEntry], measured: Collection[str] = ()
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the factors for each kind and resource that the plan uses; ``measured`` engines have none."""
    whole: Use = defaultdict(lambda: ZERO)
    for _, kind, need in _items(candidate, channels, measured):
        whole[kind] = whole[kind] + need
    return {
        kind: {name: relative_band(kind, name) for name in RESOURCE_NAMES if use.as_dict()[name]}
        for kind, use in sorted(whole.items())
        if kind != CROSSING
    }


def fits(
    context: PlanningContext, candidate: Candidate, channels: list[ChannelEntry], measured: Collection[str] = ()
) -> dict[str, FitEntry]:
    """Return for every slot how likely it holds what lies in it, and the tenths of what that needs."""
    use: dict[str, Use] = {slot.name: defaultdict(lambda: ZERO) for slot in context.platform.slots}
    for slot, kind, need in _items(candidate, channels, measured):
        use[slot][kind] = use[slot][kind] + need
    return {slot.name: _fit(use[slot.name], slot.available) for slot in context.platform.slots}


def _fit(use: Mapping[str, Resources], available: Resources) -> FitEntry:
    low, high = spread(use)
    return FitEntry(likelihood=round(fit_likelihood(use, available), 4), low=amounts(low), high=amounts(high))


def _items(
    candidate: Candidate, channels: list[ChannelEntry], measured: Collection[str]
) -> Iterator[tuple[str, str, Resources]]:
    """Yield slot, kind and estimate of every engine, converter, FIFO and run of crossing registers.

    What was measured is as sure as what is decided, so it counts as crossing registers do.
    """
    kinds = {e.name: CROSSING if e.name in measured else e.kind for e in candidate.folded.dataflow.engines}
    for module in candidate.modules:
        for name in module.engines:
            yield candidate.slot_of[module.name], kinds[name], candidate.folded.options[name].resources
    for channel in channels:
        yield (
            candidate.slot_of[channel.fifo_module],
            FIFO_KIND,
            Resources.from_dict(channel.fifo_resources.model_dump()),
        )
        if channel.converter and channel.converter_module:
            need = Resources.from_dict(channel.converter_resources.model_dump())
            yield candidate.slot_of[channel.converter_module], channel.converter, need
        for slot, registers in channel.crossing_resources.items():
            yield slot, CROSSING, Resources.from_dict(registers.model_dump())
