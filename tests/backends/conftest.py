"""Plans of the layered back ends, made once a session."""

from pathlib import Path

import pytest

from tests.conftest import made_once


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "layered", lambda folder: folder)
