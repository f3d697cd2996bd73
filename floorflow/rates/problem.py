"""Actors that move words by a fixed pattern each frame, and the bounded FIFOs between them.

An actor runs through its *steps*, one a cycle, again each frame. Steps are grouped into *bursts*: a burst waits until
it can run without a stall, then takes one cycle a step; between bursts the actor may wait as long as it must. With
bursts of one step (`single_steps`) an actor may stall before every word, as hardware does; longer bursts ask a little
more of the FIFOs, never less, and make the arrays shorter.

In each burst a port moves ``counts`` words: the first at step ``first`` of the burst, then one every ``stride`` steps.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from floorflow.errors import InputError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moves:
    """When the words of one port move; all arrays are (bursts,) int64. A stride of 0 moves all words in one step."""

    counts: Ints
    first: Ints
    stride: Ints

    @property
    def words(self) -> int:
        """Words a frame."""
        return int(self.counts.sum())

    def below(self, step: Ints) -> Ints:
        """Return how many words of each burst move before that step of the burst; ``step`` is (bursts,)."""
        spread = np.maximum(self.stride, 1)
        before = np.where(self.stride > 0, -((self.first - step) // spread), self.counts * (self.first < step))
        return np.clip(before, 0, self.counts)


@dataclass(frozen=True, eq=False)
class Actor:
    """Bursts of a frame, ``steps`` (bursts,) long, and what each port moves in them.

    ``frees`` says when the place of each word read is given back: at the reading itself unless it is given.
    """

    name: str
    steps: Ints
    reads: tuple[Moves, ...] = ()
    writes: tuple[Moves, ...] = ()
    frees: tuple[Moves, ...] = ()

    @property
    def cycles(self) -> int:
        """Cycles of a frame without waiting."""
        return int(self.steps.sum())

    @cached_property
    def begins(self) -> Ints:
        """First step of each burst in the frame, (bursts,)."""
        return np.cumsum(self.steps) - self.steps

    def freed(self, port: int) -> Moves:
        """Return when the places of an input port become free."""
        return self.frees[port] if self.frees else self.reads[port]


def moves(counts: ArrayLike, first: ArrayLike = 0, stride: ArrayLike = 1) -> Moves:
    """Return moves of (bursts,) counts; one number of ``first`` or ``stride`` holds for all bursts."""
    rows = np.broadcast_arrays(np.atleast_1d(counts), first, stride)
    return Moves(*(np.ascontiguousarray(row, dtype=np.int64) for row in rows))


def repeated(actor: Actor, times: int) -> Actor:
    """Let an actor run so many times a frame."""

    def again(rows: tuple[Moves, ...]) -> tuple[Moves, ...]:
        return tuple(Moves(*(np.tile(a, times) for a in (m.counts, m.first, m.stride))) for m in rows)

    return Actor(actor.name, np.tile(actor.steps, times), again(actor.reads), again(actor.writes), again(actor.frees))


@dataclass(frozen=True)
class Fifo:
    """A bounded queue of ``width_bits`` wide words.

    A word that is written in cycle t can be read from cycle t + ``latency_cycles`` on; its place is taken from cycle t
    and can be used again ``return_cycles`` after it was freed. Both are 1 for a plain queue; registers on the way add
    to them. ``depth_words`` fixes the depth; None leaves it to the search, which goes no lower than ``least_words``.

    Of the latency, ``pipeline_cycles`` are the writer's own stages: a word lies in them and takes its place here only
    so much later, and an engine whose last stage finds no place stands still with all that is in it.
    """

    name: str
    source: str
    target: str
    width_bits: int
    source_port: int = 0
    target_port: int = 0
    latency_cycles: int = 1
    return_cycles: int = 1
    pipeline_cycles: int = 0
    depth_words: int | None = None
    least_words: int = 1

    @property
    def place_cycles(self) -> int:
        """From the step that frees a place to the first step that may send a word into it; below 1 in a pipeline."""
        return self.return_cycles - self.pipeline_cycles


@dataclass(frozen=True)
class RateProblem:
    """Actors and the FIFOs between them, without a cycle of FIFOs unless their depth is fixed.

    A port without a FIFO never waits.
    """

    actors: tuple[Actor, ...]
    fifos: tuple[Fifo, ...]
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {actor.name: position for position, actor in enumerate(self.actors)})
        _check(self)

    @property
    def bursts(self) -> int:
        """Bursts a frame, of all actors."""
        return sum(actor.steps.size for actor in self.actors)

    def writes(self, fifo: Fifo) -> Moves:
        """Return when words enter a FIFO."""
        return self.actors[self.index[fifo.source]].writes[fifo.source_port]

    def fed(self, spacing_cycles: int = 1, pause_cycles: int = 0) -> "RateProblem":
        """Let what reads nothing send a word only every so many cycles, and pause after each frame."""
        sources = [_fed(a, spacing_cycles, pause_cycles) if not a.reads else a for a in self.actors]
        return replace(self, actors=tuple(sources))

    def with_bursts_of(self, words: int) -> "RateProblem":
        """Cut bursts so that none moves more than so many words on a port."""
        return replace(self, actors=tuple(cut(actor, _piece_steps(actor, words)) for actor in self.actors))

    def single_steps(self) -> "RateProblem":
        """Cut bursts into single steps: an actor may then stall before every word."""
        return replace(self, actors=tuple(cut(actor, np.ones_like(actor.steps)) for actor in self.actors))


def cut(actor: Actor, piece_steps: Ints) -> Actor:
    """Cut each burst into pieces of at most ``piece_steps`` (bursts,) steps; what moves when stays the same."""
    pieces = -(-actor.steps // piece_steps)
    if (pieces == 1).all():
        return actor
    burst = np.repeat(np.arange(actor.steps.size), pieces)
    position = np.arange(burst.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    low = position * piece_steps[burst]
    high = np.minimum(low + piece_steps[burst], actor.steps[burst])

    def moved(moves: Moves) -> Moves:
        whole = Moves(moves.counts[burst], moves.first[burst], moves.stride[burst])
        before = whole.below(low)
        counts = whole.below(high) - before
        first = np.where(counts > 0, whole.first + whole.stride * before - low, 0)
        return Moves(counts, first, whole.stride)

    ports = {side: tuple(moved(moves) for moves in getattr(actor, side)) for side in ("reads", "writes", "frees")}
    return Actor(actor.name, high - low, **ports)


def _piece_steps(actor: Actor, words: int) -> Ints:
    """Return steps, (bursts,), in which no port that moves its words one by one moves more than so many."""
    piece = actor.steps
    for moves in actor.reads + actor.writes + actor.frees:
        apart = np.where((moves.counts > words) & (moves.stride > 0), words * moves.stride, actor.steps)
        piece = np.minimum(piece, apart)
    return piece


def _fed(actor: Actor, spacing_cycles: int, pause_cycles: int) -> Actor:
    """Return a source that sends more slowly: its steps are stretched, and one burst more moves nothing."""
    steps = actor.steps * spacing_cycles
    writes = tuple(Moves(m.counts, m.first * spacing_cycles, m.stride * spacing_cycles) for m in actor.writes)
    if pause_cycles:
        steps = np.append(steps, pause_cycles)
        writes = tuple(Moves(*(np.append(a, 0) for a in (m.counts, m.first, m.stride))) for m in writes)
    return replace(actor, steps=steps, writes=writes)


def _check(problem: RateProblem) -> None:
    """Refuse what cannot be analysed, naming actor or FIFO."""
    if len(problem.index) < len(problem.actors):
        raise InputError("two actors of a rate problem have the same name; names must differ")
    ends: Counter[tuple[str, str, int]] = Counter()
    for fifo in problem.fifos:
        for name, port, side in ((fifo.source, fifo.source_port, "writes"), (fifo.target, fifo.target_port, "reads")):
            if name not in problem.index or port >= len(getattr(problem.actors[problem.index[name]], side)):
                raise InputError(f"FIFO {fifo.name}: no actor '{name}' with {side[:-1]} port {port}")
            ends[side, name, port] += 1
        written, read = problem.writes(fifo).words, problem.actors[problem.index[fifo.target]].reads[fifo.target_port]
        if written != read.words or not written:
            raise InputError(
                f"FIFO {fifo.name}: {fifo.source} writes {written} words a frame and {fifo.target} reads {read.words}; "
                "expected equal numbers above 0"
            )
        if min(fifo.latency_cycles, fifo.return_cycles) < 1:
            both = f"{fifo.latency_cycles} and {fifo.return_cycles}"
            raise InputError(f"FIFO {fifo.name}: latency and return take {both} cycles, expected at least 1 each")
        if not 0 <= fifo.pipeline_cycles < fifo.latency_cycles:
            stages = f"{fifo.pipeline_cycles} of {fifo.latency_cycles} cycles"
            raise InputError(f"FIFO {fifo.name}: {stages} are its writer's, expected 0 or more and fewer than all")
    twice = sorted(end for end, count in ends.items() if count > 1)
    if twice:
        side, name, port = twice[0]
        raise InputError(f"actor {name} has two FIFOs at {side[:-1]} port {port}; expected one")
