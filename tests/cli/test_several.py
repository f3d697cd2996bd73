"""Several models on the command line: names, rates by name, and what is refused."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from floorflow.cli.main import app
from tests.plans import TFC


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    (folder / "other").mkdir()
    paths = {name: folder / f"{name}.onnx" for name in ("a", "b", "other/a")}
    for path in paths.values():
        shutil.copy(TFC, path)
    return paths


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        (("a", "other/a"), (), "would be called a as that of"),
        (("a", "b"), ("--fps", "c=3"), "--fps c=...: there is no such network"),
        (("a", "b"), ("--fps", "3"), "--fps 3: expected NAME=RATE"),
        (("a", "b"), ("--fps", "a=1", "--fps", "a=2"), "a is given twice, before as 1"),
        (("a", "b"), ("--fps", "a=0"), "--fps a=0: expected frames a second"),
        (("a", "b"), ("--min-rate", "c=3"), "--min-rate c=...: there is no such network"),
        (("a", "b"), ("--fps", "a=3", "--min-rate", "a=4"), "--min-rate a=4: is more than --fps a=3"),
        (("a", "b"), ("--objective", "latency"), "--objective latency: only a plan of one network"),
        (("a", "b"), ("--reconfigure", "full"), "--reconfigure full: only a plan of one network"),
        (("a",), ("--fps", "b=3"), "--fps b=...: there is no such network"),
        (("a",), ("--fps", "3", "--fps", "4"), "--fps 3: expected NAME=RATE"),
        (("a",), ("--min-rate", "a=3"), "--min-rate: only several networks have it"),
    ],
)
def test_mistakes_with_several_networks_exit_2(
    models: dict[str, Path], names: tuple[str, ...], options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    files = [str(models[name]) for name in names]
    result = CliRunner().invoke(app, ["plan", *files, "-p", "pynq-z1", "-o", str(tmp_path / "out"), *options])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_where_nothing_is_placed_one_network_is_planned(models: dict[str, Path], tmp_path: Path) -> None:
    files = [str(models["a"]), str(models["b"])]
    result = CliRunner().invoke(app, ["plan", *files, "-p", "samo:zc706", "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "give one model" in result.output
