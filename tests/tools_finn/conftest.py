"""One FINN+ for all tests of a session."""

from collections.abc import Iterator

import pytest

from tests.tools import need_finn_plus
from tests.tools_finn.oracle import FinnPlus


@pytest.fixture(scope="session")
def finn_plus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FinnPlus]:
    """FINN+, skipped where its environment is missing."""
    running = FinnPlus(need_finn_plus(), tmp_path_factory.mktemp("finn_plus") / "log")
    yield running
    running.close()
