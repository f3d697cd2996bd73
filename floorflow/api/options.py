"""What can be asked for: each option's type, limits and help, and the names and types of all as keywords."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypedDict, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from floorflow.assets import Topology
from floorflow.errors import InputError
from floorflow.plugins import DEFAULT_BACKEND, BackendOptions, registration
from floorflow.presets import Preset
from floorflow.request import (
    Bargains,
    ConstraintStyle,
    Effort,
    Granularity,
    Objective,
    Request,
    Reuse,
    Spelling,
    TieBreak,
    known_methods,
    option_of,
)
from floorflow.resources import Fractions, SomeFractions
from floorflow.several import Fairness, SeveralOptions
from floorflow.stats import MethodNames, PlaceWeights

Shares = Mapping[str, float] | Sequence[str]
"""Fractions by resource, ``{"LUT": 0.6}`` or ``["LUT=0.6"]``; what is not named keeps its default."""

Weights = Mapping[str, float] | Sequence[str] | str
"""Weights by term, ``{"reach": 0}``, ``["reach=0"]`` or ``"reach=0,congestion=2"``; the others keep their defaults."""

Rates = Mapping[str, float] | Sequence[str]
"""Frames a second by network, ``{"camera": 25}`` or ``["camera=25"]``."""


class ReadOptions(TypedDict, total=False):
    """Options of `read`."""

    backend: str
    backend_options: Mapping[str, Any] | Sequence[str]
    weight_bits: int | None
    activation_bits: int | None


class InspectOptions(ReadOptions, total=False):
    """Options of `inspect`."""

    finn: Literal["main", "dev", "plus"]
    label_select: bool


class ProblemOptions(ReadOptions, total=False):
    """Options of `pareto`: those that state a folding problem."""

    finn: Literal["main", "dev", "plus"]
    fpgas: int | Literal["auto"]
    clock_mhz: float | None
    cap: Shares
    max_products: int | str
    max_engine_share: Shares | Literal["none"]
    costs: Literal["calibrated", "estimated", "finn", "samo"]
    vivado: str | None
    impl_style: Literal["auto", "default", "free"]
    seed: int


class CompareOptions(ProblemOptions, total=False):
    """Options of `compare`."""

    fps: float | None


class ReconfigureOptions(ProblemOptions, total=False):
    """Options of `compare_reconfigured`."""

    objective: Objective | None
    reconfigure: Literal["none", "full"]
    batch: int | None


class ResourcePlanOptions(ReadOptions, total=False):
    """Options of `plan_resources`: those that mean something where nothing is placed."""

    objective: Objective | None
    reconfigure: Literal["none", "full"]
    batch: int | None
    clock_mhz: float | None
    cap: Shares
    finn: Literal["main", "dev", "plus"]
    costs: Literal["calibrated", "estimated", "finn", "samo"]
    vivado: str | None
    impl_style: Literal["auto", "default", "free"]
    runtime_weights: Literal["auto", "never", "always"]
    label_select: bool
    seed: int
    plots: bool


class PlanOptions(ProblemOptions, total=False):
    """Options of `plan`, with the names, limits and defaults of ``floorflow plan --help``."""

    fps: float | Rates | None
    min_rate: Rates
    memory_gbs: float | None
    fairness: Fairness
    two_sided: bool
    objective: Objective | None
    tie_break: TieBreak
    reconfigure: Literal["none", "full", "partial"]
    batch: int | None
    regions: int | None
    area: float
    preset: Preset
    max_fpgas: int
    replicas: int | Literal["auto"] | None
    link: str | Path | None
    topology: Topology
    host_port: str | None
    fill: Shares
    confidence: float | Literal["none"]
    risk: float | None
    runtime_weights: Literal["auto", "never", "always"]
    fifo_sizing: Literal["floorflow", "finn"]
    crossings: Literal["fifo", "vendor", "none"]
    flow: Literal["auto", "vitis", "zynq", "stitch"]
    thresholds: Literal["fused", "apart"]
    label_select: bool
    fold_method: str
    keep_folding: bool
    folding: str | Path | None
    epsilon: float | None
    granularity: Granularity
    keep_granularity: bool
    reuse: Reuse
    constraint_style: ConstraintStyle
    max_hops: int | None
    allow_cycles: bool
    link_streams: int | None
    keep_out: Sequence[str]
    fix_pblock: Mapping[str, str] | Sequence[str]
    constraints: str | Path | None
    stay_near: str | Path | None
    partition_method: str
    place_method: str
    place_weights: Weights
    effort: Effort
    time_limit: float | None
    jobs: int
    start_from: str | Path | None
    gap: float
    cache: str | Path | None
    bargains: Bargains | None
    plots: bool


@dataclass(frozen=True)
class Option:
    """One option for whoever makes a command line, or a form, of it.

    ``spelling`` is the command line's, ``--fold-method``; an argument's is its name. ``kind`` is the type of its value;
    of a ``repeated`` one that of each. ``choices`` are its values if there are few. ``least`` and ``most`` bound it.
    ``short_for``: a flag of its own, and the value that it stands for.
    """

    name: str
    spelling: str
    panel: str
    letter: str
    argument: bool
    help: str
    kind: type
    choices: tuple[str, ...]
    repeated: bool
    may_be_none: bool
    required: bool
    default: Any
    least: float | None
    most: float | None
    short_for: tuple[str, str] | None


def _fields() -> dict[str, FieldInfo]:
    """Return the fields of the request, with what several networks have beside, and its usual back end's options."""
    made: dict[str, FieldInfo] = {}
    for name, info in Request.model_fields.items():
        made[name] = info
        if name == "fps":
            made |= SeveralOptions.model_fields
        if name == "backend_options":
            made |= registration(DEFAULT_BACKEND).options.model_fields
    return made


def _option(name: str, field: FieldInfo) -> Option:
    spelling = next(data for data in field.metadata if isinstance(data, Spelling))
    kinds = _members(field.annotation)
    methods = next((data for data in field.metadata if isinstance(data, MethodNames)), None)
    choices = get_args(kinds[0]) if len(kinds) == 1 and get_origin(kinds[0]) is Literal else ()
    # Which methods there are depends on the back end, too: they are told, but no choice.
    listed = f" {', '.join(known_methods(name))}." if methods is not None and methods.of_backend else ""
    lists = (Fractions, SomeFractions, BackendOptions, PlaceWeights)
    repeated = kinds[0] in lists or get_origin(kinds[0]) in (dict, tuple)
    simple = kinds[0] if len(kinds) == 1 and not repeated and not choices else str
    return Option(
        name=name,
        spelling=option_of(name, SeveralOptions if name in SeveralOptions.model_fields else None),
        panel=spelling.panel,
        letter=spelling.letter,
        argument=spelling.argument,
        help=f"{field.description}{listed}",
        kind=simple,
        choices=methods.known if methods is not None and not methods.of_backend else choices,
        repeated=repeated,
        may_be_none=NoneType in get_args(field.annotation),
        required=field.is_required(),
        default=None if repeated or field.is_required() else field.default,
        least=_limit(field, "ge"),
        most=_limit(field, "le"),
        short_for=spelling.short_for,
    )


def _members(annotation: Any) -> list[Any]:
    """Return the types of a union, or the one type, without None and what is annotated."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return [get_args(part)[0] if get_origin(part) is Annotated else part for part in parts if part is not NoneType]


def _limit(field: FieldInfo, end: str) -> float | None:
    return next((getattr(data, end) for data in field.metadata if hasattr(data, end)), None)


OPTIONS: Mapping[str, Option] = {name: _option(name, field) for name, field in _fields().items()}
"""Every option of `plan`, model and platform among them, in the order of ``--help``."""


Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(known: type) -> Callable[[Function], Function]:
    """Let the signature of a function that takes these options show them, with their defaults, to ``help``."""

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        places = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        made = [_shown(OPTIONS[name], known.__annotations__[name]) for name in OPTIONS if name in known.__annotations__]
        function.__signature__ = own.replace(parameters=[*places, *made])  # type: ignore[attr-defined]
        return function

    return decorate


def _shown(option: Option, annotation: Any) -> inspect.Parameter:
    default = ... if option.repeated else option.default
    text = getattr(annotation, "__forward_arg__", annotation)
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=text)


def require_options(given: Mapping[str, Any], known: type, function: str) -> None:
    """Refuse options of `plan` that another function does not have; the request itself refuses all others."""
    for name in given:
        if name in OPTIONS and name not in known.__annotations__:
            raise InputError(f"{OPTIONS[name].spelling}: {function} has no such option", hint="leave it out")
