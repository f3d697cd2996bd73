"""Kernels on several cards: FINN+ follows either SLRs or cards, a plan has both."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from floorflow.backends.finn.step.kernels import NotBuildable
from floorflow.backends.finn.step.settings import FAR_APART

CardLink = tuple[int, int, int, int]
"""Numbers of the sending card and its cage, and of the receiving card and its cage."""


def floorplanned(model: Any) -> Any:
    """Return a copy with the kernels that FINN's Floorplan makes; an SLR of another card is another place to it."""
    from finn.transformation.fpgadataflow.floorplan import Floorplan
    from qonnx.custom_op.registry import getCustomOp

    copy = deepcopy(model)
    instances = [getCustomOp(node) for node in copy.graph.node]
    homes = {one.onnx_node.name: (one.get_nodeattr("device_id"), one.get_nodeattr("slr")) for one in instances}
    if len({card for card, _ in homes.values()}) < 2:
        return copy.transform(Floorplan(None))
    for one in instances:
        card, slr = homes[one.onnx_node.name]
        one.set_nodeattr("slr", FAR_APART * card + slr + 1)  # never -1, which Floorplan would take for no SLR
    copy = copy.transform(Floorplan(None))
    for node in copy.graph.node:
        getCustomOp(node).set_nodeattr("slr", homes[node.name][1])
    return copy


def set_cards(model: Any) -> None:
    """Tell each kernel in a graph of kernels the card of its nodes."""
    from finn.util.fpgadataflow import get_device_id, get_submodel, set_device_id

    for node in model.graph.node:
        set_device_id(node, get_device_id(get_submodel(node)[0].graph.node[0]))


def check_links(model: Any, plan: Mapping[str, Any]) -> None:
    """Compare the links in FINN+'s metadata with the plan's, and refuse kernels that its links do not fit.

    FINN+ joins a link to ``m_axis_0`` and ``s_axis_0`` of its kernels, whatever else these have.

    Raises
    ------
    NotBuildable
        Names what differs.

    """
    from finn.transformation.fpgadataflow.multifpga.aurora.metadata import AuroraNetworkMetadata

    found = sorted(_links(AuroraNetworkMetadata.from_model(model).data))
    rows = [(row["source"], row["target"]) for row in plan["card_links"]]
    planned = sorted((s["device"], s["cage"], t["device"], t["cage"]) for s, t in rows)
    if found != planned:
        raise NotBuildable(f"FINN+ would join cards by {found} (card, cage, card, cage), the plan by {planned}")
    for node in model.graph.node:
        ends = (
            ("inputs", node.input, model.find_direct_predecessors(node)),
            ("outputs", node.output, model.find_direct_successors(node)),
        )
        for what, tensors, others in ends:
            if len(tensors) > 1 and any(_card(other) != _card(node) for other in others or ()):
                raise NotBuildable(f"{node.name}, which is joined to another card, has {len(tensors)} {what}, not one")


def _card(node: Any) -> int:
    from finn.util.fpgadataflow import get_device_id

    return int(get_device_id(node) or 0)


def _links(data: Mapping[int, Any]) -> Iterator[CardLink]:
    """Yield the links of FINN+'s metadata; the place of an Aurora kernel among a card's is its cage."""
    senders = {_pair(one, "TX"): (card, cage) for card, own in data.items() for cage, one in enumerate(own)}
    for card, own in data.items():
        for cage, one in enumerate(own):
            pair = _pair(one, "RX")
            if pair is not None:
                yield (*senders[pair[1], pair[0]], card, cage)


def _pair(link: Any, way: str) -> tuple[str, str] | None:
    """Return the kernel on this card and that on the other of one direction of a link, None if it is unused."""
    return next((pair for direction, pair in link.connecting_kernels.items() if direction.value == way), None)


def connections(graph: Any, unit_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the streams between kernels of one card by ports; ``unit_of`` are their compute units, by kernel.

    FINN+ counts the ports of a kernel in the order of its neighbours, which is not always that of its streams.
    """
    found: dict[str, list[str]] = {}
    for node in graph.node:
        for port, tensor in enumerate(node.output):
            for other in graph.node:
                if node.name in unit_of and other.name in unit_of and tensor in other.input:
                    target = f"{unit_of[other.name]}.s_axis_{list(other.input).index(tensor)}"
                    found.setdefault(f"{unit_of[node.name]}.m_axis_{port}", []).append(target)
    return found
