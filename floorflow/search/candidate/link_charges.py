"""What floorflow's own link kernels take of slots: those of an assignment's streams, where the tool joins no cards."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from floorflow.channels import Channel
from floorflow.channels.cost_allocation import modules_between
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Module
from floorflow.facts.link_kernels import LinkKernel, LinkStream, cost, link_stream
from floorflow.resources import ZERO, Resources
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.members import parts_of


def link_charges(
    context: PlanningContext,
    folded: FoldedDataflow,
    modules: Sequence[Module],
    channels: Sequence[Channel],
    slot_of: Mapping[str, str],
) -> dict[str, Resources]:
    """Return what link kernels take of each slot where a link ends that streams pass; nothing where a tool has its own.

    A slot may be the end of several links, each with a kernel.
    """
    latency_us = _links(context)
    if not latency_us:
        return {}
    rates = {e.name: part.interval_cycles for part in parts_of(folded, context.together) for e in part.dataflow.engines}
    ends = modules_between(modules, channels)
    kernels: dict[tuple[str, str], tuple[list[LinkStream], list[LinkStream]]] = defaultdict(lambda: ([], []))
    for channel in channels:
        cycles = rates.get(channel.stream.source) or rates[channel.stream.target]
        gbps = channel.wire_bits_per_frame * context.platform.clock_mhz * 1e6 / cycles / 1e9
        source, target = ends[channel.name]
        slots = slot_of.get(source, context.platform.host_in_slot), slot_of.get(target, context.platform.host_out_slot)
        for link, source, target in _passed(context, slots):
            if link in latency_us:
                stream = link_stream(channel.name, channel.width_bits, gbps, latency_us[link])
                kernels[link, source][0].append(stream)
                kernels[link, target][1].append(stream)
    taken: dict[str, Resources] = defaultdict(lambda: ZERO)
    for (_, slot), (sends, receives) in kernels.items():
        taken[slot] += cost(LinkKernel("", tuple(sends), tuple(receives)))
    return dict(taken)


def _links(context: PlanningContext) -> dict[str, float]:
    """Return the latency of the links that get kernels of floorflow's own, by their names."""
    platform, backend = context.platform, context.backend
    if not platform.links or backend.streams_a_cable(context.request.backend_options) is not None:
        return {}
    return {link.name: link.latency_us for link in platform.links if platform.has_kernels(link)}


def _passed(context: PlanningContext, slots: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the links between two slots, with the slots where a stream enters and leaves each."""
    for step in context.platform.route_steps(*slots):
        if step.link is not None:
            yield step.link, step.source, step.target
