"""More budget, more cards, fewer limits or a rate that is known to be possible never cost rate."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from floorflow.hardware import load_platform
from tests.conftest import CNV, TFC
from tests.monotone_cases import (
    Ground,
    at_its_own_rate,
    interval_of,
    longer,
    random_chain_of_requests,
    saved,
)
from tests.random_models import random_residual

LENGTH = 3
CASES = (
    ("tfc", Ground("xcku5p", 0.02), 7),
    ("cnv", Ground("zcu104", 0.1), 3),
    pytest.param("cnv", Ground("alveo-u250", 0.02), 4, marks=pytest.mark.slow),
    pytest.param("residual", Ground("xcku5p", 0.02), 7, marks=pytest.mark.slow),
)
"""A model, and the board and the seed of a chain of requests.

TFC and the residual network get shorter intervals; CNV on a U250 once got 14,112 cycles, and 25,088 with twice the
LUTs.
"""


def model_of(name: str, seed: int, folder: Path) -> Path:
    return {"tfc": TFC, "cnv": CNV}.get(name) or saved(random_residual(seed), folder)


@pytest.mark.parametrize(("name", "ground", "seed"), CASES)
def test_a_request_that_allows_more_never_gets_a_longer_interval(
    name: str, ground: Ground, seed: int, tmp_path: Path
) -> None:
    chain = random_chain_of_requests(model_of(name, seed, tmp_path), ground, seed, LENGTH, "fast")
    intervals = [interval_of(request) for request in chain.requests]
    assert intervals[-1] < inf, "nothing has a plan: choose another seed"
    assert not list(longer(intervals)), list(zip(("", *chain.changes), intervals, strict=True))
    last = chain.requests[-1]
    clock_mhz = load_platform(last.platform).clock_mhz
    assert interval_of(at_its_own_rate(last, intervals[-1], clock_mhz)) <= intervals[-1]
