"""What solving methods are alike in: how they are found and called, what they weigh and did, and what is remembered.

Deterministic work is counted where nearly all of the time goes: in solvers, enumerations, prices, exchanges, analyses
of FIFOs, partitions and draws of annealing. A unit is roughly a second of one core; counts depend on the input alone,
so that no clock decides what a run comes to.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from math import inf
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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

    @classmethod
    def bounded(cls, method: str, objective: float, bound: float) -> "SolveStats":
        """Return what is proven of an answer by a bound that may be below it by rounding alone."""
        met = bound >= objective * (1 - 1e-9)
        return cls(method, "optimal" if met else "feasible", objective, objective if met else bound)

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


class PlaceWeights(BaseModel):
    """What the terms of placement's objective cost, each in bit-tiles: at least one of them something."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    wire: float = Field(default=1.0, ge=0)
    reach: float = Field(default=1.0, ge=0)
    congestion: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _something_counts(self) -> "PlaceWeights":
        if not any(self.as_dict().values()):
            raise ValueError("--place-weights: all are 0, expected one that is more, such as wire=1")
        return self

    def as_dict(self) -> dict[str, float]:
        """Return the weights by term."""
        return {name: getattr(self, name) for name in type(self).model_fields}


def _weights(value: Any) -> Any:
    """Read weights from a mapping, or from settings ``wire=1,reach=2``, one text or several; others are as usual."""
    if isinstance(value, PlaceWeights):
        return value
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        texts = [value] if isinstance(value, str) else value if isinstance(value, Iterable) else [str(value)]
        settings = [part for text in texts for part in str(text).split(",")]
        pairs = [(name.strip(), weight) for name, _, weight in (setting.partition("=") for setting in settings)]
    given: dict[str, float] = {}
    for name, weight in pairs:
        told = f"--place-weights {name}={weight}"
        if name not in PlaceWeights.model_fields:
            raise ValueError(f"{told}: expected weights of {', '.join(PlaceWeights.model_fields)}, such as wire=1")
        if name in given:
            raise ValueError(f"{told}: {name} is given twice, before as {given[name]:g}")
        given[name] = _weight(weight, told)
    return PlaceWeights(**given)


def _weight(value: Any, told: str) -> float:
    try:
        weight = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        weight = -1.0
    if not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(f"{told}: expected a number from 0 to {MOST_WEIGHT:g}")
    return weight


MOST_WEIGHT = 1e6
READ_WEIGHTS = BeforeValidator(_weights)
"""Lets some weights stand for all."""


Problem_contra = TypeVar("Problem_contra", contravariant=True)
Allowed_contra = TypeVar("Allowed_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class Method(Protocol[Problem_contra, Allowed_contra, Answer_co]):
    """A way to fold, to partition or to place: equal arguments give an equal answer."""

    def __call__(self, problem: Problem_contra, allowed: Allowed_contra, seed: int, /) -> Answer_co:
        """Return a solution, or a failure as a value.

        ``allowed``: for folding the longest interval in cycles (None: the shortest is sought), else the effort.
        """


def method_names(stage: str) -> tuple[str, ...]:
    """Return the names of the methods of a stage, ``folding`` for one: a file for each.

    Nothing is imported, so that a wrong name can be refused before any solver is.
    """
    return tuple(sorted(_modules_of(stage)))


def _modules_of(stage: str) -> dict[str, str]:
    """Return the modules of a stage's methods by name: in ``<stage>/methods`` and ``papers/<paper>/<stage>``."""
    package = Path(__file__).parent
    folders = [package / stage / "methods", *sorted(package.glob(f"papers/*/{stage}"))]
    found: dict[str, str] = {}
    for folder in folders:
        for module in iter_modules([str(folder)]):
            place = ".".join(("floorflow", *folder.relative_to(package).parts, module.name))
            if found.setdefault(module.name.replace("_", "-"), place) != place:
                raise ValueError(f"{place}: {stage} has a method of that name already")
    return found


@dataclass(frozen=True)
class MethodNames:
    """The value is the name of a method of this stage, or one of the back end's own."""

    stage: str
    of_backend: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """The methods that are there."""
        return method_names(self.stage)


class _Methods(Mapping[str, Any]):
    """Methods by name, each imported when it is asked for: what its file calls ``solve``."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Any:
        return import_module(self._modules[name]).solve

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._modules))

    def __len__(self) -> int:
        return len(self._modules)


def methods_in(stage: str) -> Mapping[str, Any]:
    """Return a stage's methods by the names of their files in its ``methods`` and in papers, ``-`` for ``_``."""
    return _Methods(_modules_of(stage))


Solved = TypeVar("Solved")


@dataclass
class Memo:
    """What a run was asked and has answered, by the `content` of the question; counts of what was and was not new."""

    answers: dict[Hashable, Any] = field(default_factory=dict)
    solved: int = 0
    repeated: int = 0

    def once(self, solve: Callable[[], Solved], *question: Any) -> Solved:
        """Return what ``solve`` returns, or returned when the same was asked before."""
        key = content(question)
        if key in self.answers:
            self.repeated += 1
        else:
            self.solved += 1
            self.answers[key] = solve()
        answer: Solved = self.answers[key]
        return answer


def content(value: Any) -> Hashable:
    """Return what two values have in common if no question tells them apart, and hash it.

    A dataclass is its type and every field that its comparison counts, so that a field which is added counts by itself.
    Mappings and sequences are what they hold, in order, for solvers go by that; arrays are their numbers. What is none
    of these and has no hash is equal to itself alone.
    """
    try:
        hash(value)
    except TypeError:
        if is_dataclass(value):
            return type(value), *(content(getattr(value, part.name)) for part in fields(value) if part.compare)
        if isinstance(value, Mapping):
            return Mapping, *((content(name), content(held)) for name, held in value.items())
        if isinstance(value, (list, tuple)):
            return type(value), *map(content, value)
        if hasattr(value, "tobytes"):
            return value.shape, value.dtype.str, value.tobytes()
        return _Itself(value)
    return value  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class _Itself:
    """Something that is equal to nothing else; it is kept, so that nothing new can be taken for it."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class WorkIsSpent(Exception):  # noqa: N818 - says how a search ended that had a limit, is no error
    """What `counted` allowed is spent."""


@dataclass
class Work:
    """What was ``spent`` so far, and the ``limit`` beyond which counting raises."""

    limit: float = inf
    spent: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether more was done than is allowed."""
        return self.spent > self.limit


_COUNTED: ContextVar[Work | None] = ContextVar("counted", default=None)


def count(units: float) -> None:
    """Count work that was done, where somebody wants to know.

    Raises WorkIsSpent if that is more than is allowed.
    """
    work = _COUNTED.get()
    if work is not None:
        work.spent += units
        if work.spent > work.limit:
            raise WorkIsSpent


@contextmanager
def counted_apart(limit: float = inf) -> Iterator[Work]:
    """Count the work that is done inside; who counts outside has it only once it is counted there, too."""
    work = Work(limit)
    before = _COUNTED.set(work)
    try:
        yield work
    finally:
        _COUNTED.reset(before)


@contextmanager
def counted(limit: float = inf) -> Iterator[Work]:
    """Count the work that is done inside, in this thread, and more than ``limit`` is not; who counts outside has it."""
    outside = _COUNTED.get()
    with counted_apart(limit) as work:
        try:
            yield work
        finally:
            if outside is not None:
                outside.spent += work.spent


@contextmanager
def ended_after(limit: float) -> Iterator[Work]:
    """End what is done inside, without an error, once that took more than the limit: see `Work.is_over`."""
    with counted(limit) as work, suppress(WorkIsSpent):
        yield work


def as_much_again(share: float, least: float) -> AbstractContextManager[Work]:
    """End what is done inside after that share of the work that was done so far, or the least."""
    work = _COUNTED.get()
    return ended_after(max(least, share * (0.0 if work is None else work.spent)))


class Keeper(Protocol):
    """What answers are kept in from run to run (`floorflow.output.cache`)."""

    def key_of(self, *question: Any) -> str | None:
        """Return a question's name, None if it cannot be told from others."""

    def recall(self, key: str | None) -> Any:
        """Return the answer of that name, None if there is none."""

    def remember(self, key: str | None, answer: Any) -> None:
        """Keep an answer, where it can be."""


_KEEPER: ContextVar[Keeper | None] = ContextVar("keeper", default=None)


@contextmanager
def kept_by(keeper: Keeper | None) -> Iterator[None]:
    """Let `kept` ask there inside; None: nothing is kept."""
    before = _KEEPER.set(keeper)
    try:
        yield
    finally:
        _KEEPER.reset(before)


def kept(solve: Callable[[], Solved], *question: Any, final: Callable[[Solved], bool] = lambda _: True) -> Solved:
    """Return what ``solve`` returns, or returned when the same was asked in an earlier run with the same ``--cache``.

    ``question`` is all that the answer depends on, the name of the method among it. Work counts alike, for what is
    searched beside depends on that: an answer that took more than is left here is worked out until that is spent.
    ``final``: whether an answer may be kept.
    """
    outside, keeper = _COUNTED.get(), _KEEPER.get()
    left = inf if outside is None else outside.limit - outside.spent
    key = None if keeper is None else keeper.key_of(*question)
    known = None if keeper is None else keeper.recall(key)
    answer: Solved
    spent = 0.0
    try:
        if known is not None and known[1] <= left:
            answer, spent = known
        else:
            with counted_apart(left) as work:
                try:
                    answer = solve()
                finally:
                    spent = work.spent
            if keeper is not None and final(answer):
                keeper.remember(key, (answer, spent))
    finally:
        if outside is not None:
            outside.spent += spent
    return answer
