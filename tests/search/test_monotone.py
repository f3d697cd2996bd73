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

SMALL = (Ground("pynq-z1", 0.1), Ground("xcku5p", 0.02), Ground("alveo-u250", 0.01))
CASES = (("tfc", 1), ("cnv", 2), ("residual", 3))
"""A model, and the seed of a chain of four requests that get different intervals."""


def model_of(name: str, seed: int, folder: Path) -> Path:
    return {"tfc": TFC, "cnv": CNV}.get(name) or saved(random_residual(seed), folder)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_request_that_allows_more_never_gets_a_longer_interval(name: str, seed: int, tmp_path: Path) -> None:
    chain = random_chain_of_requests(model_of(name, seed, tmp_path), SMALL, seed, 4, "fast")
    intervals = [interval_of(request) for request in chain.requests]
    assert min(intervals) < inf, "no request of the chain gets a plan: choose another seed"
    assert not list(longer(intervals)), list(zip(("", *chain.changes), intervals, strict=True))
    last = chain.requests[-1]
    clock_mhz = load_platform(last.platform).clock_mhz
    assert interval_of(at_its_own_rate(last, intervals[-1], clock_mhz)) <= intervals[-1]
