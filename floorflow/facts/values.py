"""Small values that stand in many places of the Plan."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Amount = Annotated[int, Field(ge=0)]
AttributeValue = int | str | list[int] | list[str]
PlainName = Annotated[str, Field(pattern=r"^(\.{3,}|\.{0,2}[A-Za-z0-9_\-][A-Za-z0-9_.\-]*)$")]
"""Name of a network or of a phase, and of the folder of its files, so neither ``.`` nor ``..``."""


def engine_id(network: str, engine: str, *, several: bool) -> str:
    """Return how phases name an engine: ``network/engine`` in a plan of ``several`` networks, else its bare name."""
    return f"{network}/{engine}" if several else engine


class PlanModel(BaseModel):
    """A part of plan.json: frozen, and nothing in it that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Amounts(PlanModel):
    """An amount of each resource."""

    LUT: Amount = 0
    FF: Amount = 0
    BRAM18: Amount = 0
    URAM: Amount = 0
    DSP: Amount = 0


class Stats(PlanModel):
    """What a solver says about its answer."""

    method: str
    status: Literal["optimal", "feasible", "infeasible", "heuristic"]
    objective: float | None
    bound: float | None
    gap: float | None


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
