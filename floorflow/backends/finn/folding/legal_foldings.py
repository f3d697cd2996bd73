"""Every legal folding that no other dominates: of an engine, or of engines that must be folded together."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.finn.cost.memory import Column, Mask
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Batch, Choice, CostModel, EngineKind
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.names import FinnVersion
from floorflow.backends.finn.samo import repriced
from floorflow.backends.finn.specialise import is_offered, other_kind
from floorflow.dataflow.model import Attributes, AttributeValue, Dataflow, Engine, Option, Stream
from floorflow.dataflow.options import OptionGroup, OptionTable, TableRows, objects
from floorflow.errors import InfeasibleError, InputError
from floorflow.technology import Technology

_Items = tuple[tuple[str, AttributeValue], ...]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Port:
    """What a stream demands of the folding at one of its ends: words must divide its last dimension.

    FINN's width converters reshape the producer's tensor along that dimension only (InsertDWC; FINN issue 1042), so
    that after a flatten a matrix unit may not take words that span pixels.
    """

    element_bits: int
    last_dimension: int

    def takes(self, width_bits: Column) -> Mask:
        """Mark the widths whose words can be converted to and from any other legal width."""
        last_bits = self.last_dimension * self.element_bits
        return np.asarray((width_bits % self.element_bits == 0) & (last_bits % width_bits == 0))


@dataclass(frozen=True, slots=True)
class Ports:
    """The input and output ports of an engine that streams end at; none: any width is legal."""

    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()

    def take(self, option: Option) -> bool:
        """Whether every port takes the option's words."""
        return bool(self.taken(OptionTable.of([option])).all())

    def taken(self, options: OptionTable) -> Mask:
        """Mark the options whose words every port takes, (n_options,)."""
        pairs = [*zip(self.inputs, options.input_widths_bits, strict=False)]
        pairs += zip(self.outputs, options.output_widths_bits, strict=False)
        legal = np.ones(len(options), dtype=np.bool_)
        for port, widths in pairs:
            legal &= port.takes(widths)
        return legal


def options(
    engine: Engine,
    technology: Technology,
    model: CostModel,
    allow_runtime_weights: bool = True,
    ports: Ports = Ports(),
    *,
    finn: FinnVersion = "main",
) -> OptionTable:
    """Return the engine's undominated legal foldings, by cycles, then resources.

    A folding is dominated if another with the same port widths is no worse in cycles and in each of the five
    resources; of equals the lexicographically first stays. ``allow_runtime_weights`` False rules
    out weights in UltraRAM.

    Raises InputError if the kind is unknown or its attributes are incomplete. Raises InfeasibleError if no folding is
    legal.
    """
    choice = Choice(technology, model, allow_runtime_weights, finn)
    try:
        table = _cached_front(engine.kind, sorted_items(engine), choice, ports)
    except InputError as error:
        raise InputError(f"engine {engine.name}: {error}", hint=error.hint) from error
    if not len(table):
        raise InfeasibleError(
            f"proven infeasible: engine {engine.name} ({engine.kind}) has no legal folding: every one needs a stream "
            f"of more than {MAX_STREAM_BITS} bits, or weights that it cannot hold",
            hint="use fewer channels or bits in this layer, or another kind of engine",
        )
    return table


def sorted_items(engine: Engine) -> _Items:
    """Return the engine's attributes as a key: equal engines have equal foldings."""
    return tuple(sorted((name, _frozen(value)) for name, value in engine.attributes.items()))


def _frozen(value: AttributeValue) -> AttributeValue:
    return tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=4096)
def _cached_options(op_type: str, items: _Items, choice: Choice) -> OptionTable:
    return legal_options(kind_of(op_type), dict(items), choice)


@lru_cache(maxsize=4096)
def _cached_front(op_type: str, items: _Items, choice: Choice, ports: Ports) -> OptionTable:
    every = _cached_options(op_type, items, choice)
    return undominated(every.take(ports.taken(every)))


def forget_options() -> None:
    """Drop the foldings that are kept for engines met again, so that a benchmark starts from nothing."""
    _cached_options.cache_clear()
    _cached_front.cache_clear()


def legal_options(kind: EngineKind, attributes: Attributes, choice: Choice) -> OptionTable:
    """Return every folding that FINN's whole build takes, with its price, dominated ones included."""
    if choice.model == "samo":
        return repriced(kind.op_type, attributes, legal_options(kind, attributes, replace(choice, model="estimated")))
    batches = list(kind.batches(attributes, choice))
    if not batches:
        return OptionTable(np.empty((6, 0), dtype=np.int64), objects([]), objects([]), 0)
    numbers = np.concatenate([_numbers(batch) for batch in batches], axis=1)
    styles = np.repeat(objects(batch.style for batch in batches), [len(batch) for batch in batches])
    inputs, sizes = len(batches[0].unit.input_widths_bits), tuple(batches[0].sizes)
    every = OptionTable(numbers[1:], styles, np.repeat(objects([""]), len(styles)), inputs, sizes)
    return every.take((numbers[0] != 0) & (every.widths_bits <= MAX_STREAM_BITS).all(axis=0))


def _numbers(batch: Batch) -> Column:
    """Return whether each folding of a batch is legal, and below that the numbers of an `OptionTable`."""
    unit = batch.unit
    widths = *unit.input_widths_bits, *unit.output_widths_bits
    columns = batch.legal, unit.cycles, *batch.resources.as_tuple(), *widths, *batch.sizes.values()
    numbers = np.empty((len(columns), len(batch)), dtype=np.int64)
    for row, column in zip(numbers, columns, strict=True):
        np.copyto(row, column)
    return numbers


def undominated(candidates: OptionTable) -> OptionTable:
    """Return the Pareto front over cycles and resources for each set of port widths, in lexicographic order.

    Options with other ports are kept: what they cost in width converters depends on the neighbours. Of equals the
    lexicographically first stays; in the front, options of equal cost stand by the widths of all ports, then so.
    """
    on_front = candidates.take(front(candidates.widths_bits, candidates.costs, partial(_spelling, candidates)))
    # Few options cost the same: only these are told apart by the spelling of their folding.
    return on_front.take(
        _order(np.vstack([on_front.costs, on_front.widths_bits.sum(axis=0)]), partial(_spelling, on_front))
    )


def _spelling(table: OptionTable, row: int) -> tuple[str, ...]:
    """Names and values of the folding."""
    return tuple(f"{name}={value:>8}" for name, value in sorted(table[row].folding.items()))


def front(classes: Column, costs: Column, key: Callable[[int], Any]) -> Rows:
    """Return the rows that no other of their class equals or beats in every cost; of equals the first by ``key``.

    ``classes`` are numbers that are equal for rows of a class, (any, n_rows), ``costs`` (any, n_rows).
    """
    # What equals or beats a row has a smaller or an equal sum of costs.
    rows = _order(np.vstack([classes, costs.sum(axis=0)]), key)
    place, costs = _places(classes.take(rows, axis=1)), costs.take(rows, axis=1)
    beaten = np.zeros(rows.size, dtype=np.bool_)
    for back in range(1, place.max(initial=0) + 1):
        beaten[back:] |= (costs[:, :-back] <= costs[:, back:]).all(axis=0) & (place[back:] >= back)
    return rows[~beaten]


def _order(columns: Column, key: Callable[[int], Any]) -> Rows:
    """Sort by columns, (any, n_rows), of which the first counts most; rows equal in all by a key, which is slower."""
    rows = np.lexsort(columns[::-1])
    place = _places(columns.take(rows, axis=1))
    for last in np.flatnonzero((place > 0) & (np.append(place[1:], 0) == 0)).tolist():
        tied = slice(last - place[last], last + 1)
        rows[tied] = sorted(rows[tied].tolist(), key=key)
    return rows


def _places(columns: Column) -> Rows:
    """Return how many columns before each one, (any, n), are equal to it without a gap."""
    number = np.arange(columns.shape[1])
    changes = np.ones(number.size, dtype=np.bool_)
    changes[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return number - np.maximum.accumulate(np.where(changes, number, 0))


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
