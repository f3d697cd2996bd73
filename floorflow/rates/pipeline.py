"""A folded Dataflow as a rate problem: engines, converters and hosts as actors, channels as FIFOs to be sized."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, lcm
from typing import Protocol

import numpy as np

from floorflow.dataflow.model import Engine, FoldedDataflow, Option, Stream
from floorflow.errors import InputError
from floorflow.rates.problem import Actor, Fifo, Moves, RateProblem, cut, moves

LEAST_DEPTH_WORDS = 2
"""The shallowest FIFO that passes a word every cycle."""
QUEUE_CYCLES = 1
"""Cycles from a word's entry into a FIFO until it can be read."""
CONVERTER_CYCLES = 2
"""Cycles that a width converter adds on the way: its register, and the FIFO that stands on its other side."""
AT_LINK, RECEIVED = "at a link", "behind a link"
"""What stands behind a channel's name in that of a slow link, and of the FIFO at its other end."""
LINK_BURSTS = 20_000
"""Bursts a frame of a slow link at most: of one word each, as far as that goes."""
BURSTS = 150_000
"""Bursts a frame that the analysis of a large network is held to."""


@dataclass(frozen=True)
class LinkPace:
    """What a link does that takes no word every cycle: it takes those of a frame in ``frame_cycles``, evenly.

    Its receiver has a FIFO of ``words``, with credits that are ``way_cycles`` under way, as a word is; before it goes a
    word may wait ``wait_cycles`` for others.
    """

    frame_cycles: int
    words: int
    way_cycles: int
    wait_cycles: int


@dataclass(frozen=True)
class RouteDelay:
    """Cycles that a channel takes beyond a plain FIFO: registers and links on the way there, and back.

    Where a link on the way is slower than a word a cycle it has a ``pace``; its way is part of those cycles.
    """

    there_cycles: int = 0
    back_cycles: int = 0
    pace: LinkPace | None = None


class Actors(Protocol):
    """What is known of when engines read and write: a back end."""

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return a folded engine's actor; ``inputs`` and ``outputs`` are the words a frame at its ports."""

    def stages(self, engine: Engine, option: Option) -> int:
        """Return a folded engine's pipeline stages, 0 or more."""


def rate_problem(
    folded: FoldedDataflow,
    route_delays: Mapping[str, RouteDelay] | None = None,
    bursts: int | None = BURSTS,
    *,
    known: Actors,
) -> RateProblem:
    """Return the rate problem of a folded network; its FIFOs bear the names of the channels.

    The FIFO of a channel holds words of the wider of its two ends, as floorflow's channels do; a converter is part of
    the engine on the narrower. Hosts send and take a word every cycle. ``bursts`` bounds the bursts a frame by making
    them longer, which may deepen FIFOs by some words; None keeps the patterns' own.

    InputError if the pattern of an engine's kind is unknown.
    """
    engines = {engine.name: engine for engine in folded.dataflow.engines}
    ends = _ends(folded)
    actors = [_actor(folded, engine, ends[engine.name], known) for engine in folded.dataflow.engines]
    fifos = []
    for stream in folded.dataflow.streams:
        words = moves(_count(stream, max(_widths(stream, folded))))
        if stream.from_outside:
            actors.append(Actor(stream.source, words.counts, (), (words,)))
        if stream.to_outside:
            actors.append(Actor(stream.target, words.counts, (words,)))
        name = stream.source
        stages = 0 if stream.from_outside else known.stages(engines[name], folded.options[name])
        delay = (route_delays or {}).get(stream.channel, RouteDelay())
        fifo = _fifo(stream, folded, delay, stages)
        if delay.pace is not None:
            actor, behind = _link(fifo, words.words, delay.pace)
            actors.append(actor)
            fifos.append(behind)
            way, wait = delay.pace.way_cycles, delay.pace.wait_cycles
            fifo = replace(
                fifo,
                target=actor.name,
                target_port=0,
                latency_cycles=fifo.latency_cycles - way,
                return_cycles=fifo.return_cycles - way - wait,
                pipeline_cycles=fifo.pipeline_cycles + wait,
            )
        fifos.append(fifo)
    problem = RateProblem(tuple(actors), tuple(fifos))
    return problem if bursts is None else _held_to(problem, bursts)


def _ends(folded: FoldedDataflow) -> dict[str, list[Stream]]:
    """Return the streams that end at each engine, in the network's order."""
    ends: dict[str, list[Stream]] = {engine.name: [] for engine in folded.dataflow.engines}
    for stream in folded.dataflow.streams:
        for name in {stream.source, stream.target} & ends.keys():
            ends[name].append(stream)
    return ends


def _actor(folded: FoldedDataflow, engine: Engine, ends: list[Stream], known: Actors) -> Actor:
    """Return an engine's actor with the converters on its side; ``ends`` are its streams."""
    option = folded.options[engine.name]
    actor = known.actor(engine, option, *_words(engine.name, option, ends))
    for stream in ends:
        source_bits, target_bits = _widths(stream, folded)
        if stream.source == engine.name and source_bits < target_bits:
            actor = one_group_each(actor, actor.writes[stream.source_port], source_bits, target_bits)
            wide = converted(actor.writes[stream.source_port], source_bits, target_bits, written=True)
            actor = replace(actor, writes=_with(actor.writes, stream.source_port, wide))
        if stream.target == engine.name and target_bits < source_bits:
            actor = one_group_each(actor, actor.reads[stream.target_port], target_bits, source_bits)
            wide = converted(actor.reads[stream.target_port], target_bits, source_bits, written=False)
            actor = replace(actor, reads=_with(actor.reads, stream.target_port, wide))
    return actor


def _with(ports: tuple[Moves, ...], place: int, port: Moves) -> tuple[Moves, ...]:
    return (*ports[:place], port, *ports[place + 1 :])


def _fifo(stream: Stream, folded: FoldedDataflow, route_delay: RouteDelay, stages: int) -> Fifo:
    """Return the FIFO of a stream; ``stages`` are the pipeline stages of the engine that writes it."""
    source_bits, target_bits = _widths(stream, folded)
    pipeline = stages + (CONVERTER_CYCLES if source_bits != target_bits else 0)
    return Fifo(
        name=stream.channel,
        source=stream.source,
        target=stream.target,
        width_bits=max(source_bits, target_bits),
        source_port=0 if stream.from_outside else stream.source_port,
        target_port=0 if stream.to_outside else stream.target_port,
        latency_cycles=pipeline + QUEUE_CYCLES + route_delay.there_cycles,
        return_cycles=1 + route_delay.back_cycles,
        pipeline_cycles=pipeline,
        least_words=LEAST_DEPTH_WORDS,
    )


def _link(fifo: Fifo, words: int, pace: LinkPace) -> tuple[Actor, Fifo]:
    """Return a slow link as an actor that passes on words one by one, and the FIFO at its other end."""
    passed = np.unique(np.append(np.arange(0, words, ceil(words / LINK_BURSTS)), words))
    steps, counts = np.diff(passed * pace.frame_cycles // words), np.diff(passed)
    each = moves(counts, stride=steps // counts)
    actor = Actor(f"{fifo.name} {AT_LINK}", steps, (each,), (each,))
    name, cycles = f"{fifo.name} {RECEIVED}", QUEUE_CYCLES + pace.way_cycles
    behind = replace(
        fifo,
        name=name,
        source=actor.name,
        source_port=0,
        latency_cycles=cycles,
        return_cycles=cycles,
        pipeline_cycles=0,
        depth_words=pace.words,
    )
    return actor, behind


def _words(engine: str, option: Option, ends: list[Stream]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the words a frame at an engine's input and output ports."""
    inputs = {s.target_port: s for s in ends if s.target == engine}
    outputs = {s.source_port: s for s in ends if s.source == engine}
    for sort, ports, widths in (
        ("input", inputs, option.input_widths_bits),
        ("output", outputs, option.output_widths_bits),
    ):
        if ports and max(ports) >= len(widths):
            raise InputError(
                f"engine '{engine}' has {max(ports) + 1} {sort} streams, its kind has {len(widths)}",
                hint="look at the node of that name in the graph, which reads or makes a tensor too many",
            )
    return (
        tuple(_count(inputs[port], option.input_widths_bits[port]) for port in sorted(inputs)),
        tuple(_count(outputs[port], option.output_widths_bits[port]) for port in sorted(outputs)),
    )


def _count(stream: Stream, width_bits: int) -> int:
    return -(-stream.elements * stream.element_bits // width_bits)


def _widths(stream: Stream, folded: FoldedDataflow) -> tuple[int, int]:
    """Width that the producer writes and that the consumer reads; a host end takes the engine's."""
    source = None if stream.from_outside else folded.options[stream.source].output_widths_bits[stream.source_port]
    target = None if stream.to_outside else folded.options[stream.target].input_widths_bits[stream.target_port]
    return source or target or 0, target or source or 0


def _held_to(problem: RateProblem, bursts: int) -> RateProblem:
    """Cut long bursts to the fewest words with which the network keeps within so many bursts."""
    words = sum(max((m.words for m in a.reads + a.writes), default=0) for a in problem.actors)
    longest = max(1, ceil(words / bursts))
    return problem.with_bursts_of(longest)


def converted(narrow: Moves, narrow_bits: int, wide_bits: int, *, written: bool) -> Moves:
    """Return the moves of the wide words on the other side of a converter.

    A converter beside an engine hands a wide word on when its last part is ``written``, and takes one when its first
    part is read. Widths that do not divide each other go through their common multiple: all wide words of such a group
    then move with its last, or first, part.
    """
    common = lcm(narrow_bits, wide_bits)
    ratio = common // narrow_bits
    bounds = np.concatenate(([0], np.cumsum(narrow.counts)))
    groups = bounds // ratio if written else -(-bounds // ratio)
    if written:
        groups[-1] = -(-bounds[-1] // ratio)
    counts = np.diff(groups)
    part = np.minimum(groups[:-1] * ratio + (ratio - 1 if written else 0), bounds[-1] - 1)
    first = np.where(counts > 0, narrow.first + narrow.stride * (part - bounds[:-1]), 0)
    stride = narrow.stride * ratio if common == wide_bits else np.zeros_like(counts)
    return Moves(counts * (common // wide_bits), first, stride)


def one_group_each(actor: Actor, port: Moves, narrow_bits: int, wide_bits: int) -> Actor:
    """Cut an actor's bursts for a converter between widths that do not divide each other."""
    common = lcm(narrow_bits, wide_bits)
    if common == wide_bits:
        return actor
    return cut(actor, np.minimum(actor.steps, np.maximum(port.stride, 1) * (common // narrow_bits)))
