"""FINN's Floorplan told once more, node by node as its code does it, apart from floorflow's own."""

from collections.abc import Mapping, Sequence

from floorflow.backends.finn.step.graph import BuiltNode


def floorplan(
    nodes: Sequence[BuiltNode], entries: Mapping[str, int], *, plus: bool
) -> tuple[dict[str, int], dict[str, int]]:
    """Return SLR and partition id of every node; ``entries``: the SLRs in the user's file."""
    slr = slrs(nodes, entries)
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    ids = {name: number for number, name in enumerate(n.name for n in nodes if n.op_type == "IODMA_hls")}
    fresh = len(ids)
    for node in nodes:
        if node.op_type == "IODMA_hls":
            continue
        before = [maker[tensor] for tensor in node.inputs if tensor in maker]
        if not before or before[0].op_type == "IODMA_hls" or node.inputs[0] not in maker:
            ids[node.name], fresh = fresh, fresh + 1
        elif plus:
            match = [] if written(node) else [other for other in before if slr[other.name] == slr[node.name]]
            ids[node.name] = ids[match[0].name] if match else fresh
            fresh += not match
        else:
            for other in before:
                if slr[other.name] == slr[node.name] and not written(other):
                    ids[node.name] = ids[other.name]
                else:
                    ids[node.name], fresh = fresh, fresh + 1
    return slr, ids


def slrs(nodes: Sequence[BuiltNode], entries: Mapping[str, int]) -> dict[str, int]:
    """Return the SLR of every node: its entry's, or that of a neighbour of a converter or FIFO."""
    slr = {node.name: entries.get(node.name, -1) for node in nodes}
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    reader = {tensor: node for node in nodes for tensor in node.inputs}
    for node in nodes:
        if node.name in entries:
            continue
        if node.op_type.startswith("StreamingDataWidthConverter"):
            narrows = node.attributes["inWidth"] > node.attributes["outWidth"]
            slr[node.name] = slr[(reader[node.outputs[0]] if narrows else maker[node.inputs[0]]).name]
        elif node.op_type.startswith("StreamingFIFO") and node.inputs[0] in maker:
            slr[node.name] = slr[maker[node.inputs[0]].name]
    return slr


def written(node: BuiltNode) -> bool:
    """Whether the node has an AXI-lite port for its weights or thresholds."""
    weights = node.op_type.startswith(("MVAU", "VVAU", "Thresholding"))
    return weights and node.attributes.get("runtime_writeable_weights") == 1
