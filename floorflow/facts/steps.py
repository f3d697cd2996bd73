"""A step of the folding, and what it costs or frees: what `explain` tells of a plan that is not made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from floorflow.errors import some
from floorflow.facts.plan import Plan
from floorflow.facts.text import rate
from floorflow.facts.values import AttributeValue

Way = Literal["faster", "slower"]


@dataclass(frozen=True)
class FoldingChange:
    """An engine's folding afterwards, in the back end's words, and what differs: before and after, cycles too."""

    attributes: Mapping[str, AttributeValue]
    changed: Mapping[str, tuple[AttributeValue | None, AttributeValue]]
    cycles: tuple[int, int]
    resources: tuple[Mapping[str, int], Mapping[str, int]]

    @property
    def told(self) -> str:
        """What differs, in words."""
        return ", ".join(f"{name} {before} to {after}" for name, (before, after) in self.changed.items())


@dataclass(frozen=True)
class Step:
    """Engines that are folded faster or slower, by their ids, all else as planned.

    ``resources``: by how much the whole design changes, converters and FIFOs included; ``within``: between which
    amounts in eight of ten cases, by the errors of the costs; empty where these know none. ``frees``: the share of all
    that the design takes, each resource as scarce as it is, and ``loses``: that of the rate; both are below 0 where
    there is more. ``short``: what slots lack then, as they are filled. ``lifts``: options without which single engines
    may not be so large.
    """

    way: Way
    engines: Mapping[str, FoldingChange]
    interval_cycles: int
    fps: float
    resources: Mapping[str, int]
    within: Mapping[str, tuple[int, int]]
    frees: float
    loses: float
    short: tuple[str, ...] = ()
    lifts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def is_worth(self) -> bool:
        """Whether it frees a larger share of what the design takes than it loses of the rate."""
        return self.frees > max(self.loses, 0.0)

    @property
    def sure(self) -> list[str]:
        """The resources that change, and are sure to change in this direction: in either tenth of cases."""
        ends = {name: self.within[name] for name, change in self.resources.items() if change and self.within}
        return [name for name, (low, high) in ends.items() if low * high > 0]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return asdict(self) | {"sure": self.sure}

    @property
    def price(self) -> str:
        """What it costs or frees, with the bands and whether the signs are sure."""
        changes = {name: change for name, change in self.resources.items() if change and name != "FF"}
        if not changes:
            return "no LUT, memory or DSP more or less"
        told = ", ".join(self._change(name) for name in changes)
        if not self.within:
            return f"{told}; how far these costs may be off is not known"
        unsure = [name for name in changes if name not in self.sure]
        sign = "sign" if len(changes) == 1 else "signs"
        return f"{told}; {f'sign of {some(unsure)} not sure' if unsure else f'{sign} sure'}"

    def _change(self, name: str) -> str:
        low, high = self.within.get(name, (0, 0))
        band = "" if low == high else f" ({low:+,} to {high:+,})"
        return f"{self.resources[name]:+,} {name}{band}"

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield what is folded otherwise, what that gives and costs, whether it fits, and the command that asks."""
        named = [f"{plan.named(engine)} {change.told}" for engine, change in self.engines.items()]
        yield some(named, 2)
        own = plan.only_phase.networks[0]
        same = self.interval_cycles == own.interval_cycles
        reached = "the rate stays" if same else f"{rate(self.fps)} frames/s ({-self.loses:+.1%})"
        yield f"{reached}: {self.price}"
        if self.way == "slower":
            freed = f"frees {self.frees:.1%} of all that the design takes, each resource as scarce as it is"
            yield f"{'' if self.is_worth else 'not '}worth it: {freed}, for {max(self.loses, 0):.1%} of the rate"
            if not self.is_worth:
                return
        if self.short:
            yield f"does not fit as modules lie: {'; '.join(self.short[:2])}"
        else:
            lifted = f" with {' '.join(self.lifts)}" if self.lifts else ""
            yield f"fits its slot{lifted}, by the sums; not placed, so how long its wires are is not known"
        yield from self.commands
