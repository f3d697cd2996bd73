"""The parts of a network that cuts leave whole, and linear orders of them.

A part is a stage (`floorflow.dataflow.modules.stages`), or several stages of which engines are tied to one another,
with all that lies between them. Parts depend on one another without a circle, whatever is cut.
"""

from collections.abc import Callable, Iterator, Sequence

import networkx as nx

from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.modules import stages
from floorflow.dataflow.options import OptionGroup

Parts = tuple[tuple[str, ...], ...]
MOST_ORDERS = 4


def parts_of(dataflow: Dataflow, groups: Sequence[OptionGroup]) -> Parts:
    """Return the parts, each with its engines in the network's order, so that no stream leads to an earlier part."""
    joined = nx.Graph()
    joined.add_nodes_from(engine.name for engine in dataflow.engines)
    for members in [*stages(dataflow.engines, dataflow.engine_pairs), *(group.engines for group in groups)]:
        nx.add_path(joined, members)
    units = {name: unit for unit, names in enumerate(nx.connected_components(joined)) for name in names}
    between = nx.DiGraph()
    between.add_nodes_from(units.values())
    between.add_edges_from((units[source], units[target]) for source, target in dataflow.engine_pairs)
    # Units on a circle are one part: a path may lead out of a unit and back into it.
    part_of = {unit: part for part, circle in enumerate(nx.strongly_connected_components(between)) for unit in circle}
    engines: dict[int, list[str]] = {part: [] for part in part_of.values()}
    for engine in dataflow.engines:
        engines[part_of[units[engine.name]]].append(engine.name)
    parts = tuple(tuple(names) for names in engines.values())
    graph, rank = _graph(dataflow, parts), _ranks(dataflow, parts)
    return tuple(parts[i] for i in nx.lexicographical_topological_sort(graph, key=lambda i: rank[i]))


def orders_of(dataflow: Dataflow, parts: Parts) -> tuple[Parts, ...]:
    """Return different linear orders of the parts, at most `MOST_ORDERS`: a chain has one.

    As given; branch by branch, the longest first; the same with the shortest first; and all branches side by side. Of
    several networks first that in which they run side by side, so that each begins and ends where the host is.
    """
    graph = _graph(dataflow, parts)
    height = dict.fromkeys(graph, 0)
    depth = dict(height)
    forwards = list(nx.lexicographical_topological_sort(graph))
    for part in forwards[::-1]:
        height[part] = max((height[after] + 1 for after in graph.successors(part)), default=0)
    for part in forwards:
        depth[part] = max((depth[before] + 1 for before in graph.predecessors(part)), default=0)
    orders = [
        tuple(range(len(parts))),
        tuple(_branch_by_branch(graph, lambda part: height[part])),
        tuple(_branch_by_branch(graph, lambda part: -height[part])),
        tuple(sorted(forwards, key=lambda part: (depth[part], part))),
    ]
    orders = [*_side_by_side(dataflow, parts), *orders]
    return tuple(tuple(parts[part] for part in order) for order in dict.fromkeys(orders))[:MOST_ORDERS]


def _side_by_side(dataflow: Dataflow, parts: Parts) -> Iterator[tuple[int, ...]]:
    """Yield, of several networks, the order in which each part stands as far along as in its own network."""
    own = [
        [part for part, names in enumerate(parts) if names[0].startswith(f"{network}/")]
        for network in dataflow.networks
    ]
    if own:
        along = {part: (place + 0.5) / len(inside) for inside in own for place, part in enumerate(inside)}
        yield tuple(sorted(range(len(parts)), key=lambda part: (along[part], part)))


def _branch_by_branch(graph: nx.DiGraph, merit: Callable[[int], int]) -> Iterator[int]:
    """Yield a branch up to where it joins another, then the next; of several, that of most merit first."""
    missing = dict(graph.in_degree())
    ready = sorted((part for part in graph if not missing[part]), key=lambda part: (merit(part), -part))
    while ready:
        part = ready.pop()
        yield part
        for after in graph.successors(part):
            missing[after] -= 1
        free = [after for after in graph.successors(part) if not missing[after]]
        ready += sorted(free, key=lambda part: (merit(part), -part))


def _graph(dataflow: Dataflow, parts: Parts) -> nx.DiGraph:
    home = {name: part for part, names in enumerate(parts) for name in names}
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(parts)))
    ends = ((home[source], home[target]) for source, target in dataflow.engine_pairs)
    graph.add_edges_from((source, target) for source, target in ends if source != target)
    return graph


def _ranks(dataflow: Dataflow, parts: Parts) -> list[int]:
    """Return where each part begins in the network's order."""
    position = {engine.name: index for index, engine in enumerate(dataflow.engines)}
    return [position[names[0]] for names in parts]
