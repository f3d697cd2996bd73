"""The kernels of a build, read from the ONNX of each: their nodes as one graph, and what these are called."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from floorflow.backends.finn.step.graph import BuiltGraph, BuiltNode, attributes_of, joined, read_nodes
from floorflow.backends.finn.step.kernels import (
    PREFIX,
    NotBuildable,
    global_order,
    inner_name,
    kernel_number,
    kernel_order,
    local_names,
)

_FILE = re.compile(r"partition_(\d+)\.onnx")
_KERNELS = (PREFIX.rstrip("_"), "GenericPartition")
"""What kernels are in the graph of them: qonnx's kind is FINN's for as long as it has not taken them over."""


@dataclass(frozen=True)
class Kernels:
    """The nodes of all kernels as one graph, and what each is called in the linked design: kernel and inner name."""

    graph: BuiltGraph
    names: Mapping[BuiltNode, str]
    is_whole: bool = False


def read_partitions(folder: Path, parent: onnx.GraphProto | None = None) -> Kernels:
    """Read the ``partition_<id>.onnx`` that CreateDataflowPartition writes and FINN's build may have named.

    ``parent`` is the graph of kernels, from which FINN+ alone tells how they are joined once it has renamed tensors;
    if it is not given it is looked for beside the folder.

    Raises
    ------
    NotBuildable
        If there are none, or how they are joined cannot be told.

    """
    paths = {int(match[1]): path for path in folder.glob("partition_*.onnx") if (match := _FILE.fullmatch(path.name))}
    if not paths:
        raise NotBuildable(f"{folder} holds no partition_<number>.onnx")
    files = {number: _graph(paths[number]) for number in sorted(paths)}
    outer = _outer(parent, files) or _outer(_parent_beside(folder, files), files)
    outer = outer or _in_line(folder, files)
    by_id = {}
    for number, graph in files.items():
        tensors = outer[number][1] if number in outer else {}
        by_id[number] = read_nodes(graph, f"partition_{number}", tensors)
    return _joined(folder, by_id, {number: name for number, (name, _) in outer.items()})


_Outer = dict[int, tuple[int, dict[str, str]]]
"""Of each file the number of its kernel, and what the graph of kernels calls the tensors at its ends."""


def _outer(parent: onnx.GraphProto | None, files: Mapping[int, onnx.GraphProto]) -> _Outer:
    """Return what a graph of kernels says of each file; nothing if it is not theirs."""
    nodes = [node for node in parent.node if node.op_type in _KERNELS] if parent is not None else []
    found: _Outer = {}
    for index, node in enumerate(_by_levels(nodes)):
        model = str(attributes_of(node).get("model", ""))
        match = _FILE.fullmatch(re.split(r"[/\\]", model)[-1])
        number = int(match[1]) if match else -1
        if number not in files or number in found:
            return {}
        graph, named = files[number], re.fullmatch(rf"{PREFIX}(\d+)", node.name)
        if len(graph.output) != len(node.output):
            return {}
        ends = [*zip(_data_inputs(graph), node.input, strict=False), *zip(graph.output, node.output, strict=True)]
        found[number] = (int(named[1]) if named else index), {inner.name: name for inner, name in ends}
    return found if len(found) == len(files) else {}


def _by_levels(nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Return kernels as qonnx's SortGraph leaves them, which FINN runs before it names them."""
    level: dict[str, int] = {}
    for _ in nodes:
        for node in nodes:
            place = 1 + max((level[name] for name in node.input if name in level), default=-1)
            level |= dict.fromkeys(node.output, place)
    return sorted(nodes, key=lambda node: max((level[name] for name in node.output), default=0))


def _data_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs of a kernel that are no parameters."""
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]


def _parent_beside(folder: Path, files: Mapping[int, onnx.GraphProto]) -> onnx.GraphProto | None:
    """Return the graph of kernels among the models that FINN keeps of each step."""
    paths = sorted(
        path for place in (folder.parent, folder.parent / "intermediate_models") for path in place.glob("*.onnx")
    )
    for path in paths:
        try:
            graph = _graph(path)
        except NotBuildable:
            continue
        if _outer(graph, files):
            return graph
    return None


def _in_line(folder: Path, files: Mapping[int, onnx.GraphProto]) -> _Outer:
    """Return how kernels are joined without a graph of them; nothing where their tensors have names of their own.

    FINN+ calls the ends of all kernels alike. If each has one stream in and one out, and DMA engines are in the first
    and the last alone, they are one line, in the order in which FINN has numbered them.
    """
    made = [value.name for graph in files.values() for value in graph.output]
    if len(set(made)) == len(made):
        return {}
    numbers = {file: match and int(match[1]) for file, graph in files.items() for match in [_number_of(graph)]}
    line = sorted(files, key=lambda file: numbers[file] or 0)
    ends = [file for file in line if any(node.op_type.startswith("IODMA") for node in files[file].node)]
    single = all(len(_data_inputs(graph)) == len(graph.output) == 1 for graph in files.values())
    if None in numbers.values() or not single or ends != [line[0], line[-1]]:
        raise NotBuildable(
            f"{folder}: several kernels call what they send '{max(made, key=made.count)}', so that it cannot be told "
            "how they are joined; keep the folder beside FINN's intermediate models, of which one has their graph"
        )
    return {
        file: (
            numbers[file] or 0,
            {_data_inputs(files[file])[0].name: f"line_{at}", files[file].output[0].name: f"line_{at + 1}"},
        )
        for at, file in enumerate(line)
    }


def _number_of(graph: onnx.GraphProto) -> re.Match[str] | None:
    return re.match(rf"{PREFIX}(\d+)_", graph.node[0].name)


def _joined(folder: Path, by_id: Mapping[int, list[BuiltNode]], told: Mapping[int, int]) -> Kernels:
    """Return the graph of all kernels, and what their nodes are called."""
    numbers = {number: kernel_number(nodes) for number, nodes in by_id.items()}
    nodes = [node for members in by_id.values() for node in members]
    ids = {node: number for number, members in by_id.items() for node in members}
    named = [number for number in numbers.values() if number is not None]
    if named and len(named) < len(numbers):
        raise NotBuildable(f"{folder}: some kernels are named and others are not; the build was stopped halfway")
    if not named:
        return Kernels(joined(global_order(nodes)), _unnamed(nodes, ids, told))
    twice = [number for number in named if named.count(number) > 1]
    if twice:
        raise NotBuildable(f"{folder}: two files hold kernel {twice[0]}")
    for node in nodes:
        node.kernel = int(numbers[ids[node]] or 0)
    return Kernels(joined(global_order(nodes)), {node: inner_name(node) for node in nodes})


def _graph(path: Path) -> onnx.GraphProto:
    try:
        if not path.is_file():
            raise ValueError("it is no regular file")  # noqa: TRY301  (a device never ends, a pipe waits)
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as problem:
        raise NotBuildable(f"{path} is no ONNX model: {problem}") from problem
    if not graph.node:
        raise NotBuildable(f"{path} holds no node")
    return graph


def _unnamed(nodes: Sequence[BuiltNode], ids: Mapping[BuiltNode, int], told: Mapping[int, int]) -> dict[BuiltNode, str]:
    """Return what nodes will be called, after numbering their kernels unless the graph of kernels tells."""
    order = dict(told) or kernel_order(global_order(nodes), ids)
    names: dict[BuiltNode, str] = {}
    for number in order:
        members = [node for node in nodes if ids[node] == number]
        names |= local_names(members)
        for node in members:
            node.kernel = order[number]
    return names


def read_whole(path: Path) -> Kernels:
    """Read the graph behind FINN's stitched IP, which is one design with the names of the graph."""
    nodes = read_nodes(_graph(path))
    return Kernels(joined(nodes), {node: node.name for node in nodes}, is_whole=True)
