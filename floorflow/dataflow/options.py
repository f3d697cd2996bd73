"""Foldings of engines as tables, what they range over, and tied engines with every joint folding that they may have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import eq
from typing import ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Attributes, Option
from floorflow.resources import Resources

Item = TypeVar("Item")
Picks = NDArray[np.bool_] | NDArray[np.intp] | slice


class _Listed(Sequence[Item]):
    """A sequence that equals any other of the same items; like a list it has no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class OptionTable(_Listed[Option]):
    """Options of one engine as columns; one becomes an `Option` when it is asked for.

    Each row of ``numbers`` is an integer of every option, (6 + n_ports + n_sizes, n_options): cycles a frame, resources
    in the order of RESOURCE_NAMES, widths of input and output ports in bits, and the sizes in their foldings, by name.
    ``styles`` hold the other attributes of the foldings and ``kinds`` those that engines become, both (n_options,).
    """

    numbers: NDArray[np.int64]
    styles: NDArray[np.object_]
    kinds: NDArray[np.object_]
    inputs: int
    sizes: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Sequence[Option]) -> OptionTable:
        """Return options, one or more, as a table."""
        widths = ((*o.input_widths_bits, *o.output_widths_bits) for o in options)
        rows = [(o.cycles, *o.resources.as_tuple(), *ports) for o, ports in zip(options, widths, strict=True)]
        styles, kinds = objects(option.folding for option in options), objects(option.kind for option in options)
        return cls(np.array(rows, dtype=np.int64).T, styles, kinds, len(options[0].input_widths_bits))

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles a frame, (n_options,)."""
        return np.asarray(self.numbers[0])

    @property
    def use(self) -> NDArray[np.int64]:
        """Resources in the order of RESOURCE_NAMES, (5, n_options)."""
        return self.numbers[1:6]

    @property
    def costs(self) -> NDArray[np.int64]:
        """Cycles and resources, (6, n_options)."""
        return self.numbers[:6]

    @property
    def widths_bits(self) -> NDArray[np.int64]:
        """Un-padded widths of all ports, (n_inputs + n_outputs, n_options)."""
        return self.numbers[6 : len(self.numbers) - len(self.sizes)]

    @property
    def input_widths_bits(self) -> NDArray[np.int64]:
        """Un-padded widths of the input ports, (n_inputs, n_options)."""
        return self.widths_bits[: self.inputs]

    @property
    def output_widths_bits(self) -> NDArray[np.int64]:
        """Un-padded widths of the output ports, (n_outputs, n_options)."""
        return self.widths_bits[self.inputs :]

    def take(self, rows: Picks) -> OptionTable:
        """Return some of the options, marked or by position."""
        places = np.arange(len(self))[rows]
        # Not by brackets, which would give columns that are not contiguous.
        numbers = self.numbers.take(places, axis=1)
        return replace(self, numbers=numbers, styles=self.styles[places], kinds=self.kinds[places])

    def of_kind(self, kind: str) -> OptionTable:
        """Return the same options as those of another kind."""
        return replace(self, kinds=objects([kind] * len(self)))

    def followed_by(self, other: OptionTable) -> OptionTable:
        """Return these options and others, which must have the same ports and sizes."""
        numbers = np.concatenate([self.numbers, other.numbers], axis=1)
        styles, kinds = np.concatenate([self.styles, other.styles]), np.concatenate([self.kinds, other.kinds])
        return replace(self, numbers=numbers, styles=styles, kinds=kinds)

    def of_styles(self, test: Callable[[Option], bool]) -> NDArray[np.bool_]:
        """Mark the options that pass a test in which sizes do not count, (n_options,)."""
        passed: dict[int, bool] = {}
        for row, style in enumerate(self.styles):
            if id(style) not in passed:
                passed[id(style)] = test(self[row])
        return np.array([passed[id(style)] for style in self.styles], dtype=np.bool_)

    def alike(self, option: Option) -> NDArray[np.bool_]:
        """Mark the options with the cycles, resources and widths of a given one, (n_options,)."""
        own = OptionTable.of([option]).numbers
        return np.asarray((self.numbers[: len(own)] == own).all(axis=0))

    def attribute(self, name: str, default: int) -> NDArray[np.int64]:
        """Return an integer of each folding, (n_options,)."""
        if name in self.sizes:
            return np.asarray(self.numbers[self.sizes.index(name) - len(self.sizes)])
        return np.array([style.get(name, default) for style in self.styles], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.styles)

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> OptionTable: ...
    def __getitem__(self, index: int | slice) -> Option | OptionTable:
        if isinstance(index, slice):
            return self.take(index)
        return self._option(self.numbers[:, index].tolist(), self.styles[index], self.kinds[index])

    def __iter__(self) -> Iterator[Option]:
        return map(self._option, self.numbers.T.tolist(), self.styles, self.kinds)

    def _option(self, numbers: list[int], style: Attributes, kind: str) -> Option:
        outputs, sizes = 6 + self.inputs, len(numbers) - len(self.sizes)
        folding = {**dict(zip(self.sizes, numbers[sizes:], strict=True)), **style} if self.sizes else style
        widths = tuple(numbers[6:outputs]), tuple(numbers[outputs:sizes])
        return Option(folding, numbers[0], Resources(*numbers[1:6]), *widths, kind)


def objects(values: Iterable[object]) -> NDArray[np.object_]:
    """Return an array of objects, (n,)."""
    return np.fromiter(values, dtype=np.object_)


@dataclass(frozen=True, eq=False)
class TableRows(_Listed[tuple[Option, ...]]):
    """Rows of a group, whose options stand in tables of equal length, one for each engine."""

    tables: tuple[OptionTable, ...]

    @classmethod
    def of(cls, rows: Sequence[tuple[Option, ...]]) -> TableRows:
        """Return rows, one or more, as tables."""
        return rows if isinstance(rows, cls) else cls(tuple(OptionTable.of(each) for each in zip(*rows, strict=True)))

    @cached_property
    def engine_cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each engine in each row, (n_rows, n_engines)."""
        return np.stack([table.cycles for table in self.tables], axis=1)

    @cached_property
    def engine_use(self) -> NDArray[np.int64]:
        """Resources of each engine in each row in the order of RESOURCE_NAMES, (n_rows, n_engines, 5)."""
        return np.stack([table.use.T for table in self.tables], axis=1)

    @cached_property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each row's slowest engine, (n_rows,)."""
        return np.asarray(self.engine_cycles.max(axis=1))

    @cached_property
    def use(self) -> NDArray[np.int64]:
        """Summed resources of each row, (n_rows, 5)."""
        return np.asarray(self.engine_use.sum(axis=1))

    def followed_by(self, other: TableRows) -> TableRows:
        """Return these rows and others of the same engines."""
        return TableRows(tuple(a.followed_by(b) for a, b in zip(self.tables, other.tables, strict=True)))

    def take(self, rows: Picks) -> TableRows:
        """Return some of the rows, marked or by position."""
        return TableRows(tuple(table.take(rows) for table in self.tables))

    def __len__(self) -> int:
        return len(self.tables[0])

    @overload
    def __getitem__(self, index: int) -> tuple[Option, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> TableRows: ...
    def __getitem__(self, index: int | slice) -> tuple[Option, ...] | TableRows:
        return self.take(index) if isinstance(index, slice) else tuple(table[index] for table in self.tables)

    def index(self, value: tuple[Option, ...], start: int = 0, stop: int | None = None) -> int:
        """Return the first row that equals a given one; only rows of its numbers are made options."""
        alike = np.all([table.alike(option) for table, option in zip(self.tables, value, strict=True)], axis=0)
        within = range(len(self))[start:stop]
        for row in np.flatnonzero(alike).tolist():
            if row in within and self[row] == value:
                return int(row)
        raise ValueError(f"{value} is no row of these")

    def __iter__(self) -> Iterator[tuple[Option, ...]]:
        return zip(*self.tables, strict=True)


@dataclass(frozen=True)
class OptionGroup:
    """Engines that must be folded together, usually one; each row holds an option for each of them.

    A depthwise window may be tied to the engine behind it: both work on the same channels. Networks repeat their
    blocks: groups of equal engines share their rows, and these the arrays.
    """

    engines: tuple[str, ...]
    rows: Sequence[tuple[Option, ...]]

    @cached_property
    def _table(self) -> TableRows:
        return TableRows.of(self.rows)

    @property
    def engine_cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each engine in each row, (n_rows, n_engines)."""
        return self._table.engine_cycles

    @property
    def engine_use(self) -> NDArray[np.int64]:
        """Resources of each engine in each row in the order of RESOURCE_NAMES, (n_rows, n_engines, 5)."""
        return self._table.engine_use

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each row's slowest engine, (n_rows,)."""
        return self._table.cycles

    @property
    def use(self) -> NDArray[np.int64]:
        """Summed resources of each row, (n_rows, 5)."""
        return self._table.use

    @property
    def engine_kinds(self) -> NDArray[np.object_]:
        """Kinds that the engines become in each row; empty where they stay what they are, (n_rows, n_engines)."""
        return np.stack([table.kinds for table in self._table.tables], axis=1)

    def options_of(self, engine: str) -> OptionTable:
        """Return an engine's options in all rows."""
        return self._table.tables[self.engines.index(engine)]

    def subset(self, keep: NDArray[np.bool_]) -> OptionGroup:
        """Return the marked rows only."""
        return self if keep.all() else OptionGroup(self.engines, self._table.take(keep))

    @property
    def name(self) -> str:
        """The engines' names, for messages."""
        return " + ".join(self.engines)


@dataclass(frozen=True)
class FoldingRange:
    """The legal foldings of one engine in its place among the others.

    ``parallelism``: ascending values of each attribute of the kind that says how parallel it is. ``least`` holds the
    least of each resource over all foldings: together they may be less than any one of them takes.
    """

    parallelism: Mapping[str, tuple[int, ...]]
    fastest_cycles: int
    slowest_cycles: int
    least: Resources


def folding_ranges(groups: Iterable[OptionGroup], attributes: Sequence[str]) -> dict[str, FoldingRange]:
    """Return the range of every engine by its name; ``attributes`` say how parallel a folding is."""
    return {name: _range(group.options_of(name), attributes) for group in groups for name in group.engines}


def _range(options: OptionTable, attributes: Sequence[str]) -> FoldingRange:
    columns = {name: np.unique(options.attribute(name, 0)).tolist() for name in attributes}
    parallelism = {name: tuple(values) for name, values in columns.items() if values != [0]}
    cycles = options.cycles
    return FoldingRange(parallelism, int(cycles.min()), int(cycles.max()), Resources(*options.use.min(axis=1).tolist()))


UNBUILDABLE = 10**8
"""Stands in every resource of a `Coupling` for a pair of foldings that no hardware can join: more than any platform."""


@dataclass(frozen=True)
class Coupling:
    """What one stream costs (converter and FIFO), by the rows that the groups at its ends take.

    ``source`` and ``target`` are positions of groups, equal for a stream inside a group or with an end at the host.
    Rows with equal port widths share a class: ``use[source_class[r], target_class[s]]`` are the resources.
    """

    source: int
    target: int
    source_class: NDArray[np.int64]
    """(n_source_rows,)"""
    target_class: NDArray[np.int64]
    """(n_target_rows,)"""
    use: NDArray[np.int64]
    """(n_source_classes, n_target_classes, 5)"""
    at_source: NDArray[np.int64] | None = None
    """What of it lies in the slot of the stream's source, the rest in that of its target; None: not told."""
    only_bars: bool = False
    """It is no stream: it costs nothing, and forbids the pairs that use UNBUILDABLE."""
