"""What a single engine may be: so many products at once, and a share of its slot, so that tools can digest it.

High-level synthesis runs out of time or memory on what is much larger than any engine that was ever built, and an
engine that fills a slot leaves the placer no choice. Limits bound what is looked for, so every bound holds under them.
They are lifted for an engine, and the plan says so, where it, or the network, has no folding within them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend, Costs, Proposal
from floorflow.channels import couplings, not_convertible
from floorflow.dataflow.model import Attributes, Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, Refusal, Refused, some
from floorflow.folding.exact import FoldingAnswer
from floorflow.folding.methods import METHODS, FoldingMethod
from floorflow.folding.problem import (
    FoldingProblem,
    FoldingSolution,
    FoldingUnknown,
    first_index_to_try,
    shortest_interval,
)
from floorflow.folding.selection import Evaluator
from floorflow.hardware import Platform
from floorflow.request import LEAST_ENGINE_LIMITS, Request, at_width, products_from
from floorflow.resources import RESOURCE_NAMES, Resources, scaled_down, shortfall
from floorflow.search.candidate.given_pblocks import stated_pblocks

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Reason = Literal["folding kept", "none of the engine", "none of the network", "no plan found"]
"""Why an engine is above a limit: its folding was given, or what no folding, or no plan, was found within it."""
Exempt = Mapping[tuple[str, str], Reason]
"""Engines, by name, with a limit, by name, that is lifted for them."""
Places = tuple[tuple[str, Resources], ...]
"""Slots by name, with what an engine may have there; a slot may stand there several times."""

PRODUCTS = "products"
"""Name of the limit on products; others go by their resource."""
NO_LIMIT = 2**40
"""Stands for no limit on a resource: more than any part has."""


@dataclass(frozen=True)
class EngineLimits:
    """The limits on each engine of a network on a platform.

    ``most_products``, by the width of operands from which it holds, is None if they are not limited; ``most`` is by
    slot what an engine may take there, `NO_LIMIT` of what has none. Engines in ``exempt`` go by the names that they
    have before their kinds are chosen.
    """

    dataflow: Dataflow
    backend: Backend
    most_products: Mapping[int, int] | None
    most: Mapping[str, Resources]
    exempt: Exempt = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    """Slots of engines that may lie in no other, as their pblocks are stated."""

    @classmethod
    def none(cls, dataflow: Dataflow, backend: Backend) -> EngineLimits:
        """Return no limits at all."""
        return cls(dataflow, backend, None, {"": Resources(*[NO_LIMIT] * len(RESOURCE_NAMES))})

    @property
    def names(self) -> tuple[str, ...]:
        """The limits that there are."""
        amounts = dict(zip(RESOURCE_NAMES, zip(*(m.as_tuple() for m in self.most.values()), strict=True), strict=True))
        shares = tuple(name for name in RESOURCE_NAMES if min(amounts[name]) < NO_LIMIT)
        return shares if self.most_products is None else (PRODUCTS, *shares)

    def without(self, names: Iterable[str]) -> EngineLimits:
        """Return the limits without some of them."""
        lifted = frozenset(names)
        free = Resources.from_dict(dict.fromkeys(lifted - {PRODUCTS}, NO_LIMIT))
        most = {slot: amount.most(free) for slot, amount in self.most.items()}
        return replace(self, most_products=None if PRODUCTS in lifted else self.most_products, most=most)

    def exempting(self, pairs: Iterable[tuple[str, str]], reason: Reason) -> EngineLimits:
        """Return the limits with more of them lifted, by engine and name.

        Of groups with equal rows one whose engine is exempt keeps others: none takes it for the rest.
        """
        return replace(self, exempt={**dict.fromkeys(pairs, reason), **self.exempt})

    def allowed(self, group: OptionGroup, places: Places) -> Flags:
        """Mark the rows each of whose engines is within the limits, and fits, in some place, (n_rows,)."""
        fits = np.zeros(group.engine_use.shape[:2], dtype=np.bool_)
        for slot, room in {(self._like(slot), room.as_tuple()): None for slot, room in places}:
            most = np.minimum(self._most(group, slot), np.array(room, dtype=np.int64))
            fits |= (group.engine_use <= most).all(axis=2)
        return np.asarray((fits & self._few_products(group)).all(axis=1))

    def inside(self, group: OptionGroup, slots: Sequence[str]) -> Flags:
        """Mark in which slots each engine may lie with each row, (n_rows, n_engines, n_slots)."""
        flags = [(group.engine_use <= self._most(group, slot)).all(axis=2) for slot in slots]
        here = np.array([[self.homes.get(engine, slot) == slot for slot in slots] for engine in group.engines])
        return np.asarray(np.stack(flags, axis=2) & here)

    def bars(self, engine: str, use: Resources, slot: str) -> bool:
        """Whether an engine takes too much to lie in a slot, or has its pblock in another."""
        if self.homes.get(engine, slot) != slot:
            return True
        pairs = zip(RESOURCE_NAMES, use.as_tuple(), self.most[slot].as_tuple(), strict=True)
        return any(need > most and (engine, name) not in self.exempt for name, need, most in pairs)

    def place(self, slot: str, groups: Sequence[OptionGroup]) -> Places:
        """Return what `fitting` takes for a slot; nothing where no engine takes too much for it."""
        most = self.most[slot]
        enough = all(self.inside(group, [slot]).all() for group in groups)
        return () if enough else ((self._like(slot), most),)

    def fitting(self, group: OptionGroup, places: Places) -> OptionGroup | Refused:
        """Keep the rows whose engines may lie in some place; it is refused if there are none."""
        inside = self.inside(group, [slot for slot, _ in places])
        keep = np.asarray(np.any(inside, axis=2).all(axis=1))
        if not keep.any():
            refusal = Refusal("engine limit", place=places[0][0], names=group.engines)
            return Refused(str(refusal), refusals=(refusal,), why="proven")
        return group.subset(keep)

    def lifted_for(self, group: OptionGroup, places: Places) -> EngineLimits:
        """Return the limits, the fewest of them lifted for a group's engines, so that one of its rows is allowed.

        Raises
        ------
        ValueError
            If no row fits a place, whatever the limits.

        """
        for names in chain.from_iterable(combinations(self.names, count) for count in range(len(self.names) + 1)):
            lifted = self.exempting(product(group.engines, names), "none of the engine")
            if lifted.allowed(group, places).any():
                return lifted
        raise ValueError(f"{group.name}: no row fits any place")

    def exceeded(self, group: OptionGroup, row: int) -> list[tuple[str, str]]:
        """Return the engines of a row, each with a limit that it is above in every slot and that is not lifted."""
        found: list[tuple[str, str]] = []
        largest = np.array([most.as_tuple() for most in self.most.values()]).max(axis=0)
        for position, engine in enumerate(group.engines):
            over = (group.engine_use[row, position] > largest).tolist()
            found += [(engine, name) for name, above in zip(RESOURCE_NAMES, over, strict=True) if above]
            if (most := self.products_allowed(engine)) is not None and self._products(group, engine)[row] > most:
                found.append((engine, PRODUCTS))
        return [pair for pair in found if pair not in self.exempt]

    def _most(self, group: OptionGroup, slot: str) -> Integers:
        """Return what each engine of a group may take of a slot, (n_engines, 5)."""
        most = np.repeat(np.array([self.most[slot].as_tuple()], dtype=np.int64), len(group.engines), axis=0)
        for position, engine in enumerate(group.engines):
            lifted = [i for i, name in enumerate(RESOURCE_NAMES) if (engine, name) in self.exempt]
            most[position, lifted] = NO_LIMIT
        return most

    def _like(self, slot: str) -> str:
        """Return the first slot of which engines may take as much; one with stated pblocks is like no other."""
        apart = {*self.homes.values()}
        if slot in apart:
            return slot
        return next(name for name, most in self.most.items() if most == self.most[slot] and name not in apart)

    def _few_products(self, group: OptionGroup) -> Flags:
        """Mark the engines of each row that are within the limit on products, (n_rows, n_engines)."""
        few = np.ones((len(group.rows), len(group.engines)), dtype=np.bool_)
        for position, engine in enumerate(group.engines):
            most = self.products_allowed(engine)
            if most is not None and (engine, PRODUCTS) not in self.exempt:
                few[:, position] = self._products(group, engine) <= most
        return few

    def products_allowed(self, engine: str) -> int | None:
        """Return how many products an engine with operands as wide may form; None if they are not limited."""
        if self.most_products is None:
            return None
        return at_width(self.most_products, self.dataflow.engine(engine).operand_bits)

    def _products(self, group: OptionGroup, engine: str) -> Integers:
        return self.backend.products(self.dataflow.engine(engine), group.options_of(engine))


def engine_limits(request: Request, platform: Platform, dataflow: Dataflow, backend: Backend) -> EngineLimits:
    """Return the limits that a request asks for."""
    shares = request.max_engine_share.as_dict()
    most = {slot.name: most_of_an_engine(slot.available, shares) for slot in platform.slots}
    products = products_from(request.max_products)
    names = {engine.name for engine in dataflow.engines}
    homes = {name: pblock.slot for name, pblock in stated_pblocks(platform, request).items() if name in names}
    return EngineLimits(dataflow, backend, products, most, homes=homes)


def most_of_an_engine(available: Resources, shares: Mapping[str, float]) -> Resources:
    """Return what one engine may take of a slot: a share of what is available, or more where that is little."""
    share = scaled_down(available, shares).as_dict()
    limits = {name: max(share[name], LEAST_ENGINE_LIMITS.get(name, 0)) for name in RESOURCE_NAMES}
    return Resources.from_dict({name: limits[name] if shares[name] < 1 else NO_LIMIT for name in RESOURCE_NAMES})


SAMPLES = 24
"""Intervals at which proposals are tried to find where they begin to keep the budget."""


@dataclass(frozen=True)
class NoProposal(FoldingUnknown):
    """What was proposed is no folding: too slow, too large, or nothing to be built. Nothing is proven by that."""


@dataclass(frozen=True)
class Pricer:
    """Prices what a method called ``name`` proposes for engines, which must be within the limits on single ones."""

    name: str
    dataflow: Dataflow
    backend: Backend
    costs: Costs
    limits: EngineLimits

    def priced(self, foldings: Mapping[str, Attributes], problem: FoldingProblem) -> FoldingSolution | NoProposal:
        """Price a given folding as the problem prices: with streams if it does, under its budget."""
        engines = (replace(e, folding={**e.folding, **foldings.get(e.name, {})}) for e in self.dataflow.engines)
        folded = replace(self.dataflow, engines=tuple(engines))
        try:
            groups = self.backend.given_groups(folded, self.costs)
        except InputError as error:
            return NoProposal(f"what {self.name} proposes cannot be built: {error}")
        unlike = list(not_convertible(folded, groups, self.costs))
        if unlike:
            return NoProposal(f"what {self.name} proposes needs width converters that cannot be built: {some(unlike)}")
        above = [pair for group in groups for pair in self.limits.exceeded(group, 0)]
        if above:
            names = some([f"{engine} ({limit})" for engine, limit in above])
            return NoProposal(f"what {self.name} proposes exceeds the limits on single engines: {names}")
        streams = couplings(folded, groups, self.costs) if problem.couplings else ()
        alone = replace(problem, groups=groups, couplings=streams)
        folding = Evaluator(alone).solution([0] * len(groups), self.name, "heuristic")
        short = shortfall(folding.resources, problem.budget)
        if short:
            missing = ", ".join(f"{amount:,} {name}" for name, amount in short.items())
            return NoProposal(f"what {self.name} proposes exceeds the budget by {missing}")
        return folding


def method_of(pricer: Pricer, propose: Proposal) -> FoldingMethod:
    """Return a folding method that takes what is proposed for an interval.

    Without an interval the shortest is sought at which that keeps the budget, of which the proposal knows nothing.
    """

    def at(problem: FoldingProblem, interval_cycles: int) -> FoldingSolution | NoProposal:
        answer = pricer.priced(propose(pricer.dataflow, interval_cycles), problem)
        if isinstance(answer, FoldingSolution) and answer.interval_cycles > interval_cycles:
            return NoProposal(f"{pricer.name} reaches {answer.interval_cycles:,} cycles, not {interval_cycles:,}")
        return answer

    def method(problem: FoldingProblem, interval_cycles: int | None = None, seed: int = 0) -> FoldingAnswer:
        del seed
        if interval_cycles is not None:
            return at(problem, interval_cycles)
        return _shortest(problem, at)

    return method


def _shortest(
    problem: FoldingProblem, at: Callable[[FoldingProblem, int], FoldingSolution | NoProposal]
) -> FoldingAnswer:
    """Return the answer at the shortest interval that has one.

    At long intervals too there may be none, where the tool builds nothing so narrow. So samples tell where to bisect.
    """
    intervals = problem.intervals()
    start = first_index_to_try(problem)
    samples = sorted(set(np.linspace(start, len(intervals) - 1, SAMPLES).round().astype(int).tolist()))
    failed = start - 1
    answer: FoldingSolution | NoProposal = NoProposal()
    for place in samples:
        answer = at(problem, intervals[place])
        if isinstance(answer, FoldingSolution):
            span = intervals[failed + 1 : place + 1]
            index = shortest_interval(span, lambda i: isinstance(at(problem, i), FoldingSolution))
            return at(problem, span[-1 if index is None else index])
        failed = place
    return answer


def methods_of(costs: Costs, limits: EngineLimits, options: Any) -> dict[str, FoldingMethod]:
    """Return every folding method by name: those that need the problem alone, and the back end's own.

    ``limits`` are those on the engines of the network that is folded, which know it and its back end.
    """
    pricer = partial(Pricer, dataflow=limits.dataflow, backend=limits.backend, costs=costs, limits=limits)
    own = limits.backend.fold_methods(options)
    return {**METHODS, **{name: method_of(pricer(name), propose) for name, propose in own.items()}}
