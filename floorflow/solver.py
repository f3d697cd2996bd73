"""The one place where solvers are started: CP-SAT, and the simplex for small linear programmes.

CP-SAT runs native code for seconds. Called from the main thread it would hold Ctrl-C back until it returns; and its own
way with SIGINT ends the solve as if its limit were reached, and leaves the signal without Python's handler. So it runs
in a thread of its own, and the caller waits where Ctrl-C is heard.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

STOP_EVERY_S = 0.05
"""How often a solve is asked to stop: before it has begun it hears nothing."""
STOP_TRIES = 20
"""How often at most; then it is left behind, for an interrupted run is to end soon."""


@dataclass
class _Solve:
    """One solve in its thread, and what came of it."""

    solver: cp_model.CpSolver
    model: cp_model.CpModel
    done: threading.Event = field(default_factory=threading.Event)
    status: cp_model.CpSolverStatus = cp_model.UNKNOWN
    failure: BaseException | None = None

    def run(self) -> None:
        """Solve; an exception is kept for the caller."""
        try:
            self.status = self.solver.solve(self.model)
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread)
            self.failure = error
        finally:
            self.done.set()

    def stop(self) -> None:
        """Ask the solver to stop until it has, or has been asked often enough."""
        for _ in range(STOP_TRIES):
            self.solver.stop_search()
            if self.done.wait(STOP_EVERY_S):
                return


def run_cpsat(
    model: cp_model.CpModel, seed: int, deterministic_limit: float, linearization_level: int | None = None
) -> tuple[cp_model.CpSolverStatus, cp_model.CpSolver]:
    """Run CP-SAT on one thread; the answer depends on model, seed and limit alone.

    ``deterministic_limit`` is in CP-SAT's work units, roughly seconds. Ctrl-C stops the solve and is raised.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = deterministic_limit
    solver.parameters.catch_sigint_signal = False
    if linearization_level is not None:
        solver.parameters.linearization_level = linearization_level
    running = _Solve(solver, model)
    try:
        threading.Thread(target=running.run, daemon=True).start()
        running.done.wait()
    except BaseException:  # Ctrl-C, or whatever else is raised in one who waits
        running.stop()
        raise
    if running.failure is not None:
        raise running.failure
    return running.status, solver


def linear_solver() -> pywraplp.Solver:
    """Return an empty linear programme for CLP, which solves those of folding in milliseconds."""
    return pywraplp.Solver.CreateSolver("CLP")
