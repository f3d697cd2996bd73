"""What the emitted files and the report ask of a plan's back end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from floorflow.facts import EngineEntry, Plan
from floorflow.resources import Resources


class PlanBackend(Protocol):
    """The part of a back end that a finished plan needs; a phase goes by its number."""

    @property
    def names_are_read(self) -> bool:
        """Whether what cells are called is known only from a build."""

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return its own files of a phase, by their paths in the phase's folder."""

    def cells(self, plan: Plan, phase: int, cell_pattern: str, hierarchy: str, /) -> Mapping[str, str]:
        """Return every engine's cell, by its id, on a board with FINN's cells named so and kernels in ``hierarchy``."""

    def bound_files(
        self, plan: Plan, phase: int, fpgas: Sequence[Mapping[str, Any]], library: str, /
    ) -> Mapping[str, str]:
        """Return files for a build that tells what cells are called; of FPGAs their facts and constraints."""

    def cost_model(self, plan: Plan, /) -> str:
        """Return in words what the plan's resources are."""

    def steps(self, plan: Plan, phase: int, free: Resources, /) -> Iterable[str]:
        """Return what to try next in a phase that leaves so much of all limits."""

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what in the network would shorten engines that are folded as wide as can be, or nothing."""

    @property
    def folding_limit(self) -> str:
        """What may stop a wider folding beside the slots, as a verb with its object."""

    @property
    def start_ups(self) -> str:
        """What lengthens the interval where FIFOs are small, as a clause."""

    @property
    def fifo_depths(self) -> str:
        """Where the user gives the depths of FIFOs."""
