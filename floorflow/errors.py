"""Every error that a user can meet, with the exit code it ends in, and refusals: why a stage has no answer, as values.

    FloorflowError            70  internal error, if nothing below fits
    ├── InputError             2  a file, an option or a value is not what was expected
    │   └── PlatformError      2  a platform, board or device file is unknown or malformed
    ├── InfeasibleError        3  proven: no plan exists under the given limits
    ├── ToolError              4  a tool that is needed failed or is missing
    └── LimitError             5  a limit was reached before a plan was found

``check`` answers 1 when it found violations; that is a verdict, not an error.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil, floor
from types import TracebackType
from typing import Literal, Self, TypeVar

Made = TypeVar("Made")


class FloorflowError(Exception):
    """An error with a message for the user, a hint on what to do, and the refusals that the message was made from."""

    exit_code = 70

    def __init__(self, message: str, hint: str = "", refusals: "tuple[Refusal, ...]" = ()) -> None:
        super().__init__(message)
        self.hint = hint
        if hint:  # tracebacks show it, too
            self.add_note(f"hint: {hint}")
        self.refusals = refusals


class InputError(FloorflowError):
    """A file, an option or a value is not what was expected."""

    exit_code = 2


class PlatformError(InputError):
    """A platform, board or device file is unknown or malformed."""


class InfeasibleError(FloorflowError):
    """Proven: no plan exists. The message names resource, place, need and limit."""

    exit_code = 3


class ToolError(FloorflowError):
    """A tool that is needed failed or is missing."""

    exit_code = 4


class LimitError(FloorflowError):
    """A limit was reached before a plan was found; nothing is proven."""

    exit_code = 5


@dataclass(frozen=True)
class Refused:
    """Why there is no plan, as a value: what an error of this message, hint and refusals says.

    ``why``: it is proven that there is none, a limit was reached, or a signal came before there was one.
    """

    message: str
    hint: str = ""
    refusals: "tuple[Refusal, ...]" = ()
    why: Literal["proven", "limit", "interrupted"] = "limit"

    def __str__(self) -> str:
        return self.message

    @property
    def interrupted(self) -> bool:
        """Whether a signal came, after which nothing more is tried."""
        return self.why == "interrupted"

    def error(self) -> FloorflowError | KeyboardInterrupt:
        """Return what says the same to whoever expects exceptions."""
        if self.interrupted:
            return KeyboardInterrupt()
        kind = InfeasibleError if self.why == "proven" else LimitError
        return kind(self.message, self.hint, self.refusals)


INTERRUPTED = Refused("interrupted before there was a plan", why="interrupted")


def required(outcome: Made | Refused) -> Made:
    """Return what was found; this is where a refusal becomes an exception, and so an exit code.

    Raises
    ------
    InfeasibleError, LimitError, KeyboardInterrupt
        If there is none.

    """
    if isinstance(outcome, Refused):
        raise outcome.error()
    return outcome


def all_found(outcomes: Iterable[Made | Refused]) -> tuple[Made, ...] | Refused:
    """Return all that was found, or the first refusal, after which no other is asked for."""
    found: list[Made] = []
    for outcome in outcomes:
        if isinstance(outcome, Refused):
            return outcome
        found.append(outcome)
    return tuple(found)


def outcome_of(
    work: Callable[[], Made], refusing: tuple[type[FloorflowError], ...] = (InfeasibleError, LimitError)
) -> Made | Refused:
    """Return what a stage that raises makes, or its error as a value."""
    try:
        return work()
    except refusing as error:
        why: Literal["proven", "limit"] = "proven" if isinstance(error, InfeasibleError) else "limit"
        return Refused(str(error), error.hint, error.refusals, why)


class Stop:
    """Hears a signal that comes while the block inside runs: the block ends there, and nothing is raised."""

    def __init__(self) -> None:
        self.heard = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        heard = isinstance(error, KeyboardInterrupt)
        self.heard |= heard
        return heard


What = Literal[
    "budget",
    "budgets together",
    "folding limit",
    "folding method",
    "larger budget",
    "larger budget at least",
    "engine too slow",
    "engine too large",
    "engine limit",
    "module too large",
    "module barred",
    "module without rectangle",
    "slots together",
    "each slot",
    "slot",
    "segments",
    "area of each slot",
    "hops",
    "slots and hops",
    "order",
    "link streams",
    "slots and edges",
    "edge",
    "edges together",
    "partition limit",
    "partition method",
    "shortest routes",
    "tree of links",
    "crossing FIFOs",
    "merge",
    "merged cycle",
    "merged limit",
    "link",
    "memory",
    "rate alone",
    "rates together",
    "slot rectangles",
    "no rectangle",
    "fixed pblock",
    "overlap",
    "no room",
    "likelihood",
    "unbuildable",
    "wide stream",
    "shallow FIFO",
    "deadlock",
    "analysis steps",
    "analysis",
]
"""Kinds of refusals: what stands in the way."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a stage has no answer.

    ``resource`` (or ``cycles``, ``wires``, ``Gb/s``, ``words``, ``bursts``, ``steps``) is short at ``place``, a slot,
    boundary, link or channel: ``needed`` is above ``allowed``. ``names`` are the engines, modules or edges concerned.
    What is not known or does not apply is left empty. ``proven``: no answer exists; else none was found.
    """

    what: What
    resource: str = ""
    place: str = ""
    needed: float | None = None
    allowed: float | None = None
    proven: bool = False
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return sentence(self)


def sentence(*refusals: Refusal) -> str:
    """Return the one wording of refusals: what was short where, what was needed and what was allowed."""
    return "; ".join(_WORDS[r.what](r) for r in refusals)


def unproven(refusals: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    """Return the same refusals where they hold only for a restricted problem."""
    return tuple(replace(refusal, proven=False) for refusal in refusals)


def _names(refusal: Refusal) -> str:
    return some(refusal.names)


def _amount(value: float | None) -> str:
    """Write units without decimals, others with six digits."""
    return "?" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _short(refusal: Refusal) -> str:
    return f"{_amount(refusal.needed)} needed, {_amount(refusal.allowed)} allowed"


def _edge(r: Refusal) -> str:
    where = " needed in one direction" if r.resource == "Gb/s" else " needed"
    unit = " Gb/s" if r.resource == "Gb/s" else ""
    return f"{r.place}: at least {_amount(r.needed)} {r.resource}{where}, {_amount(r.allowed)}{unit} allowed"


def _boundaries(count: float | None) -> str:
    return f"{_amount(count)} SLR boundar{'y' if count == 1 else 'ies'} of an FPGA"


def _closest(r: Refusal) -> str:
    return f"; the closest has {_short(r)} ({r.place}, {r.resource})" if r.place else ""


def _engine_too_large(r: Refusal) -> str:
    short = (r.needed or 0) - (r.allowed or 0)
    return (
        f"engine {_names(r)} fits no slot: the folding that comes closest needs {_amount(r.needed)} {r.resource}, "
        f"the limit of the largest slot ({r.place}) is {_amount(r.allowed)} ({_amount(short)} short)"
    )


def _larger_budget(r: Refusal) -> str:
    scale = ceil((r.needed or 0) / (r.allowed or 1) * 100 - 1e-9) / 100
    return (
        f"{r.resource} binds: it fits with limits {scale:.2f} times as large, where it needs {_amount(r.needed)} "
        f"{r.resource} and has {_amount(r.allowed)}, most of it in {_names(r)}"
    )


_WORDS: Mapping[What, Callable[[Refusal], str]] = {
    "budget": lambda r: f"{r.resource}: at least {_short(r)}",
    "budgets together": lambda _: "no choice of foldings meets all resource limits together",
    "folding limit": lambda _: "the folding solver reached its limit without an answer",
    "folding method": _names,
    "larger budget": _larger_budget,
    "larger budget at least": lambda r: f"proven: not below {floor((r.needed or 0) * 100) / 100:.2f} times",
    "engine too slow": lambda r: (
        f"engine {_names(r)} needs {_amount(r.needed)} cycles a frame at its widest folding, "
        f"but the requested rate allows {_amount(r.allowed)}"
    ),
    "engine too large": _engine_too_large,
    "engine limit": lambda r: f"{r.place}: no folding of {_names(r)} is within what --max-engine-share allows there",
    "module too large": lambda r: (
        f"module {_names(r)} fits no slot alone: it needs {_amount(r.needed)} {r.resource}, "
        f"the largest slot ({r.place}) allows it {_amount(r.allowed)}"
    ),
    "module barred": lambda r: (
        f"no slot takes module {_names(r)}: an engine of it is above what --max-engine-share allows there, or its "
        "pblock is fixed in another slot that has no room for it"
    ),
    "slots together": lambda r: (
        f"{r.resource}: {_amount(r.needed)} needed, all slots together allow {_amount(r.allowed)}"
    ),
    "module without rectangle": lambda r: f"no rectangle of any slot holds module {_names(r)}",
    "area of each slot": lambda _: "no assignment of these modules to slots leaves room for the rectangles of each",
    "hops": lambda r: (
        f"no assignment of {_names(r) or 'these modules'} to slots lets every stream cross at most "
        f"{_boundaries(r.allowed)}" + ("" if r.needed is None else f"; one crosses {_amount(r.needed)}")
    ),
    "slots and hops": lambda r: (
        "no assignment of engines to slots meets the resource limits of every slot while streams cross at most "
        f"{_boundaries(r.allowed)}" + (" and none goes back to an earlier FPGA" if r.names else "")
    ),
    "order": lambda r: (
        f"no assignment of {_names(r) or 'these modules'} to slots sends every stream to the same FPGA or a later one"
    ),
    "link streams": lambda r: (
        f"no assignment of these modules to slots {'sends' if r.proven else 'was found that sends'} at most "
        f"{_amount(r.allowed)} streams over each link in one direction; --link-streams {_amount(r.needed)} allows one"
    ),
    "each slot": lambda _: "no assignment of these modules to slots meets the resource limits of every slot",
    "slot": lambda r: f"{r.place}: {r.resource}: {_short(r)}",
    "segments": lambda r: (
        f"no contiguous cut: {r.place} is full ({r.resource}) before {_names(r)}"
        if r.resource
        else f"no contiguous cut: {r.place} takes no more before {_names(r)}"
    ),
    "slots and edges": lambda _: "no assignment of these modules to slots meets resource, SLL and link limits together",
    "edge": _edge,
    "edges together": lambda r: f"no assignment of these modules meets the limits of these together: {_names(r)}",
    "partition limit": lambda r: f"no assignment found within the limit{_closest(r)}",
    "partition method": lambda r: f"{_names(r)}: no legal assignment found",
    "shortest routes": lambda _: "a link is overloaded once streams take their shortest routes",
    "tree of links": lambda _: "looked for on a tree of the links only",
    "crossing FIFOs": lambda _: "crossing FIFOs do not fit beside their modules",
    "merge": lambda r: f"no two modules of {r.place} can merge without a cycle",
    "merged cycle": lambda _: "merged modules depend on each other in a cycle",
    "merged limit": lambda _: "merged modules exceed a limit",
    "link": lambda r: (
        f"link {r.place}: at least {r.needed or 0:.4g} Gb/s needed ({_names(r)}), {r.allowed or 0:g} Gb/s allowed"
    ),
    "memory": lambda r: (
        f"too fast for the memory: it takes {_amount(r.needed)} cycles to carry a frame, and no folding is as slow"
    ),
    "rate alone": lambda r: (
        f"{r.place}: {_amount(r.needed)} {r.resource} at the least are asked for, "
        f"alone on the platform it reaches {_amount(r.allowed)}"
    ),
    "rates together": lambda r: (
        f"{_names(r)} frames/s move at least {_amount(r.needed)} {r.resource}, {_amount(r.allowed)} allowed"
        if r.needed is not None
        else f"no engines with {'any schedule' if r.proven else 'constant shares'} of the memory keep {_names(r)} "
        "frames/s"
    ),
    "slot rectangles": lambda r: (
        f"rectangles in {r.place} hold at most {_amount(r.allowed)} {r.resource}, "
        f"its modules need {_amount(r.needed)} at the given fill"
    ),
    "no rectangle": lambda r: (
        f"no rectangle in {r.place}, clear of keep-outs, holds what '{_names(r)}' needs alone: "
        f"{_amount(r.needed)} {r.resource} (the slot has {_amount(r.allowed)})"
    ),
    "fixed pblock": lambda r: (
        f"the pblock that is fixed for {_names(r)} in {r.place} is too small: {_amount(r.needed)} {r.resource} needed "
        f"at the given fill, it holds {_amount(r.allowed)}"
    ),
    "overlap": lambda r: (
        f"no choice among all legal rectangles places the modules without overlap; {r.place} is short of room"
    ),
    "no room": lambda r: (
        f"no room found in {r.place} for "
        f"{_names(r) + ' beside the other modules' if r.names else 'all its modules'}; it may exist"
    ),
    "likelihood": lambda r: (
        f"{r.place} would hold what lies in it with probability {floor((r.allowed or 0) * 1e3) / 1e3:g}, "
        f"{_amount(r.needed)} is sought (--confidence)"
    ),
    "unbuildable": lambda r: (
        f"the tool cannot build the cut at {r.place}: what it makes of {_names(r)} would wait for itself"
    ),
    "wide stream": lambda r: (
        f"stream {_names(r)} leaves its kernel in {r.place} with {_amount(r.needed)} bits, and v++ links no kernels by "
        f"more than {_amount(r.allowed)}: keep both ends in one SLR, or fold narrower at either end"
    ),
    "shallow FIFO": lambda r: f"{r.place} ({_amount(r.allowed)} words, {_amount(r.needed)} needed)",
    "deadlock": lambda r: f"the planned FIFOs deadlock: {_names(r)}",
    "analysis steps": lambda r: f"the analysis stopped at its limit of {_amount(r.allowed)} {r.resource}",
    "analysis": _names,
}


MOST_NAMES = 5
"""Names of a list that stand in a sentence; the plan holds them all."""


def some(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """Join names by commas: the first few, and how many more there are."""
    held: Collection[object] = names if isinstance(names, Collection) else list(names)
    rest = f" and {len(held) - most:,} more" if len(held) > most else ""
    return ", ".join(str(name) for name in islice(held, most)) + rest
