"""Which engines of a Dataflow must be folded together, and their joint foldings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from floorflow.backends.finn.kinds.kind import Choice
from floorflow.backends.finn.options import Port, Ports, all_options, options, undominated
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.dataflow.options import OptionGroup

_CHANNEL_PARALLEL = ("VVAU_hls", "VVAU_rtl", "Pool_hls")
"""Kinds behind a depthwise window: its channels come interleaved, which no width converter can mend."""


def option_groups(dataflow: Dataflow, choice: Choice) -> tuple[OptionGroup, ...]:
    """Return every engine, alone or tied to its depthwise window, with its undominated legal foldings."""
    pairs = dict(tied_pairs(dataflow))
    followers = set(pairs.values())
    groups = []
    for engine in dataflow.engines:
        if engine.name in pairs:
            groups.append(_pair(engine, dataflow.engine(pairs[engine.name]), dataflow.streams, choice))
        elif engine.name not in followers:
            ports = ports_of(engine, dataflow.streams)
            front = options(
                engine, choice.technology, choice.model, choice.allow_runtime_weights, ports, finn=choice.finn
            )
            groups.append(OptionGroup((engine.name,), tuple((option,) for option in front)))
    return tuple(groups)


def tied_pairs(dataflow: Dataflow) -> Iterable[tuple[str, str]]:
    """Yield each depthwise window with the engine behind it: window SIMD must equal that engine's PE."""
    for stream in dataflow.streams:
        if stream.from_host or stream.to_host:
            continue
        window, follower = dataflow.engine(stream.source), dataflow.engine(stream.target)
        if window.attributes.get("depthwise") == 1 and follower.kind in _CHANNEL_PARALLEL:
            yield window.name, follower.name


def _pair(window: Engine, follower: Engine, streams: Sequence[Stream], choice: Choice) -> OptionGroup:
    ahead = all_options(window, choice, ports_of(window, streams))
    behind = all_options(follower, choice, ports_of(follower, streams))
    rows = []
    for lanes in dict.fromkeys(option.folding["SIMD"] for option in ahead):
        firsts = [option for option in ahead if option.folding["SIMD"] == lanes]
        seconds = [option for option in behind if option.folding["PE"] == lanes]
        if seconds:
            rows += [(a, b) for a in undominated(firsts) for b in undominated(seconds)]
    return _front(OptionGroup((window.name, follower.name), tuple(rows)))


def _front(group: OptionGroup) -> OptionGroup:
    """Drop rows that another one with the same ports beats in cycles and in every resource."""
    costs = np.column_stack([group.cycles, group.use])
    kept: list[int] = []
    fronts: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for row in np.lexsort(costs.T[::-1]):
        ports = tuple((*o.input_widths_bits, *o.output_widths_bits) for o in group.rows[row])
        rivals = fronts.setdefault(ports, [])
        if not rivals or not (costs[rivals] <= costs[row]).all(axis=1).any():
            rivals.append(int(row))
            kept.append(int(row))
    return OptionGroup(group.engines, tuple(group.rows[row] for row in kept))


def ports_of(engine: Engine, streams: Sequence[Stream]) -> Ports:
    """Return what the streams at an engine's ends demand of its folding."""
    incoming = sorted((s for s in streams if s.target == engine.name), key=lambda s: s.target_port)
    outgoing = sorted((s for s in streams if s.source == engine.name), key=lambda s: s.source_port)
    return Ports(tuple(_port(s) for s in incoming), tuple(_port(s) for s in outgoing))


def _port(stream: Stream) -> Port:
    return Port(stream.element_bits, stream.last_dimension)
