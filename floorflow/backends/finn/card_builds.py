"""FINN main's build of each of several cards: its part of the network as kernels, and what v++ links of them.

FINN main makes one design of one card. So each card has a folder with steps that cut its part out of FINN's graph and
make its kernels (XOs), a DMA engine at each end among them. Where an end is a link, that DMA engine is left out, and
the stream goes to the link's kernel.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from floorflow.backends.finn.copies_link import Kernels
from floorflow.backends.finn.step.kernels import PREFIX, kernel_order
from floorflow.backends.finn.step_data import NetworkInPhase, finn_of, foreseen
from floorflow.backends.finn.step_files import BOARDS, VERSIONS, vivado_settings
from floorflow.errors import some
from floorflow.facts import PhaseEntry, Plan
from floorflow.facts.links import CardKernels, Links


def is_built_by_card(plan: Plan) -> bool:
    """Whether FINN main builds each card of a plan by itself: one network, in one phase, with link kernels."""
    alone = len(plan.phases) == len(plan.networks) == 1 and len(plan.platform.fpgas) > 1
    known = all(fpga.board in BOARDS for fpga in plan.platform.fpgas)
    made = alone and known and finn_of(plan) == "main" and Links(plan.platform, plan.phases[0]).are_made
    return made and not not_by_card(plan.phases)


def not_by_card(phases: Sequence[PhaseEntry]) -> list[str]:
    """Return why FINN main does not build the parts of cards, a clause each."""
    linked = [channel for phase in phases for channel in phase.channels if channel.link is not None]
    far = [channel.name for channel in linked if any(end.outside for end in channel.ends)]
    wider = [channel.name for channel in linked if channel.converter is not None]
    of_host = (
        f"{some(far)} pass{'es' * (len(far) == 1)} a link between host and network, and each card's build has its DMA "
        "engines beside the layers: no card is built by itself"
    )
    of_width = (
        f"{some(wider)} change{'s' * (len(wider) == 1)} width on the way over a link, and FINN puts converters between "
        "two layers alone, none at the end of a card's part: no card is built by itself"
    )
    return [*([of_host] if far else ()), *([of_width] if wider else ())]


def card_kernels(plan: Plan, phase: int, fpga: Mapping[str, Any]) -> CardKernels | None:
    """Return the kernels of a card's part, none of a card that streams only pass; None: FINN main builds no card.

    ``fpga``: as `step_files` has it.
    """
    if not is_built_by_card(plan):
        return None
    part = NetworkInPhase(plan, plan.networks[0], plan.phases[phase], fpga["name"])
    lines, ports = _kernels(part) if part.engines else ((), {})
    slots = next(one.slots for one in plan.platform.fpgas if one.name == fpga["name"])
    told = f"# platform: {fpga['platform']}\n# versions: {' '.join(VERSIONS['main'])}\n"
    told += f"# mhz: {round(plan.options.clock_mhz)}\n"
    return CardKernels(tuple(lines), ports, told + vivado_settings(single_slr=len(slots) == 1))


def _kernels(part: NetworkInPhase) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the kernels that FINN makes of a card's part, as v++ links them, and where streams over links are joined.

    FINN numbers its kernels and the ports of each; the DMA engines of the host are idma0, odma0.
    """
    kernels = Kernels(foreseen(part))
    nodes = kernels.graph.bound.graph.nodes
    number_of = kernel_order(nodes, kernels.graph.ids)
    at_link: dict[int, str] = {}
    for channel, (_, link) in zip(part.channels, kernels.graph.bound.links, strict=True):
        for node in (n for n in link.chain if n.is_dma and channel.link is not None):
            at_link[number_of[kernels.graph.ids[node]]] = channel.name
    units, counts = {}, {"idma": 0, "odma": 0}
    for number, unit in kernels.units.items():
        if number not in at_link:
            way = unit[:4]
            units[number] = f"{way}{counts[way]}" if way in counts else unit
            counts |= {way: counts[way] + 1} if way in counts else {}
    memory = next(f.host_memory for f in part.plan.platform.fpgas if f.name == part.fpga)
    lines = [f"nk={PREFIX}{number}:1:{unit}" for number, unit in units.items()]
    lines += [f"slr={unit}:SLR{kernels.slr[number]}" for number, unit in units.items() if kernels.slr[number] >= 0]
    dma = [unit for number, unit in units.items() if kernels.members[number][0].is_dma]
    lines += [f"sp={unit}.m_axi_gmem0:{memory}" for unit in dma if memory]
    ports = {}
    for source, i, target, j in kernels.streams:
        if source in at_link:
            ports[at_link[source]] = f"{units[target]}.s_axis_{j}"
        elif target in at_link:
            ports[at_link[target]] = f"{units[source]}.m_axis_{i}"
        else:
            lines.append(f"sc={units[source]}.m_axis_{i}:{units[target]}.s_axis_{j}")
    return lines, ports
