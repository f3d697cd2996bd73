"""Elimination finds the cheapest choice of a graph, and for each choice of a node the cheapest with it."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from floorflow.folding.variable_elimination import FORBIDDEN, Array, Pair, plan_elimination, plan_sweep

Graph = tuple[list[Array], dict[Pair, Array]]
CASES = 3


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Two to six nodes of up to three choices, in one part or two, priced in three cases; some pairs forbidden."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = random.integers(1, 4, draw(st.integers(2, 6)))
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a + 1, len(sizes))]
    joined = [(a, b) for a, b in pairs if b == a + 1 or random.random() < 0.3][draw(st.integers(0, 1)) :]
    edges = {(a, b): random.integers(0, 50, (sizes[a], sizes[b], CASES)) for a, b in joined}
    for table in edges.values():
        table[random.random(table.shape) < draw(st.sampled_from([0, 0.2]))] = FORBIDDEN
    return [random.integers(-20, 50, (size, CASES)) for size in sizes], edges


def sums(graph: Graph, case: int) -> dict[tuple[int, ...], int]:
    nodes, edges = graph
    return {
        selection: sum(int(n[p, case]) for n, p in zip(nodes, selection, strict=True))
        + sum(int(e[selection[a], selection[b], case]) for (a, b), e in edges.items())
        for selection in product(*(range(len(node)) for node in nodes))
    }


@given(graphs())
def test_least_sums_and_min_marginals_equal_those_of_all_choices(graph: Graph) -> None:
    sizes = [len(node) for node in graph[0]]
    for plan in (plan_elimination(sizes, graph[1]), plan_sweep(sizes, graph[1])):
        totals, selection = plan.least(*graph)
        margins = plan.min_marginals(*graph)
        for case in range(CASES):
            every = sums(graph, case)
            least = min(every.values())
            if least >= FORBIDDEN // 2:
                assert totals[case] >= FORBIDDEN // 2
                continue
            assert totals[case] == every[tuple(selection[case].tolist())] == least
            for node, size in enumerate(sizes):
                for row in range(size):
                    expected = min(v for p, v in every.items() if p[node] == row)
                    assert margins[node][row, case] == expected or min(margins[node][row, case], expected) > 10**9


@given(graphs())
def test_cut_edges_leave_a_lower_bound(graph: Graph) -> None:
    plan = plan_elimination([len(node) for node in graph[0]], graph[1], largest_table=6)
    assert all(np.prod([plan.sizes[n] for n in step.scope]) <= 6 for step in plan.steps)
    totals, selection = plan.least(*graph)
    for case in range(CASES):
        every = sums(graph, case)
        assert totals[case] <= min(every.values())
        assert tuple(selection[case].tolist()) in every
