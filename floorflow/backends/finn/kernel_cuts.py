"""Cuts that FINN cannot build, for a kernel would wait for itself or not be linked, and FIFOs moved so that it can.

FINN lets a node join the kernel of a node before it in the same SLR. Where one branch leaves an SLR and comes back at
a sum or concatenation, that one joins the branch that stayed, and its kernel then waits for itself. The last FIFO
before such a join decides: on the join's side of the boundary it begins a kernel. On the branch that stayed it is one
by itself if FINN is told another SLR of it; where it lies its pblock says.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import networkx as nx

from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.step.graph import BuiltNode, joined
from floorflow.backends.finn.step.kernels import partition_ids
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound, own_kernels
from floorflow.backends.placed import Home, PlacedStream
from floorflow.dataflow.model import Dataflow, FoldedDataflow

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
    return _in_circles(bound.graph.nodes, _ids(bound, chosen))


def _in_circles(nodes: Sequence[BuiltNode], ids: Mapping[BuiltNode, int]) -> list[BuiltNode]:
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
        here = _spot(homes[module[name]])
        # A slice on the join's side of a boundary begins a kernel as it is.
        movable = [s for s in away if not s.get("slices") or tuple(s["slices"][-1]) != here]
        yield from ({**chosen, s["name"]: module[name]} for s in movable if s["name"] not in chosen)
        yield {**chosen, **{s["name"]: module[name] for s in movable}}
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


def unwritable_engines(dataflow: Dataflow, engines: Iterable[str], slots: Sequence[int], finn: str) -> frozenset[str]:
    """Return the engines that the host cannot write, as a kernel would wait for itself where both branches meet again.

    ``slots``: SLRs of each FPGA. An AXI-lite port begins a kernel. Where a branch with one comes to a join, that may go
    on with the kernel of the other branch; with one SLR there is no other to tell FINN of a FIFO before it. A branch
    that is cut between two FPGAs could be built: that is not looked into.
    """
    if len(slots) < 2 or max(slots) > 1:
        return frozenset()
    nodes, asked = list(_with_fifos(dataflow)), {*engines}
    plus = finn == "plus"
    return frozenset(node.name for node in nodes if node.name in asked and _waits(nodes, node, plus=plus))


def _with_fifos(dataflow: Dataflow) -> Iterator[BuiltNode]:
    """Yield a node for each engine and for the FIFO behind each of its outputs, in the graph's order."""
    behind = {stream.channel: f"{stream.channel} behind" for stream in dataflow.streams}
    made, taken = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for stream in sorted(dataflow.streams, key=lambda each: each.target_port):
        made[stream.source].append(stream.channel)
        if not stream.from_outside:
            taken[stream.target].append(behind[stream.channel])
    for engine in dataflow.engines:
        yield BuiltNode(engine.name, engine.kind, {}, taken[engine.name], made[engine.name])
        for channel in made[engine.name]:
            yield BuiltNode(channel, "StreamingFIFO_rtl", {}, [channel], [behind[channel]])


def _waits(nodes: Sequence[BuiltNode], one: BuiltNode, *, plus: bool) -> bool:
    """Whether a kernel of nodes in one SLR waits for itself if one of them has an AXI-lite port."""
    told = [replace(node, attributes=dict(WRITTEN)) if node is one else node for node in nodes]
    return bool(_in_circles(told, partition_ids(told, dict.fromkeys(told, 0), plus=plus)))


WRITTEN: Mapping[str, Any] = {"runtime_writeable_weights": 1, "mem_mode": "internal_decoupled"}
"""Attributes of a node with which FINN gives it an AXI-lite port."""

MOST_LINKED_BITS = 4088
"""The widest stream, in whole bytes, that v++ joins two kernels by.

It refuses 4,096 bits itself: "unsupported data width 4096 for direct connection" (FINN issue 1276; 355 for 8,192).
"""


def unbuildable_engines(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str
) -> tuple[str, ...]:
    """Return the engines of kernels that wait for each other in a circle; none where nothing joins or one SLR has all.

    FIFOs before sums are moved as they are when files are written.
    """
    targets = [stream.target for stream in streams]
    if len({place[1:] for place in home.values()}) < 2 or len(set(targets)) == len(targets):
        return ()
    bound = _bound(folded, streams, home, finn)
    circle = waiting(bound, moves(bound))
    return tuple(name for name, node in bound.nodes.items() if node in circle)


def unlinkable_streams(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], shells: Sequence[str], finn: str
) -> dict[str, tuple[int, int]]:
    """Return the streams that v++ does not link between two kernels, DMA engines among them: bits, and the most."""
    wide = [s for s in streams if max(_padded(s.source_width), _padded(s.target_width)) > MOST_LINKED_BITS]
    if not wide or not any(shells):
        return {}
    bound = _bound(folded, streams, home, finn)
    bound = replace(bound, plan={**bound.plan, "moved": moves(bound)})
    ids, found = own_kernels(bound), {}
    device = {engine: place[1] for engine, place in home.items()}
    for stream, link in bound.links:
        ends = [device[stream[end]] for end in ("source", "target") if stream[end] is not None]
        nodes = [node for node in (link.source, *link.chain, link.target) if node is not None]
        width = int(stream["source_width"])
        for before, after in pairwise(nodes):
            width = int(stream["target_width"]) if before.is_converter else width
            # Over a link of two cards goes what its own core takes, not what v++ joins.
            if (
                ids[before] != ids[after]
                and len({*ends}) == 1
                and shells[ends[0]]
                and _padded(width) > MOST_LINKED_BITS
            ):
                found[str(stream["name"])] = (_padded(width), MOST_LINKED_BITS)
    return found


def _padded(bits: int) -> int:
    """Return the bits of a stream as FINN's ports have them: whole bytes."""
    return -(-bits // 8) * 8


def _bound(folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str) -> Bound:
    """Return FINN's graph of placed engines as foreseen."""
    data = _data(folded, streams, home, finn)
    nodes, of = made_nodes(data)
    graph = joined(nodes)
    return Bound(data, graph, of, tuple(streams_between(data["streams"], of, graph)))


def _data(
    folded: FoldedDataflow, streams: Sequence[PlacedStream], home: Mapping[str, Home], finn: str
) -> dict[str, Any]:
    """Return of floorflow_plan.json what kernels depend on."""
    engines = folded.dataflow.engines
    modules = {module: {"device": device, "slr": slr} for module, device, slr in home.values()}
    ends = {"in": modules[home[engines[0].name][0]], "out": modules[home[engines[-1].name][0]]}
    return {
        "finn": finn,
        "engines": [
            {
                "id": engine.name,
                "kind": engine.kind,
                "attributes": dict(engine.attributes),
                "folding": dict(folded.options[engine.name].folding),
                "module": home[engine.name][0],
            }
            for engine in engines
        ],
        "streams": [asdict(stream) for stream in streams],
        "modules": modules,
        "dma": ends,
    }
