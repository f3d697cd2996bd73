"""What the plan asks of each node of a built graph: FIFOs, where it lies, and which module it belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from floorflow.backends.finn.step.graph import BuiltGraph, BuiltNode, BuiltStream, as_planned
from floorflow.backends.finn.step.kernels import NotBuildable, check_acyclic, partition_ids
from floorflow.backends.finn.step.match import Mismatch, different, matched, streams_between
from floorflow.backends.finn.step.slices import SLICE, slice_nodes, widens

LEAST_DEPTH = 2
"""The fewest words of a FIFO that FINN builds."""
FAR_APART = 1000
"""More SLRs than an FPGA has."""
IN_MEMORY = ("block", "distributed", "ultra")
"""Styles that FINN main builds with Vivado's FIFO, not with its own of shift registers."""
StepPlan = Mapping[str, Any]
"""What floorflow_plan.json holds."""


@dataclass(frozen=True)
class Bound:
    """A built graph with the nodes of the plan's engines, by id, and the streams of its channels, in their order."""

    plan: StepPlan
    graph: BuiltGraph
    nodes: Mapping[str, BuiltNode]
    streams: tuple[BuiltStream, ...]

    @property
    def links(self) -> Iterator[tuple[Mapping[str, Any], BuiltStream]]:
        """Each channel of the plan with its stream."""
        return zip(self.plan["streams"], self.streams, strict=True)

    @property
    def module_of(self) -> dict[BuiltNode, str]:
        """The module of every node; DMA engines and register slices are in none."""
        found = {self.nodes[str(engine["id"])]: str(engine["module"]) for engine in self.plan["engines"]}
        moved = self.plan.get("moved", {})
        for stream, link in self.links:
            converter = next((node for node in link.chain if node.is_converter), None)
            behind = False
            slices = slice_nodes(stream, link)
            for node in link.chain:
                behind = behind or node is converter
                if not node.is_dma and node not in slices:
                    found[node] = str((behind and stream["converter_module"]) or stream["fifo_module"])
            fifos = [node for node in link.chain if node.is_fifo and node not in slices]
            if stream["name"] in moved and fifos and not self._stays(stream):
                found[fifos[-1]] = str(moved[stream["name"]])
        return found

    def _stays(self, stream: Mapping[str, Any]) -> bool:
        """Whether both ends of a stream between engines lie in one SLR."""
        homes = {str(engine["id"]): self.plan["modules"][engine["module"]] for engine in self.plan["engines"]}
        return bool(homes.get(stream["source"]) == homes.get(stream["target"]))

    @property
    def kernel_starts(self) -> dict[BuiltNode, str]:
        """FIFOs of which FINN is told the SLR of another module, so that what follows begins a kernel.

        Their streams stay in an SLR. They lie in the pblock of their own module: what FINN is told is no place.
        """
        found = {}
        for stream, link in self.links:
            slices = slice_nodes(stream, link)
            fifos = [node for node in link.chain if node.is_fifo and node not in slices]
            if stream["name"] in self.plan.get("moved", {}) and fifos and self._stays(stream):
                found[fifos[-1]] = str(self.plan["moved"][stream["name"]])
        return found

    @property
    def slice_homes(self) -> dict[BuiltNode, tuple[int, int]]:
        """The numbers of FPGA and SLR of every register slice; those behind a FIFO that is moved lie where it does."""
        found: dict[BuiltNode, tuple[int, int]] = {}
        moved, modules = self.plan.get("moved", {}), self.plan["modules"]
        for stream, link in self.links:
            homes = [(int(device), int(slr)) for device, slr in stream.get("slices", ())]
            if stream["name"] in moved and link.source is not None and not self._stays(stream):
                home = modules[moved[stream["name"]]]
                homes = [(int(home["device"]), int(home["slr"]))] * len(homes)
            found.update(zip(slice_nodes(stream, link), homes, strict=False))
        return found


def bound(plan: StepPlan, graph: BuiltGraph, *, strict: bool = False) -> Bound:
    """Find the plan's engines and channels in a built graph; ``strict``: where two are alike, refuse to choose.

    Raises
    ------
    Mismatch
        If the graph is not that of the plan, or cannot be told.

    """
    module = {str(engine["id"]): engine["module"] for engine in plan["engines"]}
    folding = {str(engine["id"]): engine["folding"] for engine in plan["engines"]}

    def same(one: str, other: str) -> bool:
        return not strict or (module[one] == module[other] and folding[one] == folding[other])

    home = {one: plan["modules"][name] for one, name in module.items()}

    def closer(one: str, node: BuiltNode) -> bool:
        if node.mark:
            return node.mark == one
        places = (
            (node.attributes.get("slr"), home[one]["slr"]),
            (node.attributes.get("device_id"), home[one]["device"]),
        )
        elsewhere = any(built is not None and built != planned for built, planned in places)
        return not elsewhere and not different(folding[one], node, tuple(folding[one]))

    graph = as_planned(graph, plan["engines"])
    ports = bool(plan["ports_of_finn"]) or not strict
    nodes = matched(plan["engines"], plan["streams"], graph, ports=ports, same=same, closer=closer)
    return Bound(plan, graph, nodes, tuple(streams_between(plan["streams"], nodes, graph)))


def check_converters(one: Bound) -> None:
    """Refuse a graph with a width converter where the plan has none, or without one that it has.

    Raises
    ------
    Mismatch
        Names the stream.

    """
    for stream, link in one.links:
        _fifo_groups(stream, link)


def folding_differences(one: Bound) -> list[str]:
    """Return in words which engines are built with another folding or memory than planned."""
    found = []
    for engine in one.plan["engines"]:
        node = one.nodes[str(engine["id"])]
        texts = different(engine["folding"], node, tuple(engine["folding"]))
        if texts:
            found.append(f"{engine['id']} (node '{node.name}'): {', '.join(texts)}")
    return found


def fifo_ports(one: Bound) -> dict[BuiltNode, dict[str, list[int]]]:
    """Return ``inFIFODepths`` and ``outFIFODepths`` of every engine, from which InsertFIFO makes the planned FIFOs.

    A FIFO is as deep as the larger wish of its two ends, so one end alone has it: the wide one of a converter.
    """
    found: dict[BuiltNode, dict[str, list[int]]] = {}
    for node in one.nodes.values():
        inputs = 1 + max(node.positions, default=0)
        found[node] = {"inFIFODepths": [LEAST_DEPTH] * inputs, "outFIFODepths": [LEAST_DEPTH] * len(node.outputs)}
    for stream, link in one.links:
        depth = max(int(stream["depth"]), LEAST_DEPTH)
        at_target = link.source is None or widens(stream)
        if at_target and link.target is not None:
            found[link.target]["inFIFODepths"][link.target.positions[link.target_port]] = depth
        elif link.source is not None:
            found[link.source]["outFIFODepths"][link.source_port] = depth
    return found


def port_widths(one: Bound) -> dict[str, tuple[list[int], list[int]]]:
    """Return the bits of the streams into and out of every engine, ascending; none of those that read memory itself."""
    found: dict[str, tuple[list[int], list[int]]] = {
        str(engine["id"]): ([], []) for engine in one.plan["engines"] if not _reads_memory(engine)
    }
    for stream in one.plan["streams"]:
        for side, end in enumerate(("target", "source")):
            if stream[end] in found:
                found[stream[end]][side].append(int(stream[f"{end}_width"]))
    return {name: (sorted(into), sorted(out)) for name, (into, out) in found.items()}


def _reads_memory(engine: Mapping[str, Any]) -> bool:
    """Whether an engine has a stream of weights from memory, which a plan does not know."""
    return bool({**engine["attributes"], **engine["folding"]}.get("mem_mode") == "external")


def fifo_settings(one: Bound) -> dict[BuiltNode, dict[str, Any]]:
    """Return depth and memory of every FIFO; one that FINN has split into several is left as it is.

    Raises
    ------
    Mismatch
        If a stream has no FIFO or converter where the plan has one, or one where it has none.

    """
    found: dict[BuiltNode, dict[str, Any]] = {}
    plus = one.plan["finn"] == "plus"
    for stream, link in one.links:
        groups = _fifo_groups(stream, link)
        planned = len(groups) - 1 if widens(stream) else 0
        for index, fifos in enumerate(groups):
            depth, style = LEAST_DEPTH, "auto"
            if index == planned:
                depth, style = max(int(stream["depth"]), LEAST_DEPTH), str(stream["style"]) or "auto"
            if not fifos:
                raise Mismatch(f"stream {stream['name']} has no FIFO where the plan has one of {depth} words")
            if len(fifos) > 1:
                _check_split(stream, fifos, depth)
                continue
            vivado = style in IN_MEMORY and not plus
            memory = style if vivado or plus else "auto"
            found[fifos[0]] = {"depth": depth, "impl_style": "vivado" if vivado else "rtl", "ram_style": memory}
    return found | {node: dict(SLICE) for node in one.slice_homes}


def _fifo_groups(stream: Mapping[str, Any], link: BuiltStream) -> list[list[BuiltNode]]:
    """Return the FIFOs before and behind the converter, or all of them; register slices are none."""
    groups: list[list[BuiltNode]] = [[]]
    slices = slice_nodes(stream, link)
    reshaped = any(node.is_transparent for node in link.chain)  # with converters of its own, as FINN+ needs them
    for node in link.chain:
        if node.is_converter and not (reshaped and stream["converter"] is None):
            groups.append([])
        elif node.is_fifo and node not in slices:
            groups[-1].append(node)
    if len(groups) != 1 + (stream["converter"] is not None):
        has = "none" if stream["converter"] is None else "one"
        raise Mismatch(f"stream {stream['name']} has {len(groups) - 1} width converters, the plan {has}")
    return groups


def _check_split(stream: Mapping[str, Any], fifos: list[BuiltNode], depth: int) -> None:
    words = sum(int(node.attributes.get("depth", 0)) for node in fifos)
    if words < depth:
        raise Mismatch(f"the FIFOs of stream {stream['name']} hold {words} words, the plan has {depth}")


def placements(one: Bound) -> dict[BuiltNode, dict[str, Any]]:
    """Return SLR, device and memory port of every node, DMA engines included."""
    homes, modules, slices = one.plan["modules"], one.module_of | one.kernel_starts, one.slice_homes
    found = {}
    for node in one.graph.nodes:
        if node in slices:
            device, slr = slices[node]
            found[node] = {"slr": slr, "device_id": device, "mem_port": ""}
            continue
        home = one.plan["dma"]["in" if node.attributes.get("direction") == "in" else "out"]
        if not node.is_dma:
            if node not in modules:
                raise Mismatch(f"node '{node.name}' lies on no stream of the plan")
            home = homes[modules[node]]
        found[node] = {"slr": home["slr"], "device_id": home["device"], "mem_port": home.get("mem_port", "")}
    return found


def check_kernels(one: Bound, ids: Mapping[BuiltNode, int], slr: Mapping[BuiltNode, int]) -> None:
    """Refuse kernels that are not those of the plan: the same engines in each, in the SLR of all, none in a circle.

    Raises
    ------
    NotBuildable
        Names what differs.

    """
    places = placements(one)
    for node in one.graph.nodes:
        if slr[node] < 0 <= places[node]["slr"]:
            raise NotBuildable(f"node '{node.name}' lies in no SLR; FINN would make a kernel of its own of it")
    by_id: dict[int, set[str]] = {}
    name_of = {node: name for name, node in one.nodes.items()}
    for node, number in ids.items():
        by_id.setdefault(number, set())
        if node in name_of:
            by_id[number].add(name_of[node])
    for number in sorted(by_id):
        if len({slr[node] for node, other in ids.items() if other == number}) > 1:
            raise NotBuildable(f"kernel {number} lies in several SLRs")
    check_acyclic(one.graph.nodes, ids)
    built = {frozenset(names) for names in by_id.values() if names}
    planned = {frozenset(names) for names in one.plan["kernels"]}
    if built != planned:
        other = min(built - planned, key=sorted, default=frozenset())
        raise NotBuildable(
            f"FINN makes {len(built)} kernels of the engines, the plan has {len(planned)}; "
            f"one that the plan does not have: {', '.join(sorted(other)[:6]) or 'none'}"
        )


def own_kernels(one: Bound) -> dict[BuiltNode, int]:
    """Return the partition id of every node by FINN's rule, restated, for the planned places.

    Each FPGA is a build of its own, so that the same SLR of another one is another place.
    """
    places = {node: FAR_APART * place["device_id"] + place["slr"] for node, place in placements(one).items()}
    return partition_ids(one.graph.nodes, places, plus=one.plan["finn"] == "plus")
