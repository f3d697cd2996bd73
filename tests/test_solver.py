"""Solvers: one module starts them, and a thread of its own changes no answer."""

import ast
import ctypes
import os
import random
import signal
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model

from floorflow.solver import LinearModel, run_cpsat, run_highs, spread, workers
from floorflow.stats import count, counted
from tests.sources import trees

STARTS = {"CpSolver", "CreateSolver", "Solver", "SolveWrapper", "SolveCpModel", "ModelSolver", "milp", "linprog"}
"""What starts a solver, of OR-Tools and of SciPy."""
OTHERS = {"scipy", "highspy", "pulp", "mip", "cvxpy", "gurobipy", "cplex", "pyscipopt", "z3", "ortools.math_opt"}
"""Modules that start solvers in ways of their own."""
NATIVE = {"pymetis": {"partition/metis.py"}}
"""Other native code that searches, where it is called: METIS takes milliseconds."""


def starts_of(tree: ast.Module) -> set[str]:
    """Return what a file calls or imports that starts a solver."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found |= {name} & STARTS
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        found |= {name for name in names if any(name == o or name.startswith(f"{o}.") for o in {*OTHERS, *NATIVE})}
    return found


def test_one_module_starts_solvers() -> None:
    found = {name: starts_of(tree) for name, tree in trees().items()}
    allowed = {"solver.py": {"CpSolver", "CreateSolver", "ortools.math_opt", "ortools.math_opt.python"}}
    allowed |= {path: {name} for name, paths in NATIVE.items() for path in paths}
    assert {path: starts for path, starts in found.items() if starts} == allowed


@pytest.mark.parametrize(
    "text",
    [
        "from ortools.sat.python import cp_model\ncp_model.CpSolver()",
        "from ortools.sat.python.cp_model import CpSolver\nCpSolver()",
        "pywraplp.Solver('x', 0)",
        "import highspy",
        "def late():\n    from scipy.optimize import milp",
    ],
)
def test_other_starts_would_be_seen(text: str) -> None:
    assert starts_of(ast.parse(text))


def knapsack() -> tuple[cp_model.CpModel, list[cp_model.IntVar]]:
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in range(30)]
    model.add(sum((7 * n % 31 + 5) * x for n, x in enumerate(taken)) <= 200)
    model.maximize(sum((11 * n % 37 + 3) * x for n, x in enumerate(taken)))
    return model, taken


def test_equal_solves_give_equal_answers() -> None:
    answers = []
    for _ in range(2):
        model, taken = knapsack()
        status, solver = run_cpsat(model, 3, 10.0)
        answers.append((status, [solver.value(x) for x in taken]))
    assert answers[0] == answers[1]
    assert answers[0][0] == cp_model.OPTIMAL


def test_the_work_limit_ends_a_solve() -> None:
    model, _ = knapsack()
    status, _ = run_cpsat(model, 3, 0.0)
    assert status in (cp_model.UNKNOWN, cp_model.FEASIBLE)


def test_a_broken_model_fails_in_the_callers_thread() -> None:
    with pytest.raises((TypeError, AttributeError)):
        run_cpsat(None, 0, 1.0)  # type: ignore[arg-type]


def linear_knapsack() -> LinearModel:
    model = LinearModel()
    taken = [model.column(-(11 * n % 37 + 3), upper=1.0, whole=True) for n in range(30)]
    model.row([(x, 7 * n % 31 + 5) for n, x in enumerate(taken)], upper=200.0)
    return model


def test_highs_agrees_with_cpsat() -> None:
    model, _ = knapsack()
    _, solver = run_cpsat(model, 3, 10.0)
    answer = run_highs(linear_knapsack(), 1000)
    assert answer.optimal
    assert answer.objective == answer.bound == -solver.objective_value
    again = run_highs(linear_knapsack(), 1000)
    assert np.array_equal(answer.values, again.values)


def test_a_programme_of_nodes_alone_has_the_same_optimum_and_ends_at_its_limit() -> None:
    alone = [run_highs(linear_knapsack(), 1000, tree_only=True) for _ in range(2)]
    assert alone[0].optimal
    assert alone[0].objective == pytest.approx(run_highs(linear_knapsack(), 1000).objective)
    assert np.array_equal(alone[0].values, alone[1].values)
    draw, model = random.Random(3), LinearModel()
    taken = [model.column(-draw.randint(20, 60), upper=1.0, whole=True) for _ in range(40)]
    for _ in range(15):
        model.row([(x, draw.randint(5, 60)) for x in taken], upper=400.0)
    ended = [run_highs(model, nodes, tree_only=True) for nodes in (20, 20, 200)]
    assert not any(answer.optimal for answer in ended)
    assert np.array_equal(ended[0].values, ended[1].values)
    assert ended[0].bound == ended[1].bound <= ended[2].bound <= ended[2].objective <= ended[0].objective


def test_no_solver_has_a_limit_by_the_clock() -> None:
    clocks = {"time_limit", "max_time_in_seconds", "set_time_limit", "SetTimeLimit", "timedelta"}
    for name, tree in trees().items():
        # What the user gives is `request.time_limit`, and a timer of its own that ends the search from outside.
        asked = ("context.request", "request", "request.shared", "self.run.request", "file", "self._file")
        nodes = [*ast.walk(tree)]
        named = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in clocks]
        assert [node.attr for node in named if ast.unparse(node.value) not in asked] == [], name
        assert [node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg in clocks] == [], name


def test_what_native_code_prints_in_a_solve_stays_out_of_standard_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    native, solve = ctypes.CDLL(None), mathopt.solve

    def loud(*given: Any, **named: Any) -> mathopt.SolveResult:
        native.puts(b"printed in the solve")
        return solve(*given, **named)

    monkeypatch.setattr(mathopt, "solve", loud)
    native.puts(b"before")
    assert run_highs(linear_knapsack(), 1000).optimal
    native.puts(b"after")
    native.fflush(None)
    assert capfd.readouterr().out == "before\nafter\n"


def test_highs_tells_what_is_impossible_from_what_is_not_found() -> None:
    model = linear_knapsack()
    model.row([(0, 1.0), (1, 1.0), (1, 1.0)], lower=4.0)
    answer = run_highs(model, 1000)
    assert answer.values is None
    assert answer.infeasible


def test_coefficients_of_one_place_add_up() -> None:
    model = LinearModel()
    x = model.column(1.0, lower=1.0)
    model.row([(x, 2.0), (x, 2.0)], lower=6.0)
    assert run_highs(model, 1).values == pytest.approx([1.5])


def halved(number: int) -> float:
    count(number / 3)
    return number / 2


@pytest.mark.parametrize("jobs", [1, 2, 3, 8])
@pytest.mark.parametrize("items", [range(7), range(1), []])
def test_work_that_is_spread_is_done_as_if_by_one(jobs: int, items: Sequence[int]) -> None:
    with counted() as alone:
        expected = [halved(item) for item in items]
    with counted() as work, workers(jobs):
        assert spread(halved, items) == expected
    assert work.spent == alone.spent


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_each_process_does_its_share_and_spreads_nothing_further() -> None:
    with workers(3):
        own = spread(lambda _: {os.getpid(), *spread(lambda _: os.getpid(), range(4))}, range(6))
    assert own[:3] == own[3:]
    assert [len(pids) for pids in own] == [1] * 6
    assert len(set().union(*own)) == 3


def test_an_error_is_raised_wherever_it_comes() -> None:
    with workers(2), pytest.raises(ZeroDivisionError):
        spread(lambda number: 1 / (1 - number), range(2))


def test_what_a_process_that_was_killed_should_have_done_is_done_here() -> None:
    here = os.getpid()

    def work(item: int) -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with workers(4):
        assert spread(work, range(5)) == [0, 1, 2, 3, 4]


def test_ctrl_c_leaves_no_process_behind() -> None:
    here = os.getpid()

    def work(_: int) -> None:
        if os.getpid() == here:
            raise KeyboardInterrupt
        signal.pause()

    with workers(3), pytest.raises(KeyboardInterrupt):
        spread(work, range(3))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
