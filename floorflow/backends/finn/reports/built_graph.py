"""The graph of a build: which file it is, and the nodes in it that Vivado saw: engines, FIFOs, converters, DMA."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from floorflow.backends.builds import BuiltNode, Role
from floorflow.backends.finn import names
from floorflow.backends.finn.read import ports
from floorflow.backends.finn.read.dataflow import Source, read_source
from floorflow.backends.finn.read.file import in_topological_order
from floorflow.backends.finn.read.graph import Graph
from floorflow.backends.finn.reports import build_files
from floorflow.backends.finn.reports.build_files import BuildFiles
from floorflow.backends.finn.reports.instances import ROLES, interchangeable_nodes
from floorflow.errors import InputError
from floorflow.network.onnx_file import Node, load


@dataclass(frozen=True)
class BuiltGraph:
    """The graph that was chosen, ``others`` that would have done, and the nodes of DMA engines in other kernels.

    ``is_kernel``: its nodes have the names of synthesis; in graphs of earlier steps FINN may have numbered otherwise.
    """

    path: Path
    source: Source
    graph: Graph
    others: tuple[Path, ...]
    dma: tuple[Node, ...]
    is_kernel: bool

    @property
    def has_fifos(self) -> bool:
        """Whether FIFOs stand in it as nodes, as they do once FINN has set their depths."""
        return any(node.op_type.startswith("StreamingFIFO") for node in self.graph.flat.nodes)


def chosen_graph(build: BuildFiles, refused: list[str]) -> BuiltGraph | None:
    """Return the graph of the latest step that holds engines: kernels as built go first, then those with FIFOs.

    None if none does; ``refused`` gets why what is there could not be read.
    """
    kernels = build_files.kernels(build)
    without_fifos: BuiltGraph | None = None
    parents = build_files.graphs_before_kernels(build)
    for path, dma in _candidates(build, kernels, refused):
        read = _read(path, build.folder, refused)
        if read is None:
            continue
        source, graph = read
        others = tuple(p for p in build.files if p.suffix == ".onnx" and p != path and p not in kernels)
        found = BuiltGraph(path, source, graph, others, dma, path in kernels or path in parents)
        if found.has_fifos:
            return found
        without_fifos = without_fifos or found
    return without_fifos


def _candidates(
    build: BuildFiles, kernels: Sequence[Path], refused: list[str]
) -> Iterator[tuple[Path, tuple[Node, ...]]]:
    """Yield graphs, the latest first, with the DMA engines that stand in other files."""
    yield from ((path, ()) for path in build_files.graphs_before_kernels(build))
    with_engines, dma = [], []
    for path in kernels:
        read = _read(path, build.folder, refused)
        if read is not None:
            with_engines.append(path)
        else:
            dma += _dma_alone(path)
    if len(with_engines) == 1:
        yield with_engines[0], tuple(dma)
    # Of several kernels with engines none is the whole network: the graph that was cut into them is.
    yield from ((path, tuple(dma)) for path in build_files.graphs_after_kernels(build))


def _read(path: Path, folder: Path, refused: list[str]) -> tuple[Source, Graph] | None:
    """Return a graph of engines; None, and why, for anything else."""
    try:
        source = read_source(path)
    except InputError as error:
        refused.append(str(error).replace(f"{folder}/", ""))
        return None
    if source.graph is None:
        refused.append(f"{path.relative_to(folder).as_posix()}: a network, no graph of FINN's engines")
        return None
    return source, source.graph


def _dma_alone(path: Path) -> list[Node]:
    """Return the nodes of a kernel that holds nothing but a DMA engine."""
    try:
        nodes = load(path).nodes
    except InputError:
        return []
    return [node for node in nodes if node.op_type.startswith("IODMA")]


def nodes_of(built: BuiltGraph) -> tuple[BuiltNode, ...]:
    """Return every node of hardware in the graph, in the order of the data flow, and the DMA engines beside it."""
    graph = built.graph
    engines = {engine.name: engine for engine in graph.engines}
    channels = {node.name: channel for channel, chain in graph.passed.items() for node in chain}
    rivals = {} if built.is_kernel else interchangeable_nodes(graph)
    found = []
    for node in in_topological_order(graph.flat):
        if node.name in engines:
            kind, others = engines[node.name].kind, tuple(rivals.get(node.name, ()))
            found.append(BuiltNode(node.name, kind, "engine", engine=node.name, rivals=others))
        elif names.is_dataflow(node):
            found.append(_passing_node(node, channels.get(node.name)))
    return (*found, *(_passing_node(node, None) for node in built.dma))


def _passing_node(node: Node, channel: str | None) -> BuiltNode:
    role: Role = next((role for start, role in ROLES if node.op_type.startswith(start)), "other")
    passed = BuiltNode(node.name, node.op_type, role, channel=channel)
    if role == "FIFO":
        bits, depth = _fifo_bits(node), prod(ports.numbers(node.attributes, "depth"))
        memory = str(node.attributes.get("ram_style") or "auto")
        memory = f"vivado {memory}" if node.attributes.get("impl_style") == "vivado" else memory
        return replace(passed, input_bits=bits, output_bits=bits, depth_words=depth, memory=memory)
    if role == "converter":
        into, out_of = (prod(ports.numbers(node.attributes, name)) for name in ("inWidth", "outWidth"))
        return replace(passed, input_bits=into, output_bits=out_of)
    if role == "DMA":
        reads = node.attributes.get("direction", "in") == "in"
        sides = ("intfWidth", "streamWidth") if reads else ("streamWidth", "intfWidth")
        into, out_of = (prod(ports.numbers(node.attributes, name)) for name in sides)
        return replace(passed, input_bits=into, output_bits=out_of, reads=reads)
    return passed


def _fifo_bits(node: Node) -> int:
    """Return the width of a FIFO's words: the innermost of its folded shape times the bits of an element."""
    elements = ports.numbers(node.attributes, "folded_shape")[-1]
    return elements * ports.datatype(str(node.attributes.get("dataType"))).bits
