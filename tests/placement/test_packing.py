"""Slots that are nearly full: what packs them, and that it is asked only where the constructions fail."""

import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from floorflow.placement import PlacementFailure, PlacementSolution
from floorflow.placement.bounds.wires import needs_of
from floorflow.placement.construction.packing import pack
from floorflow.placement.methods.auto import solve
from floorflow.placement.problem import LIMITS
from floorflow.placement.rectangles.candidate_rectangles import IntArray, candidate_rectangles, slot_grid
from tests.placement.test_scale import assert_counted_legal

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "benchmarks"))

from packing import Design, fitting_designs, random_design

CONSTRUCTED = replace(LIMITS["default"], packing_rounds=0, tight_rounds=0, every_rounds=0)
"""What the constructions place by themselves."""
TIGHT = random_design(1, 0.7, 0.86)
"""22 modules on 0.85 of what is free of an SLR half of which is the shell's."""


@pytest.mark.slow
def test_designs_of_at_most_four_fifths_of_the_free_cells_are_placed() -> None:
    """Of few designs, `benchmarks/packing.py` counts hundreds."""
    designs = list(islice(fitting_designs(0, 0.7, 0.8), 3))
    solutions = [
        solve(design.problem, replace(LIMITS["fast"], tight_rounds=0, every_rounds=0), 0) for design in designs
    ]
    placed = [pair for pair in zip(designs, solutions, strict=True) if isinstance(pair[1], PlacementSolution)]
    for design, solution in placed:
        assert design.area <= 0.8
        assert_counted_legal(design.problem, solution)
    assert len(placed) >= 0.8 * len(designs)


@pytest.mark.slow
def test_what_the_constructions_do_not_place_is_packed() -> None:
    assert isinstance(solve(TIGHT.problem, CONSTRUCTED, 0), PlacementFailure)
    solution = solve(TIGHT.problem, replace(CONSTRUCTED, packing_rounds=300), 0)
    assert isinstance(solution, PlacementSolution)
    assert_counted_legal(TIGHT.problem, solution)


def test_equal_seeds_pack_equally() -> None:
    first, again = (packed(TIGHT, seed=4) for _ in range(2))
    assert first is not None
    assert np.array_equal(first, again)


def test_more_than_the_free_cells_is_not_tried() -> None:
    assert packed(random_design(2, 1.0, 1.1), seed=0) is None


def packed(design: Design, seed: int) -> IntArray | None:
    problem = design.problem
    grid = slot_grid(problem.device, problem.slots[0])
    rects = [candidate_rectangles(grid, need) for need in needs_of(problem)]
    return pack(problem, problem.slots[0].name, rects, 300, np.random.default_rng(seed))
