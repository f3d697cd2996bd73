"""An outcome of a search is a value: no exception carries one, and one policy's answer is what the next is asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from floorflow.errors import INTERRUPTED, InfeasibleError, LimitError, Refused, Stop, outcome_of, required
from floorflow.search.candidate.findings import Outcome, Steps
from floorflow.search.policy.relaxation import Relaxation, relaxed, searched_alone

SEARCH = Path(__file__).resolve().parents[2] / "floorflow" / "search"
CARRIERS = {"InfeasibleError", "LimitError", "KeyboardInterrupt", "WorkIsSpent"}
ROOMS = ("candidate", "interval", "policy")
"""The rooms of one network; `many` searches with what raises, for it goes on only with what is found."""
SPENT = ("other_requests.py", "WorkIsSpent")
"""The one place where work that is spent ends something: the extras of a plan."""
TO_EXCEPTIONS = {
    "preparing.py": ["context_of"],
    "engine_limits.py": ["fitting"],
    "relaxation.py": ["searched_under"],
    "other_requests.py": ["_figures"],
}
"""Functions that hand an outcome to whoever expects exceptions: what stands outside of these rooms."""


def names(node: ast.AST | None) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()


def carriers(tree: ast.AST) -> Iterator[str]:
    """Yield the exceptions of outcomes that are raised, caught or suppressed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield from names(node.exc) & CARRIERS
        if isinstance(node, ast.ExceptHandler):
            yield from names(node.type) & CARRIERS
        if isinstance(node, ast.Call) and "suppress" in names(node.func):
            yield from {name for each in node.args for name in names(each)} & CARRIERS


FILES = [path for room in ROOMS for path in sorted((SEARCH / room).glob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_exception_carries_an_outcome(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert {(path.name, name) for name in carriers(tree)} <= {SPENT}
    callers = [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Call) and "required" in names(node.func) for node in ast.walk(function))
    ]
    assert callers == TO_EXCEPTIONS.get(path.name, [])


@pytest.mark.parametrize(
    ("why", "error"), [("proven", InfeasibleError), ("limit", LimitError), ("interrupted", KeyboardInterrupt)]
)
def test_a_refusal_becomes_the_exception_of_its_kind_and_back(why: Any, error: type[BaseException]) -> None:
    refused = Refused("no room", "take more", why=why)
    with pytest.raises(error) as caught:
        required(refused)
    if isinstance(caught.value, Exception):
        assert outcome_of(lambda: required(refused)) == refused


def test_a_stop_hears_a_signal_and_nothing_else() -> None:
    with Stop() as stop:
        raise KeyboardInterrupt
    assert stop.heard
    with pytest.raises(ValueError, match="other"), Stop() as stop:
        raise ValueError("other")
    assert not stop.heard


def numbered(name: str, steps: list[Any]) -> Relaxation:
    """Return a relaxation that asks once more, for another number, where there is no plan."""

    def relax(context: Any, _: Any) -> Steps[Outcome]:
        steps.append((name, context))
        outcome = yield context
        return (yield context + 10) if isinstance(outcome, Refused) and not outcome.interrupted else outcome

    return Relaxation(name, relax, f"more of {name}")


def test_relaxations_are_tried_in_order_the_last_first() -> None:
    asked: list[Any] = []
    relaxing: list[Any] = []
    nothing = Refused("nothing")

    def search(context: Any) -> Outcome:
        asked.append(context)
        return nothing

    relaxations = (numbered("outer", relaxing), numbered("inner", relaxing))
    assert relaxed(searched_alone(0), relaxations, search) is nothing  # type: ignore[arg-type]
    assert asked == [0, 10, 10, 20]
    assert relaxing == [("outer", 0), ("inner", 0), ("inner", 10)]


def test_after_a_signal_nothing_more_is_tried() -> None:
    asked: list[Any] = []

    def search(context: Any) -> Outcome:
        asked.append(context)
        return INTERRUPTED

    relaxations = (numbered("outer", []), numbered("inner", []))
    assert relaxed(searched_alone(0), relaxations, search) is INTERRUPTED  # type: ignore[arg-type]
    assert asked == [0]


def test_a_signal_in_the_work_of_a_relaxation_ends_it() -> None:
    def relax(context: Any, _: Any) -> Steps[Outcome]:
        yield context
        raise KeyboardInterrupt

    relaxation = Relaxation("hasty", relax, "")
    found = relaxed(searched_alone(0), (relaxation,), lambda _: Refused("nothing"))  # type: ignore[arg-type]
    assert found is INTERRUPTED
