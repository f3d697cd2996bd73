"""Back ends are known by name before anything slow is imported, and have options of their own."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from floorflow.errors import InputError, ToolError
from floorflow.facts.options import Options
from floorflow.plugins import backend_names, registration
from floorflow.request import Request, known_methods, option_of
from tests.plans import TFC

TOY = """
from typing import Any, ClassVar, Mapping
from pydantic import Field
from floorflow.plugins import BackendOptions, Registration

class ToyOptions(BackendOptions):
    lanes: int = Field(1, ge=1, le=8, description="Lanes.")
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"max": {"lanes": 8}}

TOY = Registration("toy_registration:nothing", ToyOptions, ("toy-fold",))
WRONG = "not a registration"
"""


def install(folder: Path, entries: str) -> None:
    """Lay a package with its dist-info into a folder, as pip does."""
    (folder / "toy_registration.py").write_text(TOY)
    info = folder / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[floorflow.backends]\n{entries}\n")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(tmp_path, "toy = toy_registration:TOY\nwrong = toy_registration:WRONG\nmissing = no_such_module:X")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def asked(**options: Any) -> Request:
    return Request(TFC, "pynq-z1", **options)


def test_options_of_the_back_end_may_be_given_by_their_names_or_together() -> None:
    flat = asked(finn="plus", weight_bits=4)
    assert flat.backend_options.model_dump()["finn"] == "plus"
    assert asked(backend_options={"finn": "plus", "weight_bits": "4"}) == flat
    assert asked(backend_options=["finn=plus", "weight-bits=4"]) == flat
    assert flat.changed(finn="dev").backend_options.model_dump() == {**flat.backend_options.model_dump(), "finn": "dev"}


@pytest.mark.usefixtures("toy")
def test_a_back_end_says_what_a_preset_means_for_its_options() -> None:
    def lanes(**options: Any) -> Any:
        return asked(backend="toy", **options).backend_options.model_dump()["lanes"]

    assert (lanes(), lanes(preset="safe"), lanes(preset="max"), lanes(preset="max", lanes=2)) == (1, 1, 8, 2)


def test_plan_json_holds_the_options_of_the_back_end_together() -> None:
    options = asked(costs="estimated", clock_mhz=100, objective="latency").model_dump()
    assert (options["backend"], options["backend_options"]["costs"]) == ("finn", "estimated")
    assert "costs" not in options
    assert Options(**options, models=["tfc.onnx"]).backend_options == asked(costs="estimated").backend_options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "hls"}, "--backend hls: unknown back end"),
        ({"backend": 3}, "--backend 3: expected the name"),
        ({"backend_options": "finn=plus"}, "--backend-option finn=plus: expected NAME=VALUE"),
        ({"backend_options": ["finn"]}, "--backend-option finn: expected NAME=VALUE"),
        ({"backend_options": ["finn=plus", "finn=dev"]}, "finn is given twice, before as plus"),
        ({"backend_options": {"fin": "plus"}}, "unknown option 'fin'"),
        ({"backend_options": {"costs": "cheap"}}, "--costs cheap: expected calibrated, estimated, finn or samo"),
        ({"costs": "finn", "impl_style": "free"}, "--impl-style free: --costs finn prices FINN's own choices"),
    ],
)
def test_wrong_options_of_a_back_end_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        asked(**options)
    assert message in str(refused.value)


def test_an_installed_back_end_is_known_with_its_options_and_methods(toy: Path) -> None:
    assert backend_names() == ("fcnnx", "finn", "fpgaconvnet", "hls4ml", "missing", "toy", "wrong")
    request = asked(backend="toy", lanes=3, fold_method="toy-fold")
    assert request.backend_options.model_dump() == {"lanes": 3}
    assert "toy-fold" in known_methods("fold_method", "toy")
    assert "toy-fold" not in known_methods("fold_method")
    assert option_of("lanes", registration("toy").options) == "--backend-option lanes"
    assert request.changed(backend="finn", fold_method="exact").backend_options == asked().backend_options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "toy", "lanes": 9}, "--backend-option lanes 9: expected at least 1 and at most 8"),
        ({"backend": "toy", "costs": "finn"}, "--costs: only back end finn has this option"),
        ({"backend": "toy", "fold_method": "finn"}, "--fold-method finn: unknown method"),
        ({"backend": "wrong"}, "--backend wrong: toy_registration:WRONG is a str"),
    ],
)
def test_mistakes_with_an_installed_back_end_are_refused(toy: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        asked(**options)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("import sys; sys.exit(3)", "it exits with 3"),
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("1 / 0", "ZeroDivisionError"),
        ("def", "SyntaxError"),
        ("", "has no attribute 'X'"),
    ],
)
def test_a_back_end_that_cannot_be_imported_is_a_failed_tool(toy: Path, body: str, told: str) -> None:
    sys.modules.pop("no_such_module", None)
    (toy / "no_such_module.py").write_text(body, encoding="utf-8")
    importlib.invalidate_caches()
    with pytest.raises(ToolError) as refused:
        asked(backend="missing")
    assert "--backend missing: no_such_module:X cannot be imported" in str(refused.value)
    assert told in str(refused.value)
    assert refused.value.exit_code == 4


def test_two_back_ends_of_one_name_are_refused(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "second-1.0.dist-info").mkdir()
    (other / "second-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: second\nVersion: 1.0\n")
    (other / "second-1.0.dist-info" / "entry_points.txt").write_text("[floorflow.backends]\ntoy = other:TOY\n")
    sys.path.insert(0, str(other))
    try:
        with pytest.raises(InputError, match="registered twice, as other:TOY and toy_registration:TOY"):
            asked(backend="toy")
    finally:
        sys.path.remove(str(other))


def test_the_command_line_takes_options_of_other_back_ends(toy: Path) -> None:
    command = ["plan", str(TFC), "-p", "pynq-z1", "-o", str(toy / "out"), "--backend", "toy"]
    code = f"import sys; sys.path.insert(0, {str(toy)!r}); from floorflow.__main__ import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *command, "--backend-option", "lanes=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "--backend-option lanes 12: expected at least 1 and at most 8" in ended.stderr
