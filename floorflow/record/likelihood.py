"""How likely a phase is to fit: bands of the kinds that it uses, and what each slot may need in the end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from floorflow.backends.backend import Costs
from floorflow.dataflow.bands import CROSSING, LESS, MORE, outcome_of, spread
from floorflow.facts import ChannelEntry, FitEntry
from floorflow.hardware import Slot
from floorflow.record.part import Part, PhaseRun
from floorflow.record.values import amounts
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources
from floorflow.search.candidate.slot_problem import Use, module_uses

Item = tuple[str, str, Resources]
"""Slot, kind and estimate."""
Bands = dict[str, dict[str, tuple[float, float]]]
"""Factors by kind and resource."""


def uses_of_part(part: Part) -> Mapping[str, Use]:
    """Return what each module of a network in a phase needs, by kind; modules go by the candidate's names."""
    candidate = part.candidate
    return module_uses(
        candidate.modules, candidate.folded, candidate.channels, part.context.costs, frozenset(part.measured)
    )


def bands_and_fits(run: PhaseRun, channels: Sequence[list[ChannelEntry]]) -> tuple[Bands, dict[str, FitEntry]]:
    """Return bands and fits of a phase, both empty where the cost model knows no error; ``channels`` by network."""
    costs = run.context.costs
    if not costs.has_bands:
        return {}, {}
    items = [item for part, own in zip(run.wholes, channels, strict=True) for item in _items(part, own)]
    return _bands(items, costs), _fits(run.context.platform.slots, items, costs)


def _bands(items: Sequence[Item], costs: Costs) -> Bands:
    """Return the factors for each kind and resource that the phase uses; what was measured has none."""
    whole: dict[str, Resources] = defaultdict(lambda: ZERO)
    for _, kind, need in items:
        whole[kind] = whole[kind] + need
    return {
        kind: {name: costs.band(kind, name) for name in RESOURCE_NAMES if use.as_dict()[name]}
        for kind, use in sorted(whole.items())
        if kind not in {CROSSING, LESS, MORE}
    }


def _fits(slots: Sequence[Slot], items: Sequence[Item], costs: Costs) -> dict[str, FitEntry]:
    """Return for every slot how likely it holds what lies in it, and the tenths of what that needs."""
    use: dict[str, dict[str, Resources]] = {slot.name: defaultdict(lambda: ZERO) for slot in slots}
    for slot, kind, need in items:
        use[slot][kind] = use[slot][kind] + need
    return {slot.name: _fit(use[slot.name], slot.available, costs) for slot in slots}


def _fit(use: Use, available: Resources, costs: Costs) -> FitEntry:
    low, high = spread(use, costs.band)
    likelihood = outcome_of(use, costs.band).told(available.as_dict())
    return FitEntry(likelihood=likelihood, low=amounts(low), high=amounts(high))


def _items(part: Part, channels: Sequence[ChannelEntry]) -> Iterator[Item]:
    """Yield slot, kind and estimate of what lies in every module, and of every run of crossing registers and slices."""
    for module, use in uses_of_part(part).items():
        for kind, need in use.items():
            yield part.candidate.slot_of[module], kind, need
    for channel in channels:
        for slot, registers in channel.crossing_resources.items():
            yield slot, CROSSING, Resources.from_dict(registers.model_dump())
        for slot, slices in channel.slice_resources.items():
            yield slot, part.context.costs.fifo_kind, Resources.from_dict(slices.model_dump())
