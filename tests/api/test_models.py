"""The options that a model was read with are those of all its plans, however they were given."""

from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from examples.make_models import ModelBuilder
from tests.backends.toy.toolbox import EDGES, TOY

PYNQ = "pynq-z1"


def unquantised() -> onnx.ModelProto:
    builder = ModelBuilder("floats", (1, 4, 8, 8))
    weights = builder.parameter((4, 4, 3, 3), 0.5)
    builder.tensor = builder.node("Conv", [builder.tensor, weights], kernel_shape=[3, 3])
    builder.shape = (1, 4, 6, 6)
    return builder.model()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "floats.onnx"
    onnx.save(unquantised(), path)
    return path


def bits(model: Any, **options: Any) -> tuple[int | None, set[int]]:
    """Return the bits of weights that a plan's options say, and those of its engines."""
    made = ff.plan(model, PYNQ, effort="fast", **options)
    held: Any = made.plan.options.backend_options
    return held.weight_bits, {row["weight_bits"] for row in made.engines if row["weight_bits"]}


@pytest.mark.parametrize(
    "given", [{"weight_bits": 4}, {"backend_options": {"weight_bits": 4}}, {"backend_options": ["weight-bits=4"]}]
)
def test_a_model_in_memory_is_read_with_the_options_of_its_plan(given: dict[str, Any]) -> None:
    assert bits(unquantised(), **given) == (4, {4})


@pytest.mark.parametrize("given", [{"weight_bits": 4}, {"backend_options": {"weight_bits": 4}}])
@pytest.mark.parametrize(
    "beside",
    [
        {},
        {"backend_options": {"finn": "plus"}},
        {"finn": "plus"},
        {"weight_bits": 4},
        {"weight_bits": None},
        {"backend_options": ["weight_bits=4"]},
    ],
)
def test_a_model_that_was_read_keeps_what_it_was_read_with(
    path: Path, given: dict[str, Any], beside: dict[str, Any]
) -> None:
    assert bits(ff.read(path, **given), **beside) == (4, {4})


def test_options_that_do_not_matter_for_reading_may_come_later(path: Path) -> None:
    made = ff.plan(ff.read(path, weight_bits=4), PYNQ, effort="fast", backend_options={"finn": "plus"})
    held: Any = made.plan.options.backend_options
    assert (held.finn, held.weight_bits) == ("plus", 4)


@pytest.mark.parametrize(
    ("read", "later", "name"),
    [
        ({"backend_options": {"weight_bits": 4}}, {"backend_options": {"weight_bits": 2}}, "weight_bits: 2"),
        ({"weight_bits": 4}, {"backend_options": {"weight_bits": 2}}, "weight_bits: 2"),
        ({}, {"backend_options": {"activation_bits": 2}}, "activation_bits: 2"),
        ({"backend_options": {"finn": "plus"}}, {"finn": "dev"}, "finn: dev"),
    ],
)
def test_a_model_that_was_read_is_not_planned_as_another(
    path: Path, read: dict[str, Any], later: dict[str, Any], name: str
) -> None:
    with pytest.raises(ff.InputError, match=f"^{name} is asked for of a model that was read already"):
        ff.plan(ff.read(path, **read), PYNQ, **later)


def test_one_call_does_not_say_two_things(path: Path) -> None:
    for call in (ff.read, lambda model, **options: ff.plan(model, PYNQ, **options)):
        for model in (path, unquantised()):
            with pytest.raises(ff.InputError, match="--weight-bits: is given twice, as 4 and as 2"):
                call(model, weight_bits=4, backend_options={"weight_bits": 2})


def test_every_option_of_another_back_end_may_matter_for_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TOY)
    model = ff.read(EDGES, backend="toykit", backend_options={"most_lanes": 8})
    made = ff.plan(model, "u250", effort="fast", backend_options={"most_lanes": "8"})
    assert made.plan.options.backend_options.model_dump() == {"maths": "free", "most_lanes": 8}
    for later in ({"most_lanes": 4}, {"maths": "dsp"}):
        with pytest.raises(ff.InputError, match="is asked for of a model that was read already") as caught:
            ff.plan(model, "u250", backend_options=later)
        assert "floorflow.read(path, backend_options={" in caught.value.hint
    with pytest.raises(ff.InputError, match="backend: finn is asked for"):
        ff.plan(model, "u250", backend="finn")
