"""What Tcl's own commands ask of the interpreter that runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from floorflow.verify.xdc.findings import Place
from floorflow.verify.xdc.values import Value

Handler = Callable[[Sequence[Value], Place], Value]


class Evaluator(Protocol):
    """An interpreter; ``looping`` says in how many loops it is."""

    variables: dict[str, Value]
    looping: int

    @property
    def exists(self) -> Callable[[str], bool | None]:
        """Whether there is a pblock; None if it may be one of a shell."""

    @property
    def outermost(self) -> dict[str, Value]:
        """The variables outside all procedures."""

    def run(self, text: str, line: int = 1, *, inner: bool = False) -> Value:
        """Run every command of a text."""

    def copied(self, value: Value) -> None:
        """Count the copying of a value that is no argument."""

    def step(self, place: Place) -> None:
        """Count a command that is run by a loop or procedure."""

    def condition(self, value: Value, place: Place) -> bool | None:
        """Whether a condition holds; None if only Vivado knows."""

    def expression(self, text: str, place: Place) -> Value:
        """Return the value of an expression."""

    def noted(self, what: str, place: Place) -> Value:
        """Note what was not run, and return a value that is not known."""
