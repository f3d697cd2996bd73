"""The options of the API are those of the request, with the same types; each function shows its own."""

import inspect
from typing import get_args, get_type_hints

import pytest

import floorflow as ff
from floorflow.api import OPTIONS
from floorflow.api.command import command_line
from floorflow.api.options import (
    CompareOptions,
    InspectOptions,
    PlanOptions,
    ProblemOptions,
    ReadOptions,
    ResourcePlanOptions,
)
from floorflow.request import Request
from tests.plans import TFC

SUBJECTS = {"model", "platform"}


def test_plan_takes_every_option_of_the_request_by_its_name() -> None:
    assert set(PlanOptions.__annotations__) == set(OPTIONS) - SUBJECTS
    assert set(Request.model_fields) <= set(OPTIONS)


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - SUBJECTS))
def test_an_options_type_is_that_of_its_values(name: str) -> None:
    option, annotation = OPTIONS[name], get_type_hints(PlanOptions)[name]
    parts = set(get_args(annotation)) or {annotation}
    assert (type(None) in parts) == option.may_be_none
    if option.choices and option.name not in {"partition_method", "place_method"}:
        told = {value for part in (annotation, *parts) for value in (part, *get_args(part)) if isinstance(value, str)}
        assert told == set(option.choices)
    elif option.kind in (bool, int, float):
        assert option.kind in parts


@pytest.mark.parametrize(
    ("function", "known"),
    [
        (ff.read, ReadOptions),
        (ff.inspect, InspectOptions),
        (ff.pareto, ProblemOptions),
        (ff.compare, CompareOptions),
        (ff.plan, PlanOptions),
        (ff.plan_resources, ResourcePlanOptions),
    ],
)
def test_help_shows_the_options_of_each_function(function: object, known: type) -> None:
    shown = inspect.signature(function).parameters  # type: ignore[arg-type]
    assert set(known.__annotations__) <= set(shown)
    assert all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in shown.values())


def test_the_command_line_of_a_request_says_what_is_not_as_ever_and_nothing_else() -> None:
    asked = {"fps": 1000, "cap": {"LUT": 0.6}, "runtime_weights": False, "fpgas": 1, "finn": "plus", "plots": False}
    request = Request(TFC, "u250", **asked)
    assert command_line("plan", request) == [
        *("floorflow", "plan", str(TFC), "--platform", "u250", "--fps", "1000", "--cap", "LUT=0.6"),
        *("--finn", "plus", "--runtime-weights", "never", "--no-plots"),
    ]
