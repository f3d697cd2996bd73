"""Elimination finds the cheapest choice of a graph, and for each row the cheapest choice with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from floorflow.folding import elimination as module
from floorflow.folding.candidates import Array, Candidates
from floorflow.folding.elimination import elimination, sweep
from floorflow.folding.relaxation import priced
from tests.folding.pairwise import WEIGHTS, all_choices, prices, random_candidates


def sums(choices: Candidates, price: Array) -> dict[tuple[int, ...], int]:
    nodes, edges = priced(choices, WEIGHTS, price)
    return {
        picks: int(sum(n[p] for n, p in zip(nodes, picks, strict=True)))
        + int(sum(e[picks[a], picks[b]] for (a, b), e in edges.items()))
        for picks in all_choices(choices)
    }


@settings(max_examples=100, deadline=None)
@given(random_candidates(), prices)
def test_least_sum_and_margins_equal_those_of_all_choices(choices: Candidates, price: Array) -> None:
    every = sums(choices, price)
    nodes, edges = priced(choices, WEIGHTS, price)
    sizes = [rows.size for rows in choices.rows]
    for plan in (elimination(sizes, choices.pairs), sweep(sizes, choices.pairs)):
        least, picks = plan.least(nodes, edges)
        assert least == every[picks] == min(every.values())
        for node, margins in enumerate(plan.margins(nodes, edges)):
            expected = [min(v for p, v in every.items() if p[node] == row) for row in range(sizes[node])]
            assert margins.tolist() == expected


@settings(max_examples=60, deadline=None)
@given(random_candidates(), prices)
def test_cut_edges_leave_a_lower_bound(choices: Candidates, price: Array) -> None:
    every = sums(choices, price)
    nodes, edges = priced(choices, WEIGHTS, price)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGEST_TABLE", 6)
        plan = elimination([rows.size for rows in choices.rows], choices.pairs)
    assert all(np.prod([plan.sizes[n] for n in step.scope]) <= 6 for step in plan.steps)
    least, picks = plan.least(nodes, edges)
    assert least <= min(every.values())
    assert picks in every
