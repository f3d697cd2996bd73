"""Small values that stand in many places of the Plan."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from floorflow.resources import Resources
from floorflow.stats import SolveStats

Amount = Annotated[int, Field(ge=0)]

AttributeValue = int | str | list[int] | list[str]

PlainName = Annotated[str, Field(pattern=r"^(\.{3,}|\.{0,2}[A-Za-z0-9_\-][A-Za-z0-9_.\-]*)$")]
"""Name of a network or of a phase, and of the folder of its files, so neither ``.`` nor ``..``."""


def engine_id(network: str, engine: str, *, several: bool) -> str:
    """Return how phases name an engine: ``network/engine`` in a plan of ``several`` networks, else its bare name."""
    return f"{network}/{engine}" if several else engine


class PlanModel(BaseModel):
    """A part of plan.json: frozen, and nothing in it that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)

    @classmethod
    def of(cls, source: object, /, **own: Any) -> Self:
        """Return what a stage's value is in the plan: these fields, and of ``source`` each other one by its name.

        Resources, rectangles and what solvers say become the plan's own, wherever they stand.
        """
        taken = {name: getattr(source, name) for name in cls.model_fields if hasattr(source, name)}
        return cls.model_validate(taken | own)


class Amounts(PlanModel):
    """An amount of each resource."""

    LUT: Amount = 0
    FF: Amount = 0
    BRAM18: Amount = 0
    URAM: Amount = 0
    DSP: Amount = 0

    @model_validator(mode="before")
    @classmethod
    def _of_resources(cls, value: Any) -> Any:
        return value.as_dict() if isinstance(value, Resources) else value

    @property
    def resources(self) -> Resources:
        """The amounts as a value with arithmetic."""
        return Resources.from_dict(self.model_dump())

    def __str__(self) -> str:
        return ", ".join(f"{amount:,} {name}" for name, amount in self.model_dump().items() if amount)


class Stats(PlanModel):
    """What a solver says about its answer."""

    method: str
    status: Literal["optimal", "feasible", "infeasible", "heuristic"]
    objective: float | None
    bound: float | None
    gap: float | None

    @model_validator(mode="before")
    @classmethod
    def _of_a_solve(cls, value: Any) -> Any:
        return value.as_dict() if isinstance(value, SolveStats) else value

    def __str__(self) -> str:
        return f"{self.status} ({self.method}, {'gap unknown' if self.gap is None else f'gap {self.gap:.1%}'})"


class InputFile(PlanModel):
    """A file that was read."""

    path: str
    sha256: str


class RectangleEntry(PlanModel):
    """Physical columns and CLB rows, inclusive."""

    left: int
    bottom: int
    right: int
    top: int


def first_fault(error: ValidationError) -> str:
    """Return the first wrong field of a file, and what is wrong with it."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "the file"
    return f"{field}: {first['msg']}"
