"""The one place where solvers are started: CP-SAT, HiGHS, and the simplex for small linear programmes; and processes.

CP-SAT runs native code for seconds. Called from the main thread it would hold Ctrl-C back until it returns; and its own
way with SIGINT ends the solve as if its limit were reached, and leaves the signal without Python's handler. So it runs
in a thread of its own, and the caller waits where Ctrl-C is heard. HiGHS runs in one too; it cannot be asked to stop.

`spread` shares out work that is Python's own among processes, which are forked, so that nothing is sent to them.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from floorflow.stats import count, counted_apart

if TYPE_CHECKING:
    from ortools.math_opt import model_pb2

STOP_EVERY_S = 0.05
"""How often a solve is asked to stop: before it has begun it hears nothing."""
STOP_TRIES = 20
"""How often at most; then it is left behind, for an interrupted run is to end soon."""


CPSAT_S, HIGHS_S = 2.0, 5e-4
"""Work of a unit of CP-SAT's deterministic time, and of an iteration of HiGHS' simplex."""

Floats = NDArray[np.float64]


@dataclass
class _Solve:
    """One solve in its thread, and whether it failed."""

    solve: Callable[[], None]
    stop: Callable[[], None] | None = None
    done: threading.Event = field(default_factory=threading.Event)
    failure: BaseException | None = None

    def run(self) -> None:
        """Solve while the caller waits; raise here what was raised there."""
        try:
            threading.Thread(target=self._in_thread, daemon=True).start()
            self.done.wait()
        except BaseException:  # Ctrl-C, or whatever else is raised in one who waits
            self._stop()
            raise
        if self.failure is not None:
            raise self.failure

    def _in_thread(self) -> None:
        try:
            self.solve()
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread)
            self.failure = error
        finally:
            self.done.set()

    def _stop(self) -> None:
        """Ask the solver to stop until it has, or has been asked often enough."""
        if self.stop is None:
            return
        for _ in range(STOP_TRIES):
            self.stop()
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
    status = [cp_model.UNKNOWN]

    def solve() -> None:
        status[0] = solver.solve(model)

    _Solve(solve, solver.stop_search).run()
    # The sum of CP-SAT's own parts differs in its last bits from solve to solve of the same model.
    count(CPSAT_S * round(solver.response_proto.deterministic_time, 9))
    return status[0], solver


@contextmanager
def _standard_output_kept() -> Iterator[None]:
    """Turn what native code prints to standard error: HiGHS 1.12 does, its output off, where it repairs a point."""
    if os.name != "posix":
        yield
        return
    flush, own = ctypes.CDLL(None).fflush, os.dup(1)
    flush(None)  # what was printed through C before, and then what HiGHS has
    os.dup2(2, 1)
    try:
        yield
    finally:
        flush(None)
        os.dup2(own, 1)
        os.close(own)


@dataclass
class LinearModel:
    """Minimise ``costs . x`` for ``lower <= x <= upper``, some x whole, under rows with bounds; built by adding."""

    costs: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    row_lower: list[float] = field(default_factory=list)
    row_upper: list[float] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    """Row, column, coefficient; several of one place add up."""

    def column(self, cost: float = 0.0, lower: float = 0.0, upper: float = np.inf, *, whole: bool = False) -> int:
        """Add a variable; return its number."""
        self.costs.append(float(cost))
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.costs) - 1

    def row(self, terms: Iterable[tuple[int, float]], lower: float = -np.inf, upper: float = np.inf) -> int:
        """Add ``lower <= sum of coefficient x column <= upper``; return its number."""
        number = len(self.row_lower)
        self.entries.extend((number, column, float(coefficient)) for column, coefficient in terms)
        self.row_lower.append(lower)
        self.row_upper.append(upper)
        return number

    def as_proto(self) -> model_pb2.ModelProto:
        """Return the model as MathOpt takes it."""
        from ortools.math_opt import model_pb2

        proto = model_pb2.ModelProto()
        proto.variables.ids.extend(range(len(self.costs)))
        proto.variables.lower_bounds.extend(self.lower)
        proto.variables.upper_bounds.extend(self.upper)
        proto.variables.integers.extend(self.whole)
        priced = [(column, cost) for column, cost in enumerate(self.costs) if cost]
        proto.objective.linear_coefficients.ids.extend(column for column, _ in priced)
        proto.objective.linear_coefficients.values.extend(cost for _, cost in priced)
        proto.linear_constraints.ids.extend(range(len(self.row_lower)))
        proto.linear_constraints.lower_bounds.extend(self.row_lower)
        proto.linear_constraints.upper_bounds.extend(self.row_upper)
        summed: dict[tuple[int, int], float] = {}
        for row, column, coefficient in self.entries:
            summed[row, column] = summed.get((row, column), 0.0) + coefficient
        places = sorted(place for place, coefficient in summed.items() if coefficient)
        proto.linear_constraint_matrix.row_ids.extend(row for row, _ in places)
        proto.linear_constraint_matrix.column_ids.extend(column for _, column in places)
        proto.linear_constraint_matrix.coefficients.extend(summed[place] for place in places)
        return proto


@dataclass(frozen=True)
class LinearAnswer:
    """The best point found, (n_columns,), or None; ``infeasible`` and ``optimal`` (within the gap) are proven."""

    values: Floats | None
    objective: float
    bound: float
    optimal: bool
    infeasible: bool


def run_highs(
    model: LinearModel,
    node_limit: int,
    relative_gap: float = 0.0,
    *,
    absolute_gap: float = 0.0,
    hint: Mapping[int, float] | None = None,
    tree_only: bool = False,
) -> LinearAnswer:
    """Run HiGHS on a linear model; the answer depends on the arguments alone. Ctrl-C is raised, the solve left behind.

    ``node_limit`` is the number of nodes of branch and bound. ``hint`` has values of columns of a point to begin from.
    ``tree_only``: without smaller programmes inside a node, restarts at the root, and long trials of each branch, so
    that nodes are alike and their limit is one of work: HiGHS can limit nothing else of such a programme but seconds.
    """
    from ortools.math_opt.python import mathopt

    params = mathopt.SolveParameters(
        node_limit=node_limit, relative_gap_tolerance=relative_gap, absolute_gap_tolerance=absolute_gap or None
    )
    if tree_only:
        for switch in ("mip_heuristic_run_rens", "mip_heuristic_run_rins", "mip_allow_restart"):
            params.highs.bool_options[switch] = False
        params.highs.int_options["mip_pscost_minreliable"] = 1
    stated = mathopt.Model.from_model_proto(model.as_proto())
    begin = mathopt.ModelSolveParameters()
    if hint is not None:
        columns = list(stated.variables())
        begin.solution_hints = [mathopt.SolutionHint(variable_values={columns[c]: v for c, v in hint.items()})]
    answers: list[mathopt.SolveResult] = []
    highs = mathopt.SolverType.HIGHS
    with _standard_output_kept():
        _Solve(lambda: answers.append(mathopt.solve(stated, highs, params=params, model_params=begin))).run()
    (answer,) = answers
    count(HIGHS_S * answer.solve_stats.simplex_iterations)
    reason = answer.termination.reason
    infeasible = reason in (mathopt.TerminationReason.INFEASIBLE, mathopt.TerminationReason.INFEASIBLE_OR_UNBOUNDED)
    bound = answer.best_objective_bound()
    if not answer.has_primal_feasible_solution():
        return LinearAnswer(None, np.inf, bound, optimal=False, infeasible=infeasible)
    values = answer.variable_values()
    point = np.array([values[variable] for variable in stated.variables()], dtype=np.float64)
    optimal = reason == mathopt.TerminationReason.OPTIMAL
    return LinearAnswer(point, answer.objective_value(), bound, optimal=optimal, infeasible=False)


def linear_solver() -> pywraplp.Solver:
    """Return an empty linear programme for CLP, which solves those of folding in milliseconds."""
    return pywraplp.Solver.CreateSolver("CLP")


Item = TypeVar("Item")
Made = TypeVar("Made")
_JOBS: ContextVar[int] = ContextVar("jobs", default=1)
_FORKS = sys.platform == "linux"
"""Elsewhere a fork may not call what the system's libraries have, or there is none."""


@contextmanager
def workers(jobs: int) -> Iterator[None]:
    """Let `spread` take so many processes inside."""
    before = _JOBS.set(jobs)
    try:
        yield
    finally:
        _JOBS.reset(before)


def spread(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """Return what ``work`` makes of each item, in as many processes as `workers` allows, the same for any number.

    What it makes is pickled; what it changes else is lost. It starts no solver, and tells nobody of its progress.
    """
    jobs = max(1, min(_JOBS.get(), len(items))) if _FORKS else 1
    children: list[_Child] = []
    try:
        children += (_Child.of(work, items[place::jobs]) for place in range(1, jobs))
        own = _made(work, items[::jobs])
        answers = [own, *(child.answer(work) for child in children)]
    finally:
        for child in children:
            child.end()
    made = [answers[place % jobs][place // jobs] for place in range(len(items))]
    for _, units in made:
        count(units)
    return [one for one, _ in made]


def _made(work: Callable[[Item], Made], items: Sequence[Item]) -> list[tuple[Made, float]]:
    """Return what is made of each item, and the units of work that it took."""
    made = []
    for item in items:
        with counted_apart() as done, workers(1):
            one = work(item)
        made.append((one, done.spent))
    return made


@dataclass
class _Child:
    """A process that works on its items and sends what it made, and nothing where it failed."""

    number: int
    pipe: int
    items: Sequence[Any]

    @classmethod
    def of(cls, work: Callable[[Any], Any], items: Sequence[Any]) -> _Child:
        """Start it."""
        read, write = os.pipe()
        number = os.fork()
        if number == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent ends it
                with os.fdopen(write, "wb") as pipe:
                    pipe.write(pickle.dumps(_made(work, items)))
            finally:
                os._exit(0)  # nothing of what the parent has open is closed twice
        os.close(write)
        return cls(number, read, items)

    def answer(self, work: Callable[[Any], Any]) -> list[tuple[Any, float]]:
        """Wait for what it made; where it made nothing, that is made here, with whatever error there is."""
        parts = []
        while part := os.read(self.pipe, 1 << 20):
            parts.append(part)
        if not parts:
            return _made(work, self.items)
        answer: list[tuple[Any, float]] = pickle.loads(b"".join(parts))  # noqa: S301  (from a fork of this process)
        return answer

    def end(self) -> None:
        os.close(self.pipe)
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)
