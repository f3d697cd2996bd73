"""Orders, groups and longest paths of small directed graphs."""

from collections.abc import Iterable, Mapping

import networkx as nx


def topological_order(successors: Mapping[str, list[str]]) -> list[str]:
    """Return the nodes so that each comes before its successors; nodes on or behind a cycle are left out."""
    waiting = dict.fromkeys(successors, 0)
    for followers in successors.values():
        for follower in followers:
            waiting[follower] += 1
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:  # grows while it is walked
        for follower in successors[name]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    return ready


def quotient(successors: Mapping[str, list[str]], group_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the graph between groups; edges inside a group and nodes without one are left out."""
    between: dict[str, set[str]] = {group: set() for group in group_of.values()}
    for name, followers in successors.items():
        for follower in followers:
            source, target = group_of.get(name), group_of.get(follower)
            if source is not None and target is not None and source != target:
                between[source].add(target)
    return {group: sorted(targets) for group, targets in sorted(between.items())}


def has_cycle(successors: Mapping[str, list[str]]) -> bool:
    """Whether some nodes lie on a cycle."""
    return len(topological_order(successors)) < len(successors)


def rings(successors: Mapping[str, list[str]]) -> list[set[str]]:
    """Return the largest groups of several nodes in which each leads to every other."""
    graph: nx.DiGraph = nx.DiGraph(dict(successors))
    groups = (set(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)
    return sorted(groups, key=sorted)


def least_starts(edges: Iterable[tuple[str, str, int, int]]) -> int:
    """Return the least sum of weight x (start of target - start of source) where that is at least a length.

    ``edges`` are ``(source, target, length, weight)`` without a cycle. By duality it is the most that a flow can earn
    which takes each length along, and of which as much stays in a node as weights more end there than begin.
    """
    graph: nx.MultiDiGraph = nx.MultiDiGraph()
    stays: dict[str, int] = {}
    for source, target, length, weight in edges:
        graph.add_edge(source, target, weight=-length)
        stays[source], stays[target] = stays.get(source, 0) - weight, stays.get(target, 0) + weight
    nx.set_node_attributes(graph, stays, "demand")
    return -int(nx.network_simplex(graph)[0]) if stays else 0


def critical_path(edges: Iterable[tuple[str, str, float]], weights: Mapping[str, float]) -> float:
    """Return the largest sum of weights of nodes and edges along a path; nodes without a weight have 0.

    ``edges`` are ``(source, target, weight)``; nodes on or behind a cycle are left out.
    """
    leaving: dict[str, list[tuple[str, float]]] = {name: [] for name in weights}
    for source, target, weight in edges:
        leaving.setdefault(source, []).append((target, weight))
        leaving.setdefault(target, [])
    arrival = dict.fromkeys(leaving, 0.0)
    longest = 0.0
    for name in topological_order({name: [target for target, _ in pairs] for name, pairs in leaving.items()}):
        done = arrival[name] + weights.get(name, 0.0)
        longest = max(longest, done)
        for target, weight in leaving[name]:
            arrival[target] = max(arrival[target], done + weight)
    return longest
