"""A network: its operations, and the engines that compute it."""

from __future__ import annotations

from typing import Literal

from floorflow.facts.search import SearchEntry, TraceEntry
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


class NetworkEntry(PlanModel):
    """A network, the engines that compute it in topological order, and what the search tried for it."""

    name: PlainName
    operations: list[OperationEntry]
    engines: list[EngineEntry]
    search: SearchEntry
    trace: list[TraceEntry]

    @property
    def counts(self) -> str:
        """How much there is of it."""
        macs = sum(operation.macs for operation in self.operations)
        return f"{len(self.operations)} operations, {macs:,} MACs a frame, {len(self.engines)} engines"
