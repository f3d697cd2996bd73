"""The toy back end in this process, and a plan of it on a card with several SLRs."""

from pathlib import Path

import pytest

from tests.backends.toy.toolbox import EDGES, TOY, U250, plan


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process find toykit, as if it had been installed."""
    monkeypatch.syspath_prepend(TOY)


@pytest.fixture(scope="session")
def on_u250(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("toy") / "out"
    ended = plan(EDGES, out, *U250, "--backend-option", "most_lanes=256", "--max-hops", "3")
    assert ended.returncode == 0, ended.stderr
    (out.parent / "told.txt").write_text(ended.stdout + ended.stderr)
    return out
