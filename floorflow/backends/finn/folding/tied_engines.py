"""Which engines of a Dataflow must be folded together, and their joint foldings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from floorflow.backends.finn.folding.legal_foldings import Port, Ports, front, options, sorted_items
from floorflow.backends.finn.kinds.kind import Choice
from floorflow.backends.finn.specialise import is_offered, other_kind
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.dataflow.options import OptionGroup, OptionTable, TableRows
from floorflow.errors import InfeasibleError

_CHANNEL_PARALLEL = ("VVAU_hls", "VVAU_rtl", "Pool_hls")
"""Kinds behind a depthwise window: its channels come interleaved, which no width converter can mend."""


def option_groups(dataflow: Dataflow, choice: Choice) -> tuple[OptionGroup, ...]:
    """Return every engine, alone or tied to its depthwise window, with its undominated legal foldings."""
    pairs = dict(tied_pairs(dataflow))
    followers = set(pairs.values())
    choice = replace(choice, free_kinds=choice.free_kinds and choice.styles_are_free and dataflow.unspecialised)
    engines, streams = {engine.name: engine for engine in dataflow.engines}, _streams_at_ends(dataflow)
    known: dict[object, TableRows] = {}
    groups = []
    for name, engine in engines.items():
        if name in followers:
            continue
        members = [engine, engines[pairs[name]]] if name in pairs else [engine]
        ports = [ports_of(member, streams[member.name]) for member in members]
        # Equal engines with equal ports have equal foldings, which are enumerated once.
        key = tuple((member.kind, sorted_items(member), ends) for member, ends in zip(members, ports, strict=True))
        if key not in known:
            known[key] = _of_both_styles(members, ports, choice)
        groups.append(OptionGroup(tuple(member.name for member in members), known[key]))
    return tuple(groups)


def _streams_at_ends(dataflow: Dataflow) -> Mapping[str, Sequence[Stream]]:
    """Return the streams that each engine is an end of."""
    by_engine: dict[str, list[Stream]] = defaultdict(list)
    for stream in dataflow.streams:
        for end in {stream.source, stream.target}:
            by_engine[end].append(stream)
    return by_engine


def _of_both_styles(members: Sequence[Engine], ports: Sequence[Ports], choice: Choice) -> TableRows:
    """Return the foldings of the engines as FINN itself makes them, then those of the last one in the other style.

    Of the latter only what none of both beats; of equals FINN's own choice stays.
    """
    own = _rows(members, ports, choice)
    kind = other_kind(members[-1], choice.technology) if choice.free_kinds else None
    if kind is None:
        return own
    try:
        restyled = _rows([*members[:-1], replace(members[-1], kind=kind)], ports, choice)
    except InfeasibleError:
        return own
    other = TableRows((*restyled.tables[:-1], restyled.tables[-1].of_kind(kind)))
    both = _undominated(own.followed_by(other.take(other.tables[-1].of_styles(is_offered))))
    return own.followed_by(both.take(both.tables[-1].kinds == kind))


def _rows(members: Sequence[Engine], ports: Sequence[Ports], choice: Choice) -> TableRows:
    """Return the undominated foldings of one engine or of two that are tied."""
    tables = [
        options(engine, choice.technology, choice.model, choice.allow_runtime_weights, ends, finn=choice.finn)
        for engine, ends in zip(members, ports, strict=True)
    ]
    if len(members) > 1:
        return _pair(members, *tables)
    if members[0].kind.startswith("VVAU"):
        # Several taps at once come from a parallel window, which would be tied to this engine.
        tables = [table.take(table.attribute("SIMD", 1) == 1) for table in tables]
    return TableRows(tuple(tables))


def tied_pairs(dataflow: Dataflow) -> Iterable[tuple[str, str]]:
    """Yield each depthwise window with the engine behind it: window SIMD must equal that engine's PE."""
    engines = {engine.name: engine for engine in dataflow.engines}
    for source, target in dataflow.engine_pairs:
        window, follower = engines[source], engines[target]
        if window.attributes.get("depthwise") == 1 and follower.kind in _CHANNEL_PARALLEL:
            yield window.name, follower.name


def _pair(members: Sequence[Engine], ahead: OptionTable, behind: OptionTable) -> TableRows:
    """Join the foldings of a window and of the engine behind it.

    What a word holds is told by its width: no folding was dropped for one with other lanes or taps.
    """
    lanes, parallel = ahead.attribute("SIMD", 1), ahead.attribute("parallel_window", 0)
    several = behind.attribute("SIMD", 1) != 1
    # Several taps at once come from a parallel window, and only from there.
    fits = (lanes[:, None] == behind.attribute("PE", 1)) & ((parallel[:, None] != 0) == several)
    first, second = np.nonzero(fits)
    if not first.size:
        window, follower = members
        raise InfeasibleError(
            f"proven infeasible: the window {window.name} and {follower.name} behind it have no folding in common",
            hint="use fewer channels or bits in this layer",
        )
    order = np.lexsort((parallel[first], lanes[first]))
    return _undominated(TableRows((ahead.take(first[order]), behind.take(second[order]))))


def _undominated(rows: TableRows) -> TableRows:
    """Return the rows that no other with the same ports beats in cycles and in every resource, by cost."""
    costs = np.vstack([rows.cycles, rows.use.T])
    undominated = np.sort(front(np.concatenate([table.widths_bits for table in rows.tables]), costs, int))
    return rows.take(undominated[np.lexsort(costs[::-1, undominated])])


def ports_of(engine: Engine, streams: Sequence[Stream]) -> Ports:
    """Return what the streams at an engine's ends demand of its folding."""
    incoming = sorted((s for s in streams if s.target == engine.name), key=lambda s: s.target_port)
    outgoing = sorted((s for s in streams if s.source == engine.name), key=lambda s: s.source_port)
    return Ports(tuple(_port(s) for s in incoming), tuple(_port(s) for s in outgoing))


def _port(stream: Stream) -> Port:
    return Port(stream.element_bits, stream.last_dimension)
