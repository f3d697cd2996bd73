"""How likely a phase is to fit: bands of the kinds that it uses, and what each slot may need in the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from floorflow.backends.backend import Costs
from floorflow.dataflow.bands import CROSSING, fit_likelihood, spread
from floorflow.hardware import Slot
from floorflow.record.part import Part, PhaseRun
from floorflow.record.values import amounts
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources
from floorflow.schema import ChannelEntry, FitEntry

Use = dict[str, Resources]
"""Estimates by kind."""
Item = tuple[str, str, Resources]
"""Slot, kind and estimate."""
Bands = dict[str, dict[str, tuple[float, float]]]
"""Factors by kind and resource."""


def bands_and_fits(run: PhaseRun, channels: Sequence[list[ChannelEntry]]) -> tuple[Bands, dict[str, FitEntry]]:
    """Return bands and fits of a phase, both empty where the cost model knows no error; ``channels`` by network."""
    costs = run.context.costs
    if not costs.has_bands:
        return {}, {}
    items = [item for part, own in zip(run.parts, channels, strict=True) for item in _items(part, own)]
    return _bands(items, costs), _fits(run.context.platform.slots, items, costs)


def _bands(items: Sequence[Item], costs: Costs) -> Bands:
    """Return the factors for each kind and resource that the phase uses; what was measured has none."""
    whole: Use = defaultdict(lambda: ZERO)
    for _, kind, need in items:
        whole[kind] = whole[kind] + need
    return {
        kind: {name: costs.band(kind, name) for name in RESOURCE_NAMES if use.as_dict()[name]}
        for kind, use in sorted(whole.items())
        if kind != CROSSING
    }


def _fits(slots: Sequence[Slot], items: Sequence[Item], costs: Costs) -> dict[str, FitEntry]:
    """Return for every slot how likely it holds what lies in it, and the tenths of what that needs."""
    use: dict[str, Use] = {slot.name: defaultdict(lambda: ZERO) for slot in slots}
    for slot, kind, need in items:
        use[slot][kind] = use[slot][kind] + need
    return {slot.name: _fit(use[slot.name], slot.available, costs) for slot in slots}


def _fit(use: Mapping[str, Resources], available: Resources, costs: Costs) -> FitEntry:
    low, high = spread(use, costs.band)
    likelihood = fit_likelihood(use, available, costs.band)
    return FitEntry(likelihood=round(likelihood, 4), low=amounts(low), high=amounts(high))


def _items(part: Part, channels: Sequence[ChannelEntry]) -> Iterator[Item]:
    """Yield slot, kind and estimate of every engine, converter, FIFO and run of crossing registers.

    What was measured is as sure as what is decided, so it counts as crossing registers do.
    """
    candidate = part.candidate
    kinds = {e.name: CROSSING if e.name in part.measured else e.kind for e in candidate.folded.dataflow.engines}
    for module in candidate.modules:
        for name in module.engines:
            yield candidate.slot_of[module.name], kinds[name], candidate.folded.options[name].resources
    slot_of = {part.module(module): slot for module, slot in candidate.slot_of.items()}
    for channel in channels:
        yield (
            slot_of[channel.fifo_module],
            part.context.costs.fifo_kind,
            Resources.from_dict(channel.fifo_resources.model_dump()),
        )
        if channel.converter and channel.converter_module:
            need = Resources.from_dict(channel.converter_resources.model_dump())
            yield slot_of[channel.converter_module], channel.converter, need
        for slot, registers in channel.crossing_resources.items():
            yield slot, CROSSING, Resources.from_dict(registers.model_dump())
