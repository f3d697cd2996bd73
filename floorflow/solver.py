"""The one way in which CP-SAT is started: deterministic, on one thread, and leaving Ctrl-C to Python."""

from __future__ import annotations

from ortools.sat.python import cp_model


def new_solver(seed: int, deterministic_limit: float) -> cp_model.CpSolver:
    """Return a solver whose answer depends on model, seed and limit alone.

    ``deterministic_limit`` is in CP-SAT's work units, roughly seconds. Without the last setting CP-SAT takes SIGINT for
    itself, ends the solve early as if its limit were reached, and leaves the signal without Python's handler.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = deterministic_limit
    solver.parameters.catch_sigint_signal = False
    return solver
