"""One engine of a phase with its folding, and what the back end's part of the judge says of it."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.verify.backend_answers import EngineFacts
from floorflow.verify.records import Record


@dataclass(frozen=True, slots=True)
class PlannedEngine:
    """An engine's entry in ``networks`` together with its folding in a phase, and what follows from both."""

    name: str
    row: Record
    facts: EngineFacts

    @property
    def entry(self) -> Record:
        """Its entry in ``networks``."""
        entry: Record = self.row["entry"]
        return entry

    @property
    def folding(self) -> Record:
        """Its folding in the phase."""
        folding: Record = self.row["folding"]
        return folding

    @property
    def kind(self) -> str:
        """The back end's kind."""
        return str(self.entry["kind"])
