"""The one route finder: against brute force on random graphs of slots, and against check's own on platforms."""

from collections.abc import Iterator

import numpy as np
import pytest

from floorflow.assets import Topology
from floorflow.hardware import Crossing, DirectedEdge, Edge, Rect, SlotGraph, load_platform
from floorflow.hardware.board import Board
from floorflow.hardware.links import Link
from floorflow.hardware.platform import Fpga, Platform, SllBoundary
from floorflow.hardware.slots import Slot
from floorflow.resources import ZERO
from floorflow.verify.hardware import routes
from tests.random_family import seeds


def random_graph(seed: int) -> SlotGraph:
    """Up to seven slots, mostly joined; boundaries and links at random, so that rings and meshes occur."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 8))
    pairs = {(int(random.integers(0, i)), i) for i in range(1, count) if random.random() < 0.9}
    pairs |= {(int(min(a, b)), int(max(a, b))) for a, b in random.integers(0, count, (5, 2)) if a != b}
    kinds = ["link" if random.random() < 0.4 else "sll" for _ in pairs]
    edges = [Edge(a, b, Crossing(kind)) for (a, b), kind in zip(sorted(pairs), kinds, strict=True)]
    return SlotGraph(count, tuple(edges[k] for k in random.permutation(len(edges))))


def all_routes(graph: SlotGraph, source: int, target: int) -> Iterator[tuple[DirectedEdge, ...]]:
    """Yield every route that passes no slot twice."""

    def longer(passed: tuple[int, ...], route: tuple[DirectedEdge, ...]) -> Iterator[tuple[DirectedEdge, ...]]:
        if passed[-1] == target:
            yield route
            return
        for k, edge in enumerate(graph.edges):
            for near, far, forth in ((edge.a, edge.b, True), (edge.b, edge.a, False)):
                if near == passed[-1] and far not in passed:
                    yield from longer((*passed, far), (*route, (k, forth)))

    return longer((source,), ())


def rank(graph: SlotGraph, source: int, route: tuple[DirectedEdge, ...]) -> tuple[int, int, tuple[int, ...]]:
    kinds = [graph.edges[k].crossing.kind for k, _ in route]
    return kinds.count("link"), kinds.count("sll"), graph.slots_on(source, route)


@pytest.mark.parametrize("seed", seeds(60))
def test_a_route_is_the_best_of_all_by_links_boundaries_and_slots_in_order(seed: int) -> None:
    graph = random_graph(seed)
    for source in range(graph.slots):
        for target in range(graph.slots):
            routes = list(all_routes(graph, source, target))
            if not routes:
                with pytest.raises(KeyError):
                    graph.route(source, target)
                continue
            best = min(routes, key=lambda route: rank(graph, source, route))
            assert graph.route(source, target) == best


def test_fewer_links_beat_any_number_of_boundaries_and_the_first_slots_decide() -> None:
    sll, link = Crossing("sll"), Crossing("link")
    chain = SlotGraph(4, (Edge(0, 1, sll), Edge(1, 2, sll), Edge(2, 3, sll), Edge(0, 3, link)))
    assert chain.route(0, 3) == ((0, True), (1, True), (2, True))
    square = SlotGraph(4, (Edge(0, 2, link), Edge(2, 3, link), Edge(0, 1, link), Edge(1, 3, link)))
    assert (square.route(0, 3), square.route(3, 0)) == (((2, True), (3, True)), ((3, False), (2, False)))


def platform_of_graph(graph: SlotGraph) -> Platform:
    """A platform with the graph's slots, under names that say nothing, those that boundaries join in one FPGA."""
    group = list(range(graph.slots))
    for edge in graph.edges:
        if edge.crossing.kind == "sll":
            group = [group[edge.a] if g == group[edge.b] else g for g in group]
    names = [f"s{(7 * i) % 10}x{i}" for i in range(graph.slots)]
    board = Board.model_construct(part="xcku5p-x", clock_mhz=100, max_fpgas=1, host_slr="SLR0", crossing_registers=2)
    fpgas = []
    for number, g in enumerate(dict.fromkeys(group)):
        own = [i for i, other in enumerate(group) if other == g]
        slots = [Slot(names[i], f"fpga{number}", f"SLR{i}", Rect(0, 0, 0, 0), (), ZERO, ZERO) for i in own]
        fpgas.append(Fpga(f"fpga{number}", board, None, tuple(slots), slots[0].name))  # type: ignore[arg-type]
    kept = [edge for edge in graph.edges if (edge.crossing.kind == "sll") == (group[edge.a] == group[edge.b])]
    order = [slot.name for fpga in fpgas for slot in fpga.slots]
    lower = [sorted((names[edge.a], names[edge.b]), key=order.index) for edge in kept]
    slls = [SllBoundary(*pair, 100) for pair, edge in zip(lower, kept, strict=True) if edge.crossing.kind == "sll"]
    links = [
        Link(f"l{k}", "any", *pair, 1.0, 1.0, assumed=True)
        for k, (pair, edge) in enumerate(zip(lower, kept, strict=True))
        if edge.crossing.kind == "link"
    ]
    return Platform("random", tuple(fpgas), tuple(slls), tuple(links), (), {})


def judged(platform: Platform) -> routes.Roads:
    numbers = {fpga.name: number for number, fpga in enumerate(platform.fpgas)}
    slots = {s.name: routes.Slot(s.name, s.fpga, numbers[s.fpga], int(s.slr[3:]), {}) for s in platform.slots}
    links = [routes.Link(slots[k.source], slots[k.target], {"name": k.name}) for k in platform.links]
    return routes.roads(slots, [(b.lower, b.upper) for b in platform.boundaries], links)


@pytest.mark.parametrize("seed", seeds(60))
def test_check_derives_the_same_routes_whatever_slots_are_called(seed: int) -> None:
    platform = platform_of_graph(random_graph(seed))
    roads = judged(platform)
    for source in roads.slots.values():
        for target in roads.slots.values():
            derived = roads.route(source, target)
            if derived is None:
                with pytest.raises(KeyError):
                    platform.route_steps(source.name, target.name)
                continue
            steps = platform.route_steps(source.name, target.name)
            assert [(s.kind, s.source, s.target, s.link, s.hops) for s in steps] == [
                (s.kind, s.source.name, s.target.name, s.link and s.link.entry["name"], s.hops) for s in derived
            ]
            assert [pair for step in steps if step.kind == "sll" for pair in step.joints] == [
                (lower.name, upper.name) for step in derived for lower, upper in step.boundaries
            ]


@pytest.mark.parametrize("topology", ["chain", "ring", "star", "mesh", "full"])
def test_partition_search_and_check_pass_the_same_crossings(topology: Topology) -> None:
    platform = load_platform("alveo-u250", 3, topology=topology)
    roads, names = judged(platform), [slot.name for slot in platform.slots]
    for a, source in enumerate(names):
        for b, target in enumerate(names):
            crossings = tuple(platform.graph.edges[k].crossing for k, _ in platform.graph.route(a, b))
            derived = roads.route(roads.slots[source], roads.slots[target])
            assert platform.route(source, target).crossings == crossings
            assert derived is not None
            assert sum(step.hops for step in derived) == len(crossings)
