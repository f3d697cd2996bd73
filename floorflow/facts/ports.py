"""Where streams pass the edges of pblocks and the boundaries of SLRs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.values import Amount, PlanModel


class PlacedPortEntry(PlanModel):
    """One end of a stream at the edge of its module's box: rows ``first..last`` of its left or right, else columns."""

    channel: str
    direction: Literal["in", "out"]
    side: Literal["left", "right", "bottom", "top"]
    first: Amount
    last: Amount


class ColumnWires(PlanModel):
    """Wires in a Laguna column, by its physical number."""

    column: Amount
    wires: Annotated[int, Field(ge=1)]


class SllColumnsEntry(PlanModel):
    """In which Laguna columns a stream best crosses an SLR boundary."""

    channel: str
    boundary: str
    columns: list[ColumnWires]
