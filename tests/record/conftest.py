"""A search that several of these tests record."""

import pytest

from floorflow.request import Request
from floorflow.search.candidate.findings import SearchResult
from floorflow.search.candidate.preparing import prepare, read
from floorflow.search.interval.search import search
from tests.plans import TFC


@pytest.fixture(scope="session")
def tfc_on_pynq() -> SearchResult:
    request = Request(TFC, "pynq-z1", effort="fast", fps=1000)
    return search(prepare(read(request), request, 1))
