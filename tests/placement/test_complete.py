"""The rules for sides admit every legal rectangle and no other; what CP-SAT finds under them is the least."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.hardware.geometry import Rect
from floorflow.placement import Pin, PlacementSolution, Wire, place
from floorflow.placement.bounds.wires import needs_of
from floorflow.placement.complete import CompleteAnswer, solve_completely
from floorflow.placement.layout import Layout, net_arrays, twice_hpwl
from floorflow.placement.problem import PlacementProblem
from floorflow.placement.rectangles.candidate_rectangles import slot_grid
from floorflow.placement.rectangles.legal_sides import LegalSides
from floorflow.resources import Resources
from tests.placement.small import assert_legal, brute_force, chain, device, legal_rectangles

DEMANDS = st.builds(Resources, st.integers(1, 130), st.just(0), st.integers(0, 2), st.just(0), st.integers(0, 2))
CORNERS = st.tuples(st.sampled_from([0, 1, 2, 3, 4, 9]), st.integers(0, 14))
ASPECTS = st.sampled_from([None, 1.3, 2.0])


def walled(demands: list[Resources], corner: tuple[int, int], layout: str = "CDCBCC") -> PlacementProblem:
    """Modules on a die of three clock regions with a keep-out of two columns and six rows, if it begins inside."""
    x, y = corner
    keep_outs = (Rect(x, y, min(x + 1, len(layout) - 1), min(y + 5, 14)),) if x < len(layout) else ()
    return chain(device(layout, 3), demands, keep_outs=keep_outs)


def rules_of(problem: PlacementProblem, max_aspect: float | None) -> list[LegalSides]:
    grid = slot_grid(problem.device, problem.slots[0], every_span=True)
    return [LegalSides.of(grid, need, max_aspect, problem.device.row_step) for need in needs_of(problem)]


def answer_of(problem: PlacementProblem, max_aspect: float | None, twice_known: int | None) -> CompleteAnswer:
    count = len(problem.modules)
    apart = ~np.eye(count, dtype=np.bool_)
    return solve_completely(
        rules_of(problem, max_aspect), net_arrays(problem), apart, twice_known=twice_known, work_limit=20.0, seed=0
    )


def keeps(rect: Rect, max_aspect: float | None) -> bool:
    return max_aspect is None or max(rect.columns / rect.rows, rect.rows / rect.columns) <= max_aspect


@given(DEMANDS, CORNERS, ASPECTS)
def test_the_rules_admit_the_legal_rectangles_and_no_others(demand, corner, max_aspect) -> None:
    problem = walled([demand], corner, "CDCBCCICD")
    every = np.array(
        [(a, b, c, d) for a in range(9) for c in range(a, 9) for b in range(0, 15, 5) for d in range(b + 4, 15, 5)]
    )
    admitted = every[rules_of(problem, max_aspect)[0].allow(every)]
    legal = {r.as_tuple() for r in legal_rectangles(problem, problem.modules[0]) if keeps(r, max_aspect)}
    assert {tuple(row) for row in admitted.tolist()} == legal


@given(
    st.lists(DEMANDS, min_size=2, max_size=3),
    CORNERS,
    ASPECTS,
    st.tuples(st.integers(0, 8), st.integers(0, 40)),
    st.integers(0, 9),
)
def test_what_is_found_is_the_least_of_all_layouts(demands, corner, max_aspect, pin, bits) -> None:
    problem = walled(demands, corner)
    problem = replace(problem, wires=(*problem.wires, Wire(Pin(*pin), "m0", bits)))
    least, answer = brute_force(problem, max_aspect), answer_of(problem, max_aspect, None)
    assert answer.infeasible == (least is None)
    if least is not None:
        assert answer.layout is not None
        assert answer.twice_bound == 2 * least == twice_hpwl(answer.layout, net_arrays(problem))
        names = [module.name for module in problem.modules]
        regions = {name: (Rect(*box),) for name, box in zip(names, answer.layout.boxes.tolist(), strict=True)}
        assert all(regions[m.name][0] in legal_rectangles(problem, m) for m in problem.modules)
        assert answer_of(problem, max_aspect, int(2 * least)).infeasible
        assert answer_of(problem, max_aspect, int(2 * least) + 1).twice_bound == 2 * least


def line_of_three() -> tuple[PlacementProblem, Layout]:
    """Three modules in a row of which the outer two talk to each other, with room between them."""
    problem = replace(chain(device("CCCCCCCCCCCCCD", 1), [Resources(lut=8 * 15)] * 3), wires=(Wire("m0", "m2", 5),))
    boxes = np.array([(0, 0, 2, 4), (4, 0, 6, 4), (10, 0, 12, 4)])
    return problem, Layout(boxes, np.ones(3, dtype=np.bool_))


def test_an_order_is_kept_and_its_best_layout_found() -> None:
    problem, layout = line_of_three()
    nets, apart = net_arrays(problem), ~np.eye(3, dtype=np.bool_)
    rules = rules_of(problem, None)
    limits = {"twice_known": twice_hpwl(layout, nets), "work_limit": 20.0, "seed": 0}
    ordered = solve_completely(rules, nets, apart, **limits, order=layout)
    free = solve_completely(rules, nets, apart, **limits)
    assert ordered.layout is not None
    assert (twice_hpwl(layout, nets), ordered.twice_bound, free.twice_bound) == (2 * 50, 2 * 30, 2 * 15)
    assert (ordered.layout.boxes[:-1, 2] < ordered.layout.boxes[1:, 0]).all()


def test_no_work_proves_nothing() -> None:
    problem, _ = line_of_three()
    nets = net_arrays(problem)
    apart = ~np.eye(3, dtype=np.bool_)
    answer = solve_completely(rules_of(problem, None), nets, apart, twice_known=None, work_limit=0.0, seed=0)
    assert not answer.infeasible
    assert answer.twice_bound <= 2 * 15


@pytest.mark.parametrize("count", [4, 6])
def test_few_modules_are_proven_optimal(count: int) -> None:
    die = device("CICDICCICBICCIC" * 2, 6)
    have = die.resources(die.slr_region("SLR0"))
    demands = [Resources(int(have.lut * share)) for share in (0.2, 0.05, 0.12, 0.07, 0.1, 0.04)[:count]]
    problem = replace(chain(die, demands), effort="default")
    problem = replace(problem, wires=(*problem.wires, Wire(Pin(0, 0), "m0", 8)))
    outcome = place(problem)
    assert isinstance(outcome, PlacementSolution)
    assert_legal(problem, outcome)
    assert (outcome.stats.status, outcome.stats.bound) == ("optimal", outcome.hpwl)
