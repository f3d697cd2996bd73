"""Bring the nodes of a dataflow graph into topological order, close to that of the file."""

from __future__ import annotations

from floorflow.backends.finn.read.file import FlatGraph
from floorflow.errors import InputError
from floorflow.network.onnx_file import Node


def in_topological_order(flat: FlatGraph) -> tuple[Node, ...]:
    """Return the nodes such that each follows what it reads; a sound file's order stays.

    FINN appends FIFOs and converters where they come handy, so that not every file is sorted.

    Raises
    ------
    InputError
        If nodes wait for each other in a cycle; names one.

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
