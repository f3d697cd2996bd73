"""v++'s connections for copies of a network, or several networks, on a card: kernels, and each one's streams and SLRs.

One build of FINN makes the kernels (XOs), whose ports are numbered as FINN numbers them where it links; DMA engines are
idma0 and odma0 there (VitisLink of FINN main), or idma_0 and odma_0 (BuildBasicVitisLinkConfig of FINN+). Compute units
of copy or network k are called as FINN calls its one, and ``_k``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.backends.finn.step.graph import BuiltNode
from floorflow.backends.finn.step.kernels import PREFIX, kernel_order
from floorflow.backends.finn.step.settings import placements
from floorflow.backends.finn.step_data import ANY_SLR, Foreseen, NetworkInPhase, foreseen, prefix_of
from floorflow.facts.replicas import CopyEntry


@dataclass(frozen=True)
class Kernels:
    """The kernels of one copy, by their numbers in FINN's order."""

    graph: Foreseen

    @cached_property
    def members(self) -> dict[int, list[BuiltNode]]:
        """The nodes of each kernel, in the graph's order."""
        nodes = self.graph.bound.graph.nodes
        order = kernel_order(nodes, self.graph.ids)
        found: dict[int, list[BuiltNode]] = {number: [] for number in sorted(order.values())}
        for node in nodes:
            found[order[self.graph.ids[node]]].append(node)
        return found

    @cached_property
    def units(self) -> dict[int, str]:
        """What FINN calls the one compute unit of each kernel."""
        names, counts = {}, {"idma": 0, "odma": 0}
        between = "_" if self.graph.data["finn"] == "plus" else ""
        for number, nodes in self.members.items():
            names[number] = f"{PREFIX}{number}"
            if nodes[0].is_dma:
                way = "odma" if nodes[0].inputs and nodes[0].inputs[0] in self.made else "idma"
                names[number] = f"{way}{between}{counts[way]}"
                counts[way] += 1
        return names

    @cached_property
    def made(self) -> Mapping[str, int]:
        """The kernel that makes each tensor."""
        return {tensor: number for number, nodes in self.members.items() for n in nodes for tensor in n.outputs}

    @cached_property
    def slr(self) -> Mapping[int, int]:
        """The SLR of each kernel."""
        places = placements(self.graph.bound)
        return {number: places[nodes[0]]["slr"] for number, nodes in self.members.items()}

    @property
    def streams(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the streams between kernels: kernel and port of the source, then of the target."""
        read = {tensor: number for number, nodes in self.members.items() for n in nodes for tensor in n.inputs}
        inputs: dict[int, int] = {}
        outputs = {
            number: [t for n in nodes for t in n.outputs if read.get(t, number) != number]
            for number, nodes in self.members.items()
        }
        for number, nodes in self.members.items():
            for tensor in (tensor for node in nodes for tensor in node.inputs):
                source = self.made.get(tensor, number)
                if source != number:
                    port = inputs[number] = inputs.get(number, -1) + 1
                    yield source, outputs[source].index(tensor), number, port


def copies_lines(one: NetworkInPhase, copies: Sequence[CopyEntry]) -> list[str]:
    """Return the section of connections for copies of a network: kernels, SLRs, memory channels and streams."""
    kernels = Kernels(foreseen(one))
    slots = {slot.name: int(slot.slr.removeprefix("SLR")) for slot in one.plan.platform.slots}
    away = [slots[copy.slot] - slots[copies[0].slot] for copy in copies]
    lines = [
        f"nk={PREFIX}{number}:{len(copies)}:{'.'.join(f'{unit}_{k}' for k in range(len(copies)))}"
        for number, unit in kernels.units.items()
    ]
    for k, copy in enumerate(copies):
        lines += _lines_of(kernels, k, away[k], copy.memory)
    return lines


def networks_lines(each: Sequence[NetworkInPhase]) -> list[str]:
    """Return the section of connections for several networks: each has kernels of its own, of names of its own."""
    lines = []
    for k, one in enumerate(each):
        kernels = Kernels(foreseen(one))
        lines += [f"nk={prefix_of(one)}{PREFIX}{number}:1:{unit}_{k}" for number, unit in kernels.units.items()]
        lines += _lines_of(kernels, k, 0, one.plan.platform.fpgas[0].host_memory)
    return lines


def _lines_of(kernels: Kernels, k: int, away: int, memory: str | None) -> Iterator[str]:
    """Yield SLRs, memory channel and streams of copy or network ``k``, ``away`` SLRs above the first copy."""
    for number, unit in kernels.units.items():
        if kernels.slr[number] != ANY_SLR:
            yield f"slr={unit}_{k}:SLR{kernels.slr[number] + away}"
    for number, unit in kernels.units.items():
        if kernels.members[number][0].is_dma and memory is not None:
            yield f"sp={unit}_{k}.m_axi_gmem0:{memory}"
    for a, i, b, j in kernels.streams:
        yield f"stream_connect={kernels.units[a]}_{k}.m_axis_{i}:{kernels.units[b]}_{k}.s_axis_{j}"
