"""Which engines of a Dataflow must be folded together, and their joint foldings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.finn.kinds.kind import Choice
from floorflow.backends.finn.options import Port, Ports, all_options, options, undominated
from floorflow.backends.finn.specialise import is_offered, other_kind
from floorflow.dataflow.model import Dataflow, Engine, Option, Stream
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InfeasibleError

_CHANNEL_PARALLEL = ("VVAU_hls", "VVAU_rtl", "Pool_hls")
"""Kinds behind a depthwise window: its channels come interleaved, which no width converter can mend."""


BLOCK = 256
"""Rows compared with all others at once."""


def option_groups(dataflow: Dataflow, choice: Choice) -> tuple[OptionGroup, ...]:
    """Return every engine, alone or tied to its depthwise window, with its undominated legal foldings."""
    pairs = dict(tied_pairs(dataflow))
    followers = set(pairs.values())
    choice = replace(choice, free_kinds=choice.free_kinds and choice.styles_are_free and dataflow.unspecialised)
    known: dict[str, OptionGroup] = {}
    groups = []
    for engine in dataflow.engines:
        if engine.name in followers:
            continue
        members = [engine, dataflow.engine(pairs[engine.name])] if engine.name in pairs else [engine]
        ports = [ports_of(member, dataflow.streams) for member in members]
        # Equal engines with equal ports have equal foldings, which are enumerated once.
        key = repr([(m.kind, sorted(m.attributes.items()), p) for m, p in zip(members, ports, strict=True)])
        if key not in known:
            known[key] = _of_both_styles(members, ports, choice)
        groups.append(known[key].renamed(tuple(member.name for member in members)))
    return tuple(groups)


def _of_both_styles(members: Sequence[Engine], ports: Sequence[Ports], choice: Choice) -> OptionGroup:
    """Return the foldings of the engines as FINN itself makes them, then those of the last one in the other style.

    Of the latter only what none of both beats; of equals FINN's own choice stays.
    """
    own = _group(members, ports, choice)
    kind = other_kind(members[-1], choice.technology) if choice.free_kinds else None
    if kind is None:
        return own
    try:
        other = _group([*members[:-1], replace(members[-1], kind=kind)], ports, choice)
    except InfeasibleError:
        return own
    rows = [(*row[:-1], replace(row[-1], kind=kind)) for row in other.rows]
    both = _front(OptionGroup(own.engines, (*own.rows, *(row for row in rows if is_offered(row[-1])))))
    return OptionGroup(own.engines, (*own.rows, *(row for row in both.rows if row[-1].kind)))


def _group(members: Sequence[Engine], ports: Sequence[Ports], choice: Choice) -> OptionGroup:
    return _pair(members, ports, choice) if len(members) > 1 else _single(members[0], ports[0], choice)


def _single(engine: Engine, ports: Ports, choice: Choice) -> OptionGroup:
    front = options(engine, choice.technology, choice.model, choice.allow_runtime_weights, ports, finn=choice.finn)
    # Several taps at once come from a parallel window, which would be tied to this engine.
    alone = (option for option in front if not (engine.kind.startswith("VVAU") and _takes_several(option)))
    return OptionGroup((engine.name,), tuple((option,) for option in alone))


def _takes_several(option: Option) -> bool:
    """Whether a depthwise unit takes several taps of its kernel at once."""
    return option.folding.get("SIMD", 1) != 1


def tied_pairs(dataflow: Dataflow) -> Iterable[tuple[str, str]]:
    """Yield each depthwise window with the engine behind it: window SIMD must equal that engine's PE."""
    for stream in dataflow.streams:
        if stream.from_host or stream.to_host:
            continue
        window, follower = dataflow.engine(stream.source), dataflow.engine(stream.target)
        if window.attributes.get("depthwise") == 1 and follower.kind in _CHANNEL_PARALLEL:
            yield window.name, follower.name


def _pair(members: Sequence[Engine], ports: Sequence[Ports], choice: Choice) -> OptionGroup:
    ahead, behind = (all_options(engine, choice, ends) for engine, ends in zip(members, ports, strict=True))
    rows = []
    for lanes, parallel in dict.fromkeys((o.folding["SIMD"], o.folding["parallel_window"]) for o in ahead):
        firsts = [o for o in ahead if (o.folding["SIMD"], o.folding["parallel_window"]) == (lanes, parallel)]
        # Several taps at once come from a parallel window, and only from there.
        seconds = [o for o in behind if o.folding["PE"] == lanes and _takes_several(o) == bool(parallel)]
        if seconds:
            rows += [(a, b) for a in undominated(firsts) for b in undominated(seconds)]
    if not rows:
        window, follower = members
        raise InfeasibleError(
            f"proven infeasible: the window {window.name} and {follower.name} behind it have no folding in common",
            hint="use fewer channels or bits in this layer",
        )
    return _front(OptionGroup(tuple(engine.name for engine in members), tuple(rows)))


def _front(group: OptionGroup) -> OptionGroup:
    """Drop rows that another one with the same ports beats in cycles and in every resource."""
    costs = np.column_stack([group.cycles, group.use])
    fronts: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for row in np.lexsort(costs.T[::-1]).tolist():
        ports = tuple((*o.input_widths_bits, *o.output_widths_bits) for o in group.rows[row])
        fronts.setdefault(ports, []).append(row)
    kept = np.zeros(len(group.rows), dtype=np.bool_)
    for rivals in fronts.values():
        kept[[row for row, beaten in zip(rivals, _beaten(costs[rivals]), strict=True) if not beaten]] = True
    order = [row for row in np.lexsort(costs.T[::-1]) if kept[row]]
    return OptionGroup(group.engines, tuple(group.rows[row] for row in order))


def _beaten(costs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the rows, (n, 6) and ascending, that an earlier one equals or beats in every column."""
    beaten = np.zeros(len(costs), dtype=np.bool_)
    for begin in range(0, len(costs), BLOCK):
        block = costs[begin : begin + BLOCK]
        less = (block[:, None] <= costs[None]).all(axis=2)
        beaten |= np.triu(less, begin + 1).any(axis=0)
    return beaten


def ports_of(engine: Engine, streams: Sequence[Stream]) -> Ports:
    """Return what the streams at an engine's ends demand of its folding."""
    incoming = sorted((s for s in streams if s.target == engine.name), key=lambda s: s.target_port)
    outgoing = sorted((s for s in streams if s.source == engine.name), key=lambda s: s.source_port)
    return Ports(tuple(_port(s) for s in incoming), tuple(_port(s) for s in outgoing))


def _port(stream: Stream) -> Port:
    return Port(stream.element_bits, stream.last_dimension)
