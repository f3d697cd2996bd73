"""Nodes of a build and the streams that join them, as the judge follows them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import networkx as nx

from floorflow.verify.files import read_plain

_PASSING = ("StreamingFIFO", "StreamingDataWidthConverter", "IODMA", "TLastMarker", "CheckSum")


class NoBuild(ValueError):  # noqa: N818 - becomes a finding
    """The folder holds no build that can be judged; the text says why."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a build: its kernel's number (None: there are none), its name in it, and the tensors that it joins.

    ``ports`` are the inputs of the node that carry data, parameters left out.
    """

    kernel: int | None
    name: str
    kind: str
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ports: tuple[int, ...] = ()
    is_transparent: bool = False
    """Whether it is a Reshape of FINN+ that the plan does not have as an engine."""

    def is_a(self, kind: str) -> bool:
        """Whether the node is of a kind, hls or rtl."""
        return self.kind.removesuffix("_hls").removesuffix("_rtl") == kind

    @property
    def passes(self) -> bool:
        """Whether what comes out is what went in."""
        return self.is_transparent or any(self.is_a(kind) for kind in _PASSING)

    @property
    def called(self) -> str:
        """What it is called in messages."""
        return self.name if self.kernel is None else f"{self.name} of kernel {self.kernel}"


@dataclass(frozen=True)
class Way:
    """A stream: node and port at each end, None outside, and what lies between in order."""

    source: Node | None
    source_port: int
    target: Node | None
    target_port: int
    between: tuple[Node, ...]


def ways(nodes: Sequence[Node]) -> list[Way]:
    """Return every stream into an engine, and those from engines to outside."""
    maker = {tensor: (node, port) for node in nodes for port, tensor in enumerate(node.outputs)}
    read = {tensor for node in nodes for tensor in node.inputs}
    found = []
    for node in nodes:
        if not node.passes:
            found += [_way(tensor, maker, node, port) for port, tensor in enumerate(node.inputs)]
    for node in nodes:
        found += [_way(tensor, maker, None, 0) for tensor in node.outputs if tensor not in read]
    return found


def _way(tensor: str, maker: Mapping[str, tuple[Node, int]], target: Node | None, port: int) -> Way:
    between: list[Node] = []
    while True:
        source, source_port = maker.get(tensor, (None, 0))
        if source is None or not source.passes or source in between:
            return Way(source, source_port, target, port, tuple(reversed(between)))
        between.append(source)
        tensor = source.inputs[0] if source.inputs else ""


_SHALLOW = 2
"""Words of a FIFO that FINN does not insert."""


def named_as_built(kernels: Mapping[str, Sequence[Node]], numbers: Mapping[str, int]) -> list[Node]:
    """Return the nodes of all kernels, by file, with the kernels and names that the linked design will have.

    ``numbers`` are those that the graph of kernels gives the files; if there is none the streams tell.
    NoBuild if the streams do not tell which kernel comes first.
    """
    known = numbers or _numbers_by_levels(kernels)
    found: list[Node] = []
    for file, nodes in kernels.items():
        counts = Counter({"StreamingFIFO_rtl": _inserted(nodes)})
        for node in nodes:
            found.append(replace(node, kernel=known[file], name=f"{node.kind}_{counts[node.kind]}"))
            counts[node.kind] += 1
    return found


def _numbers_by_levels(kernels: Mapping[str, Sequence[Node]]) -> dict[str, int]:
    """Return the place of each kernel behind those that it reads from, if there is one order of them alone."""
    made = {tensor: file for file, nodes in kernels.items() for node in nodes for tensor in node.outputs}
    read = [(made[t], file) for file, nodes in kernels.items() for n in nodes for t in n.inputs if t in made]
    graph: nx.DiGraph = nx.DiGraph([(source, file) for source, file in read if source != file])
    graph.add_nodes_from(kernels)
    if not nx.is_directed_acyclic_graph(graph):
        raise NoBuild("the kernels wait for each other in a circle")
    levels = [sorted(level) for level in nx.topological_generations(graph)]
    beside = next((level for level in levels if len(level) > 1), None)
    if beside:
        raise NoBuild(
            f"nodes are not named by their kernels yet, and which of {beside[0]} and {beside[1]} FINN numbers first "
            "only its graph of kernels tells; keep it beside their folder, or let the build go on"
        )
    return {level[0]: place for place, level in enumerate(levels)}


def in_order(kernels: Sequence[Any]) -> list[Any]:
    """Return the nodes of a graph of kernels by levels, as FINN numbers them; nothing before what it reads from."""
    made = {tensor: place for place, node in enumerate(kernels) for tensor in node.output}
    joins = [(made[t], place) for place, node in enumerate(kernels) for t in node.input if t in made]
    graph: nx.DiGraph = nx.DiGraph(joins)
    graph.add_nodes_from(range(len(kernels)))
    if not nx.is_directed_acyclic_graph(graph):
        return list(kernels)
    return [kernels[place] for level in nx.topological_generations(graph) for place in sorted(level)]


def _inserted(nodes: Sequence[Node]) -> int:
    """Return how many FIFOs FINN's build will put where a kernel begins, ahead of all that it has."""
    made = {tensor for node in nodes for tensor in node.outputs}
    count = 0
    for node in nodes:
        if node.is_a("StreamingFIFO") or node.is_a("IODMA"):
            continue
        depths = node.attributes.get("inFIFODepths", [_SHALLOW])
        for port, tensor in zip(node.ports, node.inputs, strict=True):
            count += tensor not in made and depths[min(port, len(depths) - 1)] > _SHALLOW
    return count


PLACES = ("", "kernel_partitions", "intermediate_models/kernel_partitions", "floorflow/kernel_partitions")
"""Where kernels lie below the folder that is given."""
WHOLE = (
    *("step_create_stitched_ip.onnx", "step_set_fifo_depths.onnx", "step_generate_hardware.onnx"),
    *("floorflow_fifos.onnx", "graph_with_fifos.onnx"),
)
"""FINN's models with FIFOs and without kernels, for parts without a shell."""
_BASES = ("", "intermediate_models")
_FILE = re.compile(r"partition_(\d+)\.onnx$")
_NAMED = re.compile(r"StreamingDataflowPartition_(\d+)_(.+)")
_KERNEL = re.compile(r"StreamingDataflowPartition_(\d+)")


@dataclass(frozen=True)
class _Around:
    """What the graph of kernels says of files: the number of each kernel, and what it calls the tensors at its ends."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    tensors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_build(folder: Path, *, kernels: bool) -> list[Node]:
    """Return all nodes of a build, of kernels or of one graph, by the names that they have or will have.

    NoBuild if there is none, or it cannot be told how its kernels are joined or will be numbered.
    """
    if not kernels:
        paths = [folder] if folder.is_file() else [folder / base / name for name in WHOLE for base in _BASES]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise NoBuild(f"{folder} holds no graph with FIFOs")
        return list(_nodes(_load(path), "", {}))
    place = next((folder / place for place in PLACES if any((folder / place).glob("partition_*.onnx"))), None)
    if place is None:
        raise NoBuild(f"{folder} holds no partition_<number>.onnx")
    graphs = {path.name: _load(path) for path in sorted(place.glob("partition_*.onnx")) if _FILE.search(path.name)}
    around = _parent_beside(place, graphs) or _by_own_names(place, graphs)
    nodes = {file: list(_nodes(graph, file, around.tensors.get(file, {}))) for file, graph in graphs.items()}
    return _named(place, nodes) or named_as_built(nodes, around.numbers)


def _named(place: Path, kernels: Mapping[str, Sequence[Node]]) -> list[Node]:
    """Return the nodes with the kernels that their names tell; none if no kernel has named them yet."""
    found, without = [], []
    for file, nodes in kernels.items():
        for node in nodes:
            match = _NAMED.fullmatch(node.name)
            if match:
                found.append(replace(node, kernel=int(match[1]), name=match[2]))
            else:
                without.append(f"{place / file}: node '{node.name}'")
    if found and without:
        raise NoBuild(f"{without[0]} is not named by a kernel, as others are; let FINN's build go on")
    return found


MOST_BYTES = 2**31 - 1
"""Protocol buffers hold no more."""


def _load(path: Path) -> Any:
    import onnx

    try:
        return onnx.load_model_from_string(read_plain(path, MOST_BYTES)).graph
    except Exception as error:
        raise NoBuild(f"{path} is no ONNX model: {error}") from error


def _nodes(graph: Any, file: str, outer: Mapping[str, str]) -> Iterator[Node]:
    """Yield each node; tensors inside are told apart by their file."""
    from onnx import helper

    made = {tensor for node in graph.node for tensor in node.output}
    weights = {tensor.name for tensor in graph.initializer}
    ends = {value.name for value in (*graph.input, *graph.output)} - weights
    data = (made | ends) - weights

    def called(tensor: str) -> str:
        return outer.get(tensor, tensor) if tensor in ends or not file else f"{file}:{tensor}"

    for node in graph.node:
        told = {attribute.name: _plain(helper.get_attribute_value(attribute)) for attribute in node.attribute}
        ports = tuple(port for port, tensor in enumerate(node.input) if tensor in data)
        into = tuple(called(node.input[port]) for port in ports)
        yield Node(None, node.name, node.op_type, told, into, tuple(map(called, node.output)), ports)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _parent_beside(place: Path, graphs: Mapping[str, Any]) -> _Around | None:
    """Return what the first model beside that has all these files as kernels says of them."""
    models = sorted(p for base in (place.parent, place.parent / "intermediate_models") for p in base.glob("*.onnx"))
    for path in models:
        try:
            parent = _load(path)
        except NoBuild:
            continue
        around = _told_by(parent, graphs)
        if {*around.numbers} == {*graphs}:
            return around
    return None


def _told_by(parent: Any, graphs: Mapping[str, Any]) -> _Around:
    numbers: dict[str, int] = {}
    tensors: dict[str, dict[str, str]] = {}
    for node in in_order(parent.node):
        told = {a.name: a.s.decode("utf-8", "replace") for a in node.attribute if a.name == "model"}
        file = re.split(r"[/\\]", told.get("model", ""))[-1]
        if file in graphs:
            named = _KERNEL.fullmatch(node.name)
            numbers[file] = int(named[1]) if named else len(numbers)
            inner = [*_ends(graphs[file])[: len(node.input)], *graphs[file].output]
            tensors[file] = {i.name: o for i, o in zip(inner, [*node.input, *node.output], strict=False)}
    return _Around(numbers, tensors)


def _ends(graph: Any) -> list[Any]:
    """Return a graph's inputs that are no parameters."""
    weights = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def _by_own_names(place: Path, graphs: Mapping[str, Any]) -> _Around:
    """Return how kernels are joined where no graph of them is kept: by their tensors' own names, if these differ.

    FINN+ calls the ends of all kernels alike. Kernels of one stream in and one out are then joined as they are
    numbered, if there is one that takes from outside by a DMA engine, and one that gives to outside.
    """
    sent = Counter(value.name for graph in graphs.values() for value in graph.output)
    twice = next((name for name, count in sent.items() if count > 1), None)
    if twice is None:
        return _Around()
    by_number = {int(m[1]): file for file, g in graphs.items() if (m := _NAMED.fullmatch(g.node[0].name))}
    chain = [graphs[by_number[number]] for number in sorted(by_number)]
    ends = [place for place, graph in enumerate(chain) if any(n.op_type.startswith("IODMA") for n in graph.node)]
    is_line = all(len(_ends(graph)) == len(graph.output) == 1 for graph in chain)
    if len(chain) < len(graphs) or not is_line or ends != [0, len(chain) - 1]:
        raise NoBuild(f"{place}: several kernels call what they send '{twice}'; keep FINN's graph of kernels beside it")
    tensors = {}
    for number, (graph, at) in enumerate(zip(chain, sorted(by_number), strict=True)):
        tensors[by_number[at]] = {_ends(graph)[0].name: f"link {number}", graph.output[0].name: f"link {number + 1}"}
    return _Around({}, tensors)
