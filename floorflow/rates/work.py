"""How much an analysis may do: a count of steps, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from floorflow.errors import LimitError, Refusal
from floorflow.stats import count

STEP_S = 1e-8
"""Work of a step."""
UPDATE_STEPS = 1_000
"""Steps that an update of one actor counts beside one for each of its bursts: about what a call costs."""


@dataclass
class Work:
    """Steps that are left of ``limit``. Near the shortest interval of given depths waits can grow one by one."""

    limit: int
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.limit

    def spend(self, bursts: int) -> None:
        """Count one update of so many bursts.

        LimitError if the limit is passed.
        """
        count(STEP_S * (UPDATE_STEPS + bursts))
        self.left -= UPDATE_STEPS + bursts
        if self.left < 0:
            stopped = Refusal("analysis steps", "steps", allowed=self.limit)
            raise LimitError(str(stopped), hint="take deeper FIFOs, or a coarser folding", refusals=(stopped,))
