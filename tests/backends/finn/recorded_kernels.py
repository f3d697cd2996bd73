"""The recorded kernels of FINN main, the graphs that they were made of, and FINN's rules told once more."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.step.graph import BuiltNode
from floorflow.channels.realise import connect
from floorflow.dataflow.model import FoldedDataflow, is_outside
from floorflow.technology import technology_of

FOLDER = Path(__file__).parent / "kernels"
NAMES = tuple(path.name.removesuffix(".json.gz") for path in sorted(FOLDER.glob("*.json.gz")))
ALVEO = technology_of("xcu250-figd2104-2L-e")


@dataclass(frozen=True)
class Case:
    """A recorded case: what was given to FINN, its graph as floorflow foresees it, and the kernels that FINN made."""

    content: Mapping[str, Any]
    nodes: list[BuiltNode]
    engines: Mapping[str, BuiltNode]
    data: Mapping[str, Any]

    @property
    def slr(self) -> dict[str, int]:
        """The SLR of every node in the completed floorplan."""
        return {name: entry["slr"] for name, entry in self.content["floorplan"].items() if name != "Defaults"}


@cache
def case(name: str, folder: Path) -> Case:
    """Return a case; ``folder`` is for files."""
    content = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    graph, folding = folder / f"{name}.onnx", folder / f"{name}.json"
    onnx.save(model_of(content["graph"]), graph)
    folding.write_text(json.dumps(content["folding_config"]))
    data = _data(graph, folding, content["graph"])
    return Case(content, *made_nodes(data), data)


def model_of(graph: Mapping[str, Any]) -> onnx.ModelProto:
    """Return the graph as ONNX; shapes follow from the attributes."""
    nodes, constants = [], []
    for told in graph["nodes"]:
        weights = [f"{told['name']}_param{index}" for index in range(told["static_inputs"])]
        constants += [helper.make_tensor(name, TensorProto.FLOAT, [1], [0.0]) for name in weights]
        attributes = {**told["attrs"], "backend": "fpgadataflow"}
        inputs = [*told["inputs"], *weights]
        nodes.append(
            helper.make_node(
                told["op_type"], inputs, told["outputs"], told["name"], domain=told["domain"], **attributes
            )
        )
    shapes = {name: shape_of(node, "out") for node in graph["nodes"] for name in node["outputs"]}
    for node in graph["nodes"]:
        shapes |= {name: shape_of(node, "in") for name in node["inputs"] if name in graph["graph_inputs"]}
    shaped = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    ends = [[shaped.pop(name) for name in graph[key]] for key in ("graph_inputs", "graph_outputs")]
    return helper.make_model(helper.make_graph(nodes, "recorded", *ends, constants, value_info=list(shaped.values())))


def part_for_finn_plus(name: str, first: int, last: int) -> onnx.ModelProto:
    """Return some nodes of a recorded graph, one after the other, with concatenations as FINN+ has them."""
    graph = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))["graph"]
    nodes = graph["nodes"][first:last]
    made, read = ([tensor for node in nodes for tensor in node[side]] for side in ("outputs", "inputs"))
    ends = {
        "graph_inputs": [name for name in read if name not in made],
        "graph_outputs": [name for name in made if name not in read],
    }
    model = model_of({**graph, **ends, "nodes": nodes})
    for node in model.graph.node:
        if node.op_type.startswith("StreamingConcat"):
            has = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            sizes, data_type = has.pop("ElemsPerStream"), has.pop("inputDataType")
            has |= {"ChannelsPerStream": sizes, "inputDataTypes": [data_type] * len(sizes), "SIMD": 1}
            del node.attribute[:]
            node.attribute.extend(helper.make_attribute(key, value) for key, value in has.items())
    return model


def shape_of(node: Mapping[str, Any], side: str) -> list[int]:
    """Return the shape of what a node reads or sends, as FINN's custom ops tell it."""
    kind, told = node["op_type"].rpartition("_")[0], node["attrs"]
    if kind == "ConvolutionInputGenerator":
        pixels = told["OFMDim"] if side == "out" else told["IFMDim"]
        return [1, *pixels, told["IFMChannels"] * (prod(told["ConvKernelDim"]) if side == "out" else 1)]
    if kind == "FMPadding":
        top, left, bottom, right = told["Padding"] if side == "out" else (0, 0, 0, 0)
        height, width = told["ImgDim"]
        return [1, height + top + bottom, width + left + right, told["NumChannels"]]
    if kind == "MVAU":
        return [*told["numInputVectors"], told["MH"] if side == "out" else told["MW"]]
    if kind == "VVAU":
        return [1, *told["Dim"], told["Channels"]]
    if kind == "Pool":
        return [1, *told["OutImgDims"], told["Channels"]]
    return [*told["numInputVectors"], sum(told["ElemsPerStream"]) if kind == "StreamingConcat" else told["NumChannels"]]


def _data(graph: Path, folding: Path, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return engines and streams as floorflow_plan.json has them."""
    options = FinnOptions(costs="finn")
    dataflow = BACKEND.with_folding(BACKEND.lower(BACKEND.read(graph, options), ALVEO, options), folding, ALVEO)
    costs = BACKEND.costs(ALVEO, options)
    groups = BACKEND.given_groups(dataflow, costs)
    folded = FoldedDataflow(dataflow, {group.engines[0]: group.rows[0][0] for group in groups})
    channels = connect(folded, costs)
    attributes = {node["name"]: node["attrs"] for node in told["nodes"]}
    return {
        "engines": [
            {
                "id": e.name,
                "kind": e.kind,
                "attributes": attributes[e.name],
                "folding": dict(folded.options[e.name].folding),
            }
            for e in dataflow.engines
        ],
        "streams": [
            {
                "name": channel.name,
                "source": None if is_outside(channel.stream.source) else channel.stream.source,
                "source_port": channel.stream.source_port,
                "target": None if is_outside(channel.stream.target) else channel.stream.target,
                "target_port": channel.stream.target_port,
                "converter": channel.converter,
                "source_width": channel.source_width_bits,
                "target_width": channel.target_width_bits,
            }
            for channel in channels
        ],
    }
