"""What a single engine may be: so many products at once, and a share of its slot, so that tools can digest it.

High-level synthesis runs out of time or memory on what is much larger than any engine that was ever built, and an
engine that fills a slot leaves the placer no choice. Limits bound what is looked for, so every bound holds under them.
They are lifted for an engine, and the plan says so, where it, or the network, has no folding within them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import Refusal, Refused
from floorflow.hardware import Platform
from floorflow.request import LEAST_ENGINE_LIMITS, Request, at_width, products_from
from floorflow.resources import RESOURCE_NAMES, Resources, scaled_down
from floorflow.search.candidate.given_pblocks import stated_pblocks
from floorflow.search.candidate.wishes import NO_WISHES, Wishes

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
    homes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Slots of engines that may lie in no other, as their pblocks are stated, or as is wished."""

    @classmethod
    def none(cls, dataflow: Dataflow, backend: Backend) -> "EngineLimits":
        """Return no limits at all."""
        return cls(dataflow, backend, None, {"": Resources(*[NO_LIMIT] * len(RESOURCE_NAMES))})

    @property
    def names(self) -> tuple[str, ...]:
        """The limits that there are."""
        amounts = dict(zip(RESOURCE_NAMES, zip(*(m.as_tuple() for m in self.most.values()), strict=True), strict=True))
        shares = tuple(name for name in RESOURCE_NAMES if min(amounts[name]) < NO_LIMIT)
        return shares if self.most_products is None else (PRODUCTS, *shares)

    def without(self, names: Iterable[str]) -> "EngineLimits":
        """Return the limits without some of them."""
        lifted = frozenset(names)
        free = Resources.from_dict(dict.fromkeys(lifted - {PRODUCTS}, NO_LIMIT))
        most = {slot: amount.most(free) for slot, amount in self.most.items()}
        return replace(self, most_products=None if PRODUCTS in lifted else self.most_products, most=most)

    def exempting(self, pairs: Iterable[tuple[str, str]], reason: Reason) -> "EngineLimits":
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
        here = np.array([[self._is_home(engine, slot) for slot in slots] for engine in group.engines])
        return np.asarray(np.stack(flags, axis=2) & here)

    def bars(self, engine: str, use: Resources, slot: str) -> bool:
        """Whether an engine takes too much to lie in a slot, or has its pblock in another."""
        if not self._is_home(engine, slot):
            return True
        pairs = zip(RESOURCE_NAMES, use.as_tuple(), self.most[slot].as_tuple(), strict=True)
        return any(need > most and (engine, name) not in self.exempt for name, need, most in pairs)

    def _is_home(self, engine: str, slot: str) -> bool:
        return engine not in self.homes or slot in self.homes[engine]

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

    def lifted_for(self, group: OptionGroup, places: Places) -> "EngineLimits":
        """Return the limits, the fewest of them lifted for a group's engines, so that one of its rows is allowed.

        ValueError if no row fits a place, whatever the limits.
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
        """Return the first slot of which the same engines may take as much."""
        here = [slot in slots for slots in self.homes.values()]
        alike = (name for name, most in self.most.items() if most == self.most[slot])
        return next(name for name in alike if [name in slots for slots in self.homes.values()] == here)

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


def engine_limits(
    request: Request, platform: Platform, dataflow: Dataflow, backend: Backend, wishes: Wishes = NO_WISHES
) -> EngineLimits:
    """Return the limits that a request asks for."""
    shares = request.max_engine_share.as_dict()
    most = {slot.name: most_of_an_engine(slot.available, shares) for slot in platform.slots}
    products = products_from(request.max_products)
    names = {engine.name for engine in dataflow.engines}
    stated = stated_pblocks(platform, request).items()
    homes = wishes.homes | {name: frozenset((pblock.slot,)) for name, pblock in stated if name in names}
    return EngineLimits(dataflow, backend, products, most, homes=homes)


def most_of_an_engine(available: Resources, shares: Mapping[str, float]) -> Resources:
    """Return what one engine may take of a slot: a share of what is available, or more where that is little."""
    share = scaled_down(available, shares).as_dict()
    limits = {name: max(share[name], LEAST_ENGINE_LIMITS.get(name, 0)) for name in RESOURCE_NAMES}
    return Resources.from_dict({name: limits[name] if shares[name] < 1 else NO_LIMIT for name in RESOURCE_NAMES})
