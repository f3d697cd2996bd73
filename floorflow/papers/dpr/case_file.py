"""Reading a case of the chunk problem: layers, resource models and rows, in one JSON file (docs/chunks.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from floorflow.errors import InputError
from floorflow.papers.case_reading import validated
from floorflow.papers.dpr.paper_models import (
    AdditiveModel,
    Amount,
    Count,
    FileModel,
    Model,
    Number,
    PaperLayer,
    Parameters,
    ProductModel,
    Sigma,
)
from floorflow.reading import read_json

FITTED = "pwl"
"""Behind a model's name: eq. 6 fitted to what it says."""
HINT = "give a case as docs/chunks.md has it"
SIGMAS = tuple(Decimal(number) / 100 for number in (*range(25, 90, 5), 87, 90, 95, 100))
"""The areas of a case that does not say which."""


class _Resources(FileModel):
    LUT: Amount
    BRAM: Amount
    FF: Amount
    DSP: Amount = 0
    URAM: Amount = 0


class _Extra(FileModel):
    LUT: Number = Decimal(0)
    BRAM: Number = Decimal(0)
    FF: Number = Decimal(0)
    DSP: Number = Decimal(0)


class _Device(FileModel):
    resources: _Resources


class _Reconfiguration(FileModel):
    slope: Number
    offset: Number


class _FoldingValues(FileModel):
    P: tuple[Count, ...] = Field(min_length=1)
    S: tuple[Count, ...] = Field(min_length=1)


class _Model(FileModel):
    coef: dict[str, AdditiveModel] | None = None
    par: dict[str, Parameters] | None = None
    fifo: dict[str, tuple[tuple[Count, Count, bool], ...]] = Field(default_factory=dict)
    infra_system: _Extra | None = None
    chunk_dma: _Extra = _Extra()

    @model_validator(mode="after")
    def _of_one_form(self) -> "_Model":
        if (self.coef is None) == (self.par is None):
            raise ValueError("a model has either coef (additive) or par (product)")
        return self


class _Row(FileModel):
    net: str
    model: str
    rule: Literal["paper", "finn"] = "paper"
    finn_latency: Annotated[bool, Field(strict=True)] = False
    infra: Annotated[bool, Field(strict=True)] = False
    sigma: Sigma


class _Case(FileModel):
    device: _Device
    clock_hz: Annotated[Number, Field(gt=0)]
    batch: Count
    t_reconf_us: _Reconfiguration
    folding_values: _FoldingValues
    layers: tuple[PaperLayer, ...] = Field(min_length=1, max_length=64)
    models: dict[str, _Model] = Field(min_length=1)
    expected: tuple[_Row, ...] | None = None
    sigmas: tuple[Sigma, ...] | None = Field(default=None, min_length=1)


@dataclass(frozen=True)
class Row:
    """What a row of ``expected`` asks: a network, a model, which foldings, whose cycles, and the area."""

    net: str
    model: str
    rule: str
    finn_latency: bool
    infra: bool
    sigma: Fraction

    @property
    def problem_key(self) -> tuple[str, str, str, bool, bool]:
        """What rows of one problem have in common: all but the area."""
        return self.net, self.model, self.rule, self.finn_latency, self.infra


@dataclass(frozen=True, eq=False)
class ChunkCase:
    """A case: the paper's layers, what its models say, and the rows."""

    layers: tuple[PaperLayer, ...]
    pe_values: tuple[int, ...]
    simd_values: tuple[int, ...]
    device: Mapping[str, int]
    clock_mhz: float
    batch: int
    us_per_area: float
    offset_us: float
    models: Mapping[tuple[str, str], Model]
    """By network and name."""
    fixed: Mapping[tuple[str, bool], Mapping[str, float]]
    """What each chunk needs besides its layers, by model and with the system's infrastructure or without."""
    stock: Mapping[str, tuple[tuple[int, int], ...]]
    rows: tuple[Row, ...]


def read_chunk_case(path: Path) -> ChunkCase:
    """Read a case.

    Raises
    ------
    InputError
        If the file cannot be read or a field of it is not what is expected; file and field are named.

    """
    decimals = {"parse_float": Decimal, "parse_constant": partial(_no_constant, path)}
    return chunk_case(read_json(path, "case", HINT, **decimals), str(path))


def chunk_case(content: Any, file: str) -> ChunkCase:
    """Return the case that a file's content describes; ``file`` names it in errors.

    Raises
    ------
    InputError
        If a field is not what is expected.

    """
    if not isinstance(content, dict):
        raise InputError(f"{file}: the file is no JSON object", hint=HINT)
    named = {key.removeprefix("model_"): value for key, value in content.items() if key.startswith("model_")}
    if not named:
        raise InputError(f"{file}: there is no model: model_M1 or model_M2 is expected", hint=HINT)
    case = validated(_Case, {**content, "models": named}, file, HINT, spelt=("models.", "model_"))
    models, fixed = _models(case, file), _fixed(case)
    nets = sorted({net for net, _ in models})
    return ChunkCase(
        case.layers,
        case.folding_values.P,
        case.folding_values.S,
        case.device.resources.model_dump(),
        float(case.clock_hz) / 1e6,
        case.batch,
        float(case.t_reconf_us.slope),
        float(case.t_reconf_us.offset),
        models,
        fixed,
        {
            net: tuple(one.stock[net] for one in case.layers)
            for net in nets
            if all(net in one.stock for one in case.layers)
        },
        _rows(case, models, fixed, file),
    )


def _no_constant(path: Path, name: str) -> Any:
    raise InputError(f"{path}: {name} is no number", hint=HINT)


def _models(case: _Case, file: str) -> dict[tuple[str, str], Model]:
    """Return the models by network and name; a product model stands for its free form too."""
    found: dict[tuple[str, str], Model] = {}
    count = len(case.layers)
    for name, model in case.models.items():
        for net, coefficients in (model.coef or {}).items():
            _require_length(file, f"model_{name}.coef.{net}.BRAM.v", len(coefficients.BRAM.v), count)
            found[net, name] = coefficients
        for net, parameters in (model.par or {}).items():
            for field in ("A", "AO", "lm", "fm"):
                _require_length(file, f"model_{name}.par.{net}.{field}", len(getattr(parameters, field)), count)
            if len(parameters.tw) > count:
                _require_length(file, f"model_{name}.par.{net}.tw", len(parameters.tw), count)
            fifos = _fifos(model, parameters, f"{file}: model_{name}.fifo", count)
            found[net, name] = ProductModel(parameters, fifos, free=False)
            found[net, f"{name}free"] = ProductModel(parameters, fifos, free=True)
    return found


def _require_length(file: str, field: str, have: int, expected: int) -> None:
    if have != expected:
        raise InputError(f"{file}: {field}: {have} entries, one for each of {expected} layers is expected", hint=HINT)


def _fifos(model: _Model, given: Parameters, where: str, count: int) -> dict[int, list[tuple[int, int]]]:
    """Return depth and width in bits of the FIFOs behind each layer; a flag says that the width is in activations."""
    found = {}
    for key, fifos in model.fifo.items():
        if not key.isdecimal() or int(key) >= count:
            raise InputError(f"{where}.{key}: the number of a layer is expected", hint=HINT)
        layer = int(key)
        found[layer] = [(depth, width * (given.AO[layer] if scaled else 1)) for depth, width, scaled in fifos]
    return found


def _fixed(case: _Case) -> dict[tuple[str, bool], dict[str, float]]:
    """Return what a chunk needs besides its layers; infrastructure that one model states holds for all."""
    stated = [model.infra_system for model in case.models.values() if model.infra_system is not None]
    fixed = {}
    for name, model in case.models.items():
        for called in (name, f"{name}free") if model.par else (name,):
            dma = {key: float(value) for key, value in model.chunk_dma.model_dump().items()}
            fixed[called, False] = dma
            system = model.infra_system or (stated[0] if stated else None)
            if system is not None:
                fixed[called, True] = {key: dma[key] + float(value) for key, value in system.model_dump().items()}
    return fixed


def _rows(
    case: _Case,
    models: Mapping[tuple[str, str], Model],
    fixed: Mapping[tuple[str, bool], Mapping[str, float]],
    file: str,
) -> tuple[Row, ...]:
    """Return the rows that are asked for, or all that the file's networks and models have."""
    if case.expected is None:
        return tuple(_all_rows(case, models, fixed))
    for number, row in enumerate(case.expected):
        where = f"{file}: expected.{number}"
        base = row.model.removesuffix(FITTED)
        if (row.net, base) not in models:
            known = ", ".join(f"{net} with {model}" for net, model in models)
            raise InputError(f"{where}: no model {row.model} of {row.net}; there are {known}", hint=HINT)
        if row.infra and (base, True) not in fixed:
            raise InputError(f"{where}.infra: no model states infra_system", hint=HINT)
    return tuple(
        Row(row.net, row.model, row.rule, row.finn_latency, row.infra, Fraction(row.sigma)) for row in case.expected
    )


def _all_rows(
    case: _Case, models: Mapping[tuple[str, str], Model], fixed: Mapping[tuple[str, bool], Mapping[str, float]]
) -> list[Row]:
    """Return each network with each model by the paper's rule, and the free ones by FINN's and in its system too."""
    rows = []
    for net, model in models:
        asked = [("paper", False, False)]
        if model.endswith("free"):
            asked += [("finn", True, False), *([("finn", True, True)] if (model, True) in fixed else [])]
        for rule, finn_latency, infra in asked:
            rows += [Row(net, model, rule, finn_latency, infra, Fraction(sigma)) for sigma in case.sigmas or SIGMAS]
    return rows
