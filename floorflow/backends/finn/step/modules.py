"""The parts of FINN's graph that are modules of a stitched plan, cut out of the graph with FIFOs."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import onnx

from floorflow.backends.finn.step.cut import leave
from floorflow.backends.finn.step.graph import BuiltNode, BuiltStream
from floorflow.backends.finn.step.match import Mismatch
from floorflow.backends.finn.step.settings import Bound


def cut_module(one: Bound, graph: onnx.GraphProto, entry: Mapping[str, Any]) -> None:
    """Leave of a graph what a module holds: engines, their FIFOs and converters, but no slice.

    ``entry`` is one of the plan's ``stitched``: the module, and the streams of its ports in the order of their numbers.

    Raises
    ------
    Mismatch
        If a stream of the plan does not enter or leave the module in the graph.

    """
    inside = {node for node, module in one.module_of.items() if module == entry["module"]}
    links = {str(stream["name"]): link for stream, link in one.links}
    inputs = [_tensor(links[name], inside, name, enters=True) for name in entry["inputs"]]
    outputs = [_tensor(links[name], inside, name, enters=False) for name in entry["outputs"]]
    leave(graph, [node for node in one.graph.nodes if node in inside], inputs, outputs)


def _tensor(link: BuiltStream, inside: set[BuiltNode], name: str, *, enters: bool) -> str:
    """Return the tensor at which a stream enters a module, or leaves it."""
    for before, after in pairwise([link.source, *link.chain, link.target]):
        if enters and after is not None and after in inside and before not in inside:
            return after.inputs[link.target_port if after is link.target else 0]
        if not enters and before is not None and before in inside and after not in inside:
            return before.outputs[link.source_port if before is link.source else 0]
    raise Mismatch(f"stream {name} does not {'enter' if enters else 'leave'} its module in FINN's graph")
