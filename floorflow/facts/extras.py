"""extras.json: what is worked out once a plan stands, and belongs to that plan.json alone."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from floorflow.errors import InputError
from floorflow.facts.values import Amount, Amounts, PlanModel, first_fault

EXTRAS_FILE = "extras.json"
EXTRAS_SCHEMA: Literal["floorflow-extras/1"] = "floorflow-extras/1"


class WithoutLimitsEntry(PlanModel):
    """The folding bound without limits on single engines, and the options to lift for it; none if it is the same."""

    bound_cycles: int
    options: list[Literal["max_products", "max_engine_share"]]


ResourceName = Literal["LUT", "FF", "BRAM18", "URAM", "DSP"]


class FiguresEntry(PlanModel):
    """What makes a design large: its fullest slot, largest engine, all that it uses, and its wire length.

    ``share`` of the cap on ``resource`` in ``slot``, as fullness is told; ``engine`` takes ``amount`` of
    ``engine_resource``, LUT or DSP, the largest share of its slot. ``hpwl`` is null where nothing was placed.
    """

    slot: str
    resource: ResourceName
    share: float
    engine: str
    engine_resource: ResourceName
    amount: Amount
    resources: Amounts
    hpwl: float | None


class BargainEntry(PlanModel):
    """What a rate that is lower by the share ``less`` would free: ``fps`` as the option takes it.

    ``interval_cycles`` (null: no plan was found) is the design's; ``figures`` is null where it is the plan's own.
    """

    less: float
    fps: float
    interval_cycles: int | None
    figures: FiguresEntry | None


class BargainsEntry(PlanModel):
    """The plan's own figures and its bargains, the least first; ``planned``: each with its floorplan.

    ``beside``: options that the same command takes beside ``--fps`` to ask for nothing else than that rate.
    """

    planned: bool
    beside: list[str]
    now: FiguresEntry
    rows: list[BargainEntry]


class LeftOutEntry(PlanModel):
    """What was not worked out because it takes more work than the plan did, and the option with which it is.

    ``less``: the shares of the rate of bargains; empty of anything else.
    """

    what: Literal["without_limits", "bargains"]
    less: list[float]
    option: str


class Extras(PlanModel):
    """``plan_sha256`` is of the plan.json beside it.

    ``without_limits`` is null where it is not known or was not sought, ``bargains`` where they were not sought.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_: Literal["floorflow-extras/1"] = Field(EXTRAS_SCHEMA, alias="schema")
    plan_sha256: str
    without_limits: WithoutLimitsEntry | None
    bargains: BargainsEntry | None
    left_out: list[LeftOutEntry]

    def to_json(self) -> str:
        """Return extras.json's text: sorted keys, two spaces, a newline at the end."""
        return json.dumps(self.model_dump(by_alias=True), indent=2, sort_keys=True, allow_nan=False) + "\n"


def read_extras(data: bytes) -> Extras:
    """Read what extras.json holds.

    Raises
    ------
    InputError
        If that are no extras of this version; the message names the first wrong field.

    """
    try:
        return Extras.model_validate_json(data)
    except ValidationError as error:
        raise InputError(f"{EXTRAS_FILE}: {first_fault(error)}", hint="plan again, or remove the file") from error
