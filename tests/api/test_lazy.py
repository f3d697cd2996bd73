"""``import floorflow`` costs nothing, and still every public name is there."""

import ast
import inspect
import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import floorflow as ff
from floorflow import api

MOST_CPU_SECONDS = 0.1
QUICK = ("-c", "import floorflow")


def cpu_seconds(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imported_by(code: str) -> set[str]:
    script = (
        f"import json, sys; before = set(sys.modules); {code}; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_import_takes_less_than_a_tenth_of_a_second() -> None:
    # Whatever else runs on the machine makes it slower, never faster.
    assert min(cpu_seconds(*QUICK) for _ in range(4)) < MOST_CPU_SECONDS


def test_the_import_loads_the_package_itself_and_nothing_that_is_installed() -> None:
    loaded = {name.partition(".")[0] for name in imported_by("import floorflow")}
    assert {name for name in loaded if name not in sys.stdlib_module_names} == {"floorflow"}
    assert {name for name in imported_by("import floorflow") if name.startswith("floorflow")} == {"floorflow"}


@pytest.mark.parametrize("name", ["plan", "Plan", "Infeasible", "check"])
def test_a_name_alone_loads_nothing_slow(name: str) -> None:
    loaded = {module.partition(".")[0] for module in imported_by(f"import floorflow; floorflow.{name}")}
    assert "pydantic" in loaded
    assert not loaded & {"matplotlib", "networkx", "numpy", "onnx", "ortools", "pymetis", "rich", "typer", "yaml"}


def test_every_public_name_is_there_and_is_the_apis() -> None:
    for name in set(ff.__all__) - {"__version__"}:
        assert getattr(ff, name) is getattr(api, name), name
    assert set(ff.__all__) <= set(dir(ff))


def test_type_checkers_are_told_the_same_names() -> None:
    tree = ast.parse(Path(ff.__file__).read_text(encoding="utf-8"))
    (imports,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "floorflow.api"
    )
    assert [alias.name for alias in imports.names] == [name for name in ff.__all__ if name != "__version__"]


def test_a_name_that_is_not_there_is_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'floorflow' has no attribute 'plam'"):
        _ = ff.plam


def test_everything_public_is_documented_and_typed() -> None:
    for name in set(ff.__all__) - {"__version__", "Event"}:
        held = getattr(ff, name)
        assert inspect.getdoc(held), name
        members = vars(held).items() if inspect.isclass(held) else ()
        for own, member in [(name, held), *members]:
            if inspect.isfunction(member) and not own.startswith("_"):
                assert inspect.getdoc(member), f"{name}.{own}"
                assert "return" in member.__annotations__, f"{name}.{own}"


@pytest.mark.parametrize(
    "name", ["read", "platform", "plan", "load", "check", "compare", "pareto", "calibrate", "audit", "cost"]
)
def test_all_but_the_things_themselves_go_by_their_names(name: str) -> None:
    subjects = {"plan": 2, "compare": 2, "pareto": 2, "calibrate": 2, "audit": 2}.get(name, 1)
    kinds = [parameter.kind for parameter in inspect.signature(getattr(ff, name)).parameters.values()]
    assert kinds[:subjects] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * subjects
    assert set(kinds[subjects:]) <= {inspect.Parameter.KEYWORD_ONLY}
