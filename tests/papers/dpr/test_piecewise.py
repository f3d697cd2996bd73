"""Eq. 6 and its fit: planes are found again, and the paper's models are met as well as planes can."""

from itertools import product

import numpy as np
import pytest

from floorflow.papers.dpr.case_file import read_chunk_case
from floorflow.papers.dpr.case_rows import problem_of_row
from floorflow.papers.dpr.paper_models import Piecewise, fit_model, fitted
from tests.plans import ROOT

CASE = ROOT / "examples" / "seyoum_case.json"
PE, SIMD = np.array(list(product([2**k for k in range(7)], repeat=2)), dtype=np.int64).T


@pytest.mark.parametrize("seed", range(5))
def test_four_planes_are_found_again(seed: int) -> None:
    random = np.random.default_rng(seed)
    thresholds = [int(value) for value in random.choice([4, 8], 2)]
    true = Piecewise(*thresholds, random.integers(1, 50, (4, 3)).astype(np.float64))
    found = fitted(PE, SIMD, true(PE, SIMD))
    assert found.error(PE, SIMD, true(PE, SIMD)) < 1e-9
    assert found(PE, SIMD) == pytest.approx(true(PE, SIMD))


def test_no_plane_of_one_piece_is_nearer_than_four() -> None:
    amounts = (PE * SIMD).astype(np.float64)
    rows = np.column_stack([PE, SIMD, np.ones_like(PE)]) / amounts[:, None]
    plane = np.linalg.lstsq(rows, np.ones_like(amounts), rcond=None)[0]
    one = Piecewise(64, 64, np.tile(plane, (4, 1)))
    assert fitted(PE, SIMD, amounts).error(PE, SIMD, amounts) <= one.error(PE, SIMD, amounts)


def test_a_model_of_planes_is_fitted_without_error_and_a_row_may_ask_for_the_fit() -> None:
    case = read_chunk_case(CASE)
    row = next(row for row in case.rows if row.model == "M1" and row.rule == "paper")
    found = fit_model(case.models[row.net, "M1"], case.layers, (case.pe_values, case.simd_values))
    assert max(max(errors[column] for column in (0, 3)) for errors in found.errors) < 0.01
    assert len(problem_of_row(case, row).layers) == len(case.layers)
