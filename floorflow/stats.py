"""What solving methods are alike in: how they are found and called, and what they say about their answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

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


Problem_contra = TypeVar("Problem_contra", contravariant=True)
Allowed_contra = TypeVar("Allowed_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class Method(Protocol[Problem_contra, Allowed_contra, Answer_co]):
    """A way to fold, to partition or to place: equal arguments give an equal answer."""

    def __call__(self, problem: Problem_contra, allowed: Allowed_contra, seed: int, /) -> Answer_co:
        """Return a solution, or a failure as a value.

        ``allowed``: for folding the longest interval in cycles (None: the shortest is sought), else the effort.
        """


def method_names(*folders: str) -> tuple[str, ...]:
    """Return the names of the methods in folders of this package, ``folding/methods`` for one: a file for each.

    Nothing is imported, so that a wrong name can be refused before any solver is.
    """
    paths = [str(Path(__file__).parent / folder) for folder in folders]
    return tuple(sorted(module.name.replace("_", "-") for module in iter_modules(paths)))


@dataclass(frozen=True)
class MethodNames:
    """The value is the name of a method in one of these folders, or one of the back end's own."""

    folders: tuple[str, ...]
    of_backend: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """The methods that are there."""
        return method_names(*self.folders)


def methods_in(folder: str) -> Mapping[str, Any]:
    """Return the methods of one such folder by name: what each file calls ``solve``."""
    package = f"floorflow.{folder.replace('/', '.')}"
    names = method_names(folder)
    return MappingProxyType({name: import_module(f"{package}.{name.replace('-', '_')}").solve for name in names})
