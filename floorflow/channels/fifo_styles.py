"""Which memory each FIFO of a slot is in: the styles of least price that what the slot has left for FIFOs allows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from floorflow.channels.realise import Channel, ChannelCosts, choices_of
from floorflow.dataflow.fifo import FifoChoice, Prices, cheapest, price
from floorflow.resources import Resources, total
from floorflow.solver import run_cpsat

_WORK = 2.0
"""CP-SAT's work units that a slot may take; some milliseconds are usual."""
_PRICE_SCALE = 1 << 40
"""What the dearest styles of a slot cost in whole numbers."""
_EXCESS_SCALE = 1 << 30
"""An excess as large as what is free, in whole numbers."""

_Choices = tuple[FifoChoice, ...]


@dataclass(frozen=True)
class _Alike:
    """The FIFOs of a slot that have the same choices."""

    choices: _Choices
    channels: tuple[str, ...]


def choose_styles(
    channels: Sequence[Channel],
    costs: ChannelCosts,
    slot_of_engine: Mapping[str, str],
    free: Mapping[str, Resources],
    prices: Prices,
) -> dict[str, str]:
    """Return the style of every channel's FIFO, by channel.

    In each slot the sum of prices (without prices: the number of FIFOs that are not in the tool's own memory) is the
    least of all choices whose total keeps ``free``, what the slot has left after engines and converters; where none
    does, the least of those of the least `excess`. Channels of slots that ``free`` does not name take the cheapest.
    """
    by_slot: dict[str, list[tuple[str, _Choices]]] = {}
    for channel in channels:
        choices = choices_of(channel.stream, channel.width_bits, channel.fifo_depth_words, costs)
        by_slot.setdefault(slot_of_engine[channel.fifo_engine], []).append((channel.name, choices))
    styles: dict[str, str] = {}
    for slot, fifos in by_slot.items():
        styles |= _of_slot(fifos, free.get(slot), prices)
    return {channel.name: styles[channel.name] for channel in channels}


def _of_slot(fifos: Sequence[tuple[str, _Choices]], free: Resources | None, prices: Prices) -> dict[str, str]:
    chosen = {name: cheapest(choices, prices) for name, choices in fifos}
    if free is not None and not total(choice.resources for choice in chosen.values()).fits(free):
        fixed = total(choices[0].resources for _, choices in fifos if len(choices) == 1)
        groups = _alike((name, choices) for name, choices in fifos if len(choices) > 1)
        if groups:
            chosen |= _handed_out(groups, _Knapsack(groups, fixed, free, prices).counts())
    return {name: choice.style for name, choice in chosen.items()}


def _alike(fifos: Iterable[tuple[str, _Choices]]) -> list[_Alike]:
    groups: dict[_Choices, list[str]] = {}
    for name, choices in fifos:
        groups.setdefault(choices, []).append(name)
    return [_Alike(choices, tuple(names)) for choices, names in groups.items()]


def _handed_out(groups: Sequence[_Alike], counts: Iterable[int]) -> dict[str, FifoChoice]:
    """Give the channels of each group, in order, the memories that were counted for it."""
    numbers, chosen = iter(counts), dict[str, FifoChoice]()
    for group in groups:
        taken = [choice for choice in group.choices for _ in range(next(numbers))]
        chosen |= dict(zip(group.channels, taken, strict=True))
    return chosen


class _Knapsack:
    """How many FIFOs of each group are in each memory: a count for every choice of every group, in order."""

    def __init__(self, groups: Sequence[_Alike], fixed: Resources, free: Resources, prices: Prices) -> None:
        self._model = cp_model.CpModel()
        rows = [[self._model.new_int_var(0, len(group.channels), "") for _ in group.choices] for group in groups]
        for group, row in zip(groups, rows, strict=True):
            self._model.add(sum(row) == len(group.channels))
        self._counts = [count for row in rows for count in row]
        self._price = cp_model.LinearExpr.weighted_sum(self._counts, _whole_prices(groups, prices))
        self._excess = self._excess_of(groups, fixed, free)

    def _excess_of(self, groups: Sequence[_Alike], fixed: Resources, free: Resources) -> cp_model.LinearExprT:
        """Return the excess in whole numbers."""
        columns = zip(*(choice.resources.as_tuple() for group in groups for choice in group.choices), strict=True)
        most = max(len(group.channels) for group in groups)
        over, weights = [], []
        for column, taken, have in zip(columns, fixed.as_tuple(), free.as_tuple(), strict=True):
            over.append(self._model.new_int_var(0, max(0, taken - have) + most * sum(column), ""))
            self._model.add(cp_model.LinearExpr.weighted_sum(self._counts, column) + taken - have <= over[-1])
            weights.append(_EXCESS_SCALE // max(1, have))
        return cp_model.LinearExpr.weighted_sum(over, weights)

    def counts(self) -> list[int]:
        """Return the counts of least price within what is free; where there are none, of the least excess."""
        legal = self._least(self._price, most_excess=0)
        if legal is not None:
            return legal[1]
        least = self._least(self._excess)
        if least is None:
            raise AssertionError("every FIFO has a memory")
        cheap = self._least(self._price, most_excess=least[0])
        return least[1] if cheap is None else cheap[1]

    def _least(self, objective: cp_model.LinearExprT, most_excess: int | None = None) -> tuple[int, list[int]] | None:
        """Return the least value and its counts; None where nothing keeps the excess."""
        model = self._model.clone()
        if most_excess is not None:
            model.add(self._excess <= most_excess)
        model.minimize(objective)
        status, solver = run_cpsat(model, seed=0, deterministic_limit=_WORK, linearization_level=2)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return round(solver.objective_value), [solver.value(count) for count in self._counts]


def _whole_prices(groups: Sequence[_Alike], prices: Prices) -> list[int]:
    """Return a price for every choice; without prices what is not the tool's own costs 1."""
    if not prices:
        return [int(place > 0) for group in groups for place, _ in enumerate(group.choices)]
    exact = [[price(choice.resources, prices) for choice in group.choices] for group in groups]
    dearest = sum(len(group.channels) * max(row) for group, row in zip(groups, exact, strict=True))
    return [round(_PRICE_SCALE * each / dearest) if dearest else 0 for row in exact for each in row]
