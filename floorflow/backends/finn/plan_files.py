"""FINN's part of what is emitted for a finished plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from floorflow.backends.finn import export, report_words
from floorflow.resources import Resources
from floorflow.schema import EngineEntry, Plan


class FinnFiles:
    """FINN's files, names of cells and words for the report (`floorflow.emit.backend.PlanBackend`)."""

    folding_limit = report_words.FOLDING_LIMIT
    fifo_depths = report_words.FIFO_DEPTHS

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return FINN's configuration files."""
        return export.files(plan, phase)

    def cells(self, plan: Plan, phase: int, cell_pattern: str, /) -> Mapping[str, str]:
        """Return every engine's cell."""
        return export.cells(plan, phase, cell_pattern)

    def cost_model(self, plan: Plan, /) -> str:
        """Return in words what the plan's resources are."""
        return report_words.cost_model(plan)

    def steps(self, plan: Plan, phase: int, free: Resources, /) -> Iterable[str]:
        """Return what to try next."""
        return report_words.steps(plan, phase, free)

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what in the network would shorten engines that are folded as wide as can be."""
        return report_words.faster_by_hand(engines)
