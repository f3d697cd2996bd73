"""What every solver says about its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["optimal", "feasible", "infeasible", "heuristic"]


@dataclass(frozen=True, slots=True)
class SolveStats:
    """Method, outcome and proof of one solve.

    ``objective`` and ``bound`` are in the stage's own unit; ``bound`` is a proven lower bound for a minimum.
    ``gap`` is ``(objective - bound) / objective``, 0 when proven optimal, None without an answer or a bound.
    ``heuristic`` is a legal answer about which nothing is proven.
    """

    method: str
    status: Status
    objective: float | None = None
    bound: float | None = None

    @property
    def gap(self) -> float | None:
        """Relative distance between objective and bound."""
        if self.objective is None or self.bound is None:
            return None
        if self.objective <= self.bound:
            return 0.0
        return (self.objective - self.bound) / abs(self.objective)

    def as_dict(self) -> dict[str, str | float | None]:
        """Return the form that plan.json holds."""
        gap = self.gap
        return {
            "method": self.method,
            "status": self.status,
            "objective": self.objective,
            "bound": self.bound,
            "gap": None if gap is None else round(gap, 6),
        }
