"""A network: its operations, the engines that compute it, and how its folding was searched."""

from __future__ import annotations

from typing import Literal

from floorflow.errors import What
from floorflow.facts.values import Amount, AttributeValue, PlainName, PlanModel


class OperationEntry(PlanModel):
    """An operation of the network."""

    name: str
    type: str
    inputs: list[str]
    outputs: list[str]
    macs: int


class EngineEntry(PlanModel):
    """A hardware engine, by its name inside the network.

    ``label`` is a short word for its kind; ``role`` says which module it joins: ``core`` is what a module is made
    around, ``front`` goes with what follows it, ``behind`` with what is before it.
    """

    name: str
    kind: str
    label: str
    role: Literal["core", "front", "behind"]
    operation: str
    attributes: dict[str, AttributeValue]
    weight_bits: Amount
    input_bits: Amount
    output_bits: Amount


class RefusalEntry(PlanModel):
    """Why a stage had no answer: what stood in the way, short of which resource, where, and by how much.

    ``resource`` and ``place`` are empty and ``needed`` and ``allowed`` null where they do not apply or are not known;
    ``names`` are the engines, modules or edges concerned.
    """

    what: What
    resource: str
    place: str
    needed: int | float | None
    allowed: int | float | None
    proven: bool
    names: list[str]


Stage = Literal["fold", "partition", "place"]


class EndedAtEntry(PlanModel):
    """The try that ended the search: its interval, which stage had no answer, and why."""

    interval_cycles: int
    stage: Stage
    refusals: list[RefusalEntry]


class WithoutBalanceEntry(PlanModel):
    """What folding could do, under all of the budget, if the cycles of consecutive layers might differ.

    ``bound_cycles`` bounds the interval (null: the shortest was not sought); ``folding_bound`` what folding minimises
    at the plan's interval (null: not known).
    """

    bound_cycles: int | None
    folding_bound: float | None


class SearchEntry(PlanModel):
    """How far the interval is from what is proven impossible, and what ended the search.

    ``interval_cycles`` is the longest of the network's phases. ``bound_cycles`` is the folding optimum under the
    platform's summed limits; ``joint_bound_cycles`` (null: not known) also knows that an engine lies in one slot, what
    streams cost and what links carry. ``ended_at`` is the try that ``ended_by`` tells of, null where none ended it.
    Both bounds are those under the limits on single engines.
    """

    interval_cycles: int
    bound_cycles: int
    joint_bound_cycles: int | None
    gap: float
    ended_by: str
    ended_at: EndedAtEntry | None
    without_balance: WithoutBalanceEntry | None = None


class TraceEntry(PlanModel):
    """One interval that the search tried for a phase; ``detail`` is the sentence that ``refusals`` make."""

    phase: PlainName
    interval_cycles: int
    verdict: Literal["legal", "proven infeasible", "not found within the limit"]
    stage: Stage
    detail: str
    refusals: list[RefusalEntry]


class NetworkEntry(PlanModel):
    """A network, the engines that compute it in topological order, and what the search tried for it."""

    name: PlainName
    operations: list[OperationEntry]
    engines: list[EngineEntry]
    search: SearchEntry
    trace: list[TraceEntry]
