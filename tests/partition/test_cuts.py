"""Method `cuts` against all assignments, on graphs of every form and with every kind of limit."""

from itertools import pairwise
from random import Random
from typing import Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware import Crossing
from floorflow.hardware.slot_graph import SlotGraph
from floorflow.partition import Edge, PartitionFailure, PartitionProblem, SlotCapacity, partition
from floorflow.partition.cuts.anneal import Annealer, Walk
from floorflow.partition.cuts.arrays import contracted, cut_arrays
from floorflow.partition.cuts.metric import common_scale, slot_metric
from floorflow.partition.problem import SharedLimit
from floorflow.resources import ZERO
from tests.partition.problems import AMOUNT, CELLS, LIMIT, as_wished, everything, few_over_links, some_of, streams

FORMS = {
    "chain": nx.path_graph(4),
    "star": nx.star_graph(4),
    "tree": nx.Graph([(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)]),
    "grid of two columns": nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 2)),
    "square": nx.cycle_graph(4),
    "ring of five": nx.cycle_graph(5),
    "ring of six": nx.cycle_graph(6),
    "mesh": nx.complete_graph(4),
    "two rings at one slot": nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]),
    "no sum of cuts": nx.complete_bipartite_graph(2, 3),
}


def graph_of(form: str, kind: Literal["sll", "link"] = "link", cost: int = 10) -> SlotGraph:
    edges = tuple(Edge(a, b, Crossing(kind, cost=cost), f"{a}-{b}") for a, b in sorted(FORMS[form].edges))
    return SlotGraph(len(FORMS[form]), edges)


@pytest.mark.parametrize("form", FORMS)
def test_cuts_add_up_to_the_hops_between_slots(form: str) -> None:
    graph, slots = graph_of(form, cost=1), range(len(FORMS[form]))
    metric = slot_metric(graph)
    hops = dict(nx.all_pairs_shortest_path_length(FORMS[form]))
    by_cuts = {
        (a, b): sum(c.weight for c in metric.cuts if (a in c.beyond) != (b in c.beyond)) for a in slots for b in slots
    }
    if form == "no sum of cuts":
        assert all(by_cuts[a, b] <= hops[a][b] for a in slots for b in slots)
    else:
        assert by_cuts == {(a, b): hops[a][b] for a in slots for b in slots}
    scale = common_scale(price for price, _ in metric.prices)
    priced = np.sum([int(price * scale) * table for price, table in metric.prices], axis=0)
    assert priced.tolist() == [[scale * hops[a][b] for b in slots] for a in slots]


@pytest.mark.parametrize(
    ("form", "cuts", "weight"),
    [
        ("chain", 3, 1),
        ("star", 4, 1),
        ("tree", 5, 1),
        ("grid of two columns", 3, 1),  # two lines between rows, one between columns
        ("square", 2, 1),  # opposite edges in pairs
        ("ring of five", 5, 0.5),
        ("ring of six", 3, 1),
        ("mesh", 4, 0.5),  # a cut for each card
    ],
)
def test_each_form_has_its_cuts(form: str, cuts: int, weight: float) -> None:
    found = slot_metric(graph_of(form, cost=1)).cuts
    assert [float(cut.weight) for cut in found] == [weight] * cuts


def test_boundaries_one_after_the_other_cost_more() -> None:
    graph = graph_of("chain", "sll")
    metric = slot_metric(graph)
    assert len(metric.prices) == 3 + 3  # three boundaries, and three pairs of them
    arrays = cut_arrays(PartitionProblem({}, (), (SlotCapacity("", ZERO),) * 4, graph.edges, 0, 0))
    assert arrays.distance.tolist() == [[graph.cost(a, b) for b in range(4)] for a in range(4)]


@st.composite
def constrained(draw: st.DrawFn) -> PartitionProblem:
    """Draw a small problem on a graph of any form, with limits of any kind."""
    form = FORMS[draw(st.sampled_from(sorted(FORMS)))]
    slots, names = len(form), [f"m{i}" for i in range(draw(st.integers(1, {4: 7, 5: 6, 6: 5}[len(form)])))]
    few, some = st.integers(0, 4), st.booleans()
    edges = []
    for a, b in sorted(form.edges):
        sll = Crossing("sll", wires=draw(st.one_of(st.none(), st.integers(0, 100))), registers=draw(st.integers(0, 2)))
        link = Crossing("link", gbps=float(draw(st.integers(3, 25))), cost=10, wires=draw(st.sampled_from([None, 60])))
        half = Crossing("half", wires=draw(st.one_of(st.none(), st.integers(0, 100))))
        lower, upper = draw(st.permutations((a, b)))
        edges.append(Edge(lower, upper, draw(st.sampled_from([sll, link, half])), f"{a}-{b}"))
    several = st.lists(st.sampled_from(range(len(edges))), min_size=2, max_size=3, unique=True)
    area = draw(some) and draw(some)
    return PartitionProblem(
        demands={name: draw(AMOUNT) for name in names},
        streams=tuple(draw(streams(names))),
        slots=tuple(SlotCapacity(f"s{i}", draw(LIMIT)) for i in range(slots)),
        edges=tuple(edges),
        host_in=draw(st.integers(0, slots - 1)),
        host_out=draw(st.integers(0, slots - 1)),
        frames_per_s=1e9,
        cells={name: tuple(draw(CELLS) for _ in range(slots)) for name in names} if area else {},
        free_cells=tuple(draw(st.integers(5, 30)) for _ in range(slots)) if area else (),
        barred={
            name: draw(st.frozensets(st.integers(0, slots - 1), max_size=slots - 1)) for name in names if not draw(few)
        },
        max_hops=draw(st.sampled_from([None, None, 1, 2])),
        demands_in={name: tuple(draw(AMOUNT) for _ in range(slots)) for name in names if not draw(few)},
        together=tuple(pair for pair in pairwise(names) if not draw(few)),
        apart=tuple(draw(st.lists(some_of(names), max_size=2))),
        shared=tuple(
            SharedLimit(tuple(draw(several)), draw(st.integers(20, 120))) for _ in range(draw(st.integers(0, 2)))
        ),
        order=draw(st.one_of(st.just(()), st.tuples(*(st.integers(0, 2) for _ in range(slots))))),
        link_stream_cost=draw(st.sampled_from([0, 0, 7, 1000])),
        link_wire_cost=draw(st.sampled_from([0, 3])),
        link_streams=draw(st.sampled_from([None, None, 1, 2])),
    )


def least_cost(problem: PartitionProblem) -> int | None:
    """Return the least cost of all legal assignments, by what each pair of slots means for a stream."""
    places, slots, names = everything(problem), range(len(problem.slots)), list(problem.demands)
    graph, legal, cost = problem.graph, np.ones(len(everything(problem)), dtype=bool), 0
    use = np.zeros((len(places), len(problem.slots), 6))
    for m, name in enumerate(names):
        rows = [(*problem.demand(name, s).as_tuple(), problem.cells_in(name, s) or 0) for s in slots]
        use[np.arange(len(places)), places[:, m]] += np.array(rows)[places[:, m]]
        legal &= np.array([problem.takes(name, s) for s in slots])[places[:, m]]
    loads, bits = np.zeros((len(problem.edges), len(places))), np.zeros((len(problem.edges), 2, len(places)))
    for stream in problem.streams:
        source = (
            np.full(len(places), problem.host_in) if stream.source is None else places[:, names.index(stream.source)]
        )
        target = (
            np.full(len(places), problem.host_out) if stream.target is None else places[:, names.index(stream.target)]
        )
        cost = cost + stream.wires * np.array([[graph.cost(a, b) for b in slots] for a in slots])[source, target]
        if problem.order:
            legal &= np.array(problem.order)[source] <= np.array(problem.order)[target]
        if problem.max_hops is not None:
            legal &= np.array([[graph.hops(a, b) <= problem.max_hops for b in slots] for a in slots])[source, target]
        for k in range(len(problem.edges)):
            forth = np.array([[(k, True) in graph.route(a, b) for b in slots] for a in slots])[source, target]
            back = np.array([[(k, False) in graph.route(a, b) for b in slots] for a in slots])[source, target]
            loads[k] += stream.wires * (forth | back)
            bits[k] += stream.bits_per_frame * np.array([forth, back])
            of_link = problem.link_stream_cost + problem.link_wire_cost * stream.wires
            cost = cost + of_link * (forth | back) * (problem.edges[k].crossing.kind == "link")
    for k, edge in enumerate(problem.edges):
        lower = (edge.crossing.registers + 1) // 2
        use[:, edge.a, 1] += lower * loads[k]
        use[:, edge.b, 1] += (edge.crossing.registers - lower) * loads[k]
        legal &= loads[k] <= (np.inf if edge.crossing.wires is None else edge.crossing.wires)
        legal &= (bits[k] <= (np.inf if edge.crossing.gbps is None else edge.crossing.gbps)).all(axis=0)
    legal &= few_over_links(problem, places)
    for limit in problem.shared:
        legal &= loads[list(limit.edges)].sum(axis=0) <= limit.wires
    free = problem.free_cells or [np.inf] * len(problem.slots)
    legal &= (use <= np.array([(*s.limit.as_tuple(), f) for s, f in zip(problem.slots, free, strict=True)])).all(
        axis=(1, 2)
    )
    legal &= as_wished(problem, places)
    return int(np.asarray(cost)[legal].min()) if legal.any() else None


def held_against_all(problem: PartitionProblem) -> None:
    answer, expected = partition(problem, "cuts", "fast"), least_cost(problem)
    if isinstance(answer, PartitionFailure):
        assert answer.proven
        assert expected is None
    else:
        assert problem.is_legal(answer.slot_of)
        assert answer.stats.objective == answer.stats.bound == problem.cost(answer.slot_of) == expected
        assert answer.stats.status == "optimal"


@given(constrained())
def test_cuts_equal_all_assignments(problem: PartitionProblem) -> None:
    held_against_all(problem)


@given(constrained(), st.randoms(use_true_random=False))
def test_slots_that_become_one_keep_what_is_legal_and_each_load(problem: PartitionProblem, random: Random) -> None:
    arrays = cut_arrays(problem)
    assignment = arrays.as_array({name: random.randrange(len(problem.slots)) for name in problem.demands})
    for cuts in (*((cut,) for cut in arrays.cuts), *arrays.axes, arrays.cuts):
        smaller, kept = contracted(arrays, cuts)
        sides = [tuple(arrays.tables[cut][0, slot] for cut in cuts) for slot in range(len(problem.slots))]
        one = np.array([list(dict.fromkeys(sides)).index(side) for side in sides])[assignment]
        assert (smaller.loads(one)["wires"] == arrays.loads(assignment)["wires"][list(kept)]).all()
        assert smaller.excess(one) == 0 or arrays.excess(assignment) > 0


@given(constrained(), st.integers(0, 9))
def test_walks_know_what_they_cost_and_exceed(problem: PartitionProblem, seed: int) -> None:
    annealer = Annealer(cut_arrays(problem))
    if not annealer.free or not all(annealer.choices):
        return
    walk = Walk(annealer, [Random(seed).choice(choice) for choice in annealer.choices])
    walk.run(400, Random(seed), 1.0, float("-inf"))
    arrays, slots = annealer.arrays, np.array(walk.slots)
    assert walk.cost == pytest.approx(
        (arrays.distance + arrays.distance.T)[slots[arrays.source], slots[arrays.target]] @ arrays.wires / 2
        + (arrays.tolls + arrays.tolls.T)[slots[arrays.source], slots[arrays.target]] @ arrays.amounts["streams"] / 2
    )
    if annealer.is_exact:
        assert (walk.excess < 1e-6) == (arrays.excess(slots) == 0)
    start = np.array([choice[0] for choice in annealer.choices])
    found = annealer.anneal(400, seed, start, 0.5)
    assert annealer.key(found) <= annealer.key(start)
    if walk.best is not None:
        assert arrays.excess(np.array(walk.best)) == 0
