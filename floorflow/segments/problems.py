"""Segments of one network and their folding problems: options and streams are priced once for all of them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Dataflow, Stream
from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.errors import InputError, Refused, all_found
from floorflow.folding.problem import FoldingProblem, fitting
from floorflow.resources import Resources

Places = tuple[tuple[str, Resources], ...]
Price = Callable[[Dataflow, Sequence[OptionGroup]], tuple[Coupling, ...]]
"""Prices the streams of a Dataflow by the rows of its groups, as `floorflow.channels.StreamPrices` does with a memo."""
Fitting = Callable[[OptionGroup, Places], OptionGroup | Refused]

Bar = Callable[[Sequence[OptionGroup]], tuple[Coupling, ...]]
"""Forbids rows of groups that do not go together, as `floorflow.folding.balance.Balance.bars` does."""
_Priced = tuple[tuple[OptionGroup, ...], tuple[Coupling, ...]]


@dataclass(frozen=True)
class Space:
    """What a segment may use: ``budget`` in all, in one slot or in several together.

    ``places`` are what a single engine may have, as `floorflow.folding.fitting` takes them (none: no such limit);
    ``silicon`` weighs scarcity.
    """

    budget: Resources
    silicon: Resources
    places: Places = ()


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a network; `problem` makes it a folding problem."""

    dataflow: Dataflow
    groups: tuple[OptionGroup, ...]
    """Those of the whole that the part has, with its rows."""
    engine_mask: int
    """A bit for each of its engines, by position in the whole: one segment is part of another if its bits are."""
    stream_positions: tuple[int, ...]
    """Where its streams, cut or not, stand among the whole's."""
    _whole: "Segments" = field(repr=False)
    _priced: dict[Places, _Priced | Refused] = field(default_factory=dict, repr=False)

    def within(self, other: "Segment") -> bool:
        """Whether the other has all engines of this one."""
        return self.engine_mask & ~other.engine_mask == 0

    def problem(self, space: Space) -> FoldingProblem | Refused:
        """Return the segment's folding problem; it is refused if an engine fits no place."""
        priced = self._in(space.places)
        if isinstance(priced, Refused):
            return priced
        groups, streams = priced
        ties = (*streams, *self._whole.bars(groups))
        return FoldingProblem(groups, space.budget, space.silicon, ties, memo=self._whole.memo)

    def priced_streams(self, places: Places) -> dict[int, tuple[Stream, Coupling]] | Refused:
        """Return the segment's streams, cut or not, with their prices, by their positions among the whole's."""
        priced = self._in(places)
        if isinstance(priced, Refused):
            return priced
        _, prices = priced
        return dict(zip(self.stream_positions, zip(self.dataflow.streams, prices, strict=True), strict=True))

    def _in(self, places: Places) -> _Priced | Refused:
        if places not in self._priced:
            groups = all_found(self._whole.fitting(group, places) for group in self.groups)
            self._priced[places] = (
                groups if isinstance(groups, Refused) else (groups, self._whole.price(self.dataflow, groups))
            )
        return self._priced[places]


class Segments:
    """The segments of one network, made when they are asked for, and once.

    ``groups`` are the whole's; ``order`` lists its engines part by part, as modules in a line (default: by group).
    ``memo`` is a folding problem's of the same groups, to be shared with it. ``fitting`` keeps the rows of a group that
    fit some place, or refuses. ``bars`` ties groups of one segment.
    """

    def __init__(
        self,
        dataflow: Dataflow,
        groups: Sequence[OptionGroup],
        price: Price,
        order: Iterable[Collection[str]] = (),
        memo: dict[tuple[bytes, ...], NDArray[np.int64]] | None = None,
        *,
        fitting: Fitting = fitting,
        bars: Bar = lambda _: (),
    ) -> None:
        self.dataflow, self.groups, self.price, self.bars = dataflow, tuple(groups), price, bars
        self.order = tuple(tuple(part) for part in order) or tuple(group.engines for group in groups)
        self.memo = {} if memo is None else memo
        self._fits = fitting
        self._bits = {engine.name: 1 << position for position, engine in enumerate(dataflow.engines)}
        self._group_masks = [self._mask(group.engines) for group in self.groups]
        self._stream_masks = [self._mask((stream.source, stream.target)) for stream in dataflow.streams]
        self._by_engines: dict[int, Segment] = {}
        self._by_position: dict[tuple[int, int], Segment] = {}
        self._fitting: dict[tuple[int, Places], tuple[object, OptionGroup]] = {}
        if sorted(chain.from_iterable(self.order)) != sorted(self._bits):
            hint = "Name every engine in one part of the order."
            raise InputError(f"the order of '{self.dataflow.name}' does not have each of its engines once", hint)

    @property
    def whole(self) -> Segment:
        """The segment of all engines."""
        return self.of(tuple(self._bits))

    def of(self, engines: Collection[str]) -> Segment:
        """Return the segment of some engines.

        Raises
        ------
        InputError
            If no engine is named, one that the network has not, one twice, or one of a group without the others.

        """
        mask = self._mask(engines)
        if mask not in self._by_engines or mask.bit_count() != len(engines):
            part = self.dataflow.segment(engines)
            streams = tuple(i for i, ends in enumerate(self._stream_masks) if ends & mask)
            self._by_engines[mask] = Segment(part, tuple(self._groups_in(mask)), mask, streams, self)
        return self._by_engines[mask]

    def between(self, first: int, last: int) -> Segment:
        """Return the segment of so many parts of the order, the last included; errors are those of `of`."""
        if not 0 <= first <= last < len(self.order):
            count = len(self.order)
            raise InputError(f"no segment {first} to {last}: expected 0 <= first <= last < {count}, the parts in order")
        if (first, last) not in self._by_position:
            engines = tuple(chain.from_iterable(self.order[first : last + 1]))
            self._by_position[first, last] = self.of(engines)
        return self._by_position[first, last]

    def fitting(self, group: OptionGroup, places: Places) -> OptionGroup | Refused:
        """Return the group with the rows that fit some place; of groups that share rows, one is looked at."""
        if not places:
            return group
        key = id(group.rows), places
        if key not in self._fitting:
            fits = self._fits(group, places)
            if isinstance(fits, Refused):
                return fits
            # The rows are kept, for their id would be given to others.
            self._fitting[key] = group.rows, fits
        rows = self._fitting[key][1].rows
        return group if rows is group.rows else OptionGroup(group.engines, rows)

    def _mask(self, engines: Collection[str]) -> int:
        mask = 0
        for name in engines:
            mask |= self._bits.get(name, 0)
        return mask

    def _groups_in(self, mask: int) -> Iterable[OptionGroup]:
        """Yield the groups of a segment, unless it cuts one apart."""
        for group, members in zip(self.groups, self._group_masks, strict=True):
            if members & mask and members & ~mask:
                raise InputError(
                    f"a segment of '{self.dataflow.name}' cuts {group.name} apart, which must be folded together",
                    "Take all of these engines or none.",
                )
            if members & mask:
                yield group
