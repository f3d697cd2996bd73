"""The nodes that FINN makes of a plan's engines and channels, in the order of its graph, and its file of FIFOs.

FINN inserts converters and then FIFOs right behind their producers, those of later outputs first; at last one FIFO for
each input goes before all and one for each output behind all, and DMA engines around these. After each round qonnx
sorts the graph by levels (SortGraph, in ModelWrapper.cleanup).

FINN does so late in its build, where no analysis sets depths (``auto_fifo_depths=False``), and numbers the FIFOs as
they then stand.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from floorflow.backends.finn.names import FinnVersion
from floorflow.backends.finn.step.graph import BuiltNode
from floorflow.backends.finn.step.slices import SLICE_DEPTH, widens
from floorflow.facts import ChannelEntry

FIFO = "StreamingFIFO_rtl"
DMA = "IODMA_hls"
LEAST_DEPTH = 2
"""Words of the second FIFO of a stream with a converter, and the fewest that FINN builds."""


def made_nodes(data: Mapping[str, Any]) -> tuple[list[BuiltNode], dict[str, BuiltNode]]:
    """Return all nodes under FINN's names, and those of the engines by id.

    ``data`` has ``engines`` and ``streams`` as floorflow_plan.json. The graph is what FINN has when it makes kernels.
    """
    graph = _Graph(data)
    graph.insert_converters()
    graph.insert_fifos()
    graph.insert_ends(FIFO, "FIFO")
    graph.insert_slices()
    graph.sort()
    graph.specialise()
    graph.insert_ends(DMA, "DMA")
    graph.sort()
    counts: Counter[str] = Counter()
    for node in graph.order:
        node.name = f"{node.op_type}_{counts[node.op_type]}"
        counts[node.op_type] += 1
    return graph.order, graph.engines


def fifo_config(
    engines: Sequence[str], channels: Sequence[ChannelEntry], folding: Mapping[str, Any], finn: FinnVersion
) -> dict[str, Any]:
    """Return fifo_config.json of the engines (ids, in order) of one network.

    For FINN+ the file is ``fifo_config_file``. Main and dev read FIFOs with the ``folding`` of engines, so it has both
    and is ``folding_config_file`` instead of the one without.
    """
    nodes = {f"{FIFO}_{number}": fifo for number, fifo in enumerate(_fifos(engines, channels))}
    if finn != "plus":
        return {**folding} | {name: _entry(*fifo) for name, fifo in nodes.items()}
    return {
        "fifo_depths": {name: depth for name, (depth, _) in nodes.items()},
        "impl_style": dict.fromkeys(nodes, "rtl"),
        "ram_style": {name: style for name, (_, style) in nodes.items()},
    }


def _entry(depth: int, style: str) -> dict[str, Any]:
    """Return the attributes of a FIFO for main and dev, whose own FIFO is of shift registers alone."""
    vivado = style in ("block", "distributed", "ultra")
    return {
        "depth": depth,
        "impl_style": "vivado" if vivado else "rtl",
        "ram_style": style if vivado else "auto",
    }


def _fifos(engines: Sequence[str], channels: Sequence[ChannelEntry]) -> Iterator[tuple[int, str]]:
    """Yield depth and style of FINN's FIFOs in the order of its graph, register slices left out.

    Of the two beside a converter the plan's is as wide as the wires, so on the converter's wide side.
    """
    own = {c.name: c for c in channels if c.source in engines or c.target in engines}
    nodes = [{"id": engine, "kind": "", "attributes": {}, "folding": {}} for engine in engines]
    graph = _Graph({"engines": nodes, "streams": [_stream(channel, engines) for channel in own.values()]})
    graph.insert_converters()
    graph.insert_fifos()
    graph.insert_ends(FIFO, "FIFO")
    graph.sort()
    for name, number in (graph.fifos[node] for node in graph.order if node in graph.fifos):
        channel = own[name]
        planned = int(channel.converter is not None and channel.source_width_bits < channel.width_bits)
        if number == planned:
            yield max(channel.fifo_depth, LEAST_DEPTH), channel.fifo_style or "auto"
        else:
            yield LEAST_DEPTH, "auto"


def _stream(channel: ChannelEntry, engines: Sequence[str]) -> dict[str, Any]:
    return {
        "name": channel.name,
        "source": channel.source if channel.source in engines else None,
        "source_port": channel.source_port,
        "target": channel.target if channel.target in engines else None,
        "target_port": channel.target_port,
        "converter": channel.converter,
        "source_width": channel.source_width_bits,
        "target_width": channel.target_width_bits,
    }


class _Graph:
    """Nodes in order, joined by tensors, which are called after their streams.

    ``front`` and ``back`` are the tensors at which streams from and to outside enter and leave, by stream. ``fifos``
    says of which stream each FIFO is, and whether it is the first or the second one there.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.streams = sorted(data["streams"], key=lambda stream: int(stream["source_port"]))
        self.front = {str(s["name"]): str(s["name"]) for s in data["streams"] if s["source"] is None}
        self.back = {str(s["name"]): str(s["name"]) for s in data["streams"] if s["target"] is None}
        self.fifos: dict[BuiltNode, tuple[str, int]] = {}
        self.engines = {str(engine["id"]): _node(engine) for engine in data["engines"]}
        self.order = list(self.engines.values())
        for stream in self.streams:
            for end, attribute in (("source", "outputs"), ("target", "inputs")):
                if stream[end] is None:
                    continue
                tensors = getattr(self.engines[stream[end]], attribute)
                port = int(stream[f"{end}_port"])
                tensors += [""] * (port + 1 - len(tensors))
                tensors[port] = str(stream["name"])
        for node in self.order:
            node.positions = list(range(len(node.inputs)))
        self.sort()

    def insert_converters(self) -> None:
        for stream in self.streams:
            if stream["converter"] is not None:
                widths = {"inWidth": stream["source_width"], "outWidth": stream["target_width"]}
                self._behind(stream, BuiltNode("", str(stream["converter"]), widths, [], [], [0]), "converter")
        self.sort()

    def insert_fifos(self) -> None:
        """Put a FIFO behind every engine and converter that another one reads."""
        inside = [s for s in self.streams if s["source"] is not None and s["target"] is not None]
        for number in (0, 1):
            for stream in inside if number == 0 else (s for s in inside if s["converter"] is not None):
                node = _passing(FIFO)
                self.fifos[node] = str(stream["name"]), number
                self._behind(stream, node, f"FIFO {number}", converter=number == 1)

    def insert_slices(self) -> None:
        """Put register slices behind the FIFO of each stream, before it if the stream comes from outside."""
        for stream in self.streams:
            for number in range(len(stream.get("slices", ()))):
                self._insert_slice(stream, number)

    def _insert_slice(self, stream: Mapping[str, Any], number: int) -> None:
        name, node = str(stream["name"]), _passing(FIFO)
        node.attributes["depth"] = SLICE_DEPTH
        if name in self.front:
            node.inputs, node.outputs = [f"{name} to slice {number}"], [self.front[name]]
            self.front[name] = node.inputs[0]
            self.order.insert(0, node)
            return
        if name in self.back:
            node.inputs, node.outputs = [self.back[name]], [f"{name} from slice {number}"]
            self.back[name] = node.outputs[0]
            self.order.append(node)
            return
        behind = stream["converter"] is not None and widens(stream)
        self._put(node, f"{name} FIFO {int(behind)}", f"{name} slice {number}")

    def _behind(self, stream: Mapping[str, Any], node: BuiltNode, label: str, *, converter: bool = False) -> None:
        """Put a node right behind a stream's source, or behind its converter."""
        tensor = f"{stream['name']} converter" if converter else str(stream["name"])
        self._put(node, tensor, f"{stream['name']} {label}")

    def _put(self, node: BuiltNode, tensor: str, made: str) -> None:
        """Put a node between a tensor and all that it leads to; it makes another one."""
        maker = next(other for other in self.order if tensor in other.outputs)
        reader = next(other for other in self.order if tensor in other.inputs)
        reader.inputs[reader.inputs.index(tensor)] = made
        node.inputs, node.outputs = [tensor], [made]
        self.order.insert(self.order.index(maker) + 1, node)

    def insert_ends(self, op_type: str, label: str) -> None:
        """Put a node before all for each input and one behind all for each output."""
        for name, tensor in self.front.items():
            node, self.front[name] = self._end(op_type, "in", name), f"{name} to {label}"
            node.inputs, node.outputs = [self.front[name]], [tensor]
            self.order.insert(0, node)
        for name, tensor in self.back.items():
            node, self.back[name] = self._end(op_type, "out", name), f"{name} from {label}"
            node.inputs, node.outputs = [tensor], [self.back[name]]
            self.order.append(node)

    def _end(self, op_type: str, direction: str, name: str) -> BuiltNode:
        node = _passing(op_type, direction)
        if op_type == FIFO:
            self.fifos[node] = name, 0
        return node

    def specialise(self) -> None:
        """Let converters and FIFOs go before engines of their level: SpecializeLayers puts what it makes in front."""
        self.order.sort(key=lambda node: not node.passes)
        self.sort()

    def sort(self) -> None:
        """Sort the nodes by levels, each one behind all that it reads from; in a level they keep their order."""
        maker = {tensor: node for node in self.order for tensor in node.outputs}
        before = {node: [maker[tensor] for tensor in node.inputs if tensor in maker] for node in self.order}
        level: dict[BuiltNode, int] = {}
        for node in TopologicalSorter(before).static_order():
            level[node] = 1 + max((level[other] for other in before[node]), default=-1)
        self.order.sort(key=level.__getitem__)


def _node(engine: Mapping[str, Any]) -> BuiltNode:
    return BuiltNode("", str(engine["kind"]), {**engine["attributes"], **engine["folding"]}, [], [])


def _passing(op_type: str, direction: str = "") -> BuiltNode:
    return BuiltNode("", op_type, {"direction": direction} if op_type == DMA else {}, [], [], [0])
