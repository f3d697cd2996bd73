"""Place FIFOs so that FINN's rule makes kernels that can be built.

FINN lets a node join the kernel of a node before it in the same SLR. Where one branch leaves an SLR and comes back at
a sum or concatenation, that one joins the branch that stayed, and its kernel then waits for itself. The last FIFO
before such a join decides: on the join's side of the boundary it begins a kernel, and in the other SLR it begins one
for the branch that stayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from floorflow.backends.finn.step.graph import BuiltNode
from floorflow.backends.finn.step.settings import Bound, own_kernels

Moves = dict[str, str]
"""Streams whose last FIFO lies elsewhere than the plan's others, and the module where it lies."""


def moves(bound: Bound) -> Moves:
    """Return the FIFOs to move so that no kernel waits for itself; as many as help, where not all circles can go."""
    chosen: Moves = {}
    circle = waiting(bound, chosen)
    while circle:
        better = min(
            ((waiting(bound, trial), trial) for trial in _trials(bound, chosen, circle)),
            key=lambda pair: len(pair[0]),
            default=(circle, chosen),
        )
        if len(better[0]) >= len(circle):
            break
        circle, chosen = better
    return chosen


def waiting(bound: Bound, chosen: Moves) -> list[BuiltNode]:
    """Return the nodes of kernels that wait for themselves."""
    nodes = bound.graph.nodes
    ids = _ids(bound, chosen)
    maker = {tensor: node for node in nodes for tensor in node.outputs}
    graph: nx.DiGraph = nx.DiGraph()
    for node in nodes:
        graph.add_edges_from(
            (ids[maker[t]], ids[node]) for t in node.inputs if t in maker and ids[maker[t]] != ids[node]
        )
    circles = {number for part in nx.strongly_connected_components(graph) if len(part) > 1 for number in part}
    return [node for node in nodes if ids[node] in circles]


def _ids(bound: Bound, chosen: Moves) -> dict[BuiltNode, int]:
    data: Mapping[str, Any] = {**bound.plan, "moved": chosen}
    moved = Bound(data, bound.graph, bound.nodes, bound.streams)
    return own_kernels(moved)


def _trials(bound: Bound, chosen: Moves, circle: list[BuiltNode]) -> Iterator[Moves]:
    """Yield choices with the FIFOs before one more join moved: to its side, or to where another branch comes from."""
    homes = bound.plan["modules"]
    module = {str(engine["id"]): str(engine["module"]) for engine in bound.plan["engines"]}
    inside = set(circle)
    for name, node in bound.nodes.items():
        if node not in inside or len(node.inputs) < 2:
            continue
        into = [s for s in bound.plan["streams"] if s["target"] == name and s["source"] is not None]
        away = [s for s in into if homes[module[s["source"]]] != homes[module[name]]]
        yield from ({**chosen, s["name"]: module[name]} for s in away if s["name"] not in chosen)
        yield {**chosen, **{s["name"]: module[name] for s in away}}
        elsewhere = {
            **_elsewhere(homes, module[name]),
            **{_spot(homes[module[s["source"]]]): module[s["source"]] for s in away},
        }
        for stayed in (s for s in into if s not in away and s["name"] not in chosen):
            yield from ({**chosen, stayed["name"]: other} for other in elsewhere.values())


_Spot = tuple[int, int]


def _spot(home: Mapping[str, int]) -> _Spot:
    return home["device"], home["slr"]


def _elsewhere(homes: Mapping[str, Mapping[str, int]], module: str) -> dict[_Spot, str]:
    """Return a module of each other SLR of the FPGA, the nearest last."""
    mine = homes[module]
    others = [name for name, home in homes.items() if home["device"] == mine["device"] and home["slr"] != mine["slr"]]
    far_first = sorted(others, key=lambda name: -abs(homes[name]["slr"] - mine["slr"]))
    return {_spot(homes[name]): name for name in far_first}
