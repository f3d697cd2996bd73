"""Which way data flows over all phases of a network: never in a circle, forwards in its engines' order and in time."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.verify.ends import End
from floorflow.verify.graphs import has_cycle
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings

Node = tuple[str, ...]
"""An engine, a buffer, or a stream from one phase to another; ends of the host are nodes without a way on."""


def check_direction(plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge that each network is one graph without a circle, in the order of its engines and of the phases."""
    for network in plan["networks"]:
        edges = _edges(network["name"], phases)
        followers = _between_engines(edges)
        where = f"network {network['name']}"
        if has_cycle(followers):
            findings.add("cyclic-dataflow", where, "over all phases some engines depend on their own output")
        _check_order(network, followers, findings)
    if plan["schedule"] is not None and plan["schedule"]["kind"] == "reconfigure":
        _check_time(phases, findings)


def _edges(network: str, phases: Sequence[PhaseFacts]) -> list[tuple[Node, Node]]:
    """Return the channels of a network in all phases, each as its two nodes."""
    edges = []
    for phase in phases:
        for channel in phase.channels:
            source, target = phase.end(channel, "source"), phase.end(channel, "target")
            if source is not None and target is not None and source.network == target.network == network:
                edges.append((_node(source, "source", phase.name), _node(target, "target", phase.name)))
    return edges


def _node(end: End, side: str, phase: str) -> Node:
    """Return the same node for both ends of what is handed over: its two phases in the order of the stream."""
    if end.kind != "phase":
        return end.kind, end.name
    way = (phase, end.phase) if side == "target" else (end.phase, phase)
    return end.kind, end.name, *way


def _between_engines(edges: Sequence[tuple[Node, Node]]) -> dict[str, list[str]]:
    """Return which engines each engine feeds, in its phase or through what passes between phases."""
    readers: dict[Node, list[str]] = {}
    for source, target in edges:
        if target[0] == "engine":
            readers.setdefault(source, []).append(target[1])
    followers: dict[str, list[str]] = {node[1]: [] for edge in edges for node in edge if node[0] == "engine"}
    for source, target in edges:
        if source[0] == "engine":
            followers[source[1]] += [target[1]] if target[0] == "engine" else readers.get(target, [])
    return followers


def _check_order(network: Record, followers: dict[str, list[str]], findings: Findings) -> None:
    """Judge that every engine stands before those that it feeds: bottleneck and names of cells go by that order."""
    place = {engine["name"]: number for number, engine in enumerate(network["engines"])}
    for name, behind in followers.items():
        for other in behind:
            if name in place and other in place and place[name] >= place[other]:
                message = f"it feeds {other}, which does not stand behind it"
                findings.add("engine-order", f"network {network['name']} engine {name}", message)


def _check_time(phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge that what one phase hands to another is handed to a later one."""
    numbers = {phase.name: number for number, phase in enumerate(phases)}
    for number, phase in enumerate(phases):
        for channel in phase.channels:
            end = phase.end(channel, "target")
            if end is not None and end.kind == "phase" and numbers.get(end.phase, number) < number:
                message = f"it goes to phase {end.phase}, which runs before"
                findings.add("handover-backwards", f"{phase.where} channel {channel['name']}", message)
