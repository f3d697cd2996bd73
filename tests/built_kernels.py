"""A build folder as FINN leaves it, made of what floorflow foresees of FINN's graph."""

from collections.abc import Callable, Mapping
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from floorflow import api
from floorflow.backends.finn.step.graph import BuiltNode
from floorflow.backends.finn.step.kernels import kernel_order, local_names
from floorflow.backends.finn.step.settings import fifo_settings, placements
from floorflow.backends.finn.step_data import Foreseen, foreseen, networks_in
from floorflow.backends.finn.step_files import BOARDS
from floorflow.facts import Plan, read_plan

WHOLE = -1
"""In the place of a partition id: the graph behind a stitched IP."""
Kernels = dict[int, onnx.ModelProto]
"""The model of each kernel, by its partition id."""


def built(plan: Plan) -> Kernels:
    """Return the kernels that FINN would make of a plan of one network, with its names; of a bare part one graph."""
    (one,) = networks_in(plan, 0)
    graph = foreseen(one)
    if not any(fpga.board in BOARDS for fpga in plan.platform.fpgas):
        nodes = [node for node in graph.bound.graph.nodes if not node.is_dma]
        return {WHOLE: _model(graph, nodes, {node: node.name for node in nodes}, {})}
    order = kernel_order(graph.bound.graph.nodes, graph.ids)
    names: dict[BuiltNode, str] = {}
    for number in order:
        members = [node for node in graph.bound.graph.nodes if graph.ids[node] == number]
        prefix = f"StreamingDataflowPartition_{order[number]}_"
        names |= {node: prefix + name for node, name in local_names(members).items()}
    return {number: _kernel(graph, number, names) for number in order}


def cell(pattern: str, name: str) -> str:
    """Return the cell of a node of such a graph."""
    _, *rest = name.split("_", 2) if name.startswith("StreamingDataflowPartition_") else ("", "", name)
    return pattern.format(partition=rest[0], engine=rest[1])


def _kernel(graph: Foreseen, number: int, names: Mapping[BuiltNode, str]) -> onnx.ModelProto:
    members = [node for node in graph.bound.graph.nodes if graph.ids[node] == number]
    return _model(graph, members, names, {"partition_id": number})


def _model(
    graph: Foreseen, members: list[BuiltNode], names: Mapping[BuiltNode, str], also: Mapping[str, int]
) -> onnx.ModelProto:
    nodes = graph.bound.graph.nodes
    made = {tensor for node in members for tensor in node.outputs}
    read = {tensor for node in members for tensor in node.inputs}
    outside = {tensor for node in nodes if node not in members for tensor in node.inputs}
    last = made - {tensor for node in nodes for tensor in node.inputs}
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in sorted(tensors)]
        for tensors in (read - made, (made & outside) | last)
    ]
    places, fifos = placements(graph.bound), fifo_settings(graph.bound)
    protos = []
    for node in members:
        attributes = {**node.attributes, **places[node], **fifos.get(node, {}), **also}
        whole = {key: list(value) if isinstance(value, tuple) else value for key, value in attributes.items()}
        protos.append(helper.make_node(node.op_type, node.inputs, node.outputs, names[node], **whole))
    return helper.make_model(helper.make_graph(protos, "kernel", *ends))


def write(kernels: Kernels, folder: Path, spoil: Callable[[Kernels], None] | None = None) -> Path:
    """Write a build folder, spoilt first if asked for; return it. What has no kernels is one graph."""
    if spoil is not None:
        spoil(kernels)
    if set(kernels) == {WHOLE}:
        (folder / "intermediate_models").mkdir(parents=True)
        onnx.save(kernels[WHOLE], folder / "intermediate_models" / "step_create_stitched_ip.onnx")
        return folder
    place = folder / "intermediate_models" / "kernel_partitions"
    place.mkdir(parents=True)
    for number, model in kernels.items():
        onnx.save(model, place / f"partition_{number}.onnx")
    return folder


def bound(out: Path, folder: Path) -> Path:
    """Return a plan bound to the kernels that FINN would make of it, in a folder that also holds these."""
    build = write(built(read_plan(out / "plan.json")), folder / "build")
    api.bind(out, build).save(folder / "bound")
    return folder / "bound"
