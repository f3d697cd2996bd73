"""Load a FINN dataflow graph as one flat list of nodes, with the children of StreamingDataflowPartitions in place."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx

from floorflow.backends.finn.names import PARTITION, is_dataflow, is_old, is_partition
from floorflow.errors import InputError
from floorflow.network.facts import find_constants
from floorflow.network.onnx_file import Node, OnnxFile, load
from floorflow.reading import is_file, resolved

_KERNEL_PREFIX = re.compile(rf"^{PARTITION}_\d+_(?=.)")
"""What FINN puts before the names of nodes when it builds a kernel of their partition."""


@dataclass(frozen=True)
class FlatGraph:
    """The nodes of a graph and of all its partitions; tensors of a partition are called ``<partition>/<tensor>``.

    ``constants`` are weights and thresholds, ``shapes`` is what the files store (FINN keeps every shape).
    """

    path: str
    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: frozenset[str]
    initialisers: Mapping[str, onnx.TensorProto]
    shapes: Mapping[str, tuple[int, ...]]
    old: bool


def is_dataflow_graph(file: OnnxFile) -> bool:
    """Whether a file is FINN's, after step_convert_to_hw or later, rather than a network."""
    return any(is_dataflow(node) for node in file.nodes)


def flatten(file: OnnxFile) -> FlatGraph:
    """Return all nodes of a dataflow graph, children of partitions included.

    In the kernels of a build FINN puts the partition before every name; that is left out where names stay unique.

    Raises InputError if a child is missing, broken or contains itself; names node and child.
    """
    graph = _flatten(file, (resolved(Path(file.path)),))
    return replace(graph, nodes=_without_partitions(graph.nodes))


def _without_partitions(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the nodes by their names in their kernel; DMA engines, of which each kernel has a first, keep theirs."""
    plain = {n.name: _KERNEL_PREFIX.sub("", n.name) for n in nodes if not n.op_type.startswith("IODMA")}
    if len(set(plain.values())) < len(plain):
        return nodes
    return tuple(replace(node, name=plain.get(node.name, node.name)) for node in nodes)


def _flatten(file: OnnxFile, chain: tuple[Path, ...]) -> FlatGraph:
    nodes: list[Node] = []
    constants, initialisers = set(find_constants(file)), dict(file.initialisers)
    shapes, old = _shapes(file), is_old(file.nodes)
    for node in file.nodes:
        if not is_partition(node):
            if not constants.issuperset(node.outputs):
                nodes.append(node)
            continue
        child = _inside(node, _child(file, node, chain))
        nodes += child.nodes
        constants |= child.constants
        initialisers |= child.initialisers
        shapes |= child.shapes
        old = old or child.old
    graph = FlatGraph(
        file.path,
        tuple(nodes),
        tuple(value.name for value in file.inputs),
        file.outputs,
        frozenset(constants),
        initialisers,
        shapes,
        old,
    )
    return replace(graph, nodes=tuple(_uniquely_named(graph.nodes)))


def _child(file: OnnxFile, node: Node, chain: tuple[Path, ...]) -> FlatGraph:
    """Load the graph that a partition stands for."""
    named = str(node.attributes.get("model", ""))
    path = _found(Path(file.path).parent, named)
    where = f"{file.path}: node '{node.name}' ({PARTITION})"
    if path is None:
        hint = "FINN saves it beside the parent (dataflow_parent.onnx); copy it there, or give the child itself."
        raise InputError(f"{where}: its child model '{named}' does not exist", hint)
    if resolved(path) in chain:
        raise InputError(f"{where}: its child model '{named}' contains itself", "Save the graph again with FINN.")
    child = _flatten(load(path), (*chain, resolved(path)))
    if len(child.inputs) < len(node.inputs) or len(child.outputs) != len(node.outputs):
        ends = f"{len(child.inputs)} inputs and {len(child.outputs)} outputs"
        raise InputError(f"{where}: its child model '{named}' has {ends}, not those of the node", "Save it again.")
    return child


def _found(folder: Path, named: str) -> Path | None:
    """Return the child's file: as named, from the parent's folder, or by the end of its path beside the parent.

    FINN saves children by absolute paths, in folders (``kernel_partitions/partition_0.onnx``) beside the parent; the
    longest end that is there is taken, as other folders have a ``partition_0.onnx`` as well.
    """
    if not named:
        return None
    parts = (PureWindowsPath(named) if "\\" in named else PurePosixPath(named)).parts
    ends = (folder.joinpath(*parts[-length:]) for length in (3, 2, 1))
    return next((path for path in (folder / named, *ends) if is_file(path)), None)


def _inside(node: Node, child: FlatGraph) -> FlatGraph:
    """Return a child's graph under the parent's names for what enters and leaves it."""
    ends = dict(zip(child.inputs, node.inputs, strict=False)) | dict(zip(child.outputs, node.outputs, strict=True))

    def renamed(name: str) -> str:
        return ends.get(name, f"{node.name}/{name}") if name else ""

    def renamed_all(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(renamed(name) for name in names)

    return replace(
        child,
        nodes=tuple(
            replace(inner, inputs=renamed_all(inner.inputs), outputs=renamed_all(inner.outputs))
            for inner in child.nodes
        ),
        constants=frozenset(renamed(name) for name in child.constants),
        initialisers={renamed(name): tensor for name, tensor in child.initialisers.items()},
        shapes={renamed(name): shape for name, shape in child.shapes.items()},
    )


def _uniquely_named(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield the nodes; FINN numbers those of each partition from 0, so a repeated name gets a number in front."""
    taken: set[str] = set()
    for node in nodes:
        name, count = node.name, 1
        while name in taken:
            name, count = f"{PARTITION}_{count}_{node.name}", count + 1
        taken.add(name)
        yield replace(node, name=name)


def _shapes(file: OnnxFile) -> dict[str, tuple[int, ...]]:
    graph, shapes = file.model.graph, {}
    for value in (*graph.value_info, *graph.input, *graph.output):
        tensor_type = value.type.tensor_type
        if tensor_type.HasField("shape") and all(dim.dim_value > 0 for dim in tensor_type.shape.dim):
            shapes[value.name] = tuple(dim.dim_value for dim in tensor_type.shape.dim)
    return shapes


def in_topological_order(flat: FlatGraph) -> tuple[Node, ...]:
    """Return the nodes such that each follows what it reads; a sound file's order stays.

    FINN appends FIFOs and converters where they come handy, so that not every file is sorted.

    Raises InputError if nodes wait for each other in a cycle; names one.
    """
    makers = {name: node for node in flat.nodes for name in node.outputs}
    ordered: dict[str, Node] = {}
    for first in flat.nodes:
        waiting, path = [first], {first.name}
        while waiting:
            node = waiting[-1]
            needed = (makers[name] for name in node.inputs if name in makers)
            missing = next((maker for maker in needed if maker.name not in ordered), None)
            if missing is None:
                ordered.setdefault(node.name, node)
                path.discard(node.name)
                waiting.pop()
            elif missing.name in path:
                message = f"{flat.path}: node '{missing.name}' ({missing.op_type}) waits for its own output"
                raise InputError(message, "The graph has a cycle; save it again with FINN.")
            else:
                waiting.append(missing)
                path.add(missing.name)
    return tuple(ordered.values())
