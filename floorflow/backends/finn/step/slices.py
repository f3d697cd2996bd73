"""Register slices in FINN's graph: FIFOs of two words that belong to no module."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from floorflow.backends.finn.step.graph import BuiltNode, BuiltStream

SLICE_DEPTH = 2
SLICE: Mapping[str, Any] = {"depth": SLICE_DEPTH, "impl_style": "rtl", "ram_style": "auto"}
"""What makes a FIFO a register slice: FINN's own of two words has all outputs in registers, back pressure too."""


def widens(stream: Mapping[str, Any]) -> bool:
    """Whether a stream's target takes wider words than its source sends."""
    return bool(stream["source_width"] < stream["target_width"])


def slice_nodes(stream: Mapping[str, Any], link: BuiltStream) -> list[BuiltNode]:
    """Return the register slices of a stream: FIFOs of two words behind its own, before it if it comes from outside.

    There are none where they have not been inserted, though FINN may have split the stream's own FIFO.
    """
    count, fifos = len(stream.get("slices", ())), planned_fifos(stream, link)
    if not count or len(fifos) <= count:
        return []
    first = link.source is None
    slices, own = (fifos[:count], fifos[count:]) if first else (fifos[-count:], fifos[:-count])
    depths = [int(node.attributes.get("depth", stream.get("depth", 0))) for node in own]
    shallow = all(node.attributes.get("depth") == SLICE_DEPTH for node in slices)
    return slices if shallow and sum(depths) >= int(stream.get("depth", 0)) else []


def planned_fifos(stream: Mapping[str, Any], link: BuiltStream) -> list[BuiltNode]:
    """Return the FIFOs of a stream on the wide side of its converter, where its own is."""
    places = [place for place, node in enumerate(link.chain) if node.is_converter]
    if stream["converter"] is None or len(places) != 1:
        return [node for node in link.chain if node.is_fifo]
    wide = link.chain[places[0] :] if widens(stream) else link.chain[: places[0]]
    return [node for node in wide if node.is_fifo]


def insert_slices(model: Any, links: Iterable[tuple[Mapping[str, Any], BuiltStream]]) -> int:
    """Insert the register slices that are not there yet, and return how many."""
    count = 0
    for stream, link in links:
        missing = len(stream.get("slices", ())) if not slice_nodes(stream, link) else 0
        if missing:
            fifos = planned_fifos(stream, link)
            for _ in range(missing):
                _insert_slice(model, fifos[0 if link.source is None else -1].proto, before=link.source is None)
            count += missing
    return count


def _insert_slice(model: Any, fifo: Any, *, before: bool) -> None:
    """Insert a copy of a FIFO with two words right behind it, or before it."""
    from qonnx.custom_op.registry import getCustomOp

    own, tensor = deepcopy(fifo), model.make_new_valueinfo_name()
    own.name = tensor
    model.set_tensor_shape(tensor, model.get_tensor_shape(fifo.input[0] if before else fifo.output[0]))
    model.set_tensor_datatype(tensor, model.get_tensor_datatype(fifo.input[0] if before else fifo.output[0]))
    if before:
        own.output[0] = fifo.input[0] = tensor
    else:
        own.input[0] = fifo.output[0] = tensor
    place = list(model.graph.node).index(fifo)
    model.graph.node.insert(place if before else place + 1, own)
    slice_node = getCustomOp(model.graph.node[place if before else place + 1])
    for name, value in SLICE.items():
        slice_node.set_nodeattr(name, value)
