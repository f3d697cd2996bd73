"""Scheduling methods side by side on one case: an option table, a platform and an objective, without a model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.papers.samo import ScheduleAnswer, ScheduleProblem, evaluate
from floorflow.papers.samo.methods import ScheduleMethod, schedule_methods

RANDOM_SEEDS = 3
"""Runs of a method that draws random numbers, of which the best is taken."""


@dataclass(frozen=True)
class CaseEntry:
    """What one method answered, in how many seconds. ``run_us``: its cost without reconfiguration."""

    method: str
    answer: ScheduleAnswer
    seconds: float
    folding: tuple[tuple[int, int, int], ...] = ()
    run_us: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: costs in us, cuts as the last nodes of all partitions but the final one."""
        design, stats = self.answer.design, self.answer.stats
        return {
            "method": self.method,
            "status": stats.status,
            "us": stats.objective,
            "bound_us": stats.bound,
            "gap": stats.gap,
            "run_us": self.run_us,
            "cuts": [] if design is None else list(design.cuts),
            "folding": [list(folding) for folding in self.folding],
            "seconds": round(self.seconds, 4),
            "reason": self.answer.reason,
        }


@dataclass(frozen=True)
class CaseComparison:
    """All methods on one case."""

    case: str
    entries: tuple[CaseEntry, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"case": self.case, "results": [entry.as_dict() for entry in self.entries]}


def compare_on_case(problem: ScheduleProblem, case: str, methods: Sequence[str], seed: int = 0) -> CaseComparison:
    """Solve a case by every method.

    Raises
    ------
    InputError
        If a method is unknown.

    """
    known = schedule_methods()
    unknown = [name for name in methods if name not in known]
    if unknown:
        raise InputError(f"--methods {unknown[0]}: unknown method", hint=f"known are {', '.join(known)}")
    return CaseComparison(case, tuple(_entry(problem, name, known[name], seed) for name in methods))


def _entry(problem: ScheduleProblem, name: str, method: ScheduleMethod, seed: int) -> CaseEntry:
    started = time.perf_counter()
    seeds = range(seed, seed + RANDOM_SEEDS) if name.startswith("annealing") else range(seed, seed + 1)
    answers = [method(problem, each) for each in seeds]
    answer = min(answers, key=lambda each: float("inf") if each.stats.objective is None else each.stats.objective)
    seconds = time.perf_counter() - started
    if answer.design is None:
        return CaseEntry(name, answer, seconds)
    chosen = zip(problem.nodes, answer.design.rows, strict=True)
    folding = tuple((int(fin), int(fout), int(fk)) for fin, fout, fk in (n.foldings[row] for n, row in chosen))
    return CaseEntry(name, answer, seconds, folding, evaluate(problem, answer.design).run_us)
